//! The command line as a person meets it: what is printed, and the exit code.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_playwriter");

#[test]
fn a_port_that_another_program_has_is_named() {
    let stranger = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = stranger.local_addr().unwrap().port();
    // A stranger that answers nothing must not hold us up for ever either.
    let output = playwriter(&["serve", "--port", &port.to_string()]);
    assert_failure(
        &output,
        &format!(
            "error: port {port} is already in use by another program\n\n\
             hint: stop that program, or choose another port with --port\n"
        ),
    );
}

#[test]
fn a_relay_that_runs_already_is_recognised() {
    let running = Relay::start();
    let output = playwriter(&["serve", "--port", &running.port]);
    assert_failure(
        &output,
        &format!(
            "error: a playwriter relay {version} is already running on port {port}\n\n\
             hint: use it as it is, or stop it first\n",
            version = env!("CARGO_PKG_VERSION"),
            port = running.port
        ),
    );
}

#[test]
fn an_address_that_others_can_reach_is_refused() {
    for host in ["0.0.0.0", "192.0.2.1", "::1", "example.com"] {
        let output = playwriter(&["serve", "--host", host, "--port", "0"]);
        assert_failure(
            &output,
            &format!(
                "error: the relay cannot listen on {host}: it serves this machine only, where the extension looks for it\n\n\
                 hint: use --host 127.0.0.1 or leave it out\n"
            ),
        );
    }
}

#[test]
fn without_a_browser_it_says_what_to_install() {
    let home = tempfile::tempdir().unwrap();
    let output = command(&["browser", "start", "--port", "0"], home.path())
        .env("PATH", home.path())
        .output()
        .unwrap();
    assert_failure(
        &output,
        "error: no Chromium or Chrome was found\n\n\
         hint: install one (Debian: `apt-get install chromium`), or give its path\n",
    );
}

#[test]
fn without_an_extension_it_says_what_to_build() {
    let output = playwriter(&["browser", "start", "--port", "0", "--extension", "/nowhere"]);
    let error = "error: there is no extension in /nowhere\n\nhint: run `make extension`\n";
    assert!(stderr(&output).ends_with(error), "{}", stderr(&output));
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_program_that_is_no_browser_is_named() {
    let output = playwriter(&["browser", "start", "/bin/true", "--port", "0", "--extension", DIST]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("the browser ended while it was being set up"));
}

#[test]
fn a_relay_ends_well_when_it_is_asked_to() {
    let mut relay = Relay::start();
    relay.terminate();
    assert_eq!(relay.child.wait().unwrap().code(), Some(0));
}

#[test]
fn browser_start_ends_in_a_controlled_tab_and_takes_its_browser_with_it() {
    let home = tempfile::tempdir().unwrap();
    let profile = home.path().join(".playwriter/profile");
    let arguments = ["browser", "start", "--headless", "--port", "0", "--extension", DIST];
    let mut child = command(&arguments, home.path()).stderr(Stdio::piped()).spawn().unwrap();
    let stderr = BufReader::new(child.stderr.take().unwrap());
    let said: Vec<String> = stderr
        .lines()
        .map(Result::unwrap)
        .take_while(|line| !line.starts_with("press Ctrl-C"))
        .collect();
    assert!(said.iter().any(|line| line.starts_with("tabs      1 controlled")), "{said:?}");
    assert!(
        said.iter().any(|line| line.contains("chromium.connectOverCDP('http://127")),
        "{said:?}"
    );
    assert!(someone_uses(&profile));
    terminate(&child);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(!someone_uses(&profile), "the browser is gone");
}

const DIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../extension-shell/dist");

/// A relay in a process of its own, until it is dropped.
struct Relay {
    child: Child,
    port: String,
    _home: TempDir,
}

impl Relay {
    fn start() -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut child =
            command(&["serve", "--port", "0"], home.path()).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let address = stderr
            .lines()
            .map(Result::unwrap)
            .find_map(|line| line.strip_prefix("relay is running at http://").map(str::to_owned));
        let port = address.unwrap().rsplit(':').next().unwrap().to_owned();
        Self { child, port, _home: home }
    }

    fn terminate(&self) {
        terminate(&self.child);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn playwriter(arguments: &[&str]) -> Output {
    let home = tempfile::tempdir().unwrap();
    command(arguments, home.path()).output().unwrap()
}

fn command(arguments: &[&str], home: &Path) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).env("HOME", home).env("RUST_LOG", "warn").stdin(Stdio::null());
    command
}

fn terminate(child: &Child) {
    let status = Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(status.success());
}

fn assert_failure(output: &Output, expected: &str) {
    assert_eq!(stderr(output), expected);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty(), "standard output is for data");
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Whether any process has this folder on its command line.
fn someone_uses(profile: &Path) -> bool {
    let profile = profile.to_str().unwrap();
    std::fs::read_dir("/proc").unwrap().filter_map(Result::ok).any(|process| {
        let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(profile)
    })
}
