//! Payloads as JavaScript values, which stay in the JS heap while they are only forwarded.

use js_sys::{JSON, JsString};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_wasm_bindgen::Serializer;
use shared_protocol::{Payload, Unreadable};
use wasm_bindgen::{JsCast, JsValue};

/// A JavaScript value that the worker forwards untouched.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JsPayload(#[serde(with = "serde_wasm_bindgen::preserve")] pub JsValue);

impl Payload for JsPayload {
    fn read<T: DeserializeOwned>(&self) -> Result<T, Unreadable> {
        serde_wasm_bindgen::from_value(self.0.clone())
            .map_err(|error| Unreadable(error.to_string()))
    }

    fn parse(json: &str) -> Result<Self, Unreadable> {
        let parsed = parse(&JsString::from(json)).map(Self);
        parsed.map_err(|_| Unreadable("not JSON".to_owned()))
    }

    fn write<T: Serialize>(value: &T) -> Result<Self, Unreadable> {
        to_js(value).map(Self).map_err(|error| Unreadable(error.to_string()))
    }
}

/// Makes plain objects, as `JSON.stringify` and `chrome.*` expect them.
pub(crate) fn to_js<T: Serialize>(value: &T) -> Result<JsValue, serde_wasm_bindgen::Error> {
    value.serialize(&Serializer::json_compatible())
}

/// Writes a message as JSON text that never enters the WASM heap.
///
/// # Errors
///
/// Returns what JavaScript threw.
pub fn to_text<T: Serialize>(message: &T) -> Result<JsString, JsValue> {
    JSON::stringify(&to_js(message)?)
}

/// Reads a message from JSON text that never enters the WASM heap.
///
/// # Errors
///
/// Returns the reason why the text is not such a message.
pub fn from_text<T: DeserializeOwned>(text: &JsString) -> Result<T, String> {
    let value = parse(text).map_err(|thrown| {
        let error = thrown.dyn_ref::<js_sys::Error>().map(|error| String::from(error.message()));
        error.unwrap_or_else(|| "not JSON".to_owned())
    })?;
    serde_wasm_bindgen::from_value(value).map_err(|error| error.to_string())
}

/// Reads any JSON text.
pub(crate) fn parse(text: &JsString) -> Result<JsValue, JsValue> {
    sys::parse(text)
}

mod sys {
    use js_sys::JsString;
    use wasm_bindgen::JsValue;
    use wasm_bindgen::prelude::wasm_bindgen;

    #[wasm_bindgen]
    extern "C" {
        /// Takes a JavaScript string. The one in `js_sys` takes Rust strings only.
        #[wasm_bindgen(catch, js_namespace = JSON)]
        pub(super) fn parse(text: &JsString) -> Result<JsValue, JsValue>;
    }
}
