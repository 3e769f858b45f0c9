//! The walk over Playwright's public methods (`tests/api_coverage`).

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde::Deserialize;
use tokio::process::Command;
use tokio::time::timeout;

/// Hundreds of cases, and tests beside them that want the processor too.
const LIMIT: Duration = Duration::from_secs(900);

/// The cases of a walk over Playwright's public methods.
#[derive(Debug, Deserialize)]
pub struct Walk {
    /// `ok` for each case, or what went wrong.
    pub outcomes: BTreeMap<String, String>,
    /// The error of the first try, of each case that was tried twice.
    pub retried: BTreeMap<String, String>,
}

/// Walks Playwright's public methods over a CDP endpoint.
pub async fn walk_playwright(cdp: &str, site: &str) -> Walk {
    let walking = Command::new("node")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("api_coverage/walk.mjs"))
        .args([cdp, site])
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = timeout(LIMIT, walking).await.expect("the walk ends").expect("node runs");
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    match serde_json::from_str(stdout.trim()) {
        Ok(results) => results,
        Err(error) => panic!("the walk gave no JSON ({error}):\n{stdout}\n{stderr}"),
    }
}
