//! Typed bindings to the parts of `chrome.*` that the worker uses, one file per namespace.
//!
//! Raw imports stay private to their file, and return a promise or what was thrown. Every call that
//! Chrome should answer at once has a deadline.

pub(crate) mod action;
pub(crate) mod alarms;
pub(crate) mod content_settings;
pub(crate) mod cookies;
pub(crate) mod debugger;
pub(crate) mod downloads;
pub(crate) mod groups;
pub(crate) mod offscreen;
pub(crate) mod runtime;
pub(crate) mod scripting;
pub(crate) mod storage;
pub(crate) mod tabs;
pub(crate) mod windows;

use std::time::Duration;

use js_sys::Promise;
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;

use crate::js::error::ChromeError;
use crate::js::payload::to_js;
use crate::js::time;

/// The deadline of a call that Chrome answers within milliseconds as a rule.
const PROMPT: Duration = Duration::from_secs(5);

/// Awaits a call that Chrome should answer at once.
async fn promptly(
    api: &'static str,
    call: Result<Promise, JsValue>,
) -> Result<JsValue, ChromeError> {
    let failed = |thrown: JsValue| ChromeError::new(api, &thrown);
    let call = call.map_err(failed)?;
    match time::within(PROMPT, call).await {
        Some(settled) => settled.map_err(failed),
        None => Err(ChromeError::timed_out(api)),
    }
}

/// Awaits a call that may take any time.
async fn eventually(
    api: &'static str,
    call: Result<Promise, JsValue>,
) -> Result<JsValue, ChromeError> {
    let settled = async { JsFuture::from(call?).await };
    settled.await.map_err(|thrown| ChromeError::new(api, &thrown))
}

/// Makes an argument of ours. All of them have a JavaScript form.
fn argument<T: Serialize>(value: &T) -> JsValue {
    to_js(value).unwrap_or(JsValue::UNDEFINED)
}

fn answer<T: DeserializeOwned>(api: &'static str, value: JsValue) -> Result<T, ChromeError> {
    serde_wasm_bindgen::from_value(value)
        .map_err(|error| ChromeError { api, message: format!("an unexpected answer: {error}") })
}
