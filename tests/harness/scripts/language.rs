//! Programs in other languages, as their users would write them.

use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::time::timeout;

use crate::machine::LONG_TIMEOUT;

/// The language of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Node.js, with the packages of `tests/package.json`.
    Node,
    /// Python, with the packages of `tests/requirements.txt`.
    Python,
}

/// Runs a script and gives what it prints, which is to be JSON.
pub(crate) async fn run(
    language: Language,
    script: &str,
    home: &Path,
    environment: &[(&str, OsString)],
) -> Value {
    let (program, arguments): (_, &[&str]) = match language {
        Language::Node => ("node", &["--input-type=module", "-"]),
        Language::Python => ("python3", &["-"]),
    };
    let mut running = Command::new(program)
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("HOME", home)
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("node and python3 are installed; `make test` does that");
    let mut stdin = running.stdin.take().expect("stdin is a pipe");
    stdin.write_all(script.as_bytes()).await.expect("it reads its script");
    drop(stdin);
    let Ok(output) = timeout(LONG_TIMEOUT, running.wait_with_output()).await else {
        panic!("the script did not end:\n{script}");
    };
    let output = output.expect("it ends");
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "the script failed:\n{script}\n{stdout}\n{stderr}");
    match serde_json::from_str(stdout.trim()) {
        Ok(value) => value,
        Err(error) => panic!("the script gave no JSON ({error}):\n{stdout}\n{stderr}"),
    }
}
