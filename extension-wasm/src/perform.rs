//! The one place where effects become calls, and calls become inputs again.

use std::time::Duration;

use gloo_net::http::{Method, RequestBuilder};
use shared_protocol::{TabId, TargetInfo};
use wasm_bindgen_futures::spawn_local;
use web_sys::AbortSignal;

use crate::chrome::{action, debugger, tabs};
use crate::error::ChromeError;
use crate::payload::JsPayload;
use crate::relay_socket::RelaySocket;
use crate::state::{Effect, Icon, Input};
use crate::{SHELL, step, time};

/// How long to rest before looking for the relay again.
const RETRY: Duration = Duration::from_secs(1);

/// How long a relay on this machine may take to say that it is there.
const PROBE_MILLISECONDS: u32 = 2000;

pub(crate) fn perform(effect: Effect<JsPayload>) {
    match effect {
        Effect::Probe { attempt, port } => spawn_local(async move {
            let found = relay_is_at(port).await;
            step(Input::Probed { attempt, found });
        }),
        Effect::OpenSocket { attempt, port, hello } => {
            match RelaySocket::open(attempt, port, &hello, step) {
                Ok(socket) => {
                    SHELL.with_borrow_mut(|shell| shell.socket = Some(socket));
                }
                Err(_) => spawn_local(async move { step(Input::SocketClosed { attempt }) }),
            }
        }
        Effect::CloseSocket => SHELL.with_borrow(|shell| {
            // A socket that cannot be closed has ended already, and says so itself.
            drop(shell.socket.as_ref().map(RelaySocket::close));
        }),
        Effect::RetryLater { attempt } => spawn_local(async move {
            time::sleep(RETRY).await;
            step(Input::RetryDue { attempt });
        }),
        Effect::Send(message) => SHELL.with_borrow(|shell| {
            if let Some(Err(thrown)) = shell.socket.as_ref().map(|socket| socket.send(&message)) {
                web_sys::console::error_2(&"a message to the relay was lost:".into(), &thrown);
            }
        }),
        Effect::Attach { tab } => spawn_local(async move {
            let outcome = attach(tab).await.map_err(|error| error.message);
            step(Input::Attached { tab, outcome });
        }),
        Effect::Detach { tab } => spawn_local(async move {
            log_failure(debugger::detach(tab).await);
        }),
        Effect::RunCommand { ticket, debuggee, method, params } => {
            let command = debugger::send_command(&debuggee, &method, params.as_ref());
            spawn_local(async move {
                let outcome = command.await.map_err(|error| error.message);
                if let Some(ticket) = ticket {
                    step(Input::CommandDone { ticket, outcome });
                }
            });
        }
        Effect::CreateTab { ticket, url } => spawn_local(async move {
            let created = tabs::create(&url).await;
            let outcome = created.map(|tab| tab.id).map_err(|error| error.message);
            step(Input::TabCreated { ticket, outcome });
        }),
        Effect::Show { tab, look } => spawn_local(async move {
            // The tab may have been closed meanwhile, and with it its icon.
            drop(action::set_icon(tab, icon_name(look.icon)).await);
            drop(action::set_title(tab, &look.title).await);
            step(Input::Shown { tab });
        }),
    }
}

async fn relay_is_at(port: u16) -> bool {
    let patience = AbortSignal::timeout_with_u32(PROBE_MILLISECONDS);
    let probe = RequestBuilder::new(&format!("http://127.0.0.1:{port}/"))
        .method(Method::HEAD)
        .abort_signal(Some(&patience));
    probe.send().await.is_ok_and(|answer| answer.ok())
}

/// Attaches, and asks for what the relay has to announce. A tab that does not answer is let go.
async fn attach(tab: TabId) -> Result<TargetInfo<JsPayload>, ChromeError> {
    debugger::attach(tab).await?;
    let described = async {
        debugger::ask(tab, "Page.enable").await?;
        debugger::target_info(tab).await
    };
    let described = described.await;
    if described.is_err() {
        log_failure(debugger::detach(tab).await);
    }
    described
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
