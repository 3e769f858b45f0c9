//! Targets come, change and go.

use serde::Deserialize;
use shared_protocol::{AttachedToTarget, Payload as _, TargetId};

use crate::Relay;
use crate::cdp::payload::Payload;
use crate::cdp::target_domain::InfoEvent;
use crate::confinement::is_web;
use crate::ids::{ConnectionId, ExtensionSessionId, TargetRef};
use crate::requests::complete::{closed, target_closed};
use crate::requests::purpose::Purpose;
use crate::sessions::attach::warn_of_empty_url;
use crate::targets::model::Target;
use crate::turn::Turn;

/// The context of tabs whose extension does not say.
pub(crate) const DEFAULT_CONTEXT: &str = "default";

impl Relay {
    /// The extension controls another tab.
    pub(crate) fn tab_attached(
        &mut self,
        connection: ConnectionId,
        attached: AttachedToTarget<Payload>,
        turn: &mut Turn,
    ) {
        let AttachedToTarget { session_id, target_info: mut info, .. } = attached;
        let extension_session = ExtensionSessionId::new(session_id);
        if warn_of_empty_url("Target.attachedToTarget received", &info, turn) {
            // Playwright would wait for ever for such a page to navigate.
            info.url = "about:blank".to_owned();
        }
        info.attached = true;
        // Playwright ignores a page that belongs to no context.
        let context = info.browser_context_id.get_or_insert_with(|| DEFAULT_CONTEXT.to_owned());
        let Some(extension) = self.extensions.get_mut(connection) else { return };
        extension.context = Some(context.clone());
        // Another browser has started under the same name, and counts from one again; or the tab
        // was taken away and back while nobody could be told. Either way the old session is over.
        let stale: Vec<ExtensionSessionId> = extension
            .targets
            .tabs()
            .filter(|tab| {
                (tab.session == extension_session) != (tab.info.target_id == info.target_id)
            })
            .map(|tab| tab.session.clone())
            .collect();
        for session in stale {
            self.detached(connection.target(&session), turn);
        }
        self.revision += 1;
        let tab_id = self.next_tab_id();
        let Some(extension) = self.extensions.get_mut(connection) else { return };
        if extension.targets.by_session(&extension_session).is_some() {
            let is_on_web = is_web(&info.url);
            let change = |known: &mut Target| (known.is_on_web, known.info) = (is_on_web, info);
            return self.change_target(connection.target(&extension_session), change, turn);
        }
        let mut target = Target::new(extension_session.clone(), None, info);
        target.tab = Some(tab_id);
        extension.targets.add(target);
        self.children_changed = true;
        self.tabs_changed = true;
        self.announce_created(connection.target(&extension_session), turn);
        self.announce_tab(connection.target(&extension_session), turn);
        if self
            .target(connection.target(&extension_session))
            .is_some_and(|target| !target.sessions.is_empty())
        {
            self.announce_changed(connection.target(&extension_session), turn);
        }
    }

    /// Keeps the address of a tab right, and tells those who follow it. Comes before anybody hears of
    /// the event: some may not.
    pub(crate) fn frame_navigated(
        &mut self,
        target_ref: TargetRef<'_>,
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
            /// The address that could not be loaded, if the page is the error page for it.
            #[serde(rename = "unreachableUrl")]
            unreachable_url: Option<String>,
        }

