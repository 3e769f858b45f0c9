//! <https://developer.chrome.com/docs/extensions/reference/api/action>

use serde::Serialize;
use shared_protocol::TabId;

use super::{argument, promptly};
use crate::js::error::ChromeError;

/// Shows `icons/<name>-<size>.png` on one tab.
pub(crate) async fn set_icon(tab_id: TabId, name: &str) -> Result<(), ChromeError> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Details {
        tab_id: TabId,
        path: Paths,
    }
    #[derive(Serialize)]
    struct Paths {
        #[serde(rename = "16")]
        of_16: String,
        #[serde(rename = "32")]
        of_32: String,
        #[serde(rename = "48")]
        of_48: String,
        #[serde(rename = "128")]
        of_128: String,
    }
    let of = |size: u16| format!("/icons/{name}-{size}.png");
    let path = Paths { of_16: of(16), of_32: of(32), of_48: of(48), of_128: of(128) };
    let details = argument(&Details { tab_id, path });
    promptly("action.setIcon", sys::set_icon(&details)).await.map(drop)
}

/// Sets the tooltip of one tab, or of all tabs that have none of their own.
pub(crate) async fn set_title(tab_id: Option<TabId>, title: &str) -> Result<(), ChromeError> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Details<'a> {
        #[serde(skip_serializing_if = "Option::is_none")]
        tab_id: Option<TabId>,
        title: &'a str,
    }
    let details = argument(&Details { tab_id, title });
    promptly("action.setTitle", sys::set_title(&details)).await.map(drop)
}

/// Sets the letters on the icon, of one tab or of all tabs that have none of their own. An empty
/// text removes them.
pub(crate) async fn set_badge(tab_id: Option<TabId>, text: &str) -> Result<(), ChromeError> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Details<'a> {
        #[serde(skip_serializing_if = "Option::is_none")]
        tab_id: Option<TabId>,
        text: &'a str,
    }
    let details = argument(&Details { tab_id, text });
    promptly("action.setBadgeText", sys::set_badge_text(&details)).await.map(drop)
}

mod sys {
    use js_sys::Promise;
    use wasm_bindgen::JsValue;
    use wasm_bindgen::prelude::wasm_bindgen;

    #[wasm_bindgen(js_namespace = ["chrome", "action"])]
    extern "C" {
        #[wasm_bindgen(catch, js_name = setIcon)]
        pub(super) fn set_icon(details: &JsValue) -> Result<Promise, JsValue>;
        #[wasm_bindgen(catch, js_name = setBadgeText)]
        pub(super) fn set_badge_text(details: &JsValue) -> Result<Promise, JsValue>;
        #[wasm_bindgen(catch, js_name = setTitle)]
        pub(super) fn set_title(details: &JsValue) -> Result<Promise, JsValue>;
    }
}
