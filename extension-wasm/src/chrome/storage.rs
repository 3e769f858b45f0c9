//! <https://developer.chrome.com/docs/extensions/reference/api/storage>

use serde::{Deserialize, Serialize};
use wasm_bindgen::{JsCast as _, JsValue};

use super::{answer, argument, promptly};
use crate::js::error::ChromeError;
use crate::js::pairing_json;
use crate::js::payload::JsPayload;
use extension_core::{PairingFileRead, PairingKey, Settings, Snapshot};

/// The items of `chrome.storage.local`: the user's settings and the identity of this installation.
/// A setting of the wrong type is ignored.
#[derive(Debug, Clone, Default)]
pub(crate) struct Local {
    relay_port: Option<u16>,
    tab_groups: Option<bool>,
    /// The id of this installation, which stays the same over its connections.
    pub(crate) install_id: Option<String>,
    /// True if this installation ever had a key.
    pub(crate) paired: bool,
    /// The key that came from a pairing code.
    given: Option<PairingFileRead>,
}

impl Local {
    pub(crate) fn settings(&self) -> Settings {
        Settings { port: self.relay_port, tab_groups: self.tab_groups.unwrap_or(true) }
    }

    /// Returns the key that came from a pairing code, if it can be read.
    pub(crate) fn given_key(&self) -> Option<PairingKey> {
        let Some(PairingFileRead::Whole(file)) = &self.given else { return None };
        file.key().map(|(kid, key)| PairingKey { kid, key: *key, port: file.port })
    }
}

pub(crate) async fn read_local() -> Result<Local, ChromeError> {
    let items = promptly("storage.local.get", sys::get_local(&JsValue::NULL)).await?;
    let item = |name: &str| js_sys::Reflect::get(&items, &name.into()).unwrap_or_default();
    let port = item("relayPort");
    let number =
        port.as_f64().filter(|port| (1.0..=65535.0).contains(port)).map(|port| port as u16);
    Ok(Local {
        relay_port: number.or_else(|| port.as_string()?.parse().ok()),
        tab_groups: item("tabGroups").as_bool(),
        install_id: item("installId").as_string(),
        // Any value counts: only a missing item means that there never was a key.
        paired: !item("paired").is_undefined() || !item("pairingKey").is_undefined(),
        given: item("pairingKey").dyn_ref().map(pairing_json::pairing_file),
    })
}

pub(crate) async fn write_install_id(install_id: &str) -> Result<(), ChromeError> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Items<'a> {
        install_id: &'a str,
    }
    let items = argument(&Items { install_id });
    promptly("storage.local.set", sys::set_local(&items)).await.map(drop)
}

/// Stores that this installation has a key.
pub(crate) async fn write_paired() -> Result<(), ChromeError> {
    #[derive(Serialize)]
    struct Items {
        paired: bool,
    }
    let items = argument(&Items { paired: true });
    promptly("storage.local.set", sys::set_local(&items)).await.map(drop)
}

/// Stores the key that came from a pairing code.
pub(crate) async fn write_given_key(pairing_key: &str) -> Result<(), ChromeError> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Items<'a> {
        paired: bool,
        pairing_key: &'a str,
    }
    let items = argument(&Items { paired: true, pairing_key });
    promptly("storage.local.set", sys::set_local(&items)).await.map(drop)
}

/// Removes the key, and the mark that there was one.
pub(crate) async fn forget_pairing() -> Result<(), ChromeError> {
    let keys = argument(&["paired", "pairingKey"]);
    promptly("storage.local.remove", sys::remove_local(&keys)).await.map(drop)
}

/// Reads the snapshot of an earlier worker. It is empty after the browser has started.
pub(crate) async fn read_snapshot() -> Result<Snapshot<JsPayload>, ChromeError> {
    #[derive(Deserialize)]
    struct Items {
        #[serde(default)]
        worker: Snapshot<JsPayload>,
    }
    const API: &str = "storage.session.get";
    let items = promptly(API, sys::get_session(&JsValue::NULL)).await?;
    answer::<Items>(API, items).map(|items| items.worker)
}

pub(crate) fn write_snapshot(
    worker: &Snapshot<JsPayload>,
) -> impl Future<Output = Result<(), ChromeError>> + use<> {
    #[derive(Serialize)]
    struct Items<'a> {
        worker: &'a Snapshot<JsPayload>,
    }
    // The call is made before the future is polled, so that the last snapshot is the one that
    // stays.
    let call = sys::set_session(&argument(&Items { worker }));
    async { promptly("storage.session.set", call).await.map(drop) }
}

mod sys {
    use js_sys::Promise;
    use wasm_bindgen::JsValue;
    use wasm_bindgen::prelude::wasm_bindgen;

    #[wasm_bindgen]
    extern "C" {
        #[wasm_bindgen(catch, js_namespace = ["chrome", "storage", "local"], js_name = get)]
        pub(super) fn get_local(keys: &JsValue) -> Result<Promise, JsValue>;
        #[wasm_bindgen(catch, js_namespace = ["chrome", "storage", "local"], js_name = set)]
        pub(super) fn set_local(items: &JsValue) -> Result<Promise, JsValue>;
        #[wasm_bindgen(catch, js_namespace = ["chrome", "storage", "local"], js_name = remove)]
        pub(super) fn remove_local(keys: &JsValue) -> Result<Promise, JsValue>;
        #[wasm_bindgen(catch, js_namespace = ["chrome", "storage", "session"], js_name = get)]
        pub(super) fn get_session(keys: &JsValue) -> Result<Promise, JsValue>;
        #[wasm_bindgen(catch, js_namespace = ["chrome", "storage", "session"], js_name = set)]
        pub(super) fn set_session(items: &JsValue) -> Result<Promise, JsValue>;
    }
}
