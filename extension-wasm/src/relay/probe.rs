//! Asks over HTTP who listens at the relay's port.

use gloo_net::http::{Method, RequestBuilder, Response};
use js_sys::{Reflect, Uint8Array};
use shared_protocol::http::ExtensionStatus;
use shared_protocol::pairing::MAX_FRAME;
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortSignal, ReadableStreamDefaultReader, RequestCredentials, RequestRedirect};

use crate::js::pairing_json;
use crate::js::payload::from_text;
use extension_core::HelloAnswer;

/// The greatest time that a relay on this machine may take to answer.
const PROBE_MILLISECONDS: u32 = 2000;

pub(crate) async fn is_relay(port: u16) -> bool {
    ask_relay(port, Method::HEAD, "/").await.is_some()
}

/// Returns true if the relay serves another extension; false if it does not answer.
pub(crate) async fn is_taken(port: u16) -> bool {
    let Some(answer) = ask_relay(port, Method::GET, "/extension/status").await else {
        return false;
    };
    let text = answer.text().await.unwrap_or_default();
    from_text::<ExtensionStatus>(&text.into()).is_ok_and(|status| status.connected)
}

/// Asks the program at the relay's port for its hello. The program may send anything, without end.
pub(crate) async fn ask_hello(port: u16) -> HelloAnswer {
    let patience = AbortSignal::timeout_with_u32(PROBE_MILLISECONDS);
    let request = RequestBuilder::new(&format!("http://127.0.0.1:{port}/extension/hello"))
        .redirect(RequestRedirect::Error)
        .credentials(RequestCredentials::Omit)
        .abort_signal(Some(&patience));
    let Ok(answer) = request.send().await else {
        // A redirect fails in the same way as a closed port.
        return if is_relay(port).await { HelloAnswer::Other } else { HelloAnswer::NoAnswer };
    };
    let text = if answer.ok() { short_text(&answer).await } else { None };
    let hello = text.and_then(|text| pairing_json::relay_hello(&text.into()));
    hello.map_or(HelloAnswer::Other, HelloAnswer::Relay)
}

/// Returns the text of an answer, unless it is longer than any that a relay sends.
async fn short_text(answer: &Response) -> Option<String> {
    let reader = ReadableStreamDefaultReader::new(&answer.body()?).ok()?;
    let mut bytes = Vec::new();
    loop {
        let part = JsFuture::from(reader.read()).await.ok()?;
        let value = Reflect::get(&part, &JsValue::from("value")).ok()?;
        let Ok(part) = value.dyn_into::<Uint8Array>() else { break };
        if bytes.len() + part.length() as usize > MAX_FRAME {
            // The rest is dropped, whether it can be cancelled or not.
            drop(reader.cancel());
            return None;
        }
        bytes.extend(part.to_vec());
    }
    String::from_utf8(bytes).ok()
}

async fn ask_relay(port: u16, method: Method, path: &str) -> Option<Response> {
    let patience = AbortSignal::timeout_with_u32(PROBE_MILLISECONDS);
    let request = RequestBuilder::new(&format!("http://127.0.0.1:{port}{path}"))
        .method(method)
        .abort_signal(Some(&patience));
    request.send().await.ok().filter(Response::ok)
}
