//! Scripts that a Playwright user would write, run by Node.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::time::timeout;

/// A script that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(60);

pub(crate) async fn run(body: &str, cdp: &str, site: &str, home: &Path) -> Value {
    let script = format!(
        "import {{ chromium }} from 'playwright-core';\n\
         const [cdp, site] = [{cdp:?}, {site:?}];\n\
         const browser = await chromium.connectOverCDP(cdp, {{ timeout: 10000 }});\n\
         const context = browser.contexts()[0];\n\
         const result = await (async () => {{ {body} }})();\n\
         await browser.close();\n\
         console.log(JSON.stringify(result ?? null));\n"
    );
    let mut node = Command::new("node")
        .args(["--input-type=module", "-"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("HOME", home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("node runs");
    let mut stdin = node.stdin.take().expect("stdin is a pipe");
    stdin.write_all(script.as_bytes()).await.expect("node reads its script");
    drop(stdin);
    let Ok(output) = timeout(LIMIT, node.wait_with_output()).await else {
        panic!("the script did not end:\n{body}");
    };
    let output = output.expect("node ends");
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "the script failed:\n{body}\n{stdout}\n{stderr}");
    match serde_json::from_str(stdout.trim()) {
        Ok(value) => value,
        Err(error) => panic!("the script gave no JSON ({error}):\n{stdout}\n{stderr}"),
    }
}
