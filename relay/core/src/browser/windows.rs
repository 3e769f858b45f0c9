//! Windows belong to the user. Clients may ask about them and move them, and nothing more unless
//! the user allows it.

mod messages;

use serde::Deserialize;
use serde_json::json;
use shared_protocol::overrides::Override;
use shared_protocol::{BrowserWindow, Extra, Payload as _, TargetId, WindowChange};

use crate::Relay;
use crate::asker::Asker;
use crate::browser::windows::messages::{Bounds, WindowMessage, resized};
use crate::cdp::method::WindowCommand;
use crate::cdp::payload::Payload;
use crate::cdp::target_domain::OneTarget;
use crate::cdp::{Command, Error};
use crate::ids::SessionRef;
use crate::requests::pending::{QUICK, Request};
use crate::requests::purpose::{Purpose, WindowStep};
use crate::sessions::model::Kind;
use crate::turn::Turn;

const METRICS: &str = "Emulation.setDeviceMetricsOverride";

/// Chrome's own error text.
const NO_WINDOW: &str = "Browser window not found";

/// The largest number of windows that are remembered per client; the oldest is forgotten first.
const MAX_WINDOWS: usize = 256;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OneWindow {
    window_id: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SetWindowBounds {
    window_id: i64,
    bounds: Bounds,
}

#[derive(Deserialize)]
struct SetContentsSize {
    width: Option<i64>,
    height: Option<i64>,
}

impl Relay {
    pub(crate) fn window_command(
        &mut self,
        session_ref: &SessionRef,
        action: WindowCommand,
        command: &Command,
        turn: &mut Turn,
    ) {
        let asker = Asker::new(session_ref, command);
        match self.window_question(session_ref, action, command) {
            Ok((step, message)) => self.ask_about_window(asker, step, message, turn),
            Err(error) => turn.fail(&asker, error),
        }
    }

    fn window_question(
        &self,
        session_ref: &SessionRef,
        action: WindowCommand,
        command: &Command,
    ) -> Result<(WindowStep, WindowMessage), Error> {
        match action {
            WindowCommand::Find => {
                let page = self.page_for_window(session_ref, command)?;
                Ok((WindowStep::Found, WindowMessage::OfPage(page)))
            }
            WindowCommand::SetContentsSize => {
                let SetContentsSize { width, height } = command.read_params()?;
                let page = self.page_for_window(session_ref, command).or_else(|error| {
                    let tab =
                        self.extension_of(session_ref).and_then(|it| it.targets.tabs().next());
                    tab.map(|tab| tab.info.target_id.clone()).ok_or(error)
                })?;
                Ok((WindowStep::Resize { width, height }, WindowMessage::OfPage(page)))
            }
            WindowCommand::GetBounds => {
                let OneWindow { window_id } = command.read_params()?;
                self.check_window(session_ref, window_id)?;
                Ok((WindowStep::Bounds, WindowMessage::OfWindow(window_id)))
            }
            WindowCommand::SetBounds => {
                let SetWindowBounds { window_id, bounds } = command.read_params()?;
                self.check_window(session_ref, window_id)?;
                let Bounds { left, top, width, height, window_state: state } = bounds;
                let extra = Extra::default();
                let change = WindowChange { window_id, left, top, width, height, state, extra };
                Ok((WindowStep::Changed, WindowMessage::Change(change)))
            }
        }
    }

    /// Refuses a window without a controlled tab, which concerns no client.
    fn check_window(&self, session_ref: &SessionRef, window: i64) -> Result<(), Error> {
        match self
            .clients
            .get(session_ref.client)
            .is_some_and(|client| client.windows.contains(&window))
        {
            true => Ok(()),
            false => Err(Error::server(NO_WINDOW)),
        }
    }

    /// Returns the page whose window is meant: the one that is named, else the session's own. A
    /// frame is in its page's window, a worker in none.
    fn page_for_window(
        &self,
        session_ref: &SessionRef,
        command: &Command,
    ) -> Result<TargetId, Error> {
        let session = self.clients.session(session_ref).map(|session| &session.kind);
        let extension_session = match (command.read_params::<OneTarget>(), session) {
            (Ok(OneTarget { target_id }), _) => Some(self.page_by_id(session_ref, &target_id)?.0),
            (Err(_), Some(Kind::Target(session))) => Some(session.extension_session.clone()),
            (Err(_), Some(Kind::Tab { page })) => Some(page.clone()),
            (Err(_), Some(Kind::Browser) | None) => None,
        };
        let targets = self.extension_of(session_ref).map(|extension| &extension.targets);
        extension_session
            .and_then(|extension_session| targets?.page_around(&extension_session))
            .map(|page| page.info.target_id.clone())
            .ok_or_else(|| Error::server("No web contents in the target"))
    }

    /// Asks whether the page of a session is shown, before a folder is given to it.
    pub(crate) fn ask_whether_shown(&mut self, asker: Asker, command: Command, turn: &mut Turn) {
        match self.page_for_window(&asker.session, &command) {
            Ok(page) => {
                let step = WindowStep::Folder(command);
                self.ask_about_window(asker, step, WindowMessage::OfPage(page), turn);
            }
            Err(error) => turn.fail(&asker, error),
        }
    }

    fn ask_about_window(
        &mut self,
        asker: Asker,
        step: WindowStep,
        message: WindowMessage,
        turn: &mut Turn,
    ) {
        let Some(connection) = self.connection_of(&asker.session) else { return };
        let proof = match self.require(&asker.session, turn) {
            Ok(proof) => proof,
            Err(error) => return turn.fail(&asker, error),
        };
        let request = Request::to_extension(connection, Purpose::Window(step))
            .asked_by(asker)
            .until(turn.now + QUICK);
        self.ask_extension(request, |id| message.with(id, proof), turn);
    }

    /// Handles the extension's answer about a window.
    pub(crate) fn window_answered(
        &mut self,
        asker: Option<Asker>,
        step: WindowStep,
        outcome: Result<Payload, Error>,
        turn: &mut Turn,
    ) {
        let Some(asker) = asker else { return };
        let window = outcome.map_err(|error| match error.message.as_str() {
            text if text.starts_with("No window with id") => Error::server(NO_WINDOW),
            _ => error,
        });
        let window = window.and_then(|payload| match &step {
            WindowStep::Changed => Ok(None),
            WindowStep::Found
            | WindowStep::Bounds
            | WindowStep::Resize { .. }
            | WindowStep::Folder(_) => payload
                .read::<BrowserWindow<Payload>>()
                .map(Some)
                .map_err(|error| Error::server(error.to_string())),
        });
        let outcome = match (window, step) {
            (window, WindowStep::Folder(command)) => {
                let is_hidden = window.ok().flatten().and_then(|window| window.hidden);
                return self.set_folder(&asker, command, is_hidden, turn);
            }
            (Err(error), _) => Err(error),
            (Ok(Some(window)), WindowStep::Resize { width, height })
                if window.hidden == Some(true)
                    && self.target_under(&asker.session).is_some_and(|it| it.parent.is_none()) =>
            {
                return self.resize_page(asker, &window, width, height, turn);
            }
            (Ok(Some(window)), WindowStep::Resize { width, height }) => {
                let change = WindowMessage::Change(resized(&window, width, height));
                return self.ask_about_window(asker, WindowStep::Changed, change, turn);
            }
            (Ok(Some(window)), WindowStep::Found) => {
                if let Some(client) = self.clients.get_mut(asker.session.client) {
                    client.windows.insert(window.window_id);
                    if client.windows.len() > MAX_WINDOWS {
                        client.windows.pop_first();
                    }
                }
                let (id, bounds) = (window.window_id, Bounds::of(&window));
                Ok(Payload::of(&json!({ "windowId": id, "bounds": bounds })))
            }
            (Ok(Some(window)), WindowStep::Bounds) => {
                Ok(Payload::of(&json!({ "bounds": Bounds::of(&window) })))
            }
            (Ok(Some(_)), WindowStep::Changed) | (Ok(None), _) => Ok(Payload::empty_object()),
        };
        turn.reply(&asker, outcome);
    }

    /// Gives the size to the page alone, for as long as the session lasts. A page behind another does
    /// not follow its window, and the window shows something else to the user.
    fn resize_page(
        &mut self,
        asker: Asker,
        window: &BrowserWindow<Payload>,
        width: Option<i64>,
        height: Option<i64>,
        turn: &mut Turn,
    ) {
        let Some(rule) = Override::of(METRICS) else { return };
        let size = json!({
            "width": width.or(window.content_width).unwrap_or_default(),
            "height": height.or(window.content_height).unwrap_or_default(),
            "deviceScaleFactor": 0,
            "mobile": false,
        });
        let command = Command {
            id: asker.id,
            session: asker.session.on_wire(),
            method: METRICS.to_owned(),
            params: Some(Payload::of(&size)),
        };
        self.override_command(&asker.session, rule, command, turn);
    }

    /// `Target.activateTarget`: the tab works as if it were in front; to show it is up to the user.
    pub(crate) fn activate_target(
        &mut self,
        session_ref: &SessionRef,
        command: &Command,
        turn: &mut Turn,
    ) {
        let asker = Asker::new(session_ref, command);
        let page = command
            .read_params::<OneTarget>()
            .and_then(|wanted| self.page_by_id(session_ref, &wanted.target_id));
        match page {
            Err(error) => turn.fail(&asker, error),
            Ok((_, page)) if self.policy.may_focus => {
                self.ask_about_window(
                    asker,
                    WindowStep::Changed,
                    WindowMessage::Activate(page),
                    turn,
                );
            }
            Ok(_) => turn.ok(&asker),
        }
    }
}
