//! The extension's background worker.
//!
//! [`extension_core`] is the whole extension as a pure machine. Everything else performs its
//! effects and turns Chrome's events into its inputs. The loader (`extension-shell/background.js`)
//! calls the functions in this file, and decides nothing itself.

mod js;

mod chrome;
mod relay;

mod stored_key;

mod shell;

use js_sys::Promise;
use serde::{Deserialize, Serialize};
use shared_protocol::{SessionId, TabId};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::{JsFuture, spawn_local};

use chrome::{storage, tabs};
use extension_core::{GroupId, Input, Status, WindowId};
use js::payload::to_js;
pub use js::payload::{JsPayload, from_text, to_text};
use shell::{SHELL, step};

/// Reads the settings, takes over from an earlier worker and looks for the relay. Called once,
/// when the WASM is ready.
#[wasm_bindgen]
pub fn start() {
    shell::start();
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
pub fn on_debugger_detach(source: JsValue, reason: String) {
    if let Some(source) = read::<Source>(source) {
        step(Input::DebuggerDetached { tab: source.tab_id, reason });
    }
}

/// `chrome.tabs.onUpdated`
#[wasm_bindgen]
pub fn on_tab_updated(tab: i32, change: JsValue) {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Change {
        status: Option<String>,
        group_id: Option<GroupId>,
    }
    let (tab, Some(change)) = (TabId(tab), read::<Change>(change)) else { return };
    if change.status.is_some() {
        step(Input::TabNavigated { tab });
    }
    if let Some(group) = change.group_id {
        let group = Some(group).filter(|group| *group != tabs::NO_GROUP);
        step(Input::TabRegrouped { tab, group });
    }
}

/// `chrome.tabs.onAttached`
#[wasm_bindgen]
pub fn on_tab_attached(tab: i32) {
    step(Input::TabMoved { tab: TabId(tab) });
}

/// `chrome.tabs.onRemoved`
#[wasm_bindgen]
pub fn on_tab_removed(tab: i32) {
    step(Input::TabRemoved { tab: TabId(tab) });
}

/// `chrome.tabs.onReplaced`
#[wasm_bindgen]
pub fn on_tab_replaced(added: i32, removed: i32) {
    step(Input::TabReplaced { tab: TabId(removed), by: TabId(added) });
}

/// `chrome.downloads.onChanged`
#[wasm_bindgen]
pub fn on_download_changed() {
    step(Input::DownloadChanged);
}

/// `chrome.tabGroups.onRemoved`
#[wasm_bindgen]
pub fn on_group_removed(group: JsValue) {
    #[derive(Deserialize)]
    struct Group {
        id: GroupId,
    }
    if let Some(group) = read::<Group>(group) {
        step(Input::GroupRemoved { group: group.id });
    }
}

/// `chrome.windows.onRemoved`
#[wasm_bindgen]
pub fn on_window_removed(window: i32) {
    step(Input::WindowRemoved { window: WindowId(window) });
}

/// `chrome.webNavigation.onCreatedNavigationTarget`
#[wasm_bindgen]
pub fn on_popup(details: JsValue) {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Details {
        tab_id: TabId,
        source_tab_id: TabId,
        #[serde(default)]
        url: String,
    }
    if let Some(Details { tab_id: tab, source_tab_id: opener, url }) = read(details) {
        step(Input::PopupOpened { tab, opener, url });
    }
}

/// `chrome.storage.local.onChanged`
#[wasm_bindgen]
pub fn on_settings_changed() {
    spawn_local(async {
        if let Ok(local) = storage::read_local().await {
            step(Input::SettingsChanged(local.settings()));
        }
    });
}

/// `chrome.alarms.onAlarm`
#[wasm_bindgen]
pub fn on_alarm() {
    step(Input::AlarmRang);
}

/// Acts like a click on the icon, for the active tab of the focused window. Resolves to
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

/// Pairs this extension with the relay, by a code from `playwriter pair`.
///
/// # Errors
///
/// Throws a text for the user that says what went wrong.
#[wasm_bindgen]
pub async fn pair_with_code(code: String) -> Result<(), JsValue> {
    let port = SHELL.with_borrow(|shell| shell.worker.port());
    stored_key::get_with(&code, port).await?;
    step(Input::KeyChanged);
    Ok(())
}

/// Returns the worker's state as a plain object.
///
/// # Errors
///
/// Throws when the state has no JavaScript form, which would be a mistake of ours.
#[wasm_bindgen]
pub fn extension_state() -> Result<JsValue, JsValue> {
    let status = SHELL.with_borrow(|shell| shell.worker.status());
    Ok(to_js(&status)?)
}

/// The source of an event of `chrome.debugger`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Source {
    tab_id: TabId,
    session_id: Option<SessionId>,
}

fn read<T: serde::de::DeserializeOwned>(value: JsValue) -> Option<T> {
    serde_wasm_bindgen::from_value(value).ok()
}
