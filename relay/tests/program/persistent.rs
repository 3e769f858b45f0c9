//! A relay that outlives the program that started it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::place::{PROGRAM, Place};
use relay::client::{Client, Endpoint};
use relay::server::{RelayOptions, RelayServer, Token};
use relay::{
    PersistentRelay, PersistentRelayOptions, RelayServerError, StopOptions, VERSION, WaitOptions,
    ensure_persistent_relay, stop_relay, wait_for_extension,
};
use relay_core::Policy;
use serde_json::json;
use shared_protocol::http::{RelaySettings, RelayStatus};
use tokio::net::TcpListener;
use warp::Filter;

#[tokio::test]
async fn a_relay_is_started_if_none_runs_and_used_if_one_does() {
    let place = Place::new();
    let first = ensure_persistent_relay(&place.options()).await.unwrap();
    assert_eq!(first, place.relay(true));
    let second = ensure_persistent_relay(&place.options()).await.unwrap();
    assert_eq!(second, place.relay(false));
}

#[tokio::test]
async fn twenty_callers_at_once_end_up_with_one_relay() {
    let place = Place::new();
    let callers: Vec<_> = (0..20)
        .map(|_| {
            let options = place.options();
            tokio::spawn(async move { ensure_persistent_relay(&options).await })
        })
        .collect();
    let mut started = 0;
    for caller in callers {
        started += usize::from(caller.await.unwrap().unwrap().started);
    }
    assert_eq!(started, 1);
}

#[tokio::test]
async fn an_older_relay_of_ours_is_asked_to_stop_and_replaced() {
    let place = Place::new();
    let older = tokio::spawn(place.in_process("0.0.9").await.run_until(std::future::pending()));
    let relay = ensure_persistent_relay(&place.options()).await.unwrap();
    assert_eq!(relay, place.relay(true));
    older.await.unwrap();
}

#[tokio::test]
async fn a_replacement_keeps_the_settings_that_its_caller_does_not_give() {
    let place = Place::new();
    let told =
        ["--auto-enable=false", "--allow-focus", "--cookies=profile", "--allow-host=a.example"];
    let policy = Policy { separate_window: true, ..Policy::default() };
    let arguments = told.map(str::to_owned).to_vec();
    let token = Some(Token::new("s3cret-0123456789"));
    let options = place.relay_options("0.0.9");
    let older = RelayOptions { policy, arguments, token: token.clone(), ..options };
    let older = RelayServer::start(&older).await.unwrap();
    let older = tokio::spawn(older.run_until(std::future::pending()));
    let arguments = ["--allow-host", "b.example"].map(Into::into).to_vec();
    let options = PersistentRelayOptions { arguments, token: token.clone(), ..place.options() };
    assert_eq!(ensure_persistent_relay(&options).await.unwrap(), place.relay(true));
    older.await.unwrap();
    let client = Client::new(Endpoint::local(place.port), token);
    let client = client.in_folder(place.home.path().join(".playwriter"));
    let status: RelayStatus = client.get("/relay/status").await.unwrap();
    assert_eq!((status.separate_window, status.auto_enable), (true, false));
    let settings = RelaySettings {
        host: "127.0.0.1".to_owned(),
        allowed_hosts: vec!["b.example".to_owned()],
        allow_focus: true,
        whole_profile: true,
        wants_token: true,
        is_paired: false,
        allowed_users: Vec::new(),
        pairing_required: false,
        agents_may: Vec::new(),
    };
    assert_eq!(status.settings, Some(settings));
}

#[tokio::test]
async fn an_older_relay_is_not_replaced_by_one_that_wants_no_token() {
    let place = Place::new();
    let token = Some(Token::new("s3cret-0123456789"));
    let older = RelayOptions { token: token.clone(), ..place.relay_options("0.0.9") };
    let older = RelayServer::start(&older).await.unwrap();
    let older = tokio::spawn(older.run_until(std::future::pending()));
    for token in [None, Some(Token::new("wrong"))] {
        let options = PersistentRelayOptions { token, ..place.options() };
        let error = ensure_persistent_relay(&options).await.unwrap_err();
        assert!(
            matches!(&error, RelayServerError::WantsToken { version, .. } if version == "0.0.9")
        );
        assert!(!older.is_finished() && place.answers().await);
    }
    let options = PersistentRelayOptions { token, ..place.options() };
    assert_eq!(ensure_persistent_relay(&options).await.unwrap(), place.relay(true));
    older.await.unwrap();
    assert!(place.client().get::<RelayStatus>("/relay/status").await.is_err(), "it wants it, too");
    assert!(!std::fs::read_to_string(place.relay_file()).unwrap().contains("s3cret-0123456789"));
}

