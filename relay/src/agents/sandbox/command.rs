//! The process of a sandbox: Node with little to reach, and a shell that ends it.
//!
//! The shell sets the limits that Node has no option for, and waits on a lifeline. When the relay
//! lets go of that, or dies, the shell kills the sandbox, whatever that is doing.

use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;

use tokio::io::AsyncReadExt;
use tokio::process::Command;

use super::process::Start;
use crate::agents::limits::{DATA_MIB, FILE_MIB, HEAP_MIB, OPEN_FILES};

/// `$1` to `$3` are the limits, the rest is the sandbox; 5 is the lifeline, and 6 the launcher, which
/// is executed through this shell's descriptor, so that the sandbox itself does not have it. Some
/// shells export more than they are given.
const SUPERVISE: &str = r#"
ulimit -c 0; ulimit -d "$1"; ulimit -f "$2"; ulimit -n "$3"; shift 3
[ "$1" = worker-exec ] && set -- "/proc/$$/fd/6" "$@"
/usr/bin/env -i HOME="$HOME" PWD="$PWD" TMPDIR="$TMPDIR" "$@" 5<&- 6<&- & worker=$!
exec 3<&- 4>&-
read -r nothing <&5
kill -9 $worker 2>/dev/null
wait $worker
"#;

/// The number of bytes that are kept of a sandbox's standard error.
const LAST_WORDS: usize = 4096;

pub(crate) fn command(start: &Start<'_>) -> Command {
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", SUPERVISE, "playwriter-worker"])
        .arg((DATA_MIB * 1024).to_string())
        // The unit of the limit is a block of 512 bytes.
        .arg((FILE_MIB * 2048).to_string())
        .arg(OPEN_FILES.to_string())
        .args(&start.launch.words)
        .arg(start.program)
        .args(node_options(start))
        .arg(start.scripts.join("main.mjs"))
        .current_dir(start.folder)
        // Signals of code to its own group reach nobody else.
        .process_group(0)
        .env_clear()
        .env("HOME", start.folder)
        .env("TMPDIR", start.temporary)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

fn node_options(start: &Start<'_>) -> Vec<OsString> {
    let mut options: Vec<OsString> = start.node.permissions().iter().map(OsString::from).collect();
    options.extend([
        "--no-warnings".into(),
        "--no-addons".into(),
        "--preserve-symlinks".into(),
        "--preserve-symlinks-main".into(),
        // A configuration file that may not be read keeps Node.js from starting.
        "--openssl-config=/dev/null".into(),
        format!("--max-old-space-size={HEAP_MIB}").into(),
    ]);
    let mut allow = |option: &str, folder: &Path| {
        let mut option = OsString::from(option);
        option.push(folder.join("*"));
        options.push(option);
    };
    for folder in [start.scripts, start.playwright] {
        allow("--allow-fs-read=", folder);
    }
    allow("--allow-fs-read=", start.folder);
    allow("--allow-fs-write=", start.folder);
    options
}

/// Reads to the end, and keeps the last part.
pub(crate) async fn listen(stderr: Option<tokio::process::ChildStderr>) -> String {
    let mut words = Vec::new();
    let Some(mut stderr) = stderr else { return String::new() };
    let mut part = [0; LAST_WORDS];
    while let Ok(length @ 1..) = stderr.read(&mut part).await {
        words.extend(part.iter().take(length));
        let spare = words.len().saturating_sub(LAST_WORDS);
        words.drain(..spare);
    }
    String::from_utf8_lossy(&words).into_owned()
}
