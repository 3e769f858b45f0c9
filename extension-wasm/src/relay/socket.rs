//! The WebSocket to the relay. Text goes from the socket to `JSON.parse` and from
//! `JSON.stringify` to the socket without ever being copied into the WASM heap.

use std::cell::Cell;
use std::rc::Rc;

use js_sys::{Function, JsString, Object, Uint8Array};
use shared_protocol::{CloseCode, ExtensionHello, ExtensionMessage};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;
use web_sys::{CloseEvent, MessageEvent, UrlSearchParams, WebSocket};

use super::handshake::Handshake;
use crate::js::payload::{JsPayload, from_text, to_js, to_text};
use extension_core::{Attempt, Input, PairingKey, ProofFailure};

/// More than the largest two messages: a relay that lets this much pile up does not read.
const MAX_BUFFERED: u32 = 512 * 1024 * 1024;

/// What a relay takes, in bytes.
const MAX_LENGTH: u32 = 256 * 1024 * 1024;

/// How much of a text is counted at once.
const PIECE: u32 = 1024 * 1024;

/// An open or opening socket. Dropping it closes it, and nothing of it is heard any more.
pub(crate) struct RelaySocket {
    socket: WebSocket,
    on_open: Closure<dyn FnMut()>,
    on_message: Closure<dyn FnMut(MessageEvent)>,
    on_close: Closure<dyn FnMut(CloseEvent)>,
    is_dropped: Rc<Cell<bool>>,
}

impl RelaySocket {
    /// Starts to open a socket; whatever becomes of it is told to `tell`.
    pub(crate) fn open(
        attempt: Attempt,
        port: u16,
        hello: &ExtensionHello,
        tell: fn(Input<JsPayload>),
    ) -> Result<Self, JsValue> {
        let query = to_js(hello)?.unchecked_into::<Object>();
        let query = UrlSearchParams::new_with_record_from_str_to_str(&query)?.to_string();
        let url = format!("ws://127.0.0.1:{port}/extension?{query}");
        let socket = Self::around(WebSocket::new(&url)?, attempt, tell);
        let Self { socket: opening, on_open, on_message, on_close, .. } = &socket;
        opening.set_onopen(Some(on_open.as_ref().unchecked_ref()));
        opening.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        opening.set_onclose(Some(on_close.as_ref().unchecked_ref()));
        Ok(socket)
    }

    /// As [`RelaySocket::open`], for an extension that has a key: the socket counts as open when both
    /// sides have proven themselves, and nothing that is said before is heard.
    pub(crate) fn open_with_key(
        attempt: Attempt,
        port: u16,
        hello: &ExtensionHello,
        key: PairingKey,
        tell: fn(Input<JsPayload>),
    ) -> Result<Self, JsValue> {
        let hello = String::from(to_text(hello)?);
        let handshake = Handshake::begin(port, key)?;
        let this = Self::around(handshake.socket.clone(), attempt, tell);
        let is_dropped = Rc::clone(&this.is_dropped);
        let on_message: Function = this.on_message.as_ref().unchecked_ref::<Function>().clone();
        let on_close: Function = this.on_close.as_ref().unchecked_ref::<Function>().clone();
        spawn_local(async move {
            let answer = handshake.answer(&hello).await;
            if is_dropped.get() {
                return;
            }
            let socket = &handshake.socket;
            let proven = answer.and_then(|answer| {
                socket.set_onmessage(Some(&on_message));
                socket.set_onclose(Some(&on_close));
                let sent = socket.unchecked_ref::<TextSocket>().send(&answer);
                // One that has ended takes it without a word, and is heard of no more.
                match (sent, socket.ready_state()) {
                    (Ok(()), WebSocket::OPEN) => Ok(()),
                    _ => Err(ProofFailure::NoProof),
                }
            });
            tell(match proven {
                Ok(()) => Input::SocketOpened { attempt },
                Err(why) => Input::RelayUnproven { attempt, why },
            });
        });
        Ok(this)
    }

    fn around(socket: WebSocket, attempt: Attempt, tell: fn(Input<JsPayload>)) -> Self {
        let on_open = Closure::new(move || tell(Input::SocketOpened { attempt }));
        let on_message = Closure::new(move |event: MessageEvent| tell(read(attempt, &event)));
        let on_close = Closure::new(move |event: CloseEvent| {
            tell(Input::SocketClosed { attempt, code: event.code() });
        });
        Self { socket, on_open, on_message, on_close, is_dropped: Rc::default() }
    }

    /// Sends one message, or closes a socket whose other end does not read.
    pub(crate) fn send(&self, message: &ExtensionMessage<JsPayload>) -> Result<(), JsValue> {
        if self.socket.buffered_amount() > MAX_BUFFERED {
            return self.socket.close_with_code(CloseCode::ConnectionFailed.number());
        }
        let text = to_text(message)?;
        if is_too_long(&text) {
            // The relay would end the connection for it.
            return Err("it is larger than 256 MiB".into());
        }
        self.socket.unchecked_ref::<TextSocket>().send(&text)
    }

    /// Starts to close; the end is told like any other.
    pub(crate) fn close(&self) -> Result<(), JsValue> {
        self.socket.close()
    }
}

impl Drop for RelaySocket {
    fn drop(&mut self) {
        self.is_dropped.set(true);
        self.socket.set_onopen(None);
        self.socket.set_onmessage(None);
        self.socket.set_onclose(None);
        // Closing a closed socket does nothing.
        drop(self.socket.close());
    }
}

/// Whether a text has more bytes than a relay takes. A unit of JavaScript's strings has three at most,
/// so that few have to be counted.
fn is_too_long(text: &JsString) -> bool {
    let units = text.length();
    if units <= MAX_LENGTH / 3 || units > MAX_LENGTH {
        return units > MAX_LENGTH;
    }
    let encoder = TextEncoder::new();
    let piece = |start: u32| text.slice(start, start.saturating_add(PIECE).min(units));
    let starts = (0..units).step_by(PIECE as usize);
    starts.map(|start| u64::from(encoder.encode(&piece(start)).length())).sum::<u64>()
        > u64::from(MAX_LENGTH)
}

fn read(attempt: Attempt, event: &MessageEvent) -> Input<JsPayload> {
    match from_text(event.data().unchecked_ref()) {
        Ok(message) => Input::RelaySent { attempt, message },
        Err(why) => Input::RelaySentGarbage { attempt, why },
    }
}

#[wasm_bindgen]
extern "C" {
    /// An encoder that takes the text where it lies.
    type TextEncoder;
    #[wasm_bindgen(constructor)]
    fn new() -> TextEncoder;
    #[wasm_bindgen(method)]
    fn encode(this: &TextEncoder, text: &JsString) -> Uint8Array;

    /// A WebSocket that takes the text where it lies.
    type TextSocket;
    #[wasm_bindgen(method, catch)]
    fn send(this: &TextSocket, text: &JsString) -> Result<(), JsValue>;
}