#[tokio::test]
async fn an_older_relay_with_which_a_browser_would_end_is_used_as_it_is() {
    let place = Place::new();
    let older = RelayOptions { has_browser: true, ..place.relay_options("0.0.9") };
    let older = RelayServer::start(&older).await.unwrap();
    let relay = ensure_persistent_relay(&place.options()).await.unwrap();
    assert_eq!(relay, PersistentRelay { version: "0.0.9".to_owned(), ..place.relay(false) });
    assert!(place.answers().await);
    older.close().await;
}

#[tokio::test]
async fn a_program_older_than_the_library_is_named_before_anything_is_stopped() {
    let place = Place::new();
    let old = place.home.path().join("playwriter");
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && echo playwriter 0.0.10 && exit\nexec '{PROGRAM}' \"$@\"\n"
    );
    write_program(&old, &script);
    let options = PersistentRelayOptions { program: Some(old.clone()), ..place.options() };
    let refused = async || {
        let error = ensure_persistent_relay(&options).await.unwrap_err();
        assert!(
            matches!(&error, RelayServerError::OlderProgram { program, version, wanted, .. }
                if *program == old && version == "0.0.10" && *wanted == VERSION),
            "{error}"
        );
    };
    refused().await;
    assert!(!place.answers().await, "nothing was started");
    let older = place.in_process("0.0.9").await;
    refused().await;
    assert!(place.answers().await, "nothing was stopped");
    older.close().await;
    write_program(&old, "#!/bin/sh\necho hello\n");
    let error = ensure_persistent_relay(&options).await.unwrap_err().to_string();
    assert!(error.contains("does not tell its version"), "{error}");
}

#[tokio::test]
async fn a_newer_relay_is_used_as_it_is() {
    let place = Place::new();
    let newer = place.in_process("99.0.0").await;
    let relay = ensure_persistent_relay(&place.options()).await.unwrap();
    assert_eq!(relay, PersistentRelay { version: "99.0.0".to_owned(), ..place.relay(false) });
    newer.close().await;
}

#[tokio::test]
async fn an_older_relay_that_another_home_folder_knows_is_left_alone() {
    let (place, other) = (Place::new(), tempfile::tempdir().unwrap());
    let older = place.in_process("0.0.9").await;
    let options = PersistentRelayOptions { home: Some(other.path().to_owned()), ..place.options() };
    let error = ensure_persistent_relay(&options).await.unwrap_err();
    assert!(matches!(&error, RelayServerError::NotYours { version, .. } if version == "0.0.9"));
    assert!(place.answers().await);
    older.close().await;
}

#[tokio::test]
async fn a_program_that_is_no_relay_keeps_its_port() {
    let place = Place::new();
    let stranger = a_program_that_answers(place.port, "<html>hello</html>").await;
    let error = ensure_persistent_relay(&place.options()).await.unwrap_err();
    assert!(matches!(error, RelayServerError::PortTaken { port } if port == place.port), "{error}");
    assert!(!stranger.is_finished());
    stranger.abort();
}

#[tokio::test]
async fn a_relay_that_does_not_answer_is_not_taken_for_another_program() {
    let place = Place::new();
    let _silent = TcpListener::bind(("127.0.0.1", place.port)).await.unwrap();
    for error in [
        ensure_persistent_relay(&place.options()).await.unwrap_err(),
        stop_relay(&place.stop()).await.unwrap_err(),
    ] {
        assert!(matches!(error, RelayServerError::NoAnswer { port } if port == place.port));
    }
}

