//! The one place where effects become calls, and calls become inputs again.

use std::time::Duration;

use gloo_net::http::{Method, RequestBuilder, Response};
use js_sys::{Reflect, Uint8Array};
use shared_protocol::http::ExtensionStatus;
use shared_protocol::pairing::MAX_FRAME;
use shared_protocol::{BrowserWindow, ExtensionMessage, Extra, TabId, TargetInfo};
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{AbortSignal, ReadableStreamDefaultReader, RequestCredentials, RequestRedirect};

use crate::chrome::{
    action, content_settings, cookies, debugger, downloads, groups, scripting, storage, tabs,
    windows,
};
use crate::error::ChromeError;
use crate::payload::{JsPayload, from_text};
use crate::relay_socket::RelaySocket;
use crate::{SHELL, fields, key, step, time};
use extension_core::{
    Bounds, Effect, Greeting, Icon, Input, Place, Silence, Ticket, WindowId, WindowOf, is_barred,
};

/// How long to rest before looking for the relay again.
const RETRY: Duration = Duration::from_secs(1);

/// How long the relay may be away before what was done for its clients is undone. Longer than the
/// relay keeps clients whose extension is away.
const GIVE_UP: Duration = Duration::from_secs(6);

/// How long a tab must be unused before it may be slow again.
const REST: Duration = Duration::from_secs(2);

/// How long a screenshot may wait for a frame before one is asked for; most take half as long. Each
/// further time it may wait twice as long.
const DRAW: Duration = Duration::from_millis(150);

/// How long a download may take from CDP's last word on it to Chrome's.
const DOWNLOAD_OVERDUE: Duration = Duration::from_secs(5);

/// The size of the window that clients have for themselves.
const OWN_WINDOW: Bounds = Bounds { left: None, top: None, width: Some(1200), height: Some(800) };

/// What Chrome says of a page that has a frame of another extension in it.
const FOREIGN_FRAME: &str = "chrome-extension:// URL of different extension";

/// What Chrome says of a tab that has a debugger; perhaps it is ours.
const ALREADY_ATTACHED: &str = "already attached";

/// How long a relay on this machine may take to say that it is there.
const PROBE_MILLISECONDS: u32 = 2000;

