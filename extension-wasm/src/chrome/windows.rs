//! <https://developer.chrome.com/docs/extensions/reference/api/windows>

use serde::{Deserialize, Serialize};
use shared_protocol::WindowState;

use super::{answer, argument, promptly, tabs};
use crate::error::ChromeError;
use crate::state::{Bounds, WindowId};

/// The part of a window that the relay may know.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Window {
    pub(crate) id: WindowId,
    pub(crate) left: i64,
    pub(crate) top: i64,
    pub(crate) width: i64,
    pub(crate) height: i64,
    pub(crate) state: WindowState,
}

/// Opens a window behind the one in front, with one tab.
pub(crate) async fn create(
    url: &str,
    bounds: Bounds,
) -> Result<(tabs::Tab, WindowId), ChromeError> {
    #[derive(Serialize)]
    struct Properties<'a> {
        url: &'a str,
        focused: bool,
        r#type: &'static str,
        #[serde(flatten)]
        bounds: Bounds,
    }
    #[derive(Deserialize)]
    struct Created {
        id: WindowId,
        tabs: Vec<tabs::Tab>,
    }
    const API: &str = "windows.create";
    let properties = argument(&Properties { url, focused: false, r#type: "normal", bounds });
    let window: Created =
        promptly(API, sys::create(&properties)).await.and_then(|window| answer(API, window))?;
    let tab = window.tabs.into_iter().next();
    let tab = tab
        .ok_or_else(|| ChromeError { api: API, message: "the new window has no tab".to_owned() })?;
    Ok((tab, window.id))
}

/// A window, if there is one of this id.
pub(crate) async fn get(window: WindowId) -> Result<Window, ChromeError> {
    const API: &str = "windows.get";
    promptly(API, sys::get(window.0)).await.and_then(|window| answer(API, window))
}

/// Moves, resizes or otherwise shows a window, which stays where it is behind others.
pub(crate) async fn change(
    window: WindowId,
    bounds: Bounds,
    state: Option<WindowState>,
) -> Result<(), ChromeError> {
    #[derive(Serialize)]
    struct Properties {
        #[serde(flatten)]
        bounds: Bounds,
        #[serde(skip_serializing_if = "Option::is_none")]
        state: Option<WindowState>,
    }
    update(window, &Properties { bounds, state }).await
}

/// Brings a window before all others.
pub(crate) async fn focus(window: WindowId) -> Result<(), ChromeError> {
    #[derive(Serialize)]
    struct Properties {
        focused: bool,
    }
    update(window, &Properties { focused: true }).await
}

async fn update(window: WindowId, properties: &impl Serialize) -> Result<(), ChromeError> {
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
        #[wasm_bindgen(catch)]
        pub(super) fn update(window: i32, properties: &JsValue) -> Result<Promise, JsValue>;
    }
}
