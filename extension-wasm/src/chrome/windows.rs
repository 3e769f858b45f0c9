//! <https://developer.chrome.com/docs/extensions/reference/api/windows>

use serde::{Deserialize, Serialize};

use super::{answer, argument, promptly, tabs};
use crate::error::ChromeError;
use crate::state::WindowId;

/// Opens a window behind the one in front, with one tab.
pub(crate) async fn create(url: &str) -> Result<(tabs::Tab, WindowId), ChromeError> {
    #[derive(Serialize)]
    struct Properties<'a> {
        url: &'a str,
        focused: bool,
        width: u16,
        height: u16,
        r#type: &'static str,
    }
    #[derive(Deserialize)]
    struct Window {
        id: WindowId,
        tabs: Vec<tabs::Tab>,
    }
    const API: &str = "windows.create";
    let properties =
        argument(&Properties { url, focused: false, width: 1200, height: 800, r#type: "normal" });
    let window: Window =
        promptly(API, sys::create(&properties)).await.and_then(|window| answer(API, window))?;
    let tab = window.tabs.into_iter().next();
    let tab = tab
        .ok_or_else(|| ChromeError { api: API, message: "the new window has no tab".to_owned() })?;
    Ok((tab, window.id))
}

mod sys {
    use js_sys::Promise;
    use wasm_bindgen::JsValue;
    use wasm_bindgen::prelude::wasm_bindgen;

    #[wasm_bindgen(js_namespace = ["chrome", "windows"])]
    extern "C" {
        #[wasm_bindgen(catch)]
        pub(super) fn create(properties: &JsValue) -> Result<Promise, JsValue>;
    }
}
