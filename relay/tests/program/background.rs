//! A relay in the background, and commands that run until they are told to stop.

use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use command_fds::{CommandFdExt, FdMapping};
use serde_json::{Value, json};

use crate::place::{PROGRAM, Place};
use crate::running::Running;

#[test]
fn a_relay_survives_the_shell_that_started_it_and_its_terminal() {
    let place = Place::new();
    let script = format!("'{PROGRAM}' ensure; kill -s HUP 0");
    // The parent of the tests may have told its children to ignore the signal.
    let mut shell = place.with_environment(Command::new("env"));
    shell.args(["--default-signal=HUP", "sh", "-c", &script]);
    let ended = shell.process_group(0).status().unwrap();
    assert_eq!(ended.signal(), Some(1), "the shell was hung up");
    assert_eq!(place.status()["running"], true);
    let pid = place.relay_process();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    let (group, session, terminal) = (fields[2], fields[3], fields[4]);
    assert_eq!((group, session, terminal), (&*pid, &*pid, "0"), "a session of its own");
    let folder = std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap();
    assert_eq!(folder.to_str(), Some("/"), "it keeps no folder busy");
}

#[test]
fn a_relay_holds_nothing_open_that_its_caller_had() {
    let place = Place::new();
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut ensure = place.command(&["ensure", "--timeout", "60"]);
    let lock = FdMapping { parent_fd: writer.into(), child_fd: 9 };
    assert!(ensure.fd_mappings(vec![lock]).unwrap().status().unwrap().success());
    drop(ensure);
    let (ended, end) = mpsc::channel();
    std::thread::spawn(move || ended.send(reader.read_to_end(&mut Vec::new()).unwrap()));
    assert_eq!(end.recv_timeout(Duration::from_secs(10)), Ok(0), "nobody has the other end");
    assert_eq!(place.status()["running"], true);
}

