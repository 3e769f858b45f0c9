//! Targets come, change and go; every client that asked is told, in Chrome's order.

use serde::{Deserialize, Serialize};
use serde_json::json;
use shared_protocol::{AttachedToTarget, Extra, LogLevel, Payload as _, SessionId, TargetId};

use super::children::is_browser_with_auto_attach;
use super::confinement::is_web;
use super::requests::Purpose;
use super::sessions::{Kind, Seat, Session, Virtual};
use super::targets::Target;
use super::turn::Turn;
use super::{ConnectionId, Relay};
use crate::payload::{Payload, TargetInfo};

impl Relay {
    /// The extension controls another tab.
    pub(super) fn tab_attached(
        &mut self,
        connection: ConnectionId,
        attached: AttachedToTarget<Payload>,
        turn: &mut Turn,
    ) {
        let AttachedToTarget { session_id: real, target_info: mut info, .. } = attached;
        if look_at_url("Target.attachedToTarget received", &info, turn) {
            // Playwright would wait for ever for such a page to get somewhere.
            info.url = "about:blank".to_owned();
        }
        info.attached = true;
        // Playwright ignores a page that belongs to no context.
        let context = info.browser_context_id.get_or_insert_with(|| DEFAULT_CONTEXT.to_owned());
        let Some(extension) = self.extensions.get_mut(connection) else { return };
        extension.context = Some(context.clone());
        // Another browser has started under the same name, and counts from one again; or the tab
        // was taken away and back while nobody could be told. Either way the old session is over.
        let stale: Vec<SessionId> = extension
            .targets
            .tabs()
            .filter(|tab| (tab.session == real) != (tab.info.target_id == info.target_id))
            .map(|tab| tab.session.clone())
            .collect();
        for session in stale {
            self.detached(connection, &session, turn);
        }
        self.revision += 1;
        let tab_id = self.next_tab_id();
        let Some(extension) = self.extensions.get_mut(connection) else { return };
        if extension.targets.by_session(&real).is_some() {
            let is_on_web = is_web(&info.url);
            let change = |known: &mut Target| (known.is_on_web, known.info) = (is_on_web, info);
            return self.change_target(connection, &real, change, turn);
        }
        let mut target = Target::new(real.clone(), None, info);
        target.tab = Some(tab_id);
        extension.targets.add(target);
        self.children_changed = true;
        self.tabs_changed = true;
        self.announce_created(connection, &real, turn);
        self.announce_tab(connection, &real, turn);
        if self.target(connection, &real).is_some_and(|target| !target.seats.is_empty()) {
            self.announce_changed(connection, &real, turn);
        }
    }

    /// A tab that could not be driven for a while is announced to those who have not heard of it.
    pub(super) fn announce_tab(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        turn: &mut Turn,
    ) {
        if self.target(connection, real).is_none_or(|target| target.parent.is_some()) {
            return;
        }
        for seat in self.clients.seats(connection, is_browser_with_auto_attach) {
            self.auto_attach_tab(&seat, real, turn);
        }
    }

    /// Opens sessions on a tab, its page or both, for a session that asked for all of them.
    pub(super) fn auto_attach_tab(&mut self, parent: &Seat, real: &SessionId, turn: &mut Turn) {
        let wanted = self.clients.session(parent).and_then(|session| session.auto_attach.clone());
        let connection = self.connection_of(parent);
        let target = connection.and_then(|connection| self.target(connection, real));
        let (Some(wanted), Some(target)) = (wanted, target) else { return };
        if target.is_silent() {
            // It answers nothing until somebody closes its dialog or takes it to another page, and
            // would hold the client up.
            return;
        }
        if wanted.filter.admits("tab") {
            self.open_tab_session(parent, real, true, turn);
        }
        if wanted.filter.admits("page") && !self.is_told(parent, real) {
            self.open_session(parent, real, false, true, turn);
        }
    }

