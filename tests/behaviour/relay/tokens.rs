//! A relay with a token serves those who show it, and the extension, which has none.

use end_to_end::{RawClient, Stage};
use serde_json::{Value, json};

const TOKEN: &str = "s3cret+/=";
const ENCODED: &str = "s3cret%2B%2F%3D";

#[tokio::test]
async fn a_client_shows_the_token_in_its_address_or_in_a_header() {
    let stage = Stage::with_token(TOKEN).await;
    let with_query = format!("{}/?token={ENCODED}", stage.url());
    let seen = stage.playwright_at(&with_query, "return context.pages()[0].evaluate('6*7')").await;
    assert_eq!(seen, 42);
    let body = format!(
        "const other = await chromium.connectOverCDP('{}', {{
           headers: {{ Authorization: 'Bearer {TOKEN}' }},
         }});
         const seen = other.contexts()[0].pages().length;
         await other.close();
         const refused = await chromium.connectOverCDP('{}').catch((error) => error.message);
         return [seen, refused];",
        stage.url(),
        stage.url()
    );
    let seen = stage.playwright_at(&with_query, &body).await;
    assert_eq!(seen[0], 1);
    let refused = seen[1].as_str().unwrap();
    assert!(refused.contains("Unexpected status 401"), "{refused}");
    stage.end().await;
}

#[tokio::test]
async fn every_route_but_the_extensions_own_wants_the_token() {
    let stage = Stage::with_token(TOKEN).await;
    for path in [
        "/json",
        "/json/version/",
        "/json/list",
        "/json/protocol",
        "/json/close/X",
        "/extensions/status",
        "/extension-status",
        "/nothing",
    ] {
        for headers in [&[][..], &["Authorization: Bearer wrong"], &["Authorization: Basic eDp5"]] {
            let answer = stage.http(&format!("GET {path}"), headers).await;
            assert_eq!(answer.status, 401, "{path}");
            assert!(answer.head.to_lowercase().contains("www-authenticate: bearer"), "{path}");
            assert!(answer.body.starts_with("this relay wants its token: "), "{path}");
        }
        let shown = stage.http(&format!("GET {path}?token={ENCODED}"), &[]).await;
        assert_ne!(shown.status, 401, "{path}");
    }
    let open = format!("PUT /json/new?{}/&token={ENCODED}", stage.site.url());
    let told = stage.http(&open, &[]).await;
    assert_eq!(told.status, 400, "the token is not for the page: {}", told.body);
    for request in ["HEAD /", "GET /version"] {
        assert_eq!(stage.http(request, &[]).await.status, 200, "{request}");
    }
    let sockets = stage.url().replace("http", "ws");
    for path in ["/cdp", "/cdp/me", "/devtools/browser/x", "/devtools/page/x"] {
        let refused = RawClient::connect_with(&format!("{sockets}{path}"), &[]).await;
        assert_eq!(refused.err().map(|(status, _)| status), Some(401), "{path}");
    }
    stage.end().await;
}

#[tokio::test]
async fn addresses_that_the_relay_gives_carry_the_token() {
    let stage = Stage::with_token(TOKEN).await;
    let bearer = format!("Authorization: Bearer {TOKEN}");
    let version = stage.http("GET /json/version", &[&bearer]).await;
    let version: Value = serde_json::from_str(&version.body).unwrap();
    let address = version["webSocketDebuggerUrl"].as_str().unwrap();
    assert!(address.ends_with(&format!("?token={ENCODED}")), "{address}");
    let mut client = RawClient::connect_with(address, &[]).await.unwrap();
    let answer = client.call(r#"{"id":1,"method":"Target.getDevToolsTarget"}"#).await;
    assert_eq!(answer["result"], json!({}));
    stage.end().await;
}

#[tokio::test]
async fn the_owner_of_the_browser_is_told_only_with_the_token() {
    let stage = Stage::with_token(TOKEN).await;
    let status = async |query: &str| -> Value {
        let answer = stage.http(&format!("GET /extension/status{query}"), &[]).await;
        serde_json::from_str(&answer.body).unwrap()
    };
    let told = status("").await;
    assert_eq!((&told["connected"], &told["browser"]), (&json!(true), &json!(null)));
    let told = status(&format!("?token={ENCODED}")).await;
    assert_eq!((&told["connected"], &told["browser"]), (&json!(true), &json!("Chromium")));
    stage.end().await;
}
