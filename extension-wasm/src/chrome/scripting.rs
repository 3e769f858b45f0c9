//! <https://developer.chrome.com/docs/extensions/reference/api/scripting>

use serde::Serialize;
use shared_protocol::TabId;

use super::{argument, promptly};
use crate::js::error::ChromeError;

/// Runs a script of the extension in a page.
pub(crate) async fn run_file(tab_id: TabId, file: &str) -> Result<(), ChromeError> {
    #[derive(Serialize)]
    struct Injection<'a> {
        target: Target,
        files: [&'a str; 1],
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Target {
        tab_id: TabId,
        all_frames: bool,
    }
    let target = Target { tab_id, all_frames: false };
    let injection = argument(&Injection { target, files: [file] });
    promptly("scripting.executeScript", sys::execute_script(&injection)).await.map(drop)
}

mod sys {
    use js_sys::Promise;
    use wasm_bindgen::JsValue;
    use wasm_bindgen::prelude::wasm_bindgen;

    #[wasm_bindgen(js_namespace = ["chrome", "scripting"])]
    extern "C" {
        #[wasm_bindgen(catch, js_name = executeScript)]
        pub(super) fn execute_script(injection: &JsValue) -> Result<Promise, JsValue>;
    }
}
