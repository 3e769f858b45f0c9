//! Snapshots of every command's output, word by word: standard output, standard error and the exit
//! code.
//!
//! `SNAPSHOTS=overwrite cargo test -p relay --test program snapshots` writes them anew.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};

use crate::extension::Extension;
use crate::place::Place;
use crate::running::Running;
use snapbox::{Assert, Data};

#[test]
fn every_command_has_a_help_text() {
    let place = Place::new();
    for command in [
        "",
        "serve",
        "connect",
        "ensure",
        "mcp",
        "session",
        "session new",
        "session list",
        "session reset",
        "session delete",
        "wait",
        "status",
        "stop",
        "logfile",
        "tail",
        "browser",
        "browser start",
        "extension",
        "extension path",
        "extension install",
        "doctor",
        "completions",
    ] {
        let mut words: Vec<&str> = command.split_whitespace().collect();
        words.push("--help");
        let name = words.join("-").replace("--help", "help");
        place.shows(&name, &words);
    }
}

#[test]
fn without_a_relay() {
    let place = Place::new();
    place.shows("status-without-relay", &["status"]);
    place.shows("status-without-relay-json", &["status", "--json"]);
    place.shows("stop-without-relay", &["stop"]);
    place.shows("stop-without-relay-json", &["stop", "--json"]);
    place.shows("wait-without-relay", &["wait", "--timeout", "0"]);
    place.shows("doctor-without-relay", &["doctor"]);
    place.shows("ensure-without-token-for-others", &["ensure", "--host", "0.0.0.0"]);
    place.shows("tail-summary-without-relay", &["tail", "--summary"]);
    place.shows("extension-path-without-extension", &["extension", "path"]);
}

#[test]
fn with_a_relay_and_without_an_extension() {
    let place = Place::new();
    place.shows("ensure", &["ensure", "--timeout", "60"]);
    place.shows("ensure-again", &["ensure"]);
    place.shows("ensure-json", &["ensure", "--json", "--separate-window"]);
    let usual = ["ensure", "--host", "localhost", "--auto-enable=true", "--cookies=tabs"];
    place.shows("ensure-with-the-same-settings", &usual);
    let others = ["ensure", "--host=0.0.0.0", "--auto-enable=false", "--allow-focus"];
    let mut ensure = place.command(&others);
    ensure.args(["--cookies=profile", "--allow-host=relay.example"]);
    place.shows_of("ensure-with-other-settings", ensure);
    let mut ensure = place.command(&["ensure"]);
    ensure.env("PLAYWRITER_TOKEN", "s3cret");
    place.shows_of("ensure-with-token-that-the-relay-lacks", ensure);
    place.shows("status", &["status"]);
    place.shows("status-json", &["status", "--json"]);
    place.shows("serve-twice", &["serve"]);
    place.shows("wait-without-extension", &["wait", "--timeout", "100ms"]);
    place.shows("connect-without-extension", &["connect", "--timeout", "100ms"]);
    place.shows("doctor-without-extension", &["doctor"]);
    place.shows("doctor-without-extension-json", &["doctor", "--json"]);
    place.shows("stop", &["stop"]);
}

#[test]
fn with_a_token() {
    let place = Place::new();
    let with = |arguments: &[&str], token: Option<&str>| {
        let mut command = place.command(arguments);
        command.envs(token.map(|token| ("PLAYWRITER_TOKEN", token)));
        command
    };
    place.shows_of("ensure-with-token", with(&["ensure", "--timeout", "60"], Some("s3cret")));
    place.shows_of("ensure-with-token-again", with(&["ensure"], Some("s3cret")));
    place.shows_of("ensure-with-another-token", with(&["ensure"], Some("wrong")));
    place.shows_of("ensure-without-token", with(&["ensure"], None));
    place.shows_of("ensure-without-token-allow-focus", with(&["ensure", "--allow-focus"], None));
    place.shows_of("status-with-token", with(&["status"], Some("s3cret")));
    place.shows_of("status-without-token", with(&["status"], None));
    place.shows_of("doctor-without-token", with(&["doctor"], None));
    place.shows_of("connect-without-token", with(&["connect"], None));
    place.kill();
    place.shows_of("ensure-without-token-after-kill", with(&["ensure"], None));
    let again = with(&["ensure", "--timeout", "60"], Some("s3cret"));
    place.shows_of("ensure-with-token-after-kill", again);
    place.shows_of("stop-needs-no-token", with(&["stop"], None));
}

#[test]
fn with_a_controlled_tab() {
    let place = Place::new();
    assert!(place.command(&["ensure", "--timeout", "60"]).output().unwrap().status.success());
    assert!(place.command(&["extension", "install"]).output().unwrap().status.success());
    let _extension = Extension::connect(place.port);
    place.shows("wait", &["wait"]);
    place.shows("wait-json", &["wait", "--json"]);
    place.shows("wait-extension-only", &["wait", "--extension-only"]);
    place.shows("connect", &["connect"]);
    place.shows("connect-separate-window", &["connect", "--separate-window"]);
    place.shows("connect-json", &["connect", "--json"]);
    place.shows("status-with-tab", &["status"]);
    place.shows("doctor", &["doctor"]);
    place.shows("stop-json", &["stop", "--json"]);
}

