//! <https://developer.chrome.com/docs/extensions/reference/api/tabs>

use serde::{Deserialize, Serialize};
use shared_protocol::TabId;

use super::{answer, argument, promptly};
use crate::js::error::ChromeError;
use extension_core::{GroupId, WindowId};

/// `chrome.tabGroups.TAB_GROUP_ID_NONE`
pub(crate) const NO_GROUP: GroupId = GroupId(-1);

/// The fields of a tab that the worker needs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tab {
    pub(crate) id: TabId,
    #[serde(default)]
    pub(crate) window_id: Option<WindowId>,
    #[serde(default)]
    pub(crate) group_id: Option<GroupId>,
    /// The size of the page.
    #[serde(default)]
    pub(crate) width: Option<i64>,
    #[serde(default)]
    pub(crate) height: Option<i64>,
    /// True if the window shows this tab.
    #[serde(default)]
    pub(crate) active: bool,
    /// True if the tab is selected, as a tab that is dragged is.
    #[serde(default)]
    pub(crate) highlighted: bool,
    /// True if Chrome has discarded the tab.
    #[serde(default)]
    pub(crate) discarded: bool,
    /// Where it is going, until it is there.
    #[serde(default)]
    pub(crate) pending_url: Option<String>,
}

/// Opens a tab in the background, in this window or in the one that the user used last.
pub(crate) async fn create(url: &str, window_id: Option<WindowId>) -> Result<Tab, ChromeError> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Properties<'a> {
        url: &'a str,
        active: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        window_id: Option<WindowId>,
    }
    const API: &str = "tabs.create";
    let properties = argument(&Properties { url, active: false, window_id });
    promptly(API, sys::create(&properties)).await.and_then(|tab| answer(API, tab))
}

/// Returns the tab with this id.
pub(crate) async fn get(tab: TabId) -> Result<Tab, ChromeError> {
    const API: &str = "tabs.get";
    promptly(API, sys::get(tab.0)).await.and_then(|tab| answer(API, tab))
}

/// Closes a tab that we opened, or that a client wants closed.
pub(crate) async fn remove(tab: TabId) -> Result<(), ChromeError> {
    promptly("tabs.remove", sys::remove(tab.0)).await.map(drop)
}

/// Takes a tab to a blank page.
pub(crate) async fn blank(tab: TabId) -> Result<(), ChromeError> {
    update(tab, &Properties { active: None, url: Some("about:blank") }).await.map(drop)
}

/// Shows a tab in its window.
pub(crate) async fn activate(tab: TabId) -> Result<Tab, ChromeError> {
    update(tab, &Properties { active: Some(true), url: None }).await
}

#[derive(Serialize)]
struct Properties {
    #[serde(skip_serializing_if = "Option::is_none")]
    active: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'static str>,
}

async fn update(tab: TabId, properties: &Properties) -> Result<Tab, ChromeError> {
    const API: &str = "tabs.update";
    promptly(API, sys::update(tab.0, &argument(properties))).await.and_then(|tab| answer(API, tab))
}

/// Returns the tab that is shown in the window that was used last.
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

/// Makes the error for a tab without a window.
pub(crate) fn without_window(api: &'static str) -> ChromeError {
    ChromeError { api, message: "the tab is in no window".to_owned() }
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
        pub(super) fn get(tab: i32) -> Result<Promise, JsValue>;
        #[wasm_bindgen(catch)]
        pub(super) fn query(query: &JsValue) -> Result<Promise, JsValue>;
        #[wasm_bindgen(catch)]
        pub(super) fn remove(tab: i32) -> Result<Promise, JsValue>;
        #[wasm_bindgen(catch)]
        pub(super) fn update(tab: i32, properties: &JsValue) -> Result<Promise, JsValue>;
    }
}
