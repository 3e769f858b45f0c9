//! Two machines with a wire between them: networks of their own, which the system makes for any user
//! who asks in most places.

use std::path::Path;

use serde_json::Value;
use tokio::process::Command;
use tokio::time::timeout;

use super::command::{path, without_settings};
use crate::machine::LONG_TIMEOUT;

/// Makes networks. A process in them ends with the program that made them.
const UNSHARE: [&str; 7] =
    ["--user", "--map-root-user", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"];

/// Returns true if this machine lets its users make networks. Containers often do not.
pub async fn may_make_networks() -> bool {
    let tried = Command::new("unshare").args(UNSHARE).arg("true").output().await;
    tried.is_ok_and(|tried| tried.status.success())
}

/// Browser and relay on one machine, `tests/two_networks/far.mjs` on another: gives what that found.
pub async fn on_two_machines(token: &str) -> Value {
    let home = tempfile::tempdir().expect("a temporary folder can be made");
    let mut running = without_settings(Command::new("unshare"));
    running
        .args(UNSHARE)
        .arg("./two.sh")
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("two_networks"))
        .env("HOME", home.path())
        .env("PATH", path())
        .env("PLAYWRITER_TOKEN", token)
        .env("EXTENSION_ID", relay::EXTENSION_ID)
        .kill_on_drop(true);
    let ended = timeout(LONG_TIMEOUT, running.output()).await.expect("it ends").expect("it runs");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{said}");
    match serde_json::from_slice(&ended.stdout) {
        Ok(found) => found,
        Err(error) => panic!("no JSON ({error}): {said}"),
    }
}
