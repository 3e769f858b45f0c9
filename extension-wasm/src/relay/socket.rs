//! The WebSocket to the relay. Text goes from the socket to `JSON.parse` and from `JSON.stringify`
//! to the socket, and is never copied into the WASM heap.

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

/// More than the two largest messages. A relay that lets this much pile up does not read.
const MAX_BUFFERED: u32 = 512 * 1024 * 1024;

/// The length of the largest message that a relay accepts, in bytes.
const MAX_LENGTH: u32 = 256 * 1024 * 1024;

/// The length of a piece of text whose bytes are counted at once.
const PIECE: u32 = 1024 * 1024;

/// An open or opening socket. When it is dropped, it closes, and reports nothing more.
pub(crate) struct RelaySocket {
    socket: WebSocket,
    on_open: Closure<dyn FnMut()>,
    on_message: Closure<dyn FnMut(MessageEvent)>,
    on_close: Closure<dyn FnMut(CloseEvent)>,
    is_dropped: Rc<Cell<bool>>,
}

impl RelaySocket {
    /// Starts to open a socket. Everything that happens to it is passed to `tell`.
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

    /// Opens a socket as [`RelaySocket::open`] does, for an extension that has a key. It counts as
    /// open when both sides have proven themselves. What is received before that is ignored.
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
                // A socket that has closed accepts the frame silently, and reports nothing more.
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

    /// Sends a message, or closes the socket if the relay does not read.
    pub(crate) fn send(&self, message: &ExtensionMessage<JsPayload>) -> Result<(), JsValue> {
        if self.socket.buffered_amount() > MAX_BUFFERED {
            return self.socket.close_with_code(CloseCode::ConnectionFailed.number());
        }
        let text = to_text(message)?;
        if is_too_long(&text) {
            // The relay would end the connection.
            return Err("it is larger than 256 MiB".into());
        }
        self.socket.unchecked_ref::<TextSocket>().send(&text)
    }

    /// Starts to close the socket. The end is reported like any other.
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

/// Returns true if a text has more bytes than a relay accepts. A UTF-16 unit has three bytes at
/// most, so only few texts have to be counted.
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
    /// An encoder that takes text from the JS heap.
    type TextEncoder;
    #[wasm_bindgen(constructor)]
    fn new() -> TextEncoder;
    #[wasm_bindgen(method)]
    fn encode(this: &TextEncoder, text: &JsString) -> Uint8Array;

    /// A WebSocket that takes text from the JS heap.
    type TextSocket;
    #[wasm_bindgen(method, catch)]
    fn send(this: &TextSocket, text: &JsString) -> Result<(), JsValue>;
}
