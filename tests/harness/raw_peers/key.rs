//! The handshake of an extension that says exactly what a test says.

use std::path::Path;

use ring::{digest, hmac};
use serde_json::{Value, json};
use shared_protocol::pairing::{
    FILE, Key, KeyId, Nonce, PairingFile, signed_by_extension, signed_by_relay,
};

use super::RawClient;

/// The key of an extension's folder.
#[derive(Debug, Clone, Copy)]
pub struct RawKey {
    /// The name of the key.
    pub kid: KeyId,
    /// The key.
    pub key: Key,
}

impl RawKey {
    /// Reads the key of a folder.
    #[must_use]
    pub fn of(folder: &Path) -> Self {
        let text = std::fs::read(folder.join(FILE)).expect("the folder has a key");
        let file: PairingFile = serde_json::from_slice(&text).expect("it is a file of ours");
        let (kid, key) = file.key().expect("the folder has a key");
        Self { kid, key: *key }
    }

    /// Opens a socket to a relay with a nonce.
    ///
    /// # Errors
    ///
    /// The status and the sentence with which the relay refuses it.
    pub async fn knock(&self, port: u16, nonce: &Nonce) -> Result<RawClient, (u16, String)> {
        let kid = self.kid;
        RawClient::knock(port, &format!("pairing=v1&kid={kid}&nonce={nonce}")).await
    }

    /// Returns true if the relay's first frame proves that it knows the key and listens at this port.
    #[must_use]
    pub fn is_shown(&self, frame: &Value, first: &Nonce, port: u16) -> bool {
        let listening = frame["params"]["listening"].as_u64().and_then(|it| it.try_into().ok());
        let listening = listening.expect("the relay says since when it listens");
        let signed = signed_by_relay(self.kid, first, &nonce_in(frame), port, listening);
        frame["params"]["proof"] == self.sign(&signed)
    }

    /// The frame with which an extension answers the relay's first frame.
    #[must_use]
    pub fn answer(&self, frame: &Value, first: &Nonce, port: u16, hello: &str) -> String {
        let hash = digest::digest(&digest::SHA256, hello.as_bytes());
        let hash = hash.as_ref().try_into().expect("a hash has 32 bytes");
        let signed = signed_by_extension(self.kid, first, &nonce_in(frame), port, &hash);
        let params = json!({ "hello": hello, "proof": self.sign(&signed) });
        json!({ "method": "pairing", "params": params }).to_string()
    }

    /// Opens a socket and proves itself.
    pub async fn connect(&self, port: u16, hello: &str) -> RawClient {
        let nonce = Nonce([5; 32]);
        let socket = self.knock(port, &nonce).await.expect("the relay takes the socket");
        self.prove(socket, &nonce, port, hello).await
    }

    /// Works like [`RawKey::connect`], over a connection that somebody else has made.
    pub async fn connect_over(&self, connection: std::net::TcpStream, hello: &str) -> RawClient {
        let port = connection.peer_addr().expect("it is connected").port();
        let nonce = Nonce([5; 32]);
        let query = format!("pairing=v1&kid={}&nonce={nonce}", self.kid);
        let socket = RawClient::knock_over(connection, &query).await;
        self.prove(socket.expect("the relay takes the socket"), &nonce, port, hello).await
    }

    async fn prove(
        &self,
        mut socket: RawClient,
        first: &Nonce,
        port: u16,
        hello: &str,
    ) -> RawClient {
        let frame = socket.next().await;
        assert!(self.is_shown(&frame, first, port), "{frame}");
        socket.send(&self.answer(&frame, first, port, hello)).await;
        socket
    }

    fn sign(&self, what: &[u8]) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.key.0);
        let signature = hmac::sign(&key, what);
        Key(signature.as_ref().try_into().expect("a signature has 32 bytes")).to_text()
    }
}

fn nonce_in(frame: &Value) -> Nonce {
    let nonce = frame["params"]["nonce"].as_str().expect("the relay sends a nonce");
    nonce.parse().expect("a nonce has 32 bytes")
}
