//! The worker's clock: `setTimeout` and `performance.now`.

use std::time::Duration;

use js_sys::{Function, Promise};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::JsFuture;

/// Completes after `duration`, if the worker lives that long. Longer waits need an alarm.
pub(crate) async fn sleep(duration: Duration) {
    // A timer's promise is never rejected.
    drop(JsFuture::from(timer(duration, &JsValue::UNDEFINED)).await);
}

/// Returns what `promise` settles to, or `None` if that takes longer than `limit`.
pub(crate) async fn within(limit: Duration, promise: Promise) -> Option<Result<JsValue, JsValue>> {
    let late = JsValue::from(js_sys::Object::new());
    let race = Promise::race(&js_sys::Array::of2(&promise, &timer(limit, &late)));
    match JsFuture::from(race).await {
        Ok(value) if value == late => None,
        settled => Some(settled),
    }
}

/// Makes a promise that resolves to `value` after `duration`.
fn timer(duration: Duration, value: &JsValue) -> Promise {
    let milliseconds = i32::try_from(duration.as_millis()).unwrap_or(i32::MAX);
    Promise::new(&mut |resolve, _| set_timeout(&resolve, milliseconds, value))
}

#[wasm_bindgen]
extern "C" {
    /// Returns milliseconds since some moment in the past.
    #[wasm_bindgen(js_namespace = performance)]
    pub(crate) fn now() -> f64;

    #[wasm_bindgen(js_name = setTimeout)]
    fn set_timeout(callback: &Function, milliseconds: i32, argument: &JsValue);
}
