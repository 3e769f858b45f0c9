//! A relay elsewhere, on another address.

use std::process::Output;

use relay::server::{RelayOptions, Token};
use relay::{RelayServer, VERSION};

use crate::place::Place;

const TOKEN: &str = "s3cret-of-sixteen-signs";

#[tokio::test]
async fn a_relay_on_another_address_is_used_with_its_token() {
    let address = "127.0.0.2";
    let server = start(address).await;
    let place = Place::new();
    let host = format!("{address}:{}", server.address().port());
    for url in [host.clone(), format!("http://{host}"), format!("ws://{host}/")] {
        let status = place.ask("status", &url, Some(TOKEN)).await;
        let text = String::from_utf8(status.stdout).unwrap();
        assert!(text.starts_with(&format!("relay      {VERSION} at http://{host}\n")), "{text}");
        let connect = place.ask("connect", &url, Some(TOKEN)).await;
        let text = String::from_utf8(connect.stderr).unwrap();
        assert_eq!(connect.status.code(), Some(1), "{text}");
        assert!(text.starts_with("error: Extension not connected."), "{text}");
        assert!(
            text.contains(&format!("hint: the relay at http://{host} has no extension.")),
            "{text}"
        );
        let refused = place.ask("status", &url, None).await;
        let text = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(2), "{text}");
        assert!(text.contains("this relay wants its token"), "{text}");
    }
    assert!(!place.home.path().join(".playwriter").exists(), "nothing is started here");
    server.close().await;
}

impl Place {
    async fn ask(&self, command: &str, host: &str, token: Option<&str>) -> Output {
        let mut command = self.command(&[command]);
        command.env("PLAYWRITER_HOST", host);
        if let Some(token) = token {
            command.env("PLAYWRITER_TOKEN", token);
        }
        if command.get_args().any(|argument| argument == "connect") {
            command.args(["--timeout", "0"]);
        }
        tokio::process::Command::from(command).output().await.unwrap()
    }
}

async fn start(host: &str) -> RelayServer {
    let (host, token) = (host.to_owned(), Some(Token::new(TOKEN)));
    let options = RelayOptions { port: 0, host, token, ..RelayOptions::default() };
    RelayServer::start(&options).await.unwrap()
}
