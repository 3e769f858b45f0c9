//! The one place where effects become calls, and their outcomes become inputs.

use std::time::Duration;

use shared_protocol::ExtensionMessage;
use wasm_bindgen_futures::spawn_local;

use super::attach::{attach, check_tab};
use super::windows::{bring_to_front, create_tab, read_window};
use super::{SHELL, step};
use crate::chrome::{
    action, content_settings, cookies, debugger, downloads, groups, storage, tabs, windows,
};
use crate::js::error::{ChromeError, log_failure};
use crate::js::payload::JsPayload;
use crate::js::time;
use crate::relay::probe;
use crate::relay::socket::RelaySocket;
use crate::stored_key;
use extension_core::{Effect, Icon, Input, RequestRef};

/// The wait before the worker looks for the relay again.
const RETRY: Duration = Duration::from_secs(1);

/// The time after which a lost relay's changes are reverted. It is longer than the relay keeps the
/// clients of an extension that is away.
const GIVE_UP: Duration = Duration::from_secs(6);

/// The time after which an unused hidden tab is no longer rendered.
const STOP_RENDERING_AFTER: Duration = Duration::from_secs(2);

/// The time that a screenshot may wait for a frame before one is forced; most take half as long.
/// Each further wait is twice as long.
const FORCE_FRAME_AFTER: Duration = Duration::from_millis(150);

/// The greatest time between CDP's last event about a download and Chrome's.
const DOWNLOAD_OVERDUE: Duration = Duration::from_secs(5);