    /// Opens a session on the tab around a page, unless auto-attach has opened one before.
    pub(super) fn open_tab_session(
        &mut self,
        parent: &Seat,
        page: &SessionId,
        automatic: bool,
        turn: &mut Turn,
    ) -> Option<SessionId> {
        let connection = self.connection_of(parent)?;
        if !self.sees(parent.client, connection, page) {
            return None;
        }
        let info = tab_info(self.target(connection, page)?)?;
        let client = self.clients.get_mut(parent.client)?;
        let is_known = client.sessions.iter().any(|(_, session)| {
            session.automatic
                && session.parent.as_ref() == Some(&parent.session)
                && session.is_tab_of(page)
        });
        if automatic && is_known {
            return None;
        }
        let kind = Kind::Tab { page: page.clone() };
        let mut session = Session::new(Some(parent.session.clone()), kind);
        session.automatic = automatic;
        let name = SessionId::new(format!("tab-of-{page}"));
        let session_id = client.sessions.open(&name, &mut self.sessions_named, session)?;
        send_attached(parent, session_id.clone(), info, false, turn);
        Some(session_id)
    }

    /// Opens a client session over a real one and announces it on its parent.
    pub(super) fn open_session(
        &mut self,
        parent: &Seat,
        real: &SessionId,
        may_hold_back: bool,
        automatic: bool,
        turn: &mut Turn,
    ) -> Option<SessionId> {
        let connection = self.connection_of(parent)?;
        if !self.sees(parent.client, connection, real) {
            return None;
        }
        let target = self.target(connection, real)?;
        let waits = may_hold_back && target.waits_until.is_some();
        let info = target.info.clone();
        let mut on = Virtual::over(real.clone());
        on.holds_back = waits;
        on.missed_script = target.shared.worker_loaded.is_some();
        let mut session = Session::new(Some(parent.session.clone()), Kind::Target(Box::new(on)));
        session.automatic = automatic;
        let client = self.clients.get_mut(parent.client)?;
        let session_id = client.sessions.open(real, &mut self.sessions_named, session)?;
        let seat = Seat { client: parent.client, session: session_id.clone() };
        self.target_mut(connection, real)?.seats.push(seat);
        send_attached(parent, session_id.clone(), info, waits, turn);
        Some(session_id)
    }

    /// Keeps the address of a tab right, and tells those who follow it. Comes before anybody hears of
    /// the event: some may not.
    pub(super) fn frame_navigated(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        params: &Payload,
        turn: &mut Turn,
    ) {
        #[derive(Deserialize)]
        struct FrameNavigated {
            frame: NavigatedFrame,
        }
        #[derive(Deserialize)]
        struct NavigatedFrame {
            id: TargetId,
            url: String,
            /// What could not be loaded, if that is why the page is there.
            #[serde(rename = "unreachableUrl")]
            unreachable_url: Option<String>,
        }

        let Ok(FrameNavigated { frame }) = params.read() else { return };
        let Some(target) = self.target_mut(connection, real) else { return };
        if frame.id != target.info.target_id {
            return;
        }
        target.shared.document_gone();
        let is_closing = target.is_closing(turn.now);
        let may_be_restricted = target.restriction.is_some() || frame.unreachable_url.is_some();
        let has_arrived = target.heading.take().is_some();
        let is_on_web = is_web(frame.unreachable_url.as_ref().unwrap_or(&frame.url));
        if target.info.url != frame.url || target.is_on_web != is_on_web || target.goes_to_file {
            let change = |target: &mut Target| {
                (target.is_on_web, target.info.url) = (is_on_web, frame.url);
                target.goes_to_file = false;
            };
            self.change_target(connection, real, change, turn);
            self.revision += 1;
            self.announce_changed(connection, real, turn);
        }
        self.tabs_changed |= has_arrived;
        self.departed(connection, real, turn);
        if may_be_restricted {
            self.ask_restricted(connection, real, turn);
        }
        if is_closing {
            // Chrome told the old page to close and has forgotten that with it. The new one is told
            // as soon as it answers: until then Chrome may still mean the old one.
            let question = ("Runtime.getIsolateId", None);
            self.ask(connection, None, Some(real), question, Purpose::CloseAgain, turn);
        }
    }

