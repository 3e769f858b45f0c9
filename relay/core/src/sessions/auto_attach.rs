//! `Target.setAutoAttach` on a browser-level session, and the sessions that it opens.

use crate::Relay;
use crate::cdp::payload::Payload;
use crate::cdp::{Command, Error};
use crate::ids::{ExtensionSessionId, SessionRef};
use crate::sessions::attach::OpenedBy;
use crate::sessions::model::{Kind, Session};
use crate::settings::auto_attach::SetAutoAttach;
use crate::turn::Turn;

impl Relay {
    /// `Target.setAutoAttach` on a browser-level session, or on that of a tab.
    pub(crate) fn set_auto_attach(
        &mut self,
        session_ref: &SessionRef,
        command: &Command,
        turn: &mut Turn,
    ) -> Result<Payload, Error> {
        let asked: SetAutoAttach = command.read_params()?;
        let flatten = asked.flatten;
        let wanted = asked.wanted();
        if wanted.is_some() && !flatten {
            let message = "Only flatten protocol is supported with browser level auto-attach";
            return Err(Error::new(-32602, message));
        }
        let is_off = wanted.is_none();
        let session = self.clients.session_mut(session_ref).ok_or_else(Error::unknown_session)?;
        session.auto_attach = wanted;
        let is_browser = matches!(session.kind, Kind::Browser);
        if is_off {
            self.end_automatic_children(session_ref, turn);
            return Ok(Payload::empty_object());
        }
        if is_browser {
            let tabs: Vec<ExtensionSessionId> = self
                .extension_of(session_ref)
                .map(|it| it.targets.tabs().map(|tab| tab.session.clone()).collect())
                .unwrap_or_default();
            for tab in tabs {
                self.auto_attach_tab(session_ref, &tab, turn);
            }
        }
        self.announce_children(session_ref, turn);
        Ok(Payload::empty_object())
    }

    /// Opens sessions on a tab, its page or both, for a session that asked for all of them.
    pub(crate) fn auto_attach_tab(
        &mut self,
        parent: &SessionRef,
        extension_session: &ExtensionSessionId,
        turn: &mut Turn,
    ) {
        let wanted = self.clients.session(parent).and_then(|session| session.auto_attach.clone());
        let connection = self.connection_of(parent);
        let target =
            connection.and_then(|connection| self.target(connection.target(extension_session)));
        let (Some(wanted), Some(target)) = (wanted, target) else { return };
        if target.is_unresponsive() {
            // The page answers nothing until somebody closes its dialog or navigates it, and would
            // keep the client waiting.
            return;
        }
        let opened_by = OpenedBy::AutoAttach { may_wait: false };
        if wanted.filter.admits("tab") {
            self.open_tab_session(parent, extension_session, opened_by, turn);
        }
        if wanted.filter.admits("page") && !self.is_announced_to(parent, extension_session) {
            self.open_session(parent, extension_session, opened_by, turn);
        }
    }

    /// Returns whether a session over this real one has been announced on `parent` already.
    pub(crate) fn is_announced_to(
        &self,
        parent: &SessionRef,
        extension_session: &ExtensionSessionId,
    ) -> bool {
        let Some(client) = self.clients.get(parent.client) else { return true };
        client.sessions.iter().any(|(_, session)| {
            session.automatic
                && session.parent.as_ref() == Some(&parent.session)
                && session.extension_session() == Some(extension_session)
        })
    }

    /// Ends the sessions that auto-attach opened below one.
    pub(crate) fn end_automatic_children(&mut self, parent: &SessionRef, turn: &mut Turn) {
        let Some(client) = self.clients.get(parent.client) else { return };
        let is_child = |session: &Session| {
            session.automatic && session.parent.as_ref() == Some(&parent.session)
        };
        for session in client.sessions.matching(is_child) {
            self.end_session(&SessionRef { client: parent.client, session }, None, turn);
        }
    }
}
