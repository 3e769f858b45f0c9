//! <https://developer.chrome.com/docs/extensions/reference/api/cookies>

use js_sys::Promise;
use shared_protocol::{CookieAnswers, CookieFunction, Extra};
use wasm_bindgen::JsValue;

use super::promptly;
use crate::js::payload::JsPayload;

/// Calls a function once for each of the details, which the relay has made.
pub(crate) async fn call(
    function: CookieFunction,
    details: Vec<JsPayload>,
) -> CookieAnswers<JsPayload> {
    type Call = fn(&JsValue) -> Result<Promise, JsValue>;
    let (api, function): (_, Call) = match function {
        CookieFunction::GetAll => ("cookies.getAll", sys::get_all),
        CookieFunction::Set => ("cookies.set", sys::set),
    };
    // Every call is made before the first is awaited, so Chrome takes them in order.
    let calls: Vec<_> = details.iter().map(|details| function(&details.0)).collect();
    let mut answers = CookieAnswers { cookies: Vec::new(), error: None, extra: Extra::default() };
    for call in calls {
        match promptly(api, call).await {
            Ok(answer) => answers.cookies.push(JsPayload(answer)),
            Err(error) => {
                answers.error = Some(error.message);
                break;
            }
        }
    }
    answers
}

mod sys {
    use js_sys::Promise;
    use wasm_bindgen::JsValue;
    use wasm_bindgen::prelude::wasm_bindgen;

    #[wasm_bindgen(js_namespace = ["chrome", "cookies"])]
    extern "C" {
        #[wasm_bindgen(catch, js_name = getAll)]
        pub(super) fn get_all(details: &JsValue) -> Result<Promise, JsValue>;
        #[wasm_bindgen(catch)]
        pub(super) fn set(details: &JsValue) -> Result<Promise, JsValue>;
    }
}
