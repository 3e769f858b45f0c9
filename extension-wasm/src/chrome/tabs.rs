//! <https://developer.chrome.com/docs/extensions/reference/api/tabs>

use serde::{Deserialize, Serialize};
use shared_protocol::TabId;

use super::{answer, argument, promptly};
use crate::error::ChromeError;

/// The part of a tab that the worker needs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Tab {
    /// The tab's id.
    pub(crate) id: TabId,
}

/// Opens a tab behind the one in front.
pub(crate) async fn create(url: &str) -> Result<Tab, ChromeError> {
    #[derive(Serialize)]
    struct Properties<'a> {
        url: &'a str,
        active: bool,
    }
    const API: &str = "tabs.create";
    let properties = argument(&Properties { url, active: false });
    promptly(API, sys::create(&properties)).await.and_then(|tab| answer(API, tab))
}

/// The tab in front of the window that was used last.
pub(crate) async fn active() -> Result<Option<Tab>, ChromeError> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        active: bool,
        last_focused_window: bool,
    }
    const API: &str = "tabs.query";
    let query = argument(&Query { active: true, last_focused_window: true });
    let tabs: Vec<Tab> =
        promptly(API, sys::query(&query)).await.and_then(|tabs| answer(API, tabs))?;
    Ok(tabs.into_iter().next())
}

mod sys {
    use js_sys::Promise;
    use wasm_bindgen::JsValue;
    use wasm_bindgen::prelude::wasm_bindgen;

    #[wasm_bindgen(js_namespace = ["chrome", "tabs"])]
    extern "C" {
        #[wasm_bindgen(catch)]
        pub(super) fn create(properties: &JsValue) -> Result<Promise, JsValue>;
        #[wasm_bindgen(catch)]
        pub(super) fn query(query: &JsValue) -> Result<Promise, JsValue>;
    }
}
