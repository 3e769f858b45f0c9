//! Events of an extension: what the relay learns from each, and which sessions receive it.

use serde::Deserialize;
use shared_protocol::{AttachedToTarget, CdpEvent, DetachedFromTarget, LogLevel, Payload as _};

use crate::Relay;
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
        match (event.method.as_str(), &event.params) {
            // No client depends on these two, and they flood.
            ("Network.dataReceived" | "Network.resourceChangedPriority", _) => {}
            ("Target.attachedToTarget", Some(params)) => {
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
            ("Target.targetInfoChanged", Some(params)) if event.session_id.is_none() => {
                match params.read::<InfoEvent>() {
                    Ok(changed) => self.info_changed(connection, changed, turn),
                    Err(error) => turn.log(LogLevel::Error, unreadable(error)),
                }
            }
            ("Target.detachedFromTarget", Some(params)) => {
                match params.read::<DetachedFromTarget<Payload>>() {
                    Ok(detached) => {
                        let session = ExtensionSessionId::new(detached.session_id);
                        self.detached(connection.target(&session), turn);
                    }
                    Err(error) => turn.log(LogLevel::Error, unreadable(error)),
                }
            }
            // What Chrome tells a page's own session of other targets, the relay has told already.
            (method, _) if method.starts_with("Target.") => {}
            _ => self.forward_event(connection, event, turn),
        }
    }

    /// It is long because it has one arm for each event that the relay follows.
    pub(crate) fn forward_event(
        &mut self,
        connection: ConnectionId,
        event: CdpEvent<Payload>,
        turn: &mut Turn,
    ) {
        let CdpEvent { session_id, method, params, .. } = event;
        let Some(extension_session) = session_id.map(ExtensionSessionId::new) else { return };
        let Some(target) = self.target_mut(connection.target(&extension_session)) else { return };
        if let Some(params) = &params {
            target.state.record(&method, params);
            match method.as_str() {
                "Debugger.paused" => {
                    self.target_paused(connection.target(&extension_session), params);
                }
                "Page.frameNavigated" => {
                    self.frame_navigated(connection.target(&extension_session), params, turn);
                }
                "Page.frameStartedNavigating" => {
                    self.navigation_began(connection.target(&extension_session), params, turn);
                }
                "Page.downloadWillBegin" => {
                    self.download_began(connection.target(&extension_session), params, turn);
                    self.navigation_became_download(connection.target(&extension_session), turn);
                }
                "Page.downloadProgress" => self.download_progressed(connection, params, turn),
                "Page.javascriptDialogOpening" => {
                    return self.dialog_opened(
                        connection.target(&extension_session),
                        params.clone(),
                        turn,
                    );
                }
                "Page.javascriptDialogClosed" => {
                    self.dialog_closed(connection.target(&extension_session), turn);
                    self.children_changed = true;
                }
                "Fetch.requestPaused" | "Fetch.authRequired" => {
                    return self.request_paused_event(
                        connection.target(&extension_session),
                        method,
                        params,
                        turn,
                    );
                }
                _ => {}
            }
        }
        match method.as_str() {
            "Inspector.targetCrashed" => {
                self.announce_crash(connection.target(&extension_session), turn);
            }
            "Page.frameStoppedLoading" => {
                self.check_if_still_restricted(connection.target(&extension_session), turn);
            }
            "Inspector.targetReloadedAfterCrash" => {
                if let Some(target) = self.target_mut(connection.target(&extension_session)) {
                    target.is_crashed = false;
                    self.children_changed = true;
                }
            }
            _ => {}
        }
        if method.starts_with("Page.")
            && self.is_leaving_restricted_page(connection.target(&extension_session))
        {
            // Clients would take the blank page for the end of the navigation that they asked for.
            return;
        }
        let mut audience = match method.as_str() {
            "Tracing.tracingComplete" => {
                self.tracing_sessions(connection.target(&extension_session), true)
            }
            tracing if tracing.starts_with("Tracing.") => {
                self.tracing_sessions(connection.target(&extension_session), false)
            }
            _ => self.audience(connection.target(&extension_session), &method, params.as_ref()),
        };
        let last = audience.pop();
        for session_ref in &audience {
            turn.raw_event(session_ref, method.clone(), params.clone());
        }
        if let Some(session_ref) = last {
            turn.raw_event(&session_ref, method, params);
        }
    }

    fn audience(
        &self,
        target_ref: TargetRef<'_>,
        method: &str,
        params: Option<&Payload>,
    ) -> Vec<SessionRef> {
        let matching = |wants: &dyn Fn(&TargetSession) -> bool| -> Vec<SessionRef> {
            let sessions = self.target(target_ref).map(|target| target.sessions.as_slice());
            let wants =
                |session_ref: &&SessionRef| self.target_session(session_ref).is_some_and(wants);
            sessions.unwrap_or_default().iter().filter(wants).cloned().collect()
        };
        let (domain, _) = method.split_once('.').unwrap_or_default();
        match (method, domain) {
            ("Runtime.bindingCalled", _) => {
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
            ("Page.lifecycleEvent", _) => matching(&|session| session.lifecycle),
            ("Page.screencastFrame" | "Page.screencastVisibilityChanged", _) => {
                matching(&|session| session.screencast.is_some())
            }
            ("Page.fileChooserOpened", _) => {
                matching(&|session| session.overrides.has("Page.setInterceptFileChooserDialog"))
            }
            ("Input.dragIntercepted", _) => {
                matching(&|session| session.overrides.has("Input.setInterceptDrags"))
            }
            (_, "Inspector") => matching(&|_| true),
            (_, domain) => {
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
