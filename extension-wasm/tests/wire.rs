//! The wire as the worker speaks it, in real JavaScript: the same fixtures as the native test, read
//! and written with payloads that stay in the JS heap.

#![cfg(target_arch = "wasm32")]
#![expect(clippy::panic, clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use extension_wasm::{JsPayload, from_text, to_text};
use serde::Serialize;
use serde::de::DeserializeOwned;
use shared_protocol::{ExtensionMessage, RelayMessage};
use wasm_bindgen_test::wasm_bindgen_test;

macro_rules! fixtures {
    ($folder:literal: $($name:literal),* $(,)?) => {
        [$((
            $name,
            include_str!(concat!("../../shared-protocol/tests/fixtures/", $folder, "/", $name, ".json")),
        )),*]
    };
}

#[wasm_bindgen_test]
fn every_message_of_the_relay_is_kept() {
    check::<RelayMessage<JsPayload>>(&fixtures!("from-relay":
        "activate-tab",
        "call-cookies",
        "cancel-download",
        "cancel-recording",
        "command-on-a-tab",
        "command-on-the-extension",
        "command-with-unknown-fields",
        "command-without-params",
        "create-initial-tab",
        "find-download",
        "get-window",
        "get-window-of-a-page",
        "is-recording",
        "ping",
        "set-notice",
        "set-permissions",
        "set-window-bounds",
        "set-window-mode",
        "set-window-mode-with-unknown-fields",
        "set-window-state",
        "start-recording",
        "stop-recording",
        "unknown-event",
        "unknown-request",
        "update-tab-group",
    ));
}

#[wasm_bindgen_test]
fn every_message_of_an_extension_is_kept() {
    check::<ExtensionMessage<JsPayload>>(&fixtures!("from-extension":
        "event-of-a-child",
        "event-of-a-tab",
        "event-of-the-extension",
        "event-with-unknown-fields",
        "hello",
        "log",
        "parse-failure",
        "pong",
        "ready",
        "recording-cancelled",
        "recording-data",
        "reply",
        "reply-with-error",
        "reply-without-result",
        "unknown-message",
    ));
}

#[wasm_bindgen_test]
fn text_that_is_no_message_gives_the_reason() {
    let error = from_text::<RelayMessage<JsPayload>>(&"{}".into()).unwrap_err();
    assert!(error.contains("missing field `method`"), "{error}");
    let error = from_text::<RelayMessage<JsPayload>>(&"{".into()).unwrap_err();
    assert!(error.contains("JSON"), "{error}");
}

/// A number has no digits of its own in JavaScript: `1.50` is written as `1.5`. All else is kept
/// byte for byte.
fn check<T: Serialize + DeserializeOwned>(fixtures: &[(&str, &str)]) {
    for (name, text) in fixtures {
        let message: T = from_text(&(*text).into()).unwrap_or_else(|why| panic!("{name}: {why}"));
        let written = String::from(to_text(&message).unwrap());
        let normalised =
            text.replace("1.50", "1.5").replace("123.4567890123456789", "123.45678901234568");
        assert_eq!(written, normalised, "{name}");
    }
}
