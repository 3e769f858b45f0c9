//! Events of an extension: what the relay learns from each, and which sessions receive it.

use serde::Deserialize;
use shared_protocol::{AttachedToTarget, CdpEvent, DetachedFromTarget, LogLevel, Payload as _};

use crate::Relay;
use crate::cdp::event::{Audience, Event, Followed};
use crate::cdp::payload::Payload;
use crate::cdp::target_domain::InfoEvent;
use crate::ids::{ConnectionId, ExtensionSessionId, SessionRef, TargetRef};
use crate::sessions::model::TargetSession;
use crate::turn::Turn;

impl Relay {
    pub(crate) fn extension_event(
        &mut self,
        connection: ConnectionId,
        event: CdpEvent<Payload>,
        turn: &mut Turn,
    ) {
        let unreadable = |error| format!("extension {connection}: {}: {error}", event.method);
        let kind = Event::of(&event.method);
        match (kind.followed, &event.params) {
            (Followed::Dropped, _) => {}
            (Followed::TargetAttached, Some(params)) => {
                match (params.read::<AttachedToTarget<Payload>>(), event.session_id.as_ref()) {
                    (Ok(attached), parent) => {
                        let session = ExtensionSessionId::new(attached.session_id.clone());
                        match parent {
                            None => self.tab_attached(connection, attached, turn),
                            Some(parent) => {
                                let parent = ExtensionSessionId::new(parent.clone());
                                self.child_attached(connection, &parent, attached, turn);
                            }
                        }
                        self.confirm_session(connection, &session, turn);
                    }
                    (Err(error), _) => turn.log(LogLevel::Error, unreadable(error)),
                }
            }
            (Followed::TargetInfoChanged, Some(params)) if event.session_id.is_none() => {
                match params.read::<InfoEvent>() {
                    Ok(changed) => self.info_changed(connection, changed, turn),
                    Err(error) => turn.log(LogLevel::Error, unreadable(error)),
                }
            }
            (Followed::TargetDetached, Some(params)) => {
                match params.read::<DetachedFromTarget<Payload>>() {
                    Ok(detached) => {
                        let session = ExtensionSessionId::new(detached.session_id);
                        self.detached(connection.target(&session), turn);
                    }
                    Err(error) => turn.log(LogLevel::Error, unreadable(error)),
                }
            }
            (
                Followed::TargetAttached
                | Followed::TargetInfoChanged
                | Followed::TargetDetached
                | Followed::OtherTarget,
                _,
            ) => {}
            (
                Followed::Not
                | Followed::Paused
                | Followed::FrameNavigated
                | Followed::NavigationBegan
                | Followed::DownloadBegan
                | Followed::DownloadProgressed
                | Followed::DialogOpened
                | Followed::DialogClosed
                | Followed::RequestPaused
                | Followed::Crashed
                | Followed::StoppedLoading
                | Followed::Reloaded,
                _,
            ) => self.forward_event(connection, kind, event, turn),
        }
    }

