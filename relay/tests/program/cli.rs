//! The command line as a person meets it: what is printed, and the exit code.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use crate::place::{Place, command};
use crate::running::Running;
use tempfile::TempDir;

#[test]
fn a_port_whose_holder_does_not_answer_is_named() {
    let stranger = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = stranger.local_addr().unwrap().port();
    // A stranger that answers nothing must not hold us up for ever either.
    let output = playwriter(&["serve", "--port", &port.to_string()]);
    assert_failure(
        &output,
        &format!(
            "error: The program on the port does not answer: a relay that hangs or is very busy, or another \
             program. (port {port})\n\n\
             hint: try again; if that does not help, end the process that `lsof -i :{port}` shows, or choose \
             another port with --port (or PLAYWRITER_PORT) and in the extension\n"
        ),
    );
}

#[test]
fn a_relay_that_runs_already_is_recognised() {
    let running = Relay::start();
    let output = command(&["serve", "--port", &running.port], running.home.path()).output();
    assert_failure(
        &output.unwrap(),
        &format!(
            "error: a playwriter relay {version} is already running on port {port}\n\n\
             hint: use it as it is, or stop it first with `playwriter stop`\n",
            version = env!("CARGO_PKG_VERSION"),
            port = running.port
        ),
    );
}

#[test]
fn an_address_that_others_can_reach_wants_a_token() {
    for host in ["0.0.0.0", "::", "192.0.2.1", "2001:db8::1"] {
        let output = playwriter(&["serve", "--host", host, "--port", "0"]);
        assert_failure(
            &output,
            &format!(
                "error: the relay cannot listen on {host} without a token: other machines can reach it there\n\n\
                 hint: set PLAYWRITER_TOKEN to a secret, for example one from `openssl rand -hex 16`\n"
            ),
        );
    }
}

#[test]
fn a_token_that_no_program_could_send_is_refused_and_not_shown() {
    for token in ["", "two words"] {
        let output = playwriter(&["serve", "--token", token, "--port", "0"]);
        assert_failure(
            &output,
            "error: the token is empty, or has other characters than letters, digits and signs\n\n\
             hint: use a secret like one from `openssl rand -hex 16`\n",
        );
    }
}

#[test]
fn a_host_that_does_not_exist_is_named() {
    let output = playwriter(&["serve", "--host", "nowhere.invalid", "--port", "0"]);
    assert_failure(
        &output,
        "error: the address of nowhere.invalid cannot be found\n\n\
         hint: use an address of this machine, or leave --host out\n",
    );
}

#[test]
fn with_a_token_every_address_is_served_and_loopback_too() {
    for host in ["0.0.0.0", "127.0.0.2"] {
        let relay = Relay::start_with(
            &["--host", host],
            &[("PLAYWRITER_TOKEN", "s3cret-of-sixteen-signs")],
        );
        for address in ["127.0.0.1", "127.0.0.2"] {
            let status = |query| relay.get(address, &format!("/json/version{query}"));
            assert_eq!(
                (status(""), status("?token=s3cret-of-sixteen-signs")),
                (401, 200),
                "{address} of {host}"
            );
        }
    }
}

#[test]
fn a_relay_leaves_two_logs_that_only_its_user_can_read() {
    let mut relay = Relay::start_with(&[], &[("PLAYWRITER_TOKEN", "s3cret")]);
    assert_eq!(relay.get("127.0.0.1", "/json/list?token=wrong"), 401);
    assert_eq!(relay.get("127.0.0.1", "/json/list?token=s3cret"), 200);
    relay.terminate();
    relay.child.wait().unwrap();
    let folder = relay.home.path().join(".playwriter");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    assert_eq!(mode(&folder.join("cdp.jsonl")), 0o600);
    let log = std::fs::read_to_string(folder.join("relay-server.log")).unwrap();
    assert!(log.contains("relay is listening"), "{log}");
    assert!(log.contains("refused a request: this relay wants its token"), "{log}");
    assert!(!log.contains("s3cret") && !log.contains("wrong"), "{log}");
}

