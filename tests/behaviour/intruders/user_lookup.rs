//! Relays that are told less about who connects, and extensions that are let in whoever's they are.

use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use end_to_end::{
    RawClient, RawKey, RawTab, RelayProgram, as_user, compile, http, http_until, show_figure,
};
use relay::pairing;
use serde_json::Value;
use tempfile::TempDir;

use super::attack::{Attack, attack};
use super::other_users::{
    ANOTHER, AS_USER, NOBODY, USER, closed_sockets_are_nobodys, relay_of, request_from,
};

pub(super) const ATTACKS: &[Attack] = &[
    attack!(
        OtherUser,
        "comes to a relay that may not ask netlink, as in some containers; also with a socket that was closed already",
        "refused: the tables in `/proc` tell the same",
        without_netlink_the_tables_of_proc_tell_the_user
    ),
    attack!(
        OtherUser,
        "comes to a relay that has neither netlink nor `/proc`",
        "401: everybody is unknown there, and needs the token; the user's own programs come by the socket in their folder",
        without_any_table_everybody_needs_the_token
    ),
    attack!(
        OtherUser,
        "poses as the extension of a browser that runs as another user, or as one whom the system does not tell, as in a container",
        "refused: an extension of another user is welcome if it proves itself, and only then",
        an_extension_that_proves_itself_is_welcome_whoever_s_it_is
    ),
];

/// Covers the tables of the system.
const WITHOUT_PROC: [&str; 6] =
    ["unshare", "--mount", "sh", "-c", "mount -t tmpfs none /proc && exec \"$@\"", "sh"];

#[tokio::test]
async fn without_netlink_the_tables_of_proc_tell_the_user() {
    let (_folder, launcher) = without_netlink();
    let through = [&[&*launcher][..], &AS_USER].concat();
    let Some(relay) = relay_of(USER, &through, &[]).await else { return };
    for to in ["127.0.0.1", "::ffff:127.0.0.1", "::1"] {
        let ask = || request_from(to, "", relay.port(), "GET /json/version").0;
        assert_eq!(as_user(USER, ask), 200, "{to}");
        assert_eq!(as_user(0, ask), 200, "root: {to}");
        assert_eq!(as_user(NOBODY, ask), 403, "{to}");
    }
    closed_sockets_are_nobodys(&relay, USER).await;
    assert!(log(&relay).contains("sockets are looked up in /proc"), "{}", log(&relay));
}

#[tokio::test]
async fn without_any_table_everybody_needs_the_token() {
    let Some((_folder, relay)) = relay_without_tables().await else { return };
    let (code, token, stderr) = relay.run(&["token"]).await;
    assert_eq!(code, Some(0), "{stderr}");
    for user in [0, NOBODY, ANOTHER] {
        let ask = |path: &str| request_from("127.0.0.1", "", relay.port(), &format!("GET {path}"));
        let (status, body) = as_user(user, || ask("/json/version"));
        assert_eq!(status, 401, "{user}: {body}");
        assert!(body.contains("cannot tell which user"), "{body}");
        assert_eq!(as_user(user, || ask("/json/version?token=0")).0, 401, "{user}");
        let shown = format!("/json/version?token={token}");
        assert_eq!(as_user(user, || ask(&shown)).0, 200, "{user}");
    }
    let refused = RawClient::knock(relay.port(), "installId=a").await.unwrap_err();
    assert_eq!(refused.0, 403, "{refused:?}");
    let (code, _, stderr) = relay.run(&["status"]).await;
    assert_eq!(code, Some(0), "the user's own programs come by the socket: {stderr}");
}

#[tokio::test]
async fn an_extension_that_proves_itself_is_welcome_whoever_s_it_is() {
    let usual = relay_of(0, &["env"], &[]).await.map(|relay| (None, relay));
    let without_tables = relay_without_tables().await.map(|(folder, relay)| (Some(folder), relay));
    for (_folder, relay) in [usual, without_tables].into_iter().flatten() {
        let folder = tempfile::tempdir().unwrap();
        pairing::pair(&relay.log_folder(), folder.path(), relay.port()).unwrap();
        let key = RawKey::of(folder.path());
        let made_up = RawKey { kid: key.kid, key: shared_protocol::pairing::Key([0; 32]) };
        let connect = || TcpStream::connect(("127.0.0.1", relay.port())).unwrap();
        let refused = RawClient::knock_over(as_user(NOBODY, connect), "installId=a").await;
        assert_eq!(refused.unwrap_err().0, 403, "without a proof");
        let nonce = shared_protocol::pairing::Nonce([1; 32]);
        let query = format!("pairing=v1&kid={}&nonce={nonce}", key.kid);
        let mut posing = RawClient::knock_over(as_user(NOBODY, connect), &query).await.unwrap();
        let frame = posing.next().await;
        posing.send(&made_up.answer(&frame, &nonce, relay.port(), "{}")).await;
        assert_eq!(posing.closed().await.0, 4011, "without the key");

        let hello = r#"{"installId":"a","browser":"Chrome","v":"1.0.0"}"#;
        let mut proven = key.connect_over(as_user(NOBODY, connect), hello).await;
        proven.send(&RawTab::announced()).await;
        let (_, token, _) = relay.run(&["token"]).await;
        let status = format!("GET /extensions/status?token={token}");
        let is_there = |status: &Value| {
            let entry = &status["extensions"][0];
            entry["paired"] == true && entry["activeTargets"] == 1
        };
        http_until(relay.port(), &status, is_there).await;
        let pages = http(relay.port(), &format!("GET /json/list?token={token}"), &[]).await;
        assert!(pages.body.contains(RawTab::TARGET), "{}", pages.body);
    }
}

/// A relay of root that finds no table of the system, if this machine lets the tests hide them.
async fn relay_without_tables() -> Option<(TempDir, RelayProgram)> {
    let tried = Command::new(WITHOUT_PROC[0]).args(&WITHOUT_PROC[1..]).arg("true").status();
    if !tried.is_ok_and(|tried| tried.success()) {
        show_figure("relays without /proc", "not tried: this machine makes no mount namespaces");
        return None;
    }
    let (folder, launcher) = without_netlink();
    let through = [&WITHOUT_PROC[..], &[&*launcher]].concat();
    Some((folder, relay_of(0, &through, &[]).await?))
}

/// A program through which others are started that cannot open netlink sockets.
fn without_netlink() -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let launcher = folder.path().join("without-netlink");
    compile("user_lookup/without_netlink.c", &launcher);
    (folder, launcher.to_str().unwrap().to_owned())
}

fn log(relay: &RelayProgram) -> String {
    let file = relay.log_folder().join("relay-server.log");
    std::fs::read_to_string(Path::new(&file)).unwrap_or_default()
}
