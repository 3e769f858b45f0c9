//! Targets that clients close.

use std::time::Duration;

use serde_json::json;
use shared_protocol::LogLevel;

use crate::Relay;
use crate::asker::Asker;
use crate::cdp::Command;
use crate::cdp::payload::{Payload, RelayMessage};
use crate::cdp::target_domain::OneTarget;
use crate::ids::{SessionRef, TargetRef};
use crate::requests::pending::{QUICK, Request};
use crate::requests::purpose::Purpose;
use crate::turn::Turn;

/// The time after a close command during which a page that comes into the tab is closed as well. A
/// page that comes later is one that the user wants to see.
const CLOSING: Duration = Duration::from_secs(5);

impl Relay {
    /// The page that came into a tab while that was closed is there. Should it have taken too long,
    /// it stays: by now it may be another, which the user opened.
    pub(crate) fn close_again(&mut self, target_ref: TargetRef<'_>, turn: &mut Turn) {
        let target = self.target(target_ref);
        let Some(target) = target.filter(|target| target.is_closing(turn.now)) else { return };
        if target.restriction.is_some() {
            return self.close_tab(target_ref, None, turn);
        }
        let named = Payload::of(&json!({ "targetId": target.info.target_id }));
        self.send_to_target(target_ref, "Target.closeTarget", Some(named), turn);
    }

    /// Has `chrome.tabs` close a tab. An extension that cannot do that keeps the tab; for clients the
    /// tab is gone, because they would wait for ever.
    pub(crate) fn close_tab(
        &mut self,
        target_ref: TargetRef<'_>,
        asker: Option<Asker>,
        turn: &mut Turn,
    ) {
        let closing = Request::to_target(target_ref, Purpose::CloseTarget)
            .asked_by(asker)
            .until(turn.now + QUICK);
        if let Ok((proof, tab)) = self.restricted_tab(target_ref, turn) {
            self.ask_extension(closing, |id| RelayMessage::CloseTab { id, tab, proof }, turn);
        } else {
            let text = "a tab that shows a warning stays open, and clients see it no more: this \
                        extension cannot close it";
            turn.log(LogLevel::Warn, text.to_owned());
            self.requests.add(closing);
            self.detached(target_ref, turn);
        }
    }

    /// A target closes itself best: only its own session may close it without asking the page.
    pub(crate) fn close_target(
        &mut self,
        session_ref: &SessionRef,
        command: Command,
        turn: &mut Turn,
    ) {
        let target = command
            .read_params::<OneTarget>()
            .and_then(|wanted| self.page_by_id(session_ref, &wanted.target_id));
        match target {
            Ok((extension_session, target_id)) => {
                let named = Payload::of(&json!({ "targetId": target_id }));
                let command = Command { params: Some(named), ..command };
                let connection = self.connection_of(session_ref);
                if let Some(target) =
                    connection.and_then(|it| self.target_mut(it.target(&extension_session)))
                {
                    target.closes_until = Some(turn.now + CLOSING);
                }
                self.forward(session_ref, command, &extension_session, Purpose::CloseTarget, turn);
            }
            Err(error) => turn.fail(&Asker::new(session_ref, &command), error),
        }
    }
}
