//! <https://developer.chrome.com/docs/extensions/reference/api/alarms>

use serde::Serialize;

use super::{argument, promptly};
use crate::js::error::ChromeError;

/// Creates an alarm for every half minute, the shortest period that Chrome allows.
pub(crate) async fn create(name: &str) -> Result<(), ChromeError> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Schedule {
        period_in_minutes: f64,
    }
    let schedule = argument(&Schedule { period_in_minutes: 0.5 });
    promptly("alarms.create", sys::create(name, &schedule)).await.map(drop)
}

mod sys {
    use js_sys::Promise;
    use wasm_bindgen::JsValue;
    use wasm_bindgen::prelude::wasm_bindgen;

    #[wasm_bindgen(js_namespace = ["chrome", "alarms"])]
    extern "C" {
        #[wasm_bindgen(catch)]
        pub(super) fn create(name: &str, schedule: &JsValue) -> Result<Promise, JsValue>;
    }
}