#[test]
fn sessions() {
    let place = Place::new();
    assert!(place.command(&["ensure", "--timeout", "60"]).output().unwrap().status.success());
    let package = place.playwright();
    for (name, arguments) in [
        ("session-list-empty", &["session", "list"][..]),
        ("session-new", &["session", "new"]),
        ("session-list", &["session", "list"]),
        ("session-list-json", &["session", "list", "--json"]),
        ("session-reset", &["session", "reset", "1"]),
        ("session-delete", &["session", "delete", "1"]),
        ("session-delete-again", &["session", "delete", "1"]),
    ] {
        let mut command = place.command(arguments);
        command.env("PLAYWRITER_PLAYWRIGHT", &package);
        place.shows_of(name, command);
    }
}

#[test]
fn a_relay_in_the_foreground() {
    let place = Place::new();
    let mut serve = Running::start(&place, &["serve"]);
    serve.says("relay is running");
    serve.ends_as("serve");
}

#[test]
fn a_stranger_on_the_port() {
    // The peer sends something that no relay sends.
    let place = Place::of_stranger(|_| "SSH-2.0-OpenSSH_9.9\r\n");
    for command in ["ensure", "connect", "stop", "doctor", "status"] {
        place.shows(&format!("{command}-with-stranger"), &[command]);
    }
}

#[test]
fn a_relay_of_the_original_on_the_port() {
    let place = Place::of_stranger(|request| match request.starts_with("GET /version") {
        true => "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{\"version\":\"0.0.63\"}",
        false => "HTTP/1.1 404 Not Found\r\nContent-Length: 13\r\n\r\n404 Not Found",
    });
    for command in ["ensure", "connect", "stop", "doctor", "status", "serve"] {
        place.shows(&format!("{command}-with-original"), &[command]);
    }
    place.shows("session-list-with-original", &["session", "list"]);
    let endless = u64::MAX.to_string();
    place.shows("wait-with-original", &["wait", "--timeout", &endless]);
    let start = ["browser", "start", "/bin/true", "--extension", "/nowhere"];
    place.shows("browser-start-with-original", &start);
}

#[test]
fn another_home_folder() {
    let (place, other) = (Place::new(), Place::new());
    assert!(place.command(&["ensure", "--timeout", "60"]).status().unwrap().success());
    let mut stop = other.command(&["stop"]);
    stop.env("PLAYWRITER_PORT", place.port.to_string());
    place.shows_of("stop-of-another-home", stop);
}

#[test]
fn a_relay_elsewhere() {
    let place = Place::new();
    for (name, host) in [
        ("connect-to-nobody", format!("http://127.0.0.1:{}", place.port)),
        ("connect-to-no-address", "ftp://relay.example".to_owned()),
        ("connect-to-a-secret", "http://me:s3cret@relay.example".to_owned()),
    ] {
        let mut connect = place.command(&["connect"]);
        connect.env("PLAYWRITER_HOST", host);
        place.shows_of(name, connect);
    }
    let mut ensure = place.command(&["ensure"]);
    ensure.env("PLAYWRITER_HOST", format!("http://127.0.0.1:{}", place.port));
    place.shows_of("ensure-elsewhere", ensure);
    for command in ["status", "doctor"] {
        let mut there = place.command(&[command]);
        there.env("PLAYWRITER_HOST", format!("http://127.0.0.1:{}", place.port));
        place.shows_of(&format!("{command}-elsewhere"), there);
    }
    for command in ["stop", "tail", "logfile"] {
        let mut command_here = place.command(&[command]);
        command_here.env("PLAYWRITER_HOST", "https://relay.example");
        place.shows_of(&format!("{command}-elsewhere"), command_here);
    }
    assert!(!place.home.path().join(".playwriter").exists(), "nothing is started here");
}

#[test]
fn files() {
    let place = Place::new();
    place.shows("logfile", &["logfile"]);
    place.shows("logfile-cdp", &["logfile", "--cdp"]);
    place.shows("extension-install", &["extension", "install"]);
    place.shows("extension-install-again", &["extension", "install"]);
    place.shows("extension-path", &["extension", "path"]);
    std::fs::write(place.home.path().join("taken"), "").unwrap();
    let taken = place.home.path().join("taken/extension");
    let to_taken = ["extension", "install", "--to", taken.to_str().unwrap()];
    place.shows("extension-install-fails", &to_taken);
}

