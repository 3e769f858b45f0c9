//! The relay's socket in its user's folder, where it cannot be had or is somebody else's.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use end_to_end::{FalseRelay, RelayProgram, TIMEOUT, compile, may_be_another_user, show_figure};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::timeout;

use super::attack::{Attack, attack};

pub(super) const ATTACKS: &[Attack] = &[
    attack!(
        OtherUser,
        "waits at the port for programs of the user that find no socket, since its path is too long or its relay was killed",
        "they ask for a proof at the port, as if there had never been a socket",
        a_socket_that_cannot_be_used_is_passed_over
    ),
    attack!(
        OtherUser,
        "has put a socket, or a link to one, into the folder in place of the relay's, where the user opened the folder",
        "not a word is said there: a socket must be a file of this user, with a process of this user behind it",
        a_socket_of_another_user_hears_nothing
    ),
    attack!(
        OtherUser,
        "connects to the relay's socket, where the user opened folder and socket",
        "the connection ends without a word: the relay looks whose process it is",
        another_user_at_the_socket_is_answered_nothing
    ),
];

const AS_NOBODY: [&str; 3] = ["--reuid=65534", "--regid=65534", "--clear-groups"];

const ASK: [&str; 2] = ["session", "list"];

#[tokio::test]
async fn a_socket_that_cannot_be_used_is_passed_over() {
    let long = RelayProgram::start_in(&"x".repeat(120)).await;
    assert!(!socket_of(&long).exists(), "such a path is too long for a socket");
    let (code, _, stderr) = long.run(&ASK).await;
    assert_eq!(code, Some(0), "{stderr}");

    let mut relay = RelayProgram::start().await;
    assert!(socket_of(&relay).exists());
    relay.kill().await;
    assert!(socket_of(&relay).exists(), "it is left behind");
    let posing =
        r#"{"version":"99.0.0","name":"playwriter-rs","listening":4294967295,"proof":"00"}"#;
    let squatter = FalseRelay::start(relay.port(), |_| async { (200, posing.to_owned()) }).await;
    let (code, _, stderr) = relay.run(&ASK).await;
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("cannot prove that it is your relay"), "{stderr}");
    let heard = squatter.heard().to_lowercase();
    assert!(heard.contains("nonce=") && !heard.contains("authorization"), "{heard}");
    squatter.leave().await;
    // The next relay takes its place.
    relay.start_again().await;
    let (code, _, stderr) = relay.run(&ASK).await;
    assert_eq!(code, Some(0), "{stderr}");
}

#[tokio::test]
async fn a_socket_of_another_user_hears_nothing() {
    let Some((relay, program)) = opened_relay().await else { return };
    let path = socket_of(&relay);
    fs::remove_file(&path).unwrap();
    let mut stranger = Stranger::listen(&program, &path).await;
    // Its own, as if it were this user's, and by a link.
    let elsewhere = path.with_extension("elsewhere");
    for how in ["its own", "given away", "a link"] {
        match how {
            "given away" => chown(&path, Some(0), Some(0)).unwrap(),
            "a link" => {
                fs::rename(&path, &elsewhere).unwrap();
                symlink(&elsewhere, &path).unwrap();
            }
            _ => {}
        }
        let (code, _, stderr) = relay.run(&ASK).await;
        assert_eq!(code, Some(0), "{how}: {stderr}");
    }
    let heard = stranger.end().await;
    assert!(heard.iter().all(|line| line == "connected"), "{heard:?}");
}

#[tokio::test]
async fn another_user_at_the_socket_is_answered_nothing() {
    let Some((relay, program)) = opened_relay().await else { return };
    let path = socket_of(&relay);
    fs::set_permissions(&path, Permissions::from_mode(0o666)).unwrap();
    let ask = async |as_whom: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(as_whom).arg(&program).arg("ask").arg(&path);
        let asked = timeout(TIMEOUT, command.output()).await.unwrap().unwrap();
        (asked.status.success(), String::from_utf8(asked.stdout).unwrap())
    };
    let (is_there, answer) = ask(&["--reuid=0"]).await;
    assert!(is_there && answer.starts_with("HTTP/1.1 "), "{answer}");
    // It may connect, and be gone before it has asked.
    let (_, answer) = ask(&AS_NOBODY).await;
    assert_eq!(answer, "");
}

/// A relay whose folder everybody can use, and a program for another user.
async fn opened_relay() -> Option<(RelayProgram, PathBuf)> {
    if !may_be_another_user() {
        show_figure("other users", "not tried: only root can be another user");
        return None;
    }
    let relay = RelayProgram::start().await;
    let folder = relay.log_folder();
    let home = folder.parent().unwrap();
    let program = home.join("stranger");
    compile("own_socket/stranger.c", &program);
    for folder in [home, &folder] {
        fs::set_permissions(folder, Permissions::from_mode(0o777)).unwrap();
    }
    Some((relay, program))
}

fn socket_of(relay: &RelayProgram) -> PathBuf {
    relay.log_folder().join(format!("relay-{}.sock", relay.port()))
}

/// A program of another user that listens at a socket.
struct Stranger {
    child: Child,
    said: Lines<BufReader<ChildStdout>>,
}

impl Stranger {
    async fn listen(program: &Path, path: &Path) -> Self {
        let mut command = Command::new("setpriv");
        command.args(AS_NOBODY).arg(program).arg("listen").arg(path);
        let mut child = command.stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = timeout(TIMEOUT, said.next_line()).await.unwrap().unwrap();
        assert_eq!(first.as_deref(), Some("listening"));
        Self { child, said }
    }

    /// Ends it, and gives all that it was told.
    async fn end(&mut self) -> Vec<String> {
        self.child.kill().await.unwrap();
        let mut heard = Vec::new();
        while let Some(line) = self.said.next_line().await.unwrap() {
            heard.push(line);
        }
        heard
    }
}
