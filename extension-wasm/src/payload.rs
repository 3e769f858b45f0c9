//! Payloads as JavaScript values: what is only passed on never leaves the JS heap.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_wasm_bindgen::Serializer;
use shared_protocol::{Payload, Unreadable};
use wasm_bindgen::JsValue;

/// A JavaScript value that the worker passes on untouched.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JsPayload(#[serde(with = "serde_wasm_bindgen::preserve")] pub JsValue);

impl Payload for JsPayload {
    fn read<T: DeserializeOwned>(&self) -> Result<T, Unreadable> {
        serde_wasm_bindgen::from_value(self.0.clone())
            .map_err(|error| Unreadable(error.to_string()))
    }

    fn write<T: Serialize>(value: &T) -> Result<Self, Unreadable> {
        to_js(value).map(Self).map_err(|error| Unreadable(error.to_string()))
    }
}

/// Plain objects, as `JSON.stringify` and `chrome.*` want them.
pub(crate) fn to_js<T: Serialize>(value: &T) -> Result<JsValue, serde_wasm_bindgen::Error> {
    value.serialize(&Serializer::json_compatible())
}
