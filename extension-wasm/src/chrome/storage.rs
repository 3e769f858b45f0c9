//! <https://developer.chrome.com/docs/extensions/reference/api/storage>

use serde::{Deserialize, Serialize};
use shared_protocol::DEFAULT_PORT;
use wasm_bindgen::JsValue;

use super::{answer, argument, promptly};
use crate::error::ChromeError;

/// What `chrome.storage.local` holds: the user's settings, and who this installation is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Local {
    /// Where the relay listens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) relay_port: Option<u16>,
    /// Names this installation across connections.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) install_id: Option<String>,
}

impl Local {
    /// The relay's port, as set or by default.
    #[must_use]
    pub(crate) fn port(&self) -> u16 {
        self.relay_port.unwrap_or(DEFAULT_PORT)
    }
}

pub(crate) async fn read() -> Result<Local, ChromeError> {
    const API: &str = "storage.local.get";
    promptly(API, sys::get(&JsValue::NULL)).await.and_then(|items| answer(API, items))
}

/// Writes the fields that are present and leaves the others alone.
pub(crate) async fn write(items: &Local) -> Result<(), ChromeError> {
    promptly("storage.local.set", sys::set(&argument(items))).await.map(drop)
}

mod sys {
    use js_sys::Promise;
    use wasm_bindgen::JsValue;
    use wasm_bindgen::prelude::wasm_bindgen;

    #[wasm_bindgen(js_namespace = ["chrome", "storage", "local"])]
    extern "C" {
        #[wasm_bindgen(catch)]
        pub(super) fn get(keys: &JsValue) -> Result<Promise, JsValue>;
        #[wasm_bindgen(catch)]
        pub(super) fn set(items: &JsValue) -> Result<Promise, JsValue>;
    }
}
