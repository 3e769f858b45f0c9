//! The one way into the machine: an input goes in, effects come out.

use shared_protocol::{ExtensionMessage, Extra, ParseFailure, Payload};

use crate::interface::{Effect, Input, StoredKey};
use crate::worker::{NoFields, Worker};

impl<P: Payload> Worker<P> {
    /// Applies one input.
    #[must_use = "effects happen only when the shell performs them"]
    pub fn handle(&mut self, input: Input<P>) -> Vec<Effect<P>> {
        let mut effects = Vec::new();
        if let Some(input) = self.keep_for_later(input) {
            self.apply(input, &mut effects);
            self.show_problem(&mut effects);
        }
        if std::mem::take(&mut self.is_snapshot_stale) {
            // The snapshot comes first: the next worker must know of everything that was sent.
            effects.insert(0, Effect::Persist(self.snapshot()));
        }
        effects
    }

    /// Passes an input to the part that it concerns. It is long because it has one arm for each input.
    fn apply(&mut self, input: Input<P>, effects: &mut Vec<Effect<P>>) {
        match input {
            Input::Started { settings, hello, snapshot } => {
                self.restore(*snapshot, effects);
                self.groups.enable(settings.tab_groups);
                self.connection.start(settings.port, *hello, effects);
                for input in self.backlog.take().unwrap_or_default() {
                    self.apply(input, effects);
                }
            }
            Input::SettingsChanged(settings) => {
                self.groups.enable(settings.tab_groups);
                self.connection.change_port(settings.port, effects);
            }
            Input::KeyRead { attempt, stored } => {
                self.connection.key_read(attempt, stored, effects);
                if stored == StoredKey::Unreadable {
                    self.show_all(effects);
                }
            }
            Input::KeyChanged => self.connection.key_changed(effects),
            Input::HelloAnswered { attempt, answer } => {
                self.connection.hello_answered(attempt, &answer, effects);
                self.show_all(effects);
            }
            Input::RelayUnproven { attempt, why } => {
                if self.connection.relay_unproven(attempt, why, effects) {
                    self.show_all(effects);
                }
            }
            Input::Probed { attempt, found } => {
                self.connection.probed(attempt, found, effects);
                self.show_all(effects);
            }
            Input::StatusAnswered { attempt, is_taken } => {
                self.connection.status_answered(attempt, is_taken, effects);
            }
            Input::SocketOpened { attempt } => self.socket_opened(attempt, effects),
            Input::SocketClosed { attempt, code } => self.socket_closed(attempt, code, effects),
            Input::RetryDue { attempt } => self.connection.retry(Some(attempt), effects),
            Input::OldRelayDrained => self.old_relay_drained(effects),
            Input::RelayGivenUp { attempt } => self.relay_given_up(attempt, effects),
            Input::AlarmRang => self.connection.retry(None, effects),
            Input::RelaySent { attempt, message } => {
                if self.connection.is_open_for(attempt) {
                    self.relay_sent(attempt, message, effects);
                }
            }
            Input::RelaySentGarbage { attempt, why } => {
                if self.connection.is_open_for(attempt) {
                    let failure =
                        ParseFailure { code: -32700, message: why, extra: Extra::default() };
                    effects.push(Effect::Send(ExtensionMessage::ParseFailure(failure)));
                }
            }
            Input::IconClicked { tab } => self.icon_clicked(tab, effects),
            Input::ReleaseAll => {
                for tab in self.tabs.ids() {
                    self.release(tab, effects);
                }
            }
            Input::Attached { tab, outcome } => self.attached(tab, outcome, effects),
            Input::TabUnresponsive { tab, reason } => self.tab_unresponsive(tab, reason, effects),
            Input::TabCreated { request, outcome } => self.tab_created(request, outcome, effects),
            Input::TabNavigated { tab } => self.tab_navigated(tab, effects),
            Input::TabRegrouped { tab, group } => self.tab_regrouped(tab, group, effects),
            Input::UngroupTried { tab, is_dragged } => {
                self.ungroup_tried(tab, is_dragged, effects);
            }
            Input::GroupRead { tab, group } => self.group_read(tab, group, effects),
            Input::TabMoved { tab } => {
                if self.tabs.get(tab).is_some() {
                    self.groups.moved(tab);
                    effects.push(Effect::ReadGroup { tab });
                }
            }
            Input::TabRemoved { tab } => self.tab_removed(tab, effects),
            Input::TabReplaced { tab, by } => self.tab_replaced(tab, by, effects),
            Input::GroupRemoved { group } => self.groups.group_removed(group),
            Input::WindowRemoved { window } => {
                self.windows.window_removed(window);
                self.is_snapshot_stale = true;
            }
            Input::PopupOpened { tab, opener, url } => {
                self.popup_opened(tab, opener, &url, effects);
            }
            Input::Grouped { group } => {
                self.groups.grouped(group, effects);
                self.is_snapshot_stale = true;
            }
            Input::Detached { tab } => {
                self.detaching.remove(tab);
            }
            Input::TargetInfoRead { tab, info } => self.target_info_read(tab, info, effects),
            Input::DebuggerEvent { tab, session, method, params } => {
                self.debugger_event(tab, session, method, params, effects);
            }
            Input::DebuggerDetached { tab, reason } => {
                self.debugger_detached(tab, &reason, effects);
            }
            Input::TabChecked { tab, exists } => self.tab_checked(tab, exists, effects),
            Input::CommandDone { request, outcome } => self.command_done(request, outcome, effects),
            Input::WindowRead { request, outcome } => self.answer(request, outcome, effects),
            Input::DownloadSearched { request, outcome } => {
                if let Some(outcome) = self.downloads.search_done(request, outcome) {
                    self.is_snapshot_stale |= self.downloads.report(outcome.as_ref().ok());
                    self.answer(request, outcome, effects);
                }
            }
            Input::DownloadChanged => self.downloads.changed(effects),
            Input::DownloadOverdue { request } => {
                if let Some(found) = self.downloads.overdue(request) {
                    self.is_snapshot_stale |= self.downloads.report(Some(&found));
                    self.answer(request, Ok(found), effects);
                }
            }
            Input::CookiesAnswered { request, answers } => {
                self.answer(request, Ok(answers), effects);
            }
            Input::Done { request, outcome } => {
                self.answer(request, outcome.map(|()| NoFields {}), effects);
            }
            Input::StopRenderingDue { tab, uses } => {
                let is_busy = self.in_flight.runs_in(tab);
                self.hidden_tabs.stop_rendering(tab, uses, is_busy, effects);
            }
            Input::ForceFrameDue { tab, request, forced } => {
                if self.in_flight.has(request) {
                    self.hidden_tabs.force_frame(tab, request, forced, effects);
                }
            }
            Input::ToolbarShown { tab } => self.toolbar.shown(tab, effects),
        }
    }
}
