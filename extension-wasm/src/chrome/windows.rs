//! <https://developer.chrome.com/docs/extensions/reference/api/windows>

use serde::{Deserialize, Serialize};
use shared_protocol::WindowState;

use super::{answer, argument, promptly, tabs};
use crate::js::error::ChromeError;
use extension_core::{Bounds, WindowId};

/// The fields of a window that the relay may know.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Window {
    pub(crate) id: WindowId,
    pub(crate) left: i64,
    pub(crate) top: i64,
    pub(crate) width: i64,
    pub(crate) height: i64,
    pub(crate) state: WindowState,
    focused: bool,
}

/// The properties of a window. Chrome chooses the absent ones, or leaves them as they are.
#[derive(Default, Serialize)]
struct Properties<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    focused: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    height: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<WindowState>,
}

impl From<Bounds> for Properties<'_> {
    fn from(Bounds { left, top, width, height }: Bounds) -> Self {
        Self { left, top, width, height, ..Self::default() }
    }
}

/// Opens a window with one tab, behind the window in front.
pub(crate) async fn create(
    url: &str,
    bounds: Bounds,
) -> Result<(tabs::Tab, WindowId), ChromeError> {
    #[derive(Deserialize)]
    struct Created {
        id: WindowId,
        tabs: Vec<tabs::Tab>,
    }
    const API: &str = "windows.create";
    let (url, r#type, focused) = (Some(url), Some("normal"), Some(false));
    let properties = argument(&Properties { url, r#type, focused, ..bounds.into() });
    let window: Created =
        promptly(API, sys::create(&properties)).await.and_then(|window| answer(API, window))?;
    let tab = window.tabs.into_iter().next();
    let tab = tab
        .ok_or_else(|| ChromeError { api: API, message: "the new window has no tab".to_owned() })?;
    Ok((tab, window.id))
}

/// Returns the window with this id.
pub(crate) async fn get(window: WindowId) -> Result<Window, ChromeError> {
    const API: &str = "windows.get";
    promptly(API, sys::get(window.0)).await.and_then(|window| answer(API, window))
}

/// Moves or resizes a window, or changes its state. Chrome focuses a window that it restores, so
/// the focus goes back to the window that had it.
pub(crate) async fn change(
    window: WindowId,
    bounds: Bounds,
    state: Option<WindowState>,
) -> Result<(), ChromeError> {
    let front = last_focused().await?;
    update(window, &Properties { state, ..bounds.into() }).await?;
    match state {
        None => Ok(()),
        Some(_) if front.focused => focus(front.id).await,
        Some(_) if get(window).await?.focused => {
            // No window of this browser had the focus.
            update(window, &Properties { focused: Some(false), ..Properties::default() }).await
        }
        Some(_) => Ok(()),
    }
}

async fn last_focused() -> Result<Window, ChromeError> {
    const API: &str = "windows.getLastFocused";
    promptly(API, sys::get_last_focused()).await.and_then(|window| answer(API, window))
}

/// Brings a window to the front.
pub(crate) async fn focus(window: WindowId) -> Result<(), ChromeError> {
    update(window, &Properties { focused: Some(true), ..Properties::default() }).await
}

async fn update(window: WindowId, properties: &Properties<'_>) -> Result<(), ChromeError> {
    promptly("windows.update", sys::update(window.0, &argument(properties))).await.map(drop)
}

mod sys {
    use js_sys::Promise;
    use wasm_bindgen::JsValue;
    use wasm_bindgen::prelude::wasm_bindgen;

    #[wasm_bindgen(js_namespace = ["chrome", "windows"])]
    extern "C" {
        #[wasm_bindgen(catch)]
        pub(super) fn create(properties: &JsValue) -> Result<Promise, JsValue>;
        #[wasm_bindgen(catch)]
        pub(super) fn get(window: i32) -> Result<Promise, JsValue>;
        #[wasm_bindgen(catch, js_name = getLastFocused)]
        pub(super) fn get_last_focused() -> Result<Promise, JsValue>;
        #[wasm_bindgen(catch)]
        pub(super) fn update(window: i32, properties: &JsValue) -> Result<Promise, JsValue>;
    }
}
