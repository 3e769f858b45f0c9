//! Extensions that have proven themselves, and those that anybody can make up.

use crate::tests::*;

const FAKE: ConnectionId = ConnectionId(9);

const GUID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

#[test]
fn an_unproven_extension_cannot_replace_a_proven_one() {
    let mut stage = Stage::with_proven();
    stage.attach_tab(EXTENSION, "pw-tab-1", "T1");
    let refused = [Effect::CloseExtension {
        connection: FAKE,
        code: CloseCode::ExtensionInUse,
        reason: "this installation has to prove itself".to_owned(),
    }];
    assert_eq!(stage.connect_extension(FAKE, "one"), refused);
    let hello = ExtensionHello {
        install_id: Some("one".to_owned()),
        browser: Some("Other".to_owned()),
        ..ExtensionHello::default()
    };
    assert_eq!(
        stage.connect(FAKE, hello, false),
        refused,
        "not by another name of its browser either"
    );
    stage.handle(Input::ExtensionDisconnected { connection: EXTENSION });
    assert_eq!(stage.connect_extension(FAKE, "one"), refused, "nor while it is away");
}

#[test]
fn a_proven_extension_takes_over_from_itself_without_a_proof() {
    let mut stage = Stage::with_client();
    let effects = stage.connect(FAKE, hello("one"), true);
    assert!(effects.contains(&Effect::CloseExtension {
        connection: EXTENSION,
        code: CloseCode::ExtensionReplaced,
        reason: "Extension Replaced".to_owned(),
    }));
    assert_eq!(stage.0.extensions.choose(None), Ok(FAKE));
}

#[test]
fn clients_get_a_proven_extension_while_one_is_there_or_just_away() {
    let mut stage = Stage::with_proven();
    stage.connect_extension(FAKE, "fake");
    stage.attach_tab(FAKE, "pw-tab-1", "T1");
    assert_eq!(stage.0.extensions.choose(None), Ok(EXTENSION), "also without a tab");
    stage.attach_tab(EXTENSION, "pw-tab-1", "T1");
    let (chosen, _) = stage.0.extensions.with_target(&TargetId::new("T1")).unwrap();
    assert_eq!(chosen, EXTENSION, "even if another extension claims to have the target");
    assert_eq!(stage.0.newest_extension(), Some(EXTENSION));
    stage.handle(Input::ExtensionDisconnected { connection: EXTENSION });
    assert_eq!(stage.0.extensions.choose(None), Ok(EXTENSION));
    stage.at(Duration::from_secs(5), Input::DeadlinePassed);
    assert_eq!(stage.0.extensions.choose(None), Ok(FAKE), "then it is gone");
}

#[test]
fn made_up_extensions_lock_nobody_out() {
    let mut stage = Stage::new();
    for number in 0..64_u64 {
        let effects = stage.connect_extension(ConnectionId(100 + number), &format!("f{number}"));
        let is_refused = effects.iter().any(|it| matches!(it, Effect::CloseExtension { .. }));
        assert_eq!(is_refused, number >= 8, "{number}");
    }
    let effects = stage.connect(EXTENSION, hello("one"), true);
    assert!(!effects.iter().any(|it| matches!(it, Effect::CloseExtension { .. })));
}

#[test]
fn only_a_proven_extension_is_believed_about_files() {
    for (requires_pairing, proven, is_asked) in
        [(true, true, true), (true, false, false), (false, false, true)]
    {
        let mut stage = Stage::new();
        if requires_pairing {
            stage.0 = stage.0.with_pairing();
        }
        let capabilities = Some("downloads-v1,pairing-v1".to_owned());
        stage.connect(EXTENSION, ExtensionHello { capabilities, ..hello("one") }, proven);
        stage.attach_tab(EXTENSION, "pw-tab-1", "T1");
        stage.connect_client(CLIENT, None, None);
        let params = r#"{"behavior":"allow","downloadPath":"/wanted","eventsEnabled":true}"#;
        stage.command(None, 1, "Browser.setDownloadBehavior", params);
        let began = json!({ "guid": GUID, "url": "http://site/file", "suggestedFilename": "a" });
        stage.event(EXTENSION, Some("pw-tab-1"), "Page.downloadWillBegin", began);
        let done =
            json!({ "guid": GUID, "state": "completed", "totalBytes": 1, "receivedBytes": 1 });
        let effects = stage.event(EXTENSION, Some("pw-tab-1"), "Page.downloadProgress", done);
        let asked = effects.iter().any(|effect| {
            matches!(
                effect,
                Effect::SendToExtension { message: RelayMessage::FindDownload { .. }, .. }
            )
        });
        let text = format!("{effects:?}");
        assert_eq!(text.contains("canceled"), !is_asked, "{text}");
        assert_eq!(text.contains("is not paired, which downloads need"), !is_asked, "{text}");
        // A client waits for an extension that is known to exist.
        assert!(is_asked || !asked, "{text}");
    }
}

fn hello(install_id: &str) -> ExtensionHello {
    ExtensionHello { install_id: Some(install_id.to_owned()), ..ExtensionHello::default() }
}

impl Stage {
    fn with_proven() -> Self {
        let mut stage = Self::new();
        stage.connect(EXTENSION, hello("one"), true);
        stage
    }

    fn connect(
        &mut self,
        connection: ConnectionId,
        hello: ExtensionHello,
        proven: bool,
    ) -> Vec<Effect> {
        let user_agent = String::new();
        self.handle(Input::ExtensionConnected { connection, hello, user_agent, proven })
    }
}