    /// The page that came into a tab while that was closed is there. Should it have taken too long,
    /// it stays: by now it may be another, which the user opened.
    pub(super) fn close_again(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        turn: &mut Turn,
    ) {
        let target = self.target(connection, real);
        let Some(target) = target.filter(|target| target.is_closing(turn.now)) else { return };
        if target.restriction.is_some() {
            return self.close_tab(connection, real, None, turn);
        }
        let named = Payload::of(&json!({ "targetId": target.info.target_id }));
        self.tell_target(connection, real, "Target.closeTarget", Some(named), turn);
    }

    /// Keeps what is known of a tab, and tells those who follow it.
    pub(super) fn info_changed(
        &mut self,
        connection: ConnectionId,
        changed: InfoEvent,
        turn: &mut Turn,
    ) {
        let info = changed.target_info;
        let Some(extension) = self.extensions.get(connection) else { return };
        let Some(target) = extension.targets.by_target_id(&info.target_id) else { return };
        let real = target.session.clone();
        let change = |target: &mut Target| {
            (target.info.url, target.info.title) = (info.url, info.title);
        };
        self.change_target(connection, &real, change, turn);
        self.revision += 1;
        self.announce_changed(connection, &real, turn);
    }

    fn announce_changed(&self, connection: ConnectionId, real: &SessionId, turn: &mut Turn) {
        let Some(target) = self.target(connection, real) else { return };
        for info in [Some(target.info.clone()), tab_info(target)].into_iter().flatten() {
            self.tell_discoverers(connection, target, "Target.targetInfoChanged", info, turn);
        }
    }

    /// Tells those who follow targets of a new one.
    pub(super) fn announce_created(
        &self,
        connection: ConnectionId,
        real: &SessionId,
        turn: &mut Turn,
    ) {
        let Some(extension) = self.extensions.get(connection) else { return };
        let Some(target) = extension.targets.by_session(real) else { return };
        if !extension.targets.is_first(target) {
            return;
        }
        // A tab or page is not attached to by anybody in this moment.
        let attached = target.parent.is_some();
        for info in [tab_info(target), Some(target.info.clone())].into_iter().flatten() {
            if !self.discoverers(connection, target, &info).is_empty() {
                look_at_url("Target.targetCreated sent", &info, turn);
            }
            let info = TargetInfo { attached, ..info };
            self.tell_discoverers(connection, target, "Target.targetCreated", info, turn);
        }
    }

    /// Tells one who follows targets of a tab that was kept from it.
    pub(super) fn announce_late(
        &self,
        seat: &Seat,
        connection: ConnectionId,
        real: &SessionId,
        turn: &mut Turn,
    ) {
        let discover = self.clients.session(seat).and_then(|session| session.discover.as_ref());
        let (Some(filter), Some(target)) = (discover, self.target(connection, real)) else {
            return;
        };
        if !self.sees(seat.client, connection, real) {
            return;
        }
        let infos = [tab_info(target), Some(target.info.clone())].into_iter().flatten();
        for info in infos.filter(|info| filter.admits(&info.kind)) {
            turn.event(seat, "Target.targetCreated", &InfoEvent::of(info));
        }
    }

    /// A page or frame has crashed. Chrome tells extensions no more than that.
    pub(super) fn announce_crash(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        turn: &mut Turn,
    ) {
        if let Some(target) = self.target_mut(connection, real) {
            target.is_crashed = true;
        }
        let Some(target) = self.target(connection, real) else { return };
        let target_id = target.info.target_id.clone();
        let crashed = TargetCrashed { target_id, status: "crashed", error_code: 0 };
        for seat in self.discoverers(connection, target, &target.info) {
            turn.event(&seat, "Target.targetCrashed", &crashed);
        }
    }

