//! Raw peers on a stage, which say exactly what a test says.

use super::Stage;
use crate::raw_peers::{RawClient, RawRelay};

impl Stage {
    /// Starts a relay that speaks for itself, where the extension looks for one. It can prove nothing,
    /// so the extension must not have a key.
    pub async fn raw_relay(&self) -> RawRelay {
        if self.paired_folder().is_dir() {
            self.unpair();
        }
        RawRelay::start(self.port).await
    }

    /// Opens a WebSocket to the relay as an extension that speaks for itself.
    pub async fn raw_extension(&self, query: &str) -> RawClient {
        RawClient::connect_as_extension(self.port, query).await
    }

    /// Opens a WebSocket to the relay as a client that speaks for itself.
    pub async fn raw_client(&self, path: &str) -> RawClient {
        RawClient::connect(&format!("ws://127.0.0.1:{}{path}", self.port)).await
    }
}
