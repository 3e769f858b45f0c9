//! The handshake with the relay, on the socket that is used afterwards.

use std::time::Duration;

use js_sys::{Function, Promise};
use shared_protocol::pairing::{
    ExtensionProof, GivenKey, Key, KeyId, MAX_FRAME, Nonce, PairingCode, Proof, RelayProof,
    UNKNOWN_KEY, VERSION, signed_by_extension, signed_by_relay, signed_for_code_id,
    signed_for_code_key,
};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{MessageEvent, WebSocket};

use crate::js::crypto::{self, HmacKey};
use crate::js::pairing_json;
use crate::js::time;
use extension_core::{PairingKey, ProofFailure};

/// The greatest time that the relay may take for one step.
const STEP: Duration = Duration::from_secs(5);

/// A socket over which nothing has been sent but the name of a key.
pub(crate) struct Handshake {
    pub(crate) socket: WebSocket,
    port: u16,
    key: PairingKey,
    first: Nonce,
    opened: f64,
}

impl Handshake {
    /// Starts to open a socket.
    pub(crate) fn begin(port: u16, key: PairingKey) -> Result<Self, JsValue> {
        let first = Nonce(crypto::random()?);
        let opened = time::now();
        let query = format!("pairing={VERSION}&kid={}&nonce={first}", key.kid);
        let socket = WebSocket::new(&format!("ws://127.0.0.1:{port}/extension?{query}"))?;
        Ok(Self { socket, port, key, first, opened })
    }

    /// Verifies the relay's proof, and makes the frame with this extension's proof. Nothing has
    /// been sent when it completes.
    pub(crate) async fn answer(&self, hello: &str) -> Result<js_sys::JsString, ProofFailure> {
        let frame = self.frame().await;
        let age = time::now() - self.opened;
        let proof = frame
            .and_then(|frame| pairing_json::relay_proof(&frame))
            .ok_or(ProofFailure::NoProof)?;
        let RelayProof { nonce, listening, proof, error } = proof;
        if error.as_deref() == Some(UNKNOWN_KEY) {
            return Err(ProofFailure::UnknownKey);
        }
        let (Some(second), Some(listening), Some(proof)) = (nonce, listening, proof) else {
            return Err(ProofFailure::NoProof);
        };
        // A program that had the port before the relay may have accepted this socket, and may
        // forward what the relay sends.
        if f64::from(listening) < age {
            return Err(ProofFailure::NoProof);
        }
        let signed = signed_by_relay(self.key.kid, &self.first, &second, self.port, listening);
        let answer = self.checked(second, &signed, proof, hello).await;
        answer.ok().flatten().ok_or(ProofFailure::NoProof)
    }

    async fn checked(
        &self,
        second: Nonce,
        signed: &[u8],
        proof: Proof,
        hello: &str,
    ) -> Result<Option<js_sys::JsString>, JsValue> {
        let Self { port, key: PairingKey { kid, key, .. }, first, .. } = self;
        let key = HmacKey::new(&key.0).await?;
        if !key.verify(&proof.0, signed).await? {
            return Ok(None);
        }
        let hash = crypto::sha256(hello.as_bytes()).await?;
        let signed = signed_by_extension(*kid, first, &second, *port, &hash);
        let proof = Proof(key.sign(&signed).await?);
        let frame = ExtensionProof { hello: hello.to_owned(), proof };
        Ok(pairing_json::extension_proof(&frame).map(Into::into))
    }

    /// Returns the next frame of the handshake. Returns `None` for a frame that is too long or of
    /// another kind, and for one that comes while no caller waits.
    async fn frame(&self) -> Option<js_sys::JsString> {
        let mut resolve = None;
        let frame = Promise::new(&mut |on_frame, _| resolve = Some(on_frame));
        let resolve: Function = resolve?;
        let on_message = Closure::<dyn FnMut(MessageEvent)>::new({
            let resolve = resolve.clone();
            move |event: MessageEvent| drop(resolve.call1(&JsValue::UNDEFINED, &event.data()))
        });
        let on_end = Closure::<dyn FnMut()>::new(move || drop(resolve.call0(&JsValue::UNDEFINED)));
        self.socket.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        self.socket.set_onclose(Some(on_end.as_ref().unchecked_ref()));
        let frame = time::within(STEP, frame).await;
        self.socket.set_onmessage(None);
        self.socket.set_onclose(None);
        let text = frame?.ok()?.dyn_into::<js_sys::JsString>().ok()?;
        (text.length() as usize <= MAX_FRAME).then_some(text)
    }
}

/// Gets a key for this extension, with a code that the user has pasted.
pub(crate) async fn key_for(code: &PairingCode, port: u16) -> Result<PairingKey, JsValue> {
    let secret = HmacKey::new(&code.0).await?;
    let mut kid = KeyId([0; 8]);
    kid.0.copy_from_slice(&secret.sign(signed_for_code_id()).await?[..8]);
    let key = Key(secret.sign(signed_for_code_key()).await?);
    let handshake = Handshake::begin(port, PairingKey { kid, key, port: None })?;
    let given = give(&handshake).await;
    // The socket is needed no more, whatever the outcome.
    drop(handshake.socket.close());
    let GivenKey { kid, key } = given?;
    Ok(PairingKey { kid, key, port: Some(port) })
}

async fn give(handshake: &Handshake) -> Result<GivenKey, JsValue> {
    let answer = handshake.answer("{}").await.map_err(|why| match why {
        ProofFailure::UnknownKey => {
            "the relay does not know this code: it is good once, for ten minutes"
        }
        ProofFailure::NoProof => {
            "the program at the relay's port cannot prove that it knows this code"
        }
    })?;
    handshake.socket.send_with_str(&String::from(answer))?;
    let given = handshake.frame().await.and_then(|frame| pairing_json::given_key(&frame));
    given.ok_or_else(|| "the relay gave no key".into())
}
