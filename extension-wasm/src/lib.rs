//! The extension's background worker.
//!
//! [`state`] is the whole extension as a pure machine; everything else performs its effects and
//! turns what Chrome says into its inputs. The functions here are what the loader
//! (`extension-shell/background.js`) calls; the loader itself decides nothing.

mod chrome;
mod error;
mod payload;
mod perform;
mod relay_socket;
pub mod state;
mod time;

use std::cell::RefCell;

use js_sys::{Function, Promise};
use serde::{Deserialize, Serialize};
use shared_protocol::{ExtensionHello, SessionId, TabId};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::{JsFuture, spawn_local};

use chrome::storage::Local;
use chrome::{alarms, runtime, storage, tabs};
use error::ChromeError;
use payload::to_js;
pub use payload::{JsPayload, from_text, to_text};
use perform::log_failure;
use relay_socket::RelaySocket;
use state::{Input, Status, Worker};

/// Wakes the worker to look for the relay, should Chrome have put it to sleep.
const WAKE_UP: &str = "look-for-relay";

thread_local! {
    static SHELL: RefCell<Shell> = RefCell::default();
}

#[derive(Default)]
struct Shell {
    worker: Worker<JsPayload>,
    socket: Option<RelaySocket>,
    /// Callers of `toggleExtensionForActiveTab` whose tab has not settled yet.
    toggles: Vec<(TabId, Function)>,
}

/// Reads the settings and looks for the relay. Called once, when the WASM is ready.
#[wasm_bindgen]
pub fn start() {
    spawn_local(async {
        log_failure(alarms::create(WAKE_UP).await);
        let settings = settings().await.unwrap_or_default();
        let hello = ExtensionHello {
            browser: runtime::browser_name(),
            install_id: settings.install_id.clone(),
            version: runtime::version(),
            ..ExtensionHello::default()
        };
        step(Input::Started { port: settings.port(), hello });
    });
}

/// `chrome.action.onClicked`
#[wasm_bindgen]
pub fn on_icon_clicked(tab: JsValue) {
    if let Some(tab) = read::<tabs::Tab>(tab) {
        step(Input::IconClicked { tab: tab.id });
    }
}

/// `chrome.debugger.onEvent`
#[wasm_bindgen]
pub fn on_debugger_event(source: JsValue, method: String, params: JsValue) {
    if let Some(Source { tab_id, session_id }) = read(source) {
        let params = JsPayload(params);
        step(Input::DebuggerEvent { tab: tab_id, session: session_id, method, params });
    }
}

/// `chrome.debugger.onDetach`
#[wasm_bindgen]
pub fn on_debugger_detach(source: JsValue) {
    if let Some(source) = read::<Source>(source) {
        step(Input::DebuggerDetached { tab: source.tab_id });
    }
}

/// `chrome.tabs.onUpdated`
#[wasm_bindgen]
pub fn on_tab_updated(tab: i32, change: JsValue) {
    #[derive(Deserialize)]
    struct Change {
        status: Option<String>,
    }
    if read::<Change>(change).is_some_and(|change| change.status.is_some()) {
        step(Input::TabNavigated { tab: TabId(tab) });
    }
}

/// `chrome.storage.onChanged`
#[wasm_bindgen]
pub fn on_storage_changed() {
    spawn_local(async {
        if let Ok(settings) = storage::read().await {
            step(Input::PortChanged { port: settings.port() });
        }
    });
}

/// `chrome.alarms.onAlarm`
#[wasm_bindgen]
pub fn on_alarm() {
    step(Input::AlarmRang);
}

/// Acts as a click on the icon, on the active tab of the focused window; resolves to
/// `{isConnected, state}` when the tab has settled.
///
/// # Errors
///
/// Throws when there is no such tab.
#[wasm_bindgen]
pub async fn toggle_active_tab() -> Result<JsValue, JsValue> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Toggled {
        is_connected: bool,
        state: Status,
    }
    let tab = tabs::active().await?.ok_or_else(|| js_sys::Error::new("there is no active tab"))?.id;
    let settled = Promise::new(&mut |resolve, _| {
        SHELL.with_borrow_mut(|shell| shell.toggles.push((tab, resolve)));
    });
    step(Input::IconClicked { tab });
    JsFuture::from(settled).await?;
    let toggled = SHELL.with_borrow(|shell| Toggled {
        is_connected: shell.worker.is_connected(tab),
        state: shell.worker.status(),
    });
    Ok(to_js(&toggled)?)
}

/// Releases every tab.
#[wasm_bindgen]
pub fn disconnect_everything() {
    step(Input::ReleaseAll);
}

/// The worker's state, as a plain object.
///
/// # Errors
///
/// Throws when the state has no JavaScript form, which would be a mistake of ours.
#[wasm_bindgen]
pub fn extension_state() -> Result<JsValue, JsValue> {
    let status = SHELL.with_borrow(|shell| shell.worker.status());
    Ok(to_js(&status)?)
}

/// Feeds the machine, performs what it returns, and answers those whose tab has settled.
fn step(input: Input<JsPayload>) {
    let effects = SHELL.with_borrow_mut(|shell| shell.worker.handle(input));
    for effect in effects {
        perform::perform(effect);
    }
    let settled: Vec<(TabId, Function)> = SHELL.with_borrow_mut(|shell| {
        let Shell { worker, toggles, .. } = shell;
        toggles.extract_if(.., |(tab, _)| worker.is_settled(*tab)).collect()
    });
    for (_, resolve) in settled {
        // A promise's own resolve function does not throw.
        drop(resolve.call0(&JsValue::UNDEFINED));
    }
}

/// The stored settings; a fresh installation gets its id here.
async fn settings() -> Result<Local, ChromeError> {
    let mut settings = storage::read().await?;
    if settings.install_id.is_none() {
        settings.install_id = runtime::random_uuid();
        let fresh = Local { install_id: settings.install_id.clone(), ..Local::default() };
        storage::write(&fresh).await?;
    }
    Ok(settings)
}

/// Where an event of `chrome.debugger` came from.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Source {
    tab_id: TabId,
    session_id: Option<SessionId>,
}

fn read<T: serde::de::DeserializeOwned>(value: JsValue) -> Option<T> {
    serde_wasm_bindgen::from_value(value).ok()
}
