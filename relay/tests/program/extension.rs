//! An extension with one tab, as far as a relay without clients can tell.

use std::net::TcpStream;

use relay::{EXTENSION_ID, VERSION};
use serde_json::json;
use tungstenite::client::IntoClientRequest;
use tungstenite::stream::MaybeTlsStream;
use tungstenite::{Message, WebSocket};

/// Connected until it is dropped.
pub(crate) struct Extension {
    _socket: WebSocket<MaybeTlsStream<TcpStream>>,
}

impl Extension {
    /// Connects, and announces the tab.
    pub(crate) fn connect(port: u16) -> Self {
        let query = format!("browser=Chrome&installId=one&v={VERSION}");
        let url = format!("ws://127.0.0.1:{port}/extension?{query}");
        let mut request = url.into_client_request().unwrap();
        let origin = format!("chrome-extension://{EXTENSION_ID}");
        request.headers_mut().insert("origin", origin.parse().unwrap());
        let (mut socket, _) = tungstenite::connect(request).unwrap();
        let info = json!({
            "targetId": "T1", "type": "page", "title": "a tab", "url": "http://a.example/",
            "attached": true, "canAccessOpener": false,
        });
        let attached =
            json!({ "sessionId": "pw-tab-1", "targetInfo": info, "waitingForDebugger": false });
        let event = json!({ "method": "Target.attachedToTarget", "params": attached });
        let event = json!({ "method": "forwardCDPEvent", "params": event });
        socket.send(Message::text(event.to_string())).unwrap();
        Self { _socket: socket }
    }
}
