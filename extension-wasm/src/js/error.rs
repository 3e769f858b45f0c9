//! Errors of `chrome.*`. Anything can be thrown, so anything is kept as text.

use std::fmt;

use wasm_bindgen::{JsCast, JsValue};

/// A failed call of a Chrome API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChromeError {
    /// `namespace.function`
    pub(crate) api: &'static str,
    /// Chrome's message. For a CDP error, `chrome.debugger` puts JSON text here.
    pub(crate) message: String,
}

impl ChromeError {
    pub(crate) fn new(api: &'static str, thrown: &JsValue) -> Self {
        let message = match thrown.dyn_ref::<js_sys::Error>() {
            Some(error) => String::from(error.message()),
            None => thrown.as_string().unwrap_or_else(|| "it does not say why".to_owned()),
        };
        Self { api, message }
    }

    pub(crate) fn timed_out(api: &'static str) -> Self {
        Self { api, message: "Chrome did not answer in time".to_owned() }
    }
}

impl fmt::Display for ChromeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "chrome.{}: {}", self.api, self.message)
    }
}

impl From<ChromeError> for JsValue {
    fn from(error: ChromeError) -> Self {
        js_sys::Error::new(&error.to_string()).into()
    }
}

pub(crate) fn log_failure(outcome: Result<(), ChromeError>) {
    if let Err(error) = outcome {
        web_sys::console::warn_1(&error.to_string().into());
    }
}
