//! The objects of the handshake, read field by field. That takes a fraction of the code that serde
//! would make.

use std::str::FromStr;

use js_sys::{Array, JSON, JsString, Reflect};
use shared_protocol::pairing::{
    ExtensionProof, GivenKey, METHOD, PairingFile, RelayHello, RelayProof,
};
use wasm_bindgen::{JsCast, JsValue};

use crate::js::payload::parse;
use extension_core::PairingFileRead;

/// Reads `pairing.json`, or the same text from the storage.
pub(crate) fn pairing_file(text: &JsString) -> PairingFileRead {
    let file = || {
        let file = parse(text).ok()?;
        Some(PairingFile {
            v: number(&file, "v")?,
            // A key that is there and cannot be read is not the same as none.
            kid: parsed(&file, "kid")?,
            key: parsed(&file, "key")?,
            port: number(&file, "port").and_then(|port| u16::try_from(port).ok()),
            unpaired: field(&file, "unpaired") == JsValue::TRUE,
        })
    };
    file().map_or(PairingFileRead::Damaged, PairingFileRead::Whole)
}

/// Writes what [`pairing_file`] reads.
pub(crate) fn pairing_text(GivenKey { kid, key }: &GivenKey, port: u16) -> String {
    let key = key.to_text();
    format!(r#"{{"v":{},"kid":"{kid}","key":"{key}","port":{port}}}"#, PairingFile::V)
}

/// Reads the hello of the program at the relay's port.
pub(crate) fn relay_hello(text: &JsString) -> Option<RelayHello> {
    let hello = parse(text).ok()?;
    let pairing: Array = field(&hello, "pairing").dyn_into().ok()?;
    Some(RelayHello {
        name: field(&hello, "name").as_string()?,
        pairing: pairing.iter().filter_map(|known| known.as_string()).collect(),
        required: field(&hello, "required") == JsValue::TRUE,
    })
}

/// Reads the relay's first frame.
pub(crate) fn relay_proof(text: &JsString) -> Option<RelayProof> {
    let params = params(text)?;
    Some(RelayProof {
        nonce: parsed(&params, "nonce")?,
        listening: number(&params, "listening"),
        proof: parsed(&params, "proof")?,
        error: field(&params, "error").as_string(),
    })
}

/// Reads the frame with a key.
pub(crate) fn given_key(text: &JsString) -> Option<GivenKey> {
    let params = params(text)?;
    Some(GivenKey { kid: parsed(&params, "kid")??, key: parsed(&params, "key")?? })
}

/// Writes the extension's first frame.
pub(crate) fn extension_proof(ExtensionProof { hello, proof }: &ExtensionProof) -> Option<String> {
    let hello = JSON::stringify(&hello.into()).ok()?;
    let proof = proof.to_text();
    Some(format!(r#"{{"method":"{METHOD}","params":{{"hello":{hello},"proof":"{proof}"}}}}"#))
}

fn params(text: &JsString) -> Option<JsValue> {
    let frame = parse(text).ok()?;
    let is_ours = field(&frame, "method").as_string().as_deref() == Some(METHOD);
    is_ours.then(|| field(&frame, "params"))
}

/// Parses an optional text. Returns `None` if the text is there and cannot be parsed.
fn parsed<T: FromStr>(object: &JsValue, name: &str) -> Option<Option<T>> {
    let value = field(object, name);
    if value.is_undefined() {
        return Some(None);
    }
    value.as_string()?.parse().ok().map(Some)
}

fn number(object: &JsValue, name: &str) -> Option<u32> {
    let number = field(object, name).as_f64()?;
    (0.0..=f64::from(u32::MAX)).contains(&number).then_some(number as u32)
}

/// Returns a field, or `undefined` if the value is no object.
fn field(object: &JsValue, name: &str) -> JsValue {
    Reflect::get(object, &name.into()).unwrap_or_default()
}