#[test]
fn unknown_arguments() {
    let place = Place::new();
    place.shows("unknown-command", &["conect"]);
    place.shows("unknown-shell", &["completions", "cmd"]);
    place.shows("unreadable-timeout", &["wait", "--timeout", "soon"]);
    place.shows("endless-timeout", &["wait", "--timeout", "999999999999999 years"]);
    for command in ["ensure", "status", "stop"] {
        place.shows(&format!("{command}-port-zero"), &[command, "--port", "0"]);
    }
    // A relay elsewhere is not started.
    place.shows("no-command", &["--host", "http://127.0.0.1:9"]);
}

#[test]
fn completions_know_the_commands() {
    let place = Place::new();
    place.shows("completions-fish", &["completions", "fish"]);
    for shell in ["bash", "zsh", "elvish", "powershell"] {
        let output = place.command(&["completions", shell]).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty());
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(script.contains("separate-window") && script.contains("doctor"), "{shell}");
    }
}

impl Place {
    /// Somebody else has the port, who says to each who comes what `answer` gives.
    fn of_stranger(answer: fn(&str) -> &'static str) -> Self {
        let place = Self::new();
        let stranger = TcpListener::bind(("127.0.0.1", place.port)).unwrap();
        std::thread::spawn(move || {
            for stream in stranger.incoming() {
                let (mut stream, mut request) = (stream.unwrap(), [0; 4096]);
                let length = stream.read(&mut request).unwrap();
                assert!(length > 0);
                let request = String::from_utf8_lossy(&request[..length]);
                stream.write_all(answer(&request).as_bytes()).unwrap();
            }
        });
        place
    }

    fn shows(&self, name: &str, arguments: &[&str]) {
        self.shows_of(name, self.command(arguments));
    }

    /// Runs a command and compares what it said with what it should say.
    fn shows_of(&self, name: &str, mut command: Command) {
        // Texts do not depend on the width of somebody's terminal, nor on what is installed here.
        command.env("COLUMNS", "100").env("PATH", self.home.path());
        let arguments: Vec<_> = command.get_args().map(|it| it.to_string_lossy()).collect();
        let arguments = arguments.join(" ");
        self.compare(name, &arguments, &command.output().unwrap());
    }

    pub(crate) fn compare(&self, name: &str, arguments: &str, output: &Output) {
        let said = format!(
            "$ playwriter {arguments}\nexit code: {}\n----- stdout -----\n{}----- stderr -----\n{}",
            output.status.code().map_or("none".to_owned(), |code| code.to_string()),
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        let said = said
            .replace(self.home.path().to_str().unwrap(), "[HOME]")
            .replace(env!("CARGO_PKG_VERSION"), "[VERSION]");
        let said = without_number(&said, &self.port.to_string(), "[PORT]");
        // Root alone is warned of it.
        let warning = "warning: Chromium has no sandbox around pages when root starts it";
        let is_for_all = |line: &&str| !line.starts_with(warning);
        let said: String = said.split_inclusive('\n').filter(is_for_all).collect();
        let said = without_machine(&said);
        let file = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/snapshots")
            .join(name)
            .with_extension("txt");
        Assert::new().action_env("SNAPSHOTS").eq(said, Data::read_from(&file, None).raw());
    }
}

/// Leaves out what depends on the kernel and the user: which parts of the boundary there are, and a
/// uid.
fn without_machine(text: &str) -> String {
    const NAMES: [(&str, &str); 6] = [
        ("agents  ", "agents     [BOUNDARY]"),
        ("ok    agents", "agents     [BOUNDARY]"),
        ("note  agents", "agents     [BOUNDARY]"),
        ("\"check\": \"agents\"", "\"check\": \"agents\", [BOUNDARY]"),
        ("\"isWhole\"", "[BOUNDARY]"),
        ("\"uid\"", "\"uid\": [UID],"),
    ];
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut kept = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let (margin, content) = line.split_at(indent(line));
        let name =
            NAMES.iter().find(|(start, _)| content.starts_with(start)).map(|(_, name)| *name);
        kept.extend([margin, name.unwrap_or(content), "\n"]);
        // The lines that belong to the name: in text, lines that are indented below it; in JSON, the
        // rest of the object.
        let least = match name {
            Some(name) if name.starts_with("agents") => 1,
            Some(name) if name.contains("[BOUNDARY]") => margin.len(),
            Some(_) | None => usize::MAX,
        };
        while lines.next_if(|line| indent(line) >= least).is_some() {}
    }
    kept
}

/// Replaces a number where it is one, and not a part of a longer one.
fn without_number(text: &str, number: &str, name: &str) -> String {
    let mut parts = text.split(number);
    let mut replaced = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_part = replaced.ends_with(|it: char| it.is_ascii_digit())
            || part.starts_with(|it: char| it.is_ascii_digit());
        replaced.push_str(if is_part { number } else { name });
        replaced.push_str(part);
    }
    replaced
}

#[test]
fn a_port_is_not_found_within_another_number() {
    let text = "--timeout 18446744073709551615 on 44073, :44073/";
    let expected = "--timeout 18446744073709551615 on [PORT], :[PORT]/";
    assert_eq!(without_number(text, "44073", "[PORT]"), expected);
}