        let Ok(FrameNavigated { frame }) = params.read() else { return };
        let Some(target) = self.target_mut(target_ref) else { return };
        if frame.id != target.info.target_id {
            return;
        }
        target.state.document_gone();
        let is_closing = target.is_closing(turn.now);
        let may_be_restricted = target.restriction.is_some() || frame.unreachable_url.is_some();
        let has_arrived = target.destination.take().is_some();
        let is_on_web = is_web(frame.unreachable_url.as_ref().unwrap_or(&frame.url));
        if target.info.url != frame.url || target.is_on_web != is_on_web || target.goes_to_file {
            let change = |target: &mut Target| {
                (target.is_on_web, target.info.url) = (is_on_web, frame.url);
                target.goes_to_file = false;
            };
            self.change_target(target_ref, change, turn);
            self.revision += 1;
            self.announce_changed(target_ref, turn);
        }
        self.tabs_changed |= has_arrived;
        self.left_restricted_page(target_ref, turn);
        if may_be_restricted {
            self.check_if_restricted(target_ref, turn);
        }
        if is_closing {
            // Chrome told the old page to close and has forgotten that with it. The new one is told
            // as soon as it answers: until then Chrome may still mean the old one.
            let question = ("Runtime.getIsolateId", None);
            self.ask(
                target_ref.connection,
                None,
                Some(target_ref.session),
                question,
                Purpose::CloseAgain,
                turn,
            );
        }
    }

    /// Keeps what is known of a tab, and tells those who follow it.
    pub(crate) fn info_changed(
        &mut self,
        connection: ConnectionId,
        changed: InfoEvent,
        turn: &mut Turn,
    ) {
        let info = changed.target_info;
        let Some(extension) = self.extensions.get(connection) else { return };
        let Some(target) = extension.targets.by_target_id(&info.target_id) else { return };
        let extension_session = target.session.clone();
        let change = |target: &mut Target| {
            (target.info.url, target.info.title) = (info.url, info.title);
        };
        self.change_target(connection.target(&extension_session), change, turn);
        self.revision += 1;
        self.announce_changed(connection.target(&extension_session), turn);
    }

    /// Names the tab around a page: Chrome has a name for it too, but does not tell extensions.
    fn next_tab_id(&mut self) -> TargetId {
        self.tabs_named += 1;
        let of_this_run = self.browser_id.as_str().get(..24).unwrap_or_default();
        TargetId::new(format!("{of_this_run}{:08X}", self.tabs_named).to_uppercase())
    }

    /// An extension's session has ended, with all below it. Clients hear so before the commands that
    /// were waiting fail: Playwright takes a command that fails first for a mistake of the caller's.
    pub(crate) fn detached(&mut self, target_ref: TargetRef<'_>, turn: &mut Turn) {
        let Some(extension) = self.extensions.get_mut(target_ref.connection) else { return };
        let gone = extension.targets.detach(target_ref.session);
        for (index, target) in gone.iter().enumerate() {
            let (closing, ended): (Vec<_>, Vec<_>) = self
                .requests
                .take_where(|request| {
                    request.connection == target_ref.connection
                        && request.session.as_ref() == Some(&target.session)
                })
                .into_iter()
                .partition(|(_, request)| matches!(request.purpose, Purpose::CloseTarget));
            for (id, request) in closing {
                let success = Ok(closed());
                self.complete_request(id, request, success, turn);
            }
            for session_ref in &target.sessions {
                self.end_session(session_ref, Some(&target.info.target_id), turn);
            }
            for (id, request) in ended {
                self.complete_request(id, request, Err(target_closed()), turn);
            }
            for waiting in target.state.domains.values().flat_map(|known| &known.waiting) {
                turn.fail(waiting.asker(), target_closed());
            }
            // A service worker may be there once more, below another frame of the same page.
            let is_last =
                gone[index + 1..].iter().all(|other| other.info.target_id != target.info.target_id);
            if is_last {
                self.announce_destroyed(target_ref.connection, target, &target.info, turn);
            }
            self.end_tab(target_ref.connection, target, turn);
        }
        self.announce_successors(target_ref.connection, &gone, turn);
        self.children_changed = true;
        self.tabs_changed = true;
        self.revision += 1;
    }

    /// The tab around a page that has gone goes after it.
    fn end_tab(&mut self, connection: ConnectionId, page: &Target, turn: &mut Turn) {
        let Some(info) = page.tab_info() else { return };
        for session_ref in
            self.clients.sessions(connection, |session| session.is_tab_of(&page.session))
        {
            self.end_session(&session_ref, Some(&info.target_id), turn);
        }
        self.announce_destroyed(connection, page, &info, turn);
    }

    /// A service worker whose page has gone may be told of by another page.
    fn announce_successors(&mut self, connection: ConnectionId, gone: &[Target], turn: &mut Turn) {
        for worker in gone.iter().filter(|target| target.is_service_worker()) {
            let extension = self.extensions.get(connection);
            let successor = extension
                .and_then(|it| it.targets.by_target_id(&worker.info.target_id))
                .map(|successor| successor.session.clone());
            if let Some(successor) = successor {
                self.announce_service_worker(connection.target(&successor), turn);
            }
        }
    }
}
