//! Settings of a target that a session overrides. Chrome keeps one value for all sessions of ours,
//! so each session's wish is kept, combined with the others', and undone when the session ends.

use shared_protocol::SessionId;

use crate::Relay;
use crate::cdp::Command;
use crate::cdp::payload::Payload;
use crate::ids::{ConnectionId, Seat};
use crate::requests::asker::Asker;
use crate::requests::purpose::Purpose;
use crate::requests::rollback::Before;
use crate::settings::overrides::{Overrides, Rule, Setting, Wish};
use crate::turn::Turn;

impl Relay {
    pub(crate) fn override_command(
        &mut self,
        seat: &Seat,
        rule: &'static Rule,
        command: Command,
        turn: &mut Turn,
    ) {
        let since = self.commands;
        let setting = rule.setting(&command);
        let is_nothing = rule.is_nothing(&command);
        let Some(on) = self.virtual_mut(seat) else { return };
        let real = on.real.clone();
        let purpose = if is_nothing {
            on.overrides.0.remove(&setting);
            Purpose::Forward
        } else {
            let params = command.params.clone().unwrap_or_else(Payload::empty_object);
            let wish = on.overrides.0.insert(setting.clone(), Wish { params, since });
            Purpose::Wish(Before::Override { setting: setting.clone(), since, wish })
        };
        if !self.others(seat).any(|other| other.overrides.0.contains_key(&setting)) {
            return self.forward(seat, command, &real, purpose, turn);
        }
        if rule.is_merged() || (is_nothing && !rule.is_switch()) {
            let Some(connection) = self.connection_of(seat) else { return };
            let (method, params) =
                setting.effective(self.over(connection, &real).map(|on| &on.overrides));
            let command = Command { method: method.to_owned(), params: Some(params), ..command };
            self.forward(seat, command, &real, purpose, turn);
        } else if is_nothing {
            turn.effects.push(Asker::new(seat, &command).reply(Ok(Payload::empty_object())));
        } else {
            self.forward(seat, command, &real, purpose, turn);
        }
    }

    /// Chrome did not take a wish. It may have been told again meanwhile, for another's sake.
    pub(crate) fn take_override_back(
        &mut self,
        seat: &Seat,
        setting: Setting,
        since: u64,
        before: Option<Wish>,
        turn: &mut Turn,
    ) {
        let Some(connection) = self.connection_of(seat) else { return };
        let Some(on) = self.virtual_mut(seat) else { return };
        on.overrides.take_back(&setting, since, before);
        let real = on.real.clone();
        let (method, params) =
            setting.effective(self.over(connection, &real).map(|on| &on.overrides));
        self.tell_target(connection, &real, method, Some(params), turn);
    }

    /// A session has ended: its wishes give way to those of the others, or to none.
    pub(crate) fn leave_overrides(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        overrides: &Overrides,
        turn: &mut Turn,
    ) {
        for setting in overrides.0.keys() {
            let (method, params) =
                setting.effective(self.over(connection, real).map(|on| &on.overrides));
            self.tell_target(connection, real, method, Some(params), turn);
        }
    }
}
