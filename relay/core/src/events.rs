//! Who gets an event of a target: the sessions that asked for its kind, and no other.

use serde::Deserialize;
use shared_protocol::{CdpEvent, Payload as _, SessionId};

use super::sessions::{Seat, Virtual};
use super::turn::Turn;
use super::{ConnectionId, Relay};
use crate::payload::Payload;

impl Relay {
    pub(super) fn forward_event(
        &mut self,
        connection: ConnectionId,
        event: CdpEvent<Payload>,
        turn: &mut Turn,
    ) {
        let CdpEvent { session_id, method, params, .. } = event;
        let Some(real) = session_id else { return };
        let Some(target) = self.target_mut(connection, &real) else { return };
        if let Some(params) = &params {
            target.shared.note(&method, params);
            match method.as_str() {
                "Debugger.paused" => self.target_paused(connection, &real, params),
                "Page.frameNavigated" => self.frame_navigated(connection, &real, params, turn),
                "Page.frameStartedNavigating" => {
                    self.navigation_began(connection, &real, params, turn);
                }
                "Page.downloadWillBegin" => {
                    self.download_began(connection, &real, params, turn);
                    self.navigation_became_download(connection, &real, turn);
                }
                "Page.downloadProgress" => self.download_progressed(connection, params, turn),
                "Page.javascriptDialogOpening" => {
                    return self.dialog_opened(connection, &real, params.clone(), turn);
                }
                "Page.javascriptDialogClosed" => {
                    self.dialog_closed(connection, &real, turn);
                    self.children_changed = true;
                }
                "Fetch.requestPaused" | "Fetch.authRequired" => {
                    return self.request_paused(connection, &real, method, params, turn);
                }
                _ => {}
            }
        }
        match method.as_str() {
            "Inspector.targetCrashed" => self.announce_crash(connection, &real, turn),
            "Inspector.targetReloadedAfterCrash" => {
                if let Some(target) = self.target_mut(connection, &real) {
                    target.is_crashed = false;
                    self.children_changed = true;
                }
            }
            _ => {}
        }
        if method.starts_with("Page.") && self.is_leaving(connection, &real) {
            // Clients would take the blank page for the end of the navigation that they asked for.
            return;
        }
        let mut audience = match method.as_str() {
            "Tracing.tracingComplete" => self.tracers(connection, &real, true),
            tracing if tracing.starts_with("Tracing.") => self.tracers(connection, &real, false),
            _ => self.audience(connection, &real, &method, params.as_ref()),
        };
        let last = audience.pop();
        for seat in &audience {
            turn.raw_event(seat, method.clone(), params.clone());
        }
        if let Some(seat) = last {
            turn.raw_event(&seat, method, params);
        }
    }

    fn audience(
        &self,
        connection: ConnectionId,
        real: &SessionId,
        method: &str,
        params: Option<&Payload>,
    ) -> Vec<Seat> {
        let such = |wants: &dyn Fn(&Virtual) -> bool| -> Vec<Seat> {
            let seats = self.target(connection, real).map(|target| target.seats.as_slice());
            let wants = |seat: &&Seat| self.virtual_of(seat).is_some_and(wants);
            seats.unwrap_or_default().iter().filter(wants).cloned().collect()
        };
        let (domain, _) = method.split_once('.').unwrap_or_default();
        match (method, domain) {
            ("Runtime.bindingCalled", _) => {
                let called = params.and_then(|params| params.read::<BindingCalled>().ok());
                let Some(BindingCalled { name, payload }) = called else { return Vec::new() };
                let bound = such(&|on| on.bindings.contains(&name));
                let exposed = serde_json::from_str::<Exposed>(&payload);
                let Ok(Exposed { name: function }) = exposed else { return bound };
                let exposing = such(&|on| on.bindings.contains(&name) && on.exposes(&function));
                if exposing.is_empty() { bound } else { exposing }
            }
            ("Page.lifecycleEvent", _) => such(&|on| on.lifecycle),
            ("Page.screencastFrame" | "Page.screencastVisibilityChanged", _) => {
                such(&|on| on.screencast.is_some())
            }
            ("Page.fileChooserOpened", _) => {
                such(&|on| on.overrides.has("Page.setInterceptFileChooserDialog"))
            }
            ("Input.dragIntercepted", _) => such(&|on| on.overrides.has("Input.setInterceptDrags")),
            (_, "Inspector") => such(&|_| true),
            (_, domain) => {
                // The extension switches Page on for itself; other domains that nobody ever
                // switched on have nothing to be switched.
                let is_switched = domain == "Page"
                    || self
                        .target(connection, real)
                        .is_some_and(|target| target.shared.switched.contains(domain));
                such(&|on| !is_switched || on.domains.contains(domain))
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
