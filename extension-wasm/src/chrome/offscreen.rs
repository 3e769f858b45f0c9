//! <https://developer.chrome.com/docs/extensions/reference/api/offscreen>

use serde::Serialize;

use super::{argument, promptly};
use crate::js::error::ChromeError;

/// Opens the page that starts the next worker when one has ended, unless it is open already.
pub(crate) async fn keep_open(url: &str) -> Result<(), ChromeError> {
    #[derive(Serialize)]
    struct Parameters<'a> {
        url: &'a str,
        reasons: [&'static str; 1],
        justification: &'static str,
    }
    let there = promptly("offscreen.hasDocument", sys::has_document()).await?;
    if there.is_truthy() {
        return Ok(());
    }
    let parameters = argument(&Parameters {
        url,
        reasons: ["WORKERS"],
        justification: "wakes the extension's worker, so that controlled tabs keep answering",
    });
    promptly("offscreen.createDocument", sys::create_document(&parameters)).await.map(drop)
}

mod sys {
    use js_sys::Promise;
    use wasm_bindgen::JsValue;
    use wasm_bindgen::prelude::wasm_bindgen;

    #[wasm_bindgen(js_namespace = ["chrome", "offscreen"])]
    extern "C" {
        #[wasm_bindgen(catch, js_name = hasDocument)]
        pub(super) fn has_document() -> Result<Promise, JsValue>;
        #[wasm_bindgen(catch, js_name = createDocument)]
        pub(super) fn create_document(parameters: &JsValue) -> Result<Promise, JsValue>;
    }
}