/// Performs one effect. It is long because it has one arm for each effect, and nothing else.
pub(crate) fn perform(effect: Effect<JsPayload>) {
    match effect {
        Effect::Probe { attempt, port } => spawn_local(async move {
            let found = probe::is_relay(port).await;
            step(Input::Probed { attempt, found });
        }),
        Effect::AskStatus { attempt, port } => spawn_local(async move {
            let is_taken = probe::is_taken(port).await;
            step(Input::StatusAnswered { attempt, is_taken });
        }),
        Effect::ReadKey { attempt } => spawn_local(async move {
            let stored = stored_key::read().await;
            step(Input::KeyRead { attempt, stored });
        }),
        Effect::AskHello { attempt, port } => spawn_local(async move {
            let answer = probe::ask_hello(port).await;
            step(Input::HelloAnswered { attempt, answer });
        }),
        Effect::RememberPaired => {
            spawn_local(async { log_failure(storage::write_paired().await) });
        }
        Effect::OpenSocket { attempt, port, hello, key: Some(key) } => {
            match RelaySocket::open_with_key(attempt, port, &hello, key, step) {
                Ok(socket) => {
                    SHELL.with_borrow_mut(|shell| shell.socket = Some(socket));
                }
                Err(_) => later(Duration::ZERO, Input::SocketClosed { attempt, code: 1006 }),
            }
        }
        Effect::OpenSocket { attempt, port, hello, key: None } => {
            match RelaySocket::open(attempt, port, &hello, step) {
                Ok(socket) => {
                    SHELL.with_borrow_mut(|shell| shell.socket = Some(socket));
                }
                Err(_) => later(Duration::ZERO, Input::SocketClosed { attempt, code: 1006 }),
            }
        }
        Effect::CloseSocket => SHELL.with_borrow(|shell| {
            // A socket that cannot be closed has ended already, and reports that itself.
            drop(shell.socket.as_ref().map(RelaySocket::close));
        }),
        Effect::RetryLater { attempt } => later(RETRY, Input::RetryDue { attempt }),
        Effect::RetryAfter { attempt, wait } => later(wait, Input::RetryDue { attempt }),
        Effect::GiveRelayUpLater { attempt } => later(GIVE_UP, Input::RelayGivenUp { attempt }),
        Effect::AwaitOldRelay { port } => spawn_local(async move {
            // A relay that has answered this has read and forwarded everything that was sent
            // before.
            probe::is_relay(port).await;
            step(Input::OldRelayDrained);
        }),
        Effect::Send(message) => send(&message),
        Effect::Attach { tab } => spawn_local(async move {
            let outcome = attach(tab).await.map_err(|error| error.message);
            step(Input::Attached { tab, outcome });
        }),
        Effect::Detach { tab } => spawn_local(async move {
            log_failure(debugger::detach(tab).await);
            step(Input::Detached { tab });
        }),
        Effect::ReadTargetInfo { tab } => spawn_local(async move {
            if let Ok(info) = debugger::target_info(tab).await {
                step(Input::TargetInfoRead { tab, info });
            }
        }),
        Effect::CheckTab { tab } => check_tab(tab, Duration::ZERO),
        Effect::ReattachLater { tab, wait } => check_tab(tab, wait),
        Effect::RunCommand { request, debuggee, method, params } => {
            let command = debugger::send_command(&debuggee, &method, params.as_ref());
            spawn_local(async move {
                let outcome = command.await.map_err(|error| error.message);
                if let Some(request) = request {
                    step(Input::CommandDone { request, outcome });
                }
            });
        }
        Effect::CreateTab { request, url, place } => spawn_local(async move {
            let outcome = create_tab(&url, place).await.map_err(|error| error.message);
            step(Input::TabCreated { request, outcome });
        }),
        Effect::CloseTabs { tabs } => spawn_local(async move {
            for tab in tabs {
                log_failure(tabs::remove(tab).await);
            }
        }),
        Effect::ReadWindow { request, window } => spawn_local(async move {
            let outcome = read_window(window).await.map_err(|error| error.message);
            step(Input::WindowRead { request, outcome });
        }),
        Effect::ChangeWindow { request, window, bounds, state } => {
            done(request, windows::change(window, bounds, state));
        }
        Effect::LeavePage { request, tab, close } => done(request, async move {
            if close { tabs::remove(tab).await } else { tabs::blank(tab).await }
        }),
        Effect::ActivateTab { request, tab } => done(request, bring_to_front(tab)),
        Effect::SetPermissions { request, clear, rules } => {
            let replaced = content_settings::replace(&clear, &rules);
            match request {
                Some(request) => done(request, replaced),
                None => spawn_local(async { log_failure(replaced.await) }),
            }
        }
        Effect::SearchDownload { request, url, exclude, max_age } => spawn_local(async move {
            let found = downloads::find(&url, &exclude, max_age).await;
            let outcome = found.map_err(|error| error.message);
            step(Input::DownloadSearched { request, outcome });
        }),
        Effect::DownloadOverdueLater { request } => {
            later(DOWNLOAD_OVERDUE, Input::DownloadOverdue { request });
        }
        Effect::CancelDownload { request, download, remove } => {
            done(request, downloads::cancel(download, remove));
        }
        Effect::CallCookies { request, function, details } => spawn_local(async move {
            let answers = cookies::call(function, details).await;
            step(Input::CookiesAnswered { request, answers });
        }),
        Effect::Group { tab, groups } => spawn_local(async move {
            // The tab may have been closed since, or the user may be dragging it.
            let group = groups::join(tab, &groups).await.unwrap_or_default();
            step(Input::Grouped { group });
        }),
        Effect::TryUngroup { tab, groups } => spawn_local(async move {
            let is_dragged = groups::try_ungroup(tab, &groups).await;
            step(Input::UngroupTried { tab, is_dragged });
        }),
        Effect::ReadGroup { tab } => spawn_local(async move {
            let place = tabs::get(tab).await.ok().and_then(|tab| tab.group_id);
            let group = place.filter(|group| *group != tabs::NO_GROUP);
            step(Input::GroupRead { tab, group });
        }),
        Effect::Ungroup { tab, groups } => spawn_local(async move {
            // The tab may have been closed since, and has left its group with that.
            drop(groups::leave(tab, &groups).await);
        }),
        Effect::StopRenderingLater { tab, uses } => {
            later(STOP_RENDERING_AFTER, Input::StopRenderingDue { tab, uses });
        }
        Effect::ForceFrameLater { tab, request, forced } => {
            later(
                FORCE_FRAME_AFTER * 2_u32.pow(forced),
                Input::ForceFrameDue { tab, request, forced },
            );
        }
        Effect::ShowToolbar { tab, state } => spawn_local(async move {
            // The tab may have been closed since, and its icon with it.
            drop(action::set_icon(tab, icon_name(state.icon)).await);
            drop(action::set_badge(Some(tab), state.badge).await);
            drop(action::set_title(Some(tab), &state.title).await);
            step(Input::ToolbarShown { tab });
        }),
        Effect::ShowProblem { text } => spawn_local(async move {
            let badge = if text.is_some() { "!" } else { "" };
            let text = text.as_deref().unwrap_or("click to control this tab");
            log_failure(action::set_badge(None, badge).await);
            log_failure(action::set_title(None, &format!("Playwriter: {text}")).await);
        }),
        Effect::Persist(snapshot) => {
            let written = storage::write_snapshot(&snapshot);
            spawn_local(async { log_failure(written.await) });
        }
    }
}

fn later(wait: Duration, input: Input<JsPayload>) {
    spawn_local(async move {
        time::sleep(wait).await;
        step(input);
    });
}

/// Passes the outcome of a call to the machine, for a request that waits for it.
fn done(request: RequestRef, call: impl Future<Output = Result<(), ChromeError>> + 'static) {
    spawn_local(async move {
        let outcome = call.await.map_err(|error| error.message);
        step(Input::Done { request, outcome });
    });
}

/// Sends a message. If a reply cannot be sent, an error goes in its place, since a client waits.
fn send(message: &ExtensionMessage<JsPayload>) {
    SHELL.with_borrow(|shell| {
        let Some(socket) = &shell.socket else { return };
        if let Err(thrown) = socket.send(message) {
            web_sys::console::error_2(&"a message to the relay was lost:".into(), &thrown);
            if let ExtensionMessage::Reply { id, outcome: Ok(_) } = message {
                let outcome = Err("The result could not be sent".to_owned());
                drop(socket.send(&ExtensionMessage::Reply { id: *id, outcome }));
            }
        }
    });
}

fn icon_name(icon: Icon) -> &'static str {
    match icon {
        Icon::Black => "black",
        Icon::Grey => "grey",
        Icon::Green => "green",
    }
}