    /// It is long because it has one arm for each event that the relay follows.
    fn forward_event(
        &mut self,
        connection: ConnectionId,
        kind: Event,
        event: CdpEvent<Payload>,
        turn: &mut Turn,
    ) {
        let CdpEvent { session_id, method, params, .. } = event;
        let Some(extension_session) = session_id.map(ExtensionSessionId::new) else { return };
        let target_ref = connection.target(&extension_session);
        let Some(target) = self.target_mut(target_ref) else { return };
        if let Some(params) = &params {
            target.state.record(kind, &method, params);
        }
        match (kind.followed, &params) {
            (Followed::Paused, Some(params)) => self.target_paused(target_ref, params),
            (Followed::FrameNavigated, Some(params)) => {
                self.frame_navigated(target_ref, params, turn);
            }
            (Followed::DownloadBegan, Some(params)) => {
                self.download_began(target_ref, params, turn);
                self.navigation_became_download(target_ref, turn);
            }
            (Followed::NavigationBegan, Some(params)) => {
                self.navigation_began(target_ref, params, turn);
            }
            (Followed::DownloadProgressed, Some(params)) => {
                self.download_progressed(connection, params, turn);
            }
            (Followed::DialogOpened, Some(params)) => {
                return self.dialog_opened(target_ref, params.clone(), turn);
            }
            (Followed::DialogClosed, Some(_)) => {
                self.dialog_closed(target_ref, turn);
                self.children_changed = true;
            }
            (Followed::RequestPaused, Some(params)) => {
                return self.request_paused_event(target_ref, method, params, turn);
            }
            (Followed::Crashed, _) => self.announce_crash(target_ref, turn),
            (Followed::StoppedLoading, _) => self.check_if_still_restricted(target_ref, turn),
            (Followed::Reloaded, _) => {
                target.is_crashed = false;
                self.children_changed = true;
            }
            (
                Followed::Paused
                | Followed::FrameNavigated
                | Followed::NavigationBegan
                | Followed::DownloadBegan
                | Followed::DownloadProgressed
                | Followed::DialogOpened
                | Followed::DialogClosed
                | Followed::RequestPaused,
                None,
            )
            | (
                Followed::Not
                | Followed::Dropped
                | Followed::TargetAttached
                | Followed::TargetInfoChanged
                | Followed::TargetDetached
                | Followed::OtherTarget,
                _,
            ) => {}
        }
        if method.starts_with("Page.") && self.is_leaving_restricted_page(target_ref) {
            // Clients would take the blank page for the end of the navigation that they asked for.
            return;
        }
        let mut audience = self.audience(target_ref, kind.audience, &method, params.as_ref());
        let last = audience.pop();
        for session_ref in &audience {
            turn.raw_event(session_ref, method.clone(), params.clone());
        }
        if let Some(session_ref) = last {
            turn.raw_event(&session_ref, method, params);
        }
    }

    /// Returns the sessions that receive an event.
    fn audience(
        &mut self,
        target_ref: TargetRef<'_>,
        audience: Audience,
        method: &str,
        params: Option<&Payload>,
    ) -> Vec<SessionRef> {
        if let Audience::Trace | Audience::TraceEnd = audience {
            return self.tracing_sessions(target_ref, audience == Audience::TraceEnd);
        }
        let matching = |wants: &dyn Fn(&TargetSession) -> bool| -> Vec<SessionRef> {
            let sessions = self.target(target_ref).map(|target| target.sessions.as_slice());
            let wants =
                |session_ref: &&SessionRef| self.target_session(session_ref).is_some_and(wants);
            sessions.unwrap_or_default().iter().filter(wants).cloned().collect()
        };
        match audience {
            Audience::Binding => {
                let called = params.and_then(|params| params.read::<BindingCalled>().ok());
                let Some(BindingCalled { name, payload }) = called else { return Vec::new() };
                let bound = matching(&|session| session.bindings.contains(&name));
                let exposed = serde_json::from_str::<Exposed>(&payload);
                let Ok(Exposed { name: function }) = exposed else { return bound };
                let exposing = matching(&|session| {
                    session.bindings.contains(&name) && session.short_scripts.expose(&function)
                });
                if exposing.is_empty() { bound } else { exposing }
            }
            Audience::Lifecycle => matching(&|session| session.lifecycle),
            Audience::Screencast => matching(&|session| session.screencast.is_some()),
            Audience::Overriding(setting) => matching(&|session| session.overrides.has(setting)),
            Audience::All | Audience::Trace | Audience::TraceEnd => matching(&|_| true),
            Audience::Domain => {
                let (domain, _) = method.split_once('.').unwrap_or_default();
                // The extension switches Page on for itself; other domains that nobody ever
                // switched on have nothing to be switched.
                let is_switched = domain == "Page"
                    || self
                        .target(target_ref)
                        .is_some_and(|target| target.state.switched.contains(domain));
                matching(&|session| !is_switched || session.domains.contains(domain))
            }
        }
    }
}

#[derive(Deserialize)]
struct BindingCalled {
    name: String,
    #[serde(default)]
    payload: String,
}

/// Playwright has one binding for all functions that a client exposes, of the same name in every
/// client; the call says which function is meant.
#[derive(Deserialize)]
struct Exposed {
    name: String,
}
