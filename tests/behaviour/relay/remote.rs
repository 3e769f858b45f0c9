//! A relay that other machines reach: its address in the network is as foreign to it as any other.

use std::net::{IpAddr, Ipv4Addr, UdpSocket};

use end_to_end::{Language, RawClient, Stage, may_make_networks, on_two_machines, tls_proxy};
use relay::server::{RelayOptions, Token};
use serde_json::json;

const TOKEN: &str = "s3cretOfSixteenSigns";

#[tokio::test]
async fn a_client_on_another_address_drives_the_browser_with_the_token() {
    let mut stage = Stage::without_relay().await;
    let host = own_address().to_string();
    let token = Some(Token::new(TOKEN));
    let options = RelayOptions { host: host.clone(), token, ..RelayOptions::default() };
    stage.start_relay_as(options).await;
    stage.status_when("the extension to connect", |status| status.connected).await;
    stage.control_tab().await;
    let address = format!("{host}:{}", stage.port());
    let connect = stage
        .playwriter(&["connect"])
        .env("PLAYWRITER_HOST", &address)
        .env("PLAYWRITER_TOKEN", TOKEN)
        .output()
        .await
        .unwrap();
    let url = String::from_utf8(connect.stdout).unwrap();
    assert_eq!(url.trim(), format!("ws://{address}/cdp?token={TOKEN}"), "{:?}", connect.stderr);
    let title = stage
        .playwright_at(
            url.trim(),
            "const page = context.pages()[0];
             await page.setContent('<title>from afar</title>');
             return page.title()",
        )
        .await;
    assert_eq!(title, json!("from afar"));
    let http = format!("http://{address}/?token={TOKEN}");
    assert_eq!(stage.playwright_at(&http, "return context.pages().length").await, json!(1));
    let refused = RawClient::connect_with(&format!("ws://{address}/cdp"), &[]).await;
    assert_eq!(refused.err().map(|(status, _)| status), Some(401));
    stage.end().await;
}

#[tokio::test]
async fn a_second_machine_drives_the_browser_and_cannot_pose_as_its_extension() {
    if !may_make_networks().await {
        println!("this machine makes no networks: only its own address was tried");
        return;
    }
    assert_eq!(
        on_two_machines(TOKEN).await,
        json!({
            "withoutToken": 401,
            "asExtension": 403,
            "url": format!("ws://192.0.2.1:19988/cdp?token={TOKEN}"),
            "title": "from afar",
        })
    );
}

#[tokio::test]
async fn a_client_that_trusts_the_certificate_works_behind_a_tls_proxy() {
    let stage = Stage::with_token(TOKEN).await;
    let (port, certificate) = tls_proxy(stage.port()).await;
    let file = stage.home().join("ca.pem");
    std::fs::write(&file, certificate).unwrap();
    for scheme in ["https", "wss"] {
        let ask = |command: &str| {
            let mut command = stage.playwriter(&[command]);
            command.env("PLAYWRITER_HOST", format!("{scheme}://localhost:{port}/"));
            command.env("PLAYWRITER_TOKEN", TOKEN);
            command
        };
        let connect = ask("connect").env("SSL_CERT_FILE", &file).output().await.unwrap();
        let url = String::from_utf8(connect.stdout).unwrap();
        let expected = format!("wss://localhost:{port}/cdp?token={TOKEN}");
        assert_eq!(url.trim(), expected, "{:?}", connect.stderr);
        let doubted = ask("status").output().await.unwrap();
        let words = String::from_utf8(doubted.stderr).unwrap();
        assert_eq!(doubted.status.code(), Some(2), "{words}");
        assert!(words.contains("ertificate"), "{words}");
    }
    let script = format!(
        "import {{ chromium }} from 'playwright-core';
         const browser = await chromium.connectOverCDP('wss://localhost:{port}/cdp?token={TOKEN}');
         console.log(await browser.contexts()[0].pages()[0].evaluate('6*7'));
         await browser.close();"
    );
    let trust = [("NODE_EXTRA_CA_CERTS", file.into_os_string())];
    assert_eq!(stage.script_with(Language::Node, &script, &trust).await, json!(42));
    stage.end().await;
}

#[tokio::test]
async fn nobody_poses_as_an_extension_through_a_proxy() {
    let mut stage = Stage::without_relay().await;
    let (token, allowed_hosts) = (Some(Token::new(TOKEN)), vec!["relay.example".to_owned()]);
    stage.start_relay_as(RelayOptions { token, allowed_hosts, ..RelayOptions::default() }).await;
    let origin = format!("chrome-extension://{}", relay::EXTENSION_ID);
    let url = format!("ws://127.0.0.1:{}/extension?v=1.0.0&token={TOKEN}", stage.port());
    for passed_on in [("host", "relay.example"), ("x-forwarded-for", "192.0.2.7")] {
        let refused = RawClient::connect_with(&url, &[("origin", &origin), passed_on]).await;
        assert_eq!(refused.err().map(|(status, _)| status), Some(403), "{passed_on:?}");
    }
    stage.end().await;
}

/// The address by which others know this machine; another loopback address where there is no
/// network.
fn own_address() -> IpAddr {
    // Nothing is sent: the system only chooses the address from which it would send.
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    match socket.connect("192.0.2.1:9").and_then(|()| socket.local_addr()) {
        Ok(address) => address.ip(),
        Err(_) => Ipv4Addr::new(127, 0, 0, 2).into(),
    }
}
