//! Settings of a target that sessions override. Chrome keeps one value for all of them, so the value
//! of each session is kept, combined with the others', and released when the session ends.

use shared_protocol::overrides::Override;

use crate::Relay;
use crate::asker::Asker;
use crate::cdp::Command;
use crate::cdp::payload::Payload;
use crate::ids::{CommandNumber, SessionRef, TargetRef};
use crate::requests::purpose::Purpose;
use crate::requests::rollback::Rollback;
use crate::settings::overrides::{OverrideValue, Overrides, Setting, clears, is_flag, merges};
use crate::turn::Turn;

impl Relay {
    pub(crate) fn override_command(
        &mut self,
        session_ref: &SessionRef,
        rule: &'static Override,
        command: Command,
        turn: &mut Turn,
    ) {
        let since = self.last_command;
        let setting = Setting::of(rule, &command);
        let is_cleared = clears(rule, &command);
        let Some(session) = self.target_session_mut(session_ref) else { return };
        let extension_session = session.extension_session.clone();
        let purpose = if is_cleared {
            session.overrides.0.remove(&setting);
            Purpose::Forward
        } else {
            let params = command.params.clone().unwrap_or_else(Payload::empty_object);
            let wish = session.overrides.0.insert(setting.clone(), OverrideValue { params, since });
            Purpose::ChangeSetting(Rollback::Override { setting: setting.clone(), since, wish })
        };
        if !self.other_sessions(session_ref).any(|other| other.overrides.0.contains_key(&setting)) {
            return self.forward(session_ref, command, &extension_session, purpose, turn);
        }
        if merges(rule) || (is_cleared && !is_flag(rule)) {
            let Some(connection) = self.connection_of(session_ref) else { return };
            let (method, params) = setting.effective(
                self.sessions_on(connection.target(&extension_session))
                    .map(|session| &session.overrides),
            );
            let command = Command { method: method.to_owned(), params: Some(params), ..command };
            self.forward(session_ref, command, &extension_session, purpose, turn);
        } else if is_cleared {
            turn.ok(&Asker::new(session_ref, &command));
        } else {
            self.forward(session_ref, command, &extension_session, purpose, turn);
        }
    }

    /// Restores the earlier value after Chrome has refused one, and tells Chrome the value of all.
    pub(crate) fn override_refused(
        &mut self,
        session_ref: &SessionRef,
        setting: Setting,
        since: CommandNumber,
        before: Option<OverrideValue>,
        turn: &mut Turn,
    ) {
        let Some(connection) = self.connection_of(session_ref) else { return };
        let Some(session) = self.target_session_mut(session_ref) else { return };
        session.overrides.roll_back(&setting, since, before);
        let extension_session = session.extension_session.clone();
        let (method, params) = setting.effective(
            self.sessions_on(connection.target(&extension_session))
                .map(|session| &session.overrides),
        );
        self.send_to_target(connection.target(&extension_session), method, Some(params), turn);
    }

    /// Releases the overrides of a session that has ended, in favour of the other sessions.
    pub(crate) fn release_overrides(
        &mut self,
        target_ref: TargetRef<'_>,
        overrides: &Overrides,
        turn: &mut Turn,
    ) {
        for setting in overrides.0.keys() {
            let (method, params) =
                setting.effective(self.sessions_on(target_ref).map(|session| &session.overrides));
            self.send_to_target(target_ref, method, Some(params), turn);
        }
    }
}