#[tokio::test]
async fn a_relay_of_another_project_is_named_and_left_alone() {
    let place = Place::new();
    let stranger = a_program_that_answers(place.port, r#"{"version":"0.0.63"}"#).await;
    // The longest time must not overflow a clock, either.
    let (port, home) = (place.port, Some(place.home.path().to_owned()));
    let wait = WaitOptions { port, home, timeout: Duration::MAX, ..WaitOptions::default() };
    for error in [
        ensure_persistent_relay(&place.options()).await.unwrap_err(),
        stop_relay(&place.stop()).await.unwrap_err(),
        wait_for_extension(&wait).await.unwrap_err(),
    ] {
        assert!(error.to_string().contains("another playwriter relay, version 0.0.63"), "{error}");
    }
    assert!(!stranger.is_finished());
    stranger.abort();
}

#[tokio::test]
async fn a_relay_that_cannot_start_says_why_and_how_to_see_more() {
    let place = Place::new();
    let silent = place.home.path().join("playwriter");
    write_program(&silent, "#!/bin/sh\n[ \"$1\" = --version ] && echo 99.0.0 && exit\nexit 3\n");
    let options = PersistentRelayOptions { program: Some(silent), ..place.options() };
    let log = place.home.path().join(".playwriter/relay-server.log");
    let (port, log) = (place.port, log.display());
    let error = ensure_persistent_relay(&options).await.unwrap_err();
    assert_eq!(error.port(), port);
    assert_eq!(
        error.to_string(),
        format!(
            "[Playwriter] Failed to start relay server. Check logs at: {log} (port {port})\n\n\
             it ended at once (exit status: 3)\n\n\
             hint: `playwriter serve --port {port}` shows what is in the way"
        )
    );
    let arguments = ["--host", "nowhere.invalid"].map(Into::into).into();
    let options = PersistentRelayOptions { arguments, ..place.options() };
    let error = ensure_persistent_relay(&options).await.unwrap_err().to_string();
    assert_eq!(
        error,
        format!(
            "[Playwriter] Failed to start relay server. Check logs at: {log} (port {port})\n\n\
             the address of nowhere.invalid cannot be found\n\n\
             hint: use an address of this machine, or leave --host out"
        ),
        "it knows better than its log"
    );
}

#[tokio::test]
async fn a_running_relay_takes_the_window_mode_that_is_asked_for() {
    let place = Place::new();
    for (asked, expected) in [(None, false), (Some(true), true), (None, true), (Some(false), false)]
    {
        let options = PersistentRelayOptions { separate_window: asked, ..place.options() };
        ensure_persistent_relay(&options).await.unwrap();
        let status: RelayStatus = place.client().get("/relay/status").await.unwrap();
        assert_eq!(status.separate_window, expected, "{asked:?}");
    }
}

#[tokio::test]
async fn a_relay_stops_when_its_user_asks_and_leaves_nothing_but_its_logs() {
    let place = Place::new();
    ensure_persistent_relay(&place.options()).await.unwrap();
    assert_eq!(stop_relay(&place.stop()).await.unwrap().as_deref(), Some(VERSION));
    assert!(!place.answers().await);
    assert_eq!(stop_relay(&place.stop()).await.unwrap(), None);
    assert!(!place.relay_file().exists());
}

#[tokio::test]
async fn several_may_stop_a_relay_at_once() {
    let place = Place::new();
    ensure_persistent_relay(&place.options()).await.unwrap();
    let callers: Vec<_> = (0..8)
        .map(|_| {
            let options = place.stop();
            tokio::spawn(async move { stop_relay(&options).await })
        })
        .collect();
    let mut stopped = 0;
    for caller in callers {
        stopped += usize::from(caller.await.unwrap().unwrap().is_some());
    }
    assert!(stopped > 0);
    assert!(!place.answers().await);
}

#[tokio::test]
async fn a_relay_has_stopped_when_another_has_its_place() {
    let place = Place::new();
    let folder = place.relay_file().parent().unwrap().to_owned();
    std::fs::create_dir_all(&folder).unwrap();
    let of = |key: &str| {
        json!({ "pid": 1, "port": place.port, "version": VERSION, "key": key }).to_string()
    };
    let (relay_file, next) = (place.relay_file(), of("next"));
    std::fs::write(&relay_file, of("first")).unwrap();
    // An outsider's view: the first one ends, and at once somebody starts the next.
    let version = warp::path!("version").map(|| {
        warp::reply::json(&json!({ "version": VERSION, "name": shared_protocol::http::RELAY_NAME }))
    });
    let shutdown = warp::path!("shutdown").map(move || {
        std::fs::write(&relay_file, &next).unwrap();
        warp::reply::json(&json!({}))
    });
    let listener = TcpListener::bind(("127.0.0.1", place.port)).await.unwrap();
    let relays = tokio::spawn(warp::serve(version.or(shutdown)).incoming(listener).run());
    assert_eq!(stop_relay(&place.stop()).await.unwrap().as_deref(), Some(VERSION));
    assert_eq!(
        std::fs::read_to_string(place.relay_file()).unwrap(),
        of("next"),
        "which is left alone"
    );
    relays.abort();
}

#[tokio::test]
async fn a_relay_that_is_stopping_leaves_its_settings_to_nobody() {
    let place = Place::new();
    let options = place.relay_options(VERSION);
    let arguments = vec!["--allow-focus".to_owned()];
    let token = Some(Token::new("s3cret"));
    let relay = RelayServer::start(&RelayOptions { token, arguments, ..options }).await.unwrap();
    let kept = std::fs::read(place.relay_file()).unwrap();
    relay.close().await;
    let mut kept: serde_json::Value = serde_json::from_slice(&kept).unwrap();
    kept["is_stopping"] = true.into();
    std::fs::write(place.relay_file(), kept.to_string()).unwrap();
    assert_eq!(ensure_persistent_relay(&place.options()).await.unwrap(), place.relay(true));
    let status: RelayStatus = place.client().get("/relay/status").await.unwrap();
    assert!(!status.settings.unwrap().allow_focus);
}

#[tokio::test]
async fn a_relay_that_was_killed_is_started_again() {
    let place = Place::new();
    ensure_persistent_relay(&place.options()).await.unwrap();
    place.kill();
    let again = ensure_persistent_relay(&place.options()).await.unwrap();
    assert_eq!(again, place.relay(true));
}

#[tokio::test]
async fn waiting_for_an_extension_ends_with_what_to_do() {
    let place = Place::new();
    ensure_persistent_relay(&place.options()).await.unwrap();
    let timeout = Duration::from_millis(100);
    let (port, home) = (place.port, Some(place.home.path().to_owned()));
    let options = WaitOptions { port, home, timeout, ..WaitOptions::default() };
    let error = wait_for_extension(&options).await.unwrap_err();
    assert!(matches!(error, RelayServerError::ExtensionNotConnected { .. }), "{error}");
    assert_eq!(error.port(), port);
    let begins = format!(
        "[Playwriter] Extension not connected. Please click the Playwriter extension icon on a Chrome \
         tab. (port {port})\n\nhint: "
    );
    assert!(error.to_string().starts_with(&begins), "{error}");
}

impl Place {
    fn options(&self) -> PersistentRelayOptions {
        PersistentRelayOptions {
            port: self.port,
            // Twenty at once on a busy machine.
            timeout: Duration::from_secs(60),
            program: Some(PathBuf::from(PROGRAM)),
            home: Some(self.home.path().to_owned()),
            ..PersistentRelayOptions::default()
        }
    }

    fn relay(&self, started: bool) -> PersistentRelay {
        PersistentRelay { started, version: VERSION.to_owned(), port: self.port }
    }

    fn stop(&self) -> StopOptions {
        StopOptions { port: self.port, home: Some(self.home.path().to_owned()) }
    }

    fn client(&self) -> Client {
        Client::new(Endpoint::local(self.port), None)
            .in_folder(self.home.path().join(".playwriter"))
    }

    async fn answers(&self) -> bool {
        self.client().version().await.is_ok()
    }

    fn relay_options(&self, version: &str) -> RelayOptions {
        RelayOptions {
            port: self.port,
            relay_file: Some(self.home.path().join(".playwriter")),
            secret: Some(self.home.path().join(".playwriter")),
            version: version.to_owned(),
            ..RelayOptions::default()
        }
    }

    async fn in_process(&self, version: &str) -> RelayServer {
        RelayServer::start(&self.relay_options(version)).await.unwrap()
    }
}

/// Writes a program by way of another process: what a test beside this one starts in the same
/// moment would hold the file open, and it could not be run.
fn write_program(path: &Path, text: &str) {
    let write = "printf %s \"$1\" > \"$0\" && chmod 755 \"$0\"";
    let written = Command::new("sh").args(["-c", write]).arg(path).arg(text).status().unwrap();
    assert!(written.success());
}

/// A program that answers every request with the same body.
async fn a_program_that_answers(port: u16, body: &'static str) -> tokio::task::JoinHandle<()> {
    let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    tokio::spawn(warp::serve(warp::any().map(move || body)).incoming(listener).run())
}
