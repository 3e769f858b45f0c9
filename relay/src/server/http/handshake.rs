//! The handshake on one socket.

use std::borrow::Cow;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use ring::{digest, hmac};
use serde::Serialize;
use shared_protocol::pairing::{
    ExtensionProof, Key, Knock, MAX_FRAME, METHOD, Nonce, PairingFrame, Proof, RelayProof,
    UNKNOWN_KEY, signed_by_extension, signed_by_relay,
};
use shared_protocol::{CloseCode, ExtensionHello};
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use warp::ws::{Message, WebSocket};

use crate::server::access::pairing::Pairing;
use crate::server::access::places::Places;
use crate::trust::pairing as files;
use crate::trust::pairing::Known;

/// The time that an extension may take for its answer, and that a socket may take for a write or a
/// close.
const FRAME_TIMEOUT: Duration = Duration::from_secs(5);

/// An extension that has shown its key.
pub(crate) struct Proven {
    pub(crate) socket: WebSocket,
    pub(crate) hello: ExtensionHello,
}

/// Proves this relay to an extension, and lets it prove itself. `None` if it has not, or if it came with
/// a code: then it has a key, with which it comes again.
///
/// Only an extension whose key is known takes a place, and gives it back before it is told that it is
/// refused.
pub(crate) async fn shake(
    mut socket: WebSocket,
    knock: &Knock,
    pairing: &Pairing,
    places: &Places,
) -> Option<Proven> {
    let Some(known) = look_up(pairing, knock).await else {
        pairing.unknown_key();
        let _goodbye = pairing.goodbye()?;
        let error = Some(UNKNOWN_KEY.to_owned());
        say(&mut socket, RelayProof { error, ..RelayProof::default() }).await?;
        close(socket, CloseCode::UnknownKey, "this key is not known").await;
        return None;
    };
    let mut place = places.take();
    let (Known::Key(key) | Known::Code(key)) = known;
    let mut nonce = Nonce([0; 32]);
    getrandom::fill(&mut nonce.0).ok()?;
    let listening = pairing.listening.milliseconds();
    let signed = signed_by_relay(knock.kid, &knock.nonce, &nonce, pairing.port, listening);
    let proof = Some(prove(&key, &signed));
    let shown = RelayProof { nonce: Some(nonce), listening: Some(listening), proof, error: None };
    say(&mut socket, shown).await?;
    let answer = tokio::select! {
        answer = answer(&mut socket) => answer,
        () = place.wanted() => return None,
    };
    drop(place);
    let hello = answer.filter(|answer| is_proven(&key, knock, &nonce, pairing.port, answer));
    let Some(ExtensionProof { hello, .. }) = hello else {
        let _goodbye = pairing.goodbye()?;
        close(socket, CloseCode::NotProven, "the extension has not proven itself").await;
        return None;
    };
    if let Known::Code(_) = known {
        give_key(socket, knock, pairing).await;
        return None;
    }
    match serde_json::from_str(&hello) {
        Ok(hello) => Some(Proven { socket, hello }),
        Err(error) => {
            tracing::warn!(%error, "an extension has proven itself, but cannot be understood");
            close(socket, CloseCode::ConnectionFailed, "the hello cannot be read").await;
            None
        }
    }
}

async fn look_up(pairing: &Pairing, knock: &Knock) -> Option<Known> {
    let (home, kid) = (pairing.home.clone()?, knock.kid);
    spawn_blocking(move || files::look_up(&home, kid)).await.ok()?
}

/// Gives an extension that came with a code a key of its own.
async fn give_key(mut socket: WebSocket, knock: &Knock, pairing: &Pairing) {
    let Some(home) = pairing.home.clone() else { return };
    let code = knock.kid;
    let given = spawn_blocking(move || files::give_key(&home, code)).await;
    match given.ok().flatten() {
        Some(given) => {
            if say(&mut socket, given).await.is_some() {
                close(socket, CloseCode::Normal, "come again with the key").await;
            }
        }
        None => close(socket, CloseCode::UnknownKey, "this code was used already").await,
    }
}

/// The extension's one frame: text, short, in time.
async fn answer(socket: &mut WebSocket) -> Option<ExtensionProof> {
    let message = timeout(FRAME_TIMEOUT, socket.next()).await.ok()??.ok()?;
    let text = message.to_str().ok().filter(|text| text.len() <= MAX_FRAME)?;
    let frame: PairingFrame<ExtensionProof> = serde_json::from_str(text).ok()?;
    Some(frame.params).filter(|_| frame.method == METHOD)
}

fn is_proven(
    key: &Key,
    knock: &Knock,
    nonce: &Nonce,
    port: u16,
    ExtensionProof { hello, proof }: &ExtensionProof,
) -> bool {
    let mut hash = [0; 32];
    hash.copy_from_slice(digest::digest(&digest::SHA256, hello.as_bytes()).as_ref());
    let signed = signed_by_extension(knock.kid, &knock.nonce, nonce, port, &hash);
    hmac::verify(&hmac::Key::new(hmac::HMAC_SHA256, &key.0), &signed, &proof.0).is_ok()
}

fn prove(key: &Key, signed: &[u8]) -> Proof {
    let mut proof = Proof([0; 32]);
    let signature = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key.0), signed);
    proof.0.copy_from_slice(signature.as_ref());
    proof
}

/// `None` if the extension has gone, or does not read.
async fn say<T: Serialize>(socket: &mut WebSocket, params: T) -> Option<()> {
    let text = serde_json::to_string(&PairingFrame::new(params)).ok()?;
    timeout(FRAME_TIMEOUT, socket.send(Message::text(text))).await.ok()?.ok()
}

async fn close(mut socket: WebSocket, code: CloseCode, reason: &'static str) {
    let goodbye = async {
        // The extension may have gone already; if not, it answers the close.
        drop(socket.send(Message::close_with(code.number(), Cow::Borrowed(reason))).await);
        while let Some(Ok(_)) = socket.next().await {}
    };
    drop(timeout(FRAME_TIMEOUT, goodbye).await);
}