#[test]
fn a_wait_at_a_terminal_shows_its_reason() {
    let place = Place::new();
    let package = place.playwright();
    let with = |mut command: Command| {
        let output = command.env("PLAYWRITER_PLAYWRIGHT", &package).output().unwrap();
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(with(place.command(&["session", "new"])), ("1\n".to_owned(), String::new()));
    // `script` is a terminal for whom it runs.
    let seen = with(place.at_terminal("session new")).0;
    assert!(seen.contains("asking the relay (0 s)"), "{seen}");
    assert!(seen.trim_end().ends_with("\r\u{1b}[K2"), "{seen}");
    for (command, what) in [
        ("status", "asking the relay (0 s)"),
        ("doctor", "checking the installation (0 s)"),
        ("serve", "asking who has the port (0 s)"),
        ("ensure", "starting the relay (0 s)"),
    ] {
        let seen = with(place.at_terminal(command)).0;
        assert!(seen.contains(what), "{command}: {seen}");
    }
    let mut elsewhere = place.at_terminal("ensure");
    elsewhere.env("PLAYWRITER_HOST", format!("http://127.0.0.1:{}", place.port));
    let seen = with(elsewhere).0;
    assert!(seen.contains("asking the relay (0 s)"), "{seen}");
}

#[test]
fn a_terminal_gets_no_control_characters_and_a_program_gets_all() {
    let place = Place::new();
    let home = place.home.path().join("\u{1b}[2J\u{9b}");
    std::fs::create_dir(&home).unwrap();
    let said = |mut command: Command| {
        String::from_utf8(command.env("HOME", &home).output().unwrap().stdout).unwrap()
    };
    assert!(said(place.command(&["logfile"])).contains("\u{1b}[2J\u{9b}"));
    let seen = said(place.at_terminal("logfile"));
    assert!(seen.contains("\u{fffd}[2J\u{fffd}"), "{seen:?}");
}

#[test]
fn twenty_programs_at_once_start_one_relay() {
    let place = Place::new();
    let callers: Vec<Child> = (0..20)
        .map(|_| {
            let mut ensure = place.command(&["ensure", "--json", "--timeout", "60"]);
            ensure.stdout(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let started = callers.into_iter().map(|caller| {
        let output = caller.wait_with_output().unwrap();
        assert!(output.status.success());
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        usize::from(said["started"] == true)
    });
    assert_eq!(started.sum::<usize>(), 1);
}

#[test]
fn the_environment_says_how_a_relay_is_started() {
    let place = Place::new();
    let mut ensure = place.command(&["ensure", "--timeout", "60"]);
    ensure.env("PLAYWRITER_SEPARATE_WINDOW", "1").env("PLAYWRITER_AUTO_ENABLE", "false");
    assert!(ensure.status().unwrap().success());
    let status = place.status();
    let modes = (&status["separateWindow"], &status["autoEnable"]);
    assert_eq!(modes, (&json!(true), &json!(false)));
}

#[test]
fn an_empty_variable_counts_as_unset() {
    let place = Place::new();
    let emptied = |arguments: &[&str], empty: &[&str]| {
        let mut command = place.command(arguments);
        command.envs(empty.iter().map(|name| (name, "")));
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let port = place.port.to_string();
    let empty = ["TOKEN", "SEPARATE_WINDOW", "AUTO_ENABLE", "SESSION", "HOST", "PORT"]
        .map(|name| format!("PLAYWRITER_{name}"));
    let empty = empty.each_ref().map(String::as_str);
    let done = (Some(0), String::new());
    assert_eq!(
        emptied(&["ensure", "--timeout", "60", "--port", &port, "--separate-window"], &empty),
        done
    );
    assert_eq!(emptied(&["ensure", "--port", &port], &empty), done, "nothing else is asked for");
    let status = place.status();
    let modes = (&status["separateWindow"], &status["autoEnable"]);
    assert_eq!(modes, (&json!(true), &json!(true)));
    assert_eq!(emptied(&["status", "--port", &port], &empty), done);
    assert_eq!(emptied(&["session", "list", "--port", &port], &empty).0, Some(0));
    // The usual port may be somebody's: no relay is asked for.
    let (_, help) = emptied(&["completions", "fish"], &empty);
    assert_eq!(help, "");
    for typed in [["-e", "1", "--token", ""].as_slice(), &["ensure", "--token", ""]] {
        let (code, said) = emptied(typed, &[]);
        assert!(code == Some(2) && said.contains("the token is empty"), "{typed:?}: {said}");
    }
}

#[test]
fn a_variable_that_a_command_does_not_look_at_may_be_anything() {
    let place = Place::new();
    let code = |arguments: &[&str], name: &str| {
        place.command(arguments).env(name, "no name!").output().unwrap().status.code()
    };
    assert_eq!(code(&["status"], "PLAYWRITER_SESSION"), Some(1));
    for name in ["PLAYWRITER_SESSION", "PLAYWRITER_PORT"] {
        assert_eq!(code(&["completions", "fish"], name), Some(0), "{name}");
        assert_eq!(code(&["-e", "1"], name), Some(2), "{name}");
        assert_eq!(code(&["mcp"], name), Some(2), "{name}");
    }
}

#[test]
fn a_relay_that_was_killed_comes_back_with_its_settings_and_never_without_a_token() {
    let place = Place::new();
    let ensure = |arguments: &[&str], token: Option<&str>| {
        let mut command = place.command(&["ensure", "--timeout", "60"]);
        command.args(arguments).envs(token.map(|token| ("PLAYWRITER_TOKEN", token)));
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let settings = |token: Option<&str>| {
        let mut command = place.command(&["status", "--json"]);
        let output = command.envs(token.map(|it| ("PLAYWRITER_TOKEN", it))).output().unwrap();
        let status: Value = serde_json::from_slice(&output.stdout).unwrap();
        (status["settings"]["allowFocus"].clone(), status["separateWindow"].clone())
    };
    assert_eq!(ensure(&["--allow-focus"], Some("s3cret")).0, Some(0));
    assert_eq!(ensure(&["--separate-window"], Some("s3cret")).0, Some(0));
    place.kill();
    let (code, said) = ensure(&[], None);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("wanted a token, and was killed"), "{said}");
    assert_eq!(place.status()["running"], false, "nothing was started");
    assert_eq!(ensure(&[], Some("another")).0, Some(0));
    assert_eq!(settings(Some("another")), (json!(true), json!(true)));
    place.kill();
    let stopped = place.command(&["stop"]).output().unwrap();
    assert!(stopped.status.success());
    assert_eq!(ensure(&[], None), (Some(0), String::new()));
    assert_eq!(settings(None), (json!(false), json!(false)), "stopped means forgotten");
}

#[test]
fn the_token_is_on_no_command_line() {
    let place = Place::new();
    let mut ensure = place.command(&["ensure", "--timeout", "60"]);
    assert!(ensure.env("PLAYWRITER_TOKEN", "s3cret").status().unwrap().success());
    let line = std::fs::read(format!("/proc/{}/cmdline", place.relay_process())).unwrap();
    assert!(!String::from_utf8_lossy(&line).contains("s3cret"));
    assert_eq!(place.command(&["status"]).status().unwrap().code(), Some(2));
}

#[test]
fn tail_tells_what_comes_and_counts_it_at_the_end() {
    let place = Place::new();
    let mut log = place.log("cdp.jsonl");
    writeln!(log, "{}", entry(1, "Page.enable")).unwrap();
    let mut tail = Running::start(&place, &["tail", "--from-start", "--method", "Page.*"]);
    assert!(tail.line().ends_with("client → relay Page.enable #1"));
    writeln!(log, "{}", entry(2, "Runtime.enable")).unwrap();
    writeln!(log, "{}", entry(3, "Page.enable")).unwrap();
    assert!(tail.line().ends_with("client → relay Page.enable #3"));
    tail.ends_as("tail");
}

#[test]
fn a_log_can_be_followed_into_the_next_file() {
    let place = Place::new();
    writeln!(place.log("relay-server.log"), "the first relay").unwrap();
    let mut follow = Running::start(&place, &["logfile", "--follow"]);
    assert_eq!(follow.line(), "the first relay");
    let folder = place.home.path().join(".playwriter");
    let log = folder.join("relay-server.log");
    std::fs::rename(&log, folder.join("relay-server.log.1")).unwrap();
    std::fs::write(&log, "the second relay\n").unwrap();
    assert_eq!(follow.line(), "the second relay");
    follow.ends_as("logfile-follow");
}

impl Place {
    /// The program with a terminal, whose output is standard output.
    fn at_terminal(&self, arguments: &str) -> Command {
        let mut script = self.with_environment(Command::new("script"));
        script.args(["--quiet", "--return", "--command", &format!("'{PROGRAM}' {arguments}")]);
        script.arg("/dev/null").stdin(Stdio::null());
        script
    }

    fn status(&self) -> Value {
        let output = self.command(&["status", "--json"]).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn log(&self, name: &str) -> std::fs::File {
        let folder = self.home.path().join(".playwriter");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::File::create(folder.join(name)).unwrap()
    }
}

fn entry(id: u64, method: &str) -> Value {
    json!({
        "timestamp": "2026-01-02T03:04:05.678Z",
        "direction": "from-playwright",
        "clientId": "client-1",
        "source": "client",
        "message": { "id": id, "method": method },
    })
}