    pub(super) fn announce_destroyed(
        &self,
        connection: ConnectionId,
        target: &Target,
        info: &TargetInfo,
        turn: &mut Turn,
    ) {
        let extension = self.extensions.get(connection);
        if extension.is_some_and(|it| it.targets.by_target_id(&info.target_id).is_some()) {
            // A service worker that another page tells of too.
            return;
        }
        let gone = TargetDestroyed { target_id: info.target_id.clone() };
        for seat in self.discoverers(connection, target, info) {
            turn.event(&seat, "Target.targetDestroyed", &gone);
        }
    }

    fn tell_discoverers(
        &self,
        connection: ConnectionId,
        target: &Target,
        method: &str,
        info: TargetInfo,
        turn: &mut Turn,
    ) {
        let seats = self.discoverers(connection, target, &info);
        let event = InfoEvent::of(info);
        for seat in seats {
            turn.event(&seat, method, &event);
        }
    }

    /// Who follows such targets and knows of this one.
    fn discoverers(
        &self,
        connection: ConnectionId,
        target: &Target,
        info: &TargetInfo,
    ) -> Vec<Seat> {
        let mut seats = self.clients.seats(connection, |session: &Session| {
            session.discover.as_ref().is_some_and(|filter| filter.admits(&info.kind))
        });
        seats.retain(|seat| !target.hidden_from.contains(seat));
        let extension = self.extensions.get(connection);
        if extension.is_none_or(|extension| !extension.targets.is_web(target)) {
            seats.retain(|seat| !self.is_confined(seat.client));
        }
        seats
    }

    /// Names the tab around a page: Chrome has a name for it too, but does not tell extensions.
    fn next_tab_id(&mut self) -> TargetId {
        self.tabs_named += 1;
        let of_this_run = self.browser_id.as_str().get(..24).unwrap_or_default();
        TargetId::new(format!("{of_this_run}{:08X}", self.tabs_named).to_uppercase())
    }
}

/// The context of tabs whose extension does not say.
pub(super) const DEFAULT_CONTEXT: &str = "default";

/// The tab around a page, as a target.
pub(super) fn tab_info(page: &Target) -> Option<TargetInfo> {
    let (target_id, kind) = (page.tab.clone()?, "tab".to_owned());
    Some(TargetInfo {
        target_id,
        kind,
        opener_id: None,
        extra: Extra::default(),
        ..page.info.clone()
    })
}

/// Parameters of the events that carry nothing but a target.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InfoEvent {
    target_info: TargetInfo,
}

impl InfoEvent {
    pub(super) fn of(target_info: TargetInfo) -> Self {
        Self { target_info }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TargetDestroyed {
    pub(super) target_id: TargetId,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TargetCrashed {
    target_id: TargetId,
    status: &'static str,
    error_code: i32,
}

/// Says in the log that a target is announced before it has an address, and returns whether it is.
/// Playwright waits for ever for a page like that; a frame gets its address later.
pub(super) fn look_at_url(announced: &str, info: &TargetInfo, turn: &mut Turn) -> bool {
    let is_empty = info.url.is_empty() || info.url == ":";
    if is_empty {
        let TargetInfo { kind, target_id, .. } = info;
        let text = format!("WARNING: {announced} with empty URL ({kind} {target_id})");
        turn.log(LogLevel::Error, text);
    }
    is_empty
}

pub(super) fn send_attached(
    parent: &Seat,
    session_id: SessionId,
    target_info: TargetInfo,
    waiting_for_debugger: bool,
    turn: &mut Turn,
) {
    look_at_url("Target.attachedToTarget sent", &target_info, turn);
    let extra = Extra::<Payload>::default();
    let attached = AttachedToTarget { session_id, target_info, waiting_for_debugger, extra };
    turn.event(parent, "Target.attachedToTarget", &attached);
}