#[test]
fn a_relay_that_does_not_get_its_port_leaves_the_others_logs_alone() {
    let running = Relay::start();
    let output =
        command(&["serve", "--port", &running.port], running.home.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(!running.home.path().join(".playwriter/relay-server.log.1").exists());
}

#[test]
fn logs_that_cannot_be_written_are_no_reason_to_fail() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join(".playwriter"), "").unwrap();
    let mut child =
        command(&["serve", "--port", "0"], home.path()).stderr(Stdio::piped()).spawn().unwrap();
    let stderr = BufReader::new(child.stderr.take().unwrap());
    let said: Vec<String> = stderr
        .lines()
        .map(Result::unwrap)
        .inspect(|line| {
            if line.starts_with("relay is running") {
                terminate(&child);
            }
        })
        .collect();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(said[0].contains("the logs cannot be written; going on without them"), "{said:?}");
    assert!(said[1].contains("the relay cannot prove itself to programs"), "{said:?}");
    assert!(said[2].contains("`playwriter stop` will not work"), "{said:?}");
    assert!(said[3].starts_with("relay is running at http://"), "{said:?}");
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
        "error: no Chromium, Chrome, Edge or Brave was found\n\n\
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
fn browser_start_leaves_the_extension_of_the_users_own_browser_alone() {
    let home = tempfile::tempdir().unwrap();
    let of_user = home.path().join(".playwriter/extension/manifest.json");
    let stale = home.path().join(".playwriter/profile/playwriter-extension/old/stale.js");
    for file in [&of_user, &stale] {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, "of an earlier version").unwrap();
    }
    let start = ["browser", "start", "/bin/true", "--port", "0"];
    let output = command(&start, home.path()).output().unwrap();
    assert!(stderr(&output).contains("the browser ended while it was being set up"));
    assert_eq!(std::fs::read_to_string(of_user).unwrap(), "of an earlier version");
    assert!(!stale.exists());
    let own = home.path().join(".playwriter/profile/playwriter-extension/manifest.json");
    assert!(own.is_file());
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
    starts_a_browser(&[], &home);
}

/// The browser has another name, and so gets its extension in the way that Google Chrome allows.
#[test]
fn a_browser_that_heeds_no_switch_is_given_the_extension() {
    let home = tempfile::tempdir().unwrap();
    let chrome = home.path().join("google-chrome");
    std::os::unix::fs::symlink(relay::browser::find().unwrap(), &chrome).unwrap();
    starts_a_browser(&[chrome.to_str().unwrap()], &home);
}

/// `browser start` is where the hint of `connect` sends users without an extension.
#[test]
fn browser_start_uses_the_relay_that_runs_and_leaves_it_running() {
    let place = Place::new();
    let connect = place.command(&["connect", "--timeout", "0"]).output().unwrap();
    assert_eq!(connect.status.code(), Some(1), "{}", stderr(&connect));
    assert!(stderr(&connect).contains("`playwriter browser start`"));
    // The name is fixed, whatever the browser that is installed here is called.
    let chromium = place.home.path().join("chromium");
    std::os::unix::fs::symlink(relay::browser::find().unwrap(), &chromium).unwrap();
    let arguments = ["browser", "start", "--headless", chromium.to_str().unwrap()];
    let mut start = Running::start(&place, &arguments);
    start.says("press Ctrl-C");
    let wait = place.command(&["wait", "--timeout", "0"]).output().unwrap();
    assert!(wait.status.success(), "{}", stderr(&wait));
    start.ends_as("browser-start");
    assert_eq!(place.command(&["status"]).output().unwrap().status.code(), Some(0));
}

#[test]
fn browser_start_wants_the_token_of_the_relay_that_runs_before_it_starts_a_browser() {
    let place = Place::new();
    let mut ensure = place.command(&["ensure", "--timeout", "60"]);
    assert!(ensure.env("PLAYWRITER_TOKEN", "s3cret").output().unwrap().status.success());
    let start = place.command(&["browser", "start", "/bin/true"]).output().unwrap();
    assert_eq!(start.status.code(), Some(2));
    assert!(stderr(&start).contains("set PLAYWRITER_TOKEN"), "{}", stderr(&start));
}

fn starts_a_browser(program: &[&str], home: &TempDir) {
    let profile = home.path().join(".playwriter/profile");
    let arguments = ["browser", "start", "--headless", "--port", "0", "--extension", DIST];
    let mut command = command(&arguments, home.path());
    let mut child = command.args(program).stderr(Stdio::piped()).spawn().unwrap();
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
    // Its helpers follow it, and tell nobody when they have.
    let is_gone = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        !someone_uses(&profile)
    });
    assert!(is_gone, "the browser is gone");
}

const DIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../extension-shell/dist");

/// A relay in a process of its own, until it is dropped.
struct Relay {
    child: Child,
    port: String,
    home: TempDir,
}

impl Relay {
    fn start() -> Self {
        Self::start_with(&[], &[])
    }

    fn start_with(arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut child = command(&["serve", "--port", "0"], home.path())
            .args(arguments)
            .envs(environment.iter().copied())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let address = stderr
            .lines()
            .map(Result::unwrap)
            .find_map(|line| line.strip_prefix("relay is running at http://").map(str::to_owned));
        let port = address.unwrap().rsplit(':').next().unwrap().to_owned();
        Self { child, port, home }
    }

    /// The status of an answer.
    fn get(&self, address: &str, path: &str) -> u16 {
        let host = format!("{address}:{}", self.port);
        let mut stream = TcpStream::connect(&host).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().parse().unwrap()
    }

    fn terminate(&self) {
        terminate(&self.child);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        // The process may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn playwriter(arguments: &[&str]) -> Output {
    let home = tempfile::tempdir().unwrap();
    command(arguments, home.path()).output().unwrap()
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

/// Returns `true` if any process has this folder on its command line.
fn someone_uses(profile: &Path) -> bool {
    let profile = profile.to_str().unwrap();
    std::fs::read_dir("/proc").unwrap().filter_map(Result::ok).any(|process| {
        let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(profile)
    })
}
