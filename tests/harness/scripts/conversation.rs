//! Scripts that ask the stage for what only the stage can do, and end with results.
//!
//! `tests/conformance/features.mjs` says how they are talked to.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;
use tokio::time::timeout;

/// The outcome of each feature: `ok`, or what went wrong.
pub type Results = BTreeMap<String, String>;

/// Every part has a limit; a script that takes longer than this has lost its way.
const LIMIT: Duration = Duration::from_secs(900);

/// Runs a script of `tests/conformance` and answers what it asks.
pub(crate) async fn converse(
    script: &str,
    arguments: &[&str],
    environment: &[(&str, &str)],
    mut answer: impl AsyncFnMut(Value) -> Value,
) -> Results {
    let home = tempfile::tempdir().expect("a temporary folder can be made");
    let mut node = Command::new("node")
        .arg(Path::new("conformance").join(script))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("HOME", home.path())
        .envs(environment.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("node runs");
    let mut answers = node.stdin.take().expect("stdin is a pipe");
    let mut lines = BufReader::new(node.stdout.take().expect("stdout is a pipe")).lines();
    let conversation = async {
        while let Some(line) = lines.next_line().await.expect("the script writes text") {
            let Some(question) = line.strip_prefix("? ") else { return line };
            let question = serde_json::from_str(question).expect("a question is JSON");
            let reply = answer(question).await;
            // A script that gave up waiting has closed the pipe.
            drop(answers.write_all(format!("{reply}\n").as_bytes()).await);
        }
        panic!("{script} {arguments:?} ended without results")
    };
    let Ok(results) = timeout(LIMIT, conversation).await else {
        panic!("{script} {arguments:?} did not end");
    };
    serde_json::from_str(&results).expect("the script gives results")
}