pub(crate) fn perform(effect: Effect<JsPayload>) {
    match effect {
        Effect::Probe { attempt, port } => spawn_local(async move {
            let found = relay_is_at(port).await;
            step(Input::Probed { attempt, found });
        }),
        Effect::AskStatus { attempt, port } => spawn_local(async move {
            let taken = relay_is_taken_at(port).await;
            step(Input::StatusSeen { attempt, taken });
        }),
        Effect::ReadKey { attempt } => spawn_local(async move {
            let stored = key::read().await;
            step(Input::KeyRead { attempt, stored });
        }),
        Effect::AskHello { attempt, port } => spawn_local(async move {
            let greeting = greeting_at(port).await;
            step(Input::Greeted { attempt, greeting });
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
            // A socket that cannot be closed has ended already, and says so itself.
            drop(shell.socket.as_ref().map(RelaySocket::close));
        }),
        Effect::RetryLater { attempt } => later(RETRY, Input::RetryDue { attempt }),
        Effect::RetryAfter { attempt, wait } => later(wait, Input::RetryDue { attempt }),
        Effect::GiveRelayUpLater { attempt } => later(GIVE_UP, Input::RelayGivenUp { attempt }),
        Effect::GoOnLater { port } => spawn_local(async move {
            // Whoever answers this has read what was sent before, and passed it on.
            relay_is_at(port).await;
            step(Input::GoOnDue);
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
        Effect::Describe { tab } => spawn_local(async move {
            if let Ok(info) = debugger::target_info(tab).await {
                step(Input::Described { tab, info });
            }
        }),
        Effect::Look { tab } => look(tab, Duration::ZERO),
        Effect::ReattachLater { tab, wait } => look(tab, wait),
        Effect::RunCommand { ticket, debuggee, method, params } => {
            let command = debugger::send_command(&debuggee, &method, params.as_ref());
            spawn_local(async move {
                let outcome = command.await.map_err(|error| error.message);
                if let Some(ticket) = ticket {
                    step(Input::CommandDone { ticket, outcome });
                }
            });
        }
        Effect::CreateTab { ticket, url, place } => spawn_local(async move {
            let outcome = create_tab(&url, place).await.map_err(|error| error.message);
            step(Input::TabCreated { ticket, outcome });
        }),
        Effect::CloseTabs { tabs } => spawn_local(async move {
            for tab in tabs {
                log_failure(tabs::remove(tab).await);
            }
        }),
        Effect::AskWindow { ticket, of } => spawn_local(async move {
            let outcome = see_window(of).await.map_err(|error| error.message);
            step(Input::WindowSeen { ticket, outcome });
        }),
        Effect::ChangeWindow { ticket, window, bounds, state } => {
            done(ticket, windows::change(window, bounds, state));
        }
        Effect::LeavePage { ticket, tab, close } => done(ticket, async move {
            if close { tabs::remove(tab).await } else { tabs::blank(tab).await }
        }),
        Effect::ActivateTab { ticket, tab } => done(ticket, bring_to_front(tab)),
        Effect::SetPermissions { ticket, clear, rules } => {
            let replaced = content_settings::replace(&clear, &rules);
            match ticket {
                Some(ticket) => done(ticket, replaced),
                None => spawn_local(async { log_failure(replaced.await) }),
            }
        }
        Effect::SearchDownload { ticket, url, exclude, max_age } => spawn_local(async move {
            let found = downloads::find(&url, &exclude, max_age).await;
            let outcome = found.map_err(|error| error.message);
            step(Input::DownloadSearched { ticket, outcome });
        }),
        Effect::DownloadOverdueLater { ticket } => {
            later(DOWNLOAD_OVERDUE, Input::DownloadOverdue { ticket });
        }
        Effect::CancelDownload { ticket, download, remove } => {
            done(ticket, downloads::cancel(download, remove));
        }
        Effect::CallCookies { ticket, function, details } => spawn_local(async move {
            let answers = cookies::call(function, details).await;
            step(Input::CookiesAnswered { ticket, answers });
        }),
        Effect::Group { tab, groups } => spawn_local(async move {
            // The tab may have been closed meanwhile, or the user be dragging it.
            let group = groups::join(tab, &groups).await.unwrap_or_default();
            step(Input::Grouped { group });
        }),
        Effect::TakeOut { tab, groups } => spawn_local(async move {
            let is_dragged = groups::take_out(tab, &groups).await;
            step(Input::TriedToTakeOut { tab, is_dragged });
        }),
        Effect::AskPlace { tab } => spawn_local(async move {
            let place = tabs::get(tab).await.ok().and_then(|tab| tab.group_id);
            let group = place.filter(|group| *group != tabs::NO_GROUP);
            step(Input::Placed { tab, group });
        }),
        Effect::Ungroup { tab, groups } => spawn_local(async move {
            // The tab may have been closed meanwhile, and with it its place.
            drop(groups::leave(tab, &groups).await);
        }),
        Effect::RestLater { tab, uses } => later(REST, Input::RestDue { tab, uses }),
        Effect::DrawLater { tab, ticket, drawn } => {
            later(DRAW * 2_u32.pow(drawn), Input::DrawDue { tab, ticket, drawn });
        }
        Effect::Show { tab, look } => spawn_local(async move {
            // The tab may have been closed meanwhile, and with it its icon.
            drop(action::set_icon(tab, icon_name(look.icon)).await);
            drop(action::set_badge(Some(tab), look.badge).await);
            drop(action::set_title(Some(tab), &look.title).await);
            step(Input::Shown { tab });
        }),
        Effect::ShowTrouble { words } => spawn_local(async move {
            let badge = if words.is_some() { "!" } else { "" };
            let words = words.as_deref().unwrap_or("click to control this tab");
            log_failure(action::set_badge(None, badge).await);
            log_failure(action::set_title(None, &format!("Playwriter: {words}")).await);
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

/// Tells how a call went that somebody waits for.
fn done(ticket: Ticket, call: impl Future<Output = Result<(), ChromeError>> + 'static) {
    spawn_local(async move {
        let outcome = call.await.map_err(|error| error.message);
        step(Input::Done { ticket, outcome });
    });
}

/// Sends a message. A reply that cannot be sent is replaced by one that says so: somebody waits.
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

async fn relay_is_at(port: u16) -> bool {
    ask_relay(port, Method::HEAD, "/").await.is_some()
}

/// A relay that does not answer serves nobody.
async fn relay_is_taken_at(port: u16) -> bool {
    let Some(answer) = ask_relay(port, Method::GET, "/extension/status").await else {
        return false;
    };
    let text = answer.text().await.unwrap_or_default();
    from_text::<ExtensionStatus>(&text.into()).is_ok_and(|status| status.connected)
}

/// Asks who listens. Whoever it is may send anything, for ever.
async fn greeting_at(port: u16) -> Greeting {
    let patience = AbortSignal::timeout_with_u32(PROBE_MILLISECONDS);
    let request = RequestBuilder::new(&format!("http://127.0.0.1:{port}/extension/hello"))
        .redirect(RequestRedirect::Error)
        .credentials(RequestCredentials::Omit)
        .abort_signal(Some(&patience));
    let Ok(answer) = request.send().await else {
        // A redirect fails like a closed port.
        return if relay_is_at(port).await { Greeting::Other } else { Greeting::Nobody };
    };
    let text = if answer.ok() { short_text(&answer).await } else { None };
    let hello = text.and_then(|text| fields::relay_hello(&text.into()));
    hello.map_or(Greeting::Other, Greeting::Relay)
}

/// The text of an answer that is not longer than any of ours.
async fn short_text(answer: &Response) -> Option<String> {
    let reader = ReadableStreamDefaultReader::new(&answer.body()?).ok()?;
    let mut bytes = Vec::new();
    loop {
        let part = JsFuture::from(reader.read()).await.ok()?;
        let value = Reflect::get(&part, &JsValue::from("value")).ok()?;
        let Ok(part) = value.dyn_into::<Uint8Array>() else { break };
        if bytes.len() + part.length() as usize > MAX_FRAME {
            // Nobody waits for the rest to be taken back.
            drop(reader.cancel());
            return None;
        }
        bytes.extend(part.to_vec());
    }
    String::from_utf8(bytes).ok()
}

async fn ask_relay(port: u16, method: Method, path: &str) -> Option<Response> {
    let patience = AbortSignal::timeout_with_u32(PROBE_MILLISECONDS);
    let request = RequestBuilder::new(&format!("http://127.0.0.1:{port}{path}"))
        .method(method)
        .abort_signal(Some(&patience));
    request.send().await.ok().filter(Response::ok)
}

/// Attaches, and asks for what the relay has to announce. A tab that refuses is let go.
async fn attach(tab: TabId) -> Result<TargetInfo<JsPayload>, ChromeError> {
    match debugger::attach(tab).await {
        Err(error) if error.message.contains(FOREIGN_FRAME) => {
            // On a page of the other extension itself, the script may not run either.
            scripting::run_file(tab, "remove-foreign-frames.js").await.map_err(|_| error)?;
            debugger::attach(tab).await?;
        }
        Err(error) if error.message.contains(ALREADY_ATTACHED) => {
            // An earlier worker may have come this far. Only to us does our own debugger answer.
            let info = debugger::target_info(tab).await;
            info.map_err(|why| if is_barred(&why.message) { why } else { error })?;
        }
        outcome => outcome?,
    }
    let on_silence = async || {
        let silence = match tabs::get(tab).await {
            Ok(tab) if tab.discarded => Silence::Asleep,
            Ok(tab) if tab.pending_url.is_some() => Silence::Loading,
            _ => Silence::Busy,
        };
        step(Input::FellSilent { tab, silence });
    };
    let described = async {
        debugger::enable_page(tab, on_silence).await?;
        debugger::target_info(tab).await
    };
    let described = described.await;
    if described.is_err() {
        log_failure(debugger::detach(tab).await);
    }
    described
}

fn look(tab: TabId, wait: Duration) {
    spawn_local(async move {
        if !wait.is_zero() {
            time::sleep(wait).await;
        }
        let is_there = tabs::get(tab).await.is_ok();
        step(Input::Looked { tab, is_there });
    });
}

async fn create_tab(url: &str, place: Place) -> Result<(TabId, Option<WindowId>), ChromeError> {
    let own_window = async || {
        let (tab, window) = windows::create(url, OWN_WINDOW).await?;
        Ok((tab.id, Some(window)))
    };
    match place {
        Place::OwnWindow => own_window().await,
        Place::Window(window) => match tabs::create(url, Some(window)).await {
            Ok(tab) => Ok((tab.id, Some(window))),
            // The user closed it.
            Err(_) => own_window().await,
        },
        Place::Beside(tab) => {
            let window = tabs::get(tab).await.ok().and_then(|tab| tab.window_id);
            tabs::create(url, window).await.map(|tab| (tab.id, None))
        }
        Place::Anywhere => match tabs::create(url, None).await {
            Ok(tab) => Ok((tab.id, None)),
            // A browser may run without a window.
            Err(_) => windows::create(url, OWN_WINDOW).await.map(|(tab, _)| (tab.id, None)),
        },
        Place::NewWindow(bounds) => {
            windows::create(url, bounds).await.map(|(tab, _)| (tab.id, None))
        }
    }
}

async fn see_window(of: WindowOf) -> Result<BrowserWindow<JsPayload>, ChromeError> {
    let (window, content_width, content_height, hidden) = match of {
        WindowOf::Itself(window) => (Some(window), None, None, None),
        WindowOf::Tab(tab) => {
            let tab = tabs::get(tab).await?;
            (tab.window_id, tab.width, tab.height, Some(!tab.active))
        }
    };
    let window = window.ok_or_else(|| tabs::without_window("tabs.get"))?;
    let windows::Window { id, left, top, width, height, state, .. } = windows::get(window).await?;
    Ok(BrowserWindow {
        window_id: id.0.into(),
        left,
        top,
        width,
        height,
        state,
        content_width,
        content_height,
        hidden,
        extra: Extra::default(),
    })
}

async fn bring_to_front(tab: TabId) -> Result<(), ChromeError> {
    let window = tabs::activate(tab).await?.window_id;
    windows::focus(window.ok_or_else(|| tabs::without_window("tabs.update"))?).await
}

fn icon_name(icon: Icon) -> &'static str {
    match icon {
        Icon::Black => "black",
        Icon::Grey => "grey",
        Icon::Green => "green",
    }
}

pub(crate) fn log_failure(outcome: Result<(), ChromeError>) {
    if let Err(error) = outcome {
        web_sys::console::warn_1(&error.to_string().into());
    }
}
