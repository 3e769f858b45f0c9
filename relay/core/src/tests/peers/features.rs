//! Features that an extension does not understand, and the commands that need them.

use crate::tests::script::{A, Script};
use crate::tests::*;

#[test]
fn only_an_extension_that_understands_it_is_told_the_window_mode() {
    let mut relay =
        Relay::new(TargetId::new("BROWSER"), Policy { separate_window: true, ..Policy::default() });
    let mut connect = |number: u64, capabilities: Option<&str>| {
        let hello = ExtensionHello {
            install_id: Some(number.to_string()),
            capabilities: capabilities.map(str::to_owned),
            ..ExtensionHello::default()
        };
        let connection = ConnectionId(number);
        let user_agent = String::new();
        let connected = Input::ExtensionConnected { connection, hello, user_agent, proven: false };
        relay.handle(connected, Instant::now())
    };
    let told = |effects: Vec<Effect>| {
        effects.into_iter().any(|effect| {
            let Effect::SendToExtension { message, .. } = effect else { return false };
            matches!(message, RelayMessage::SetWindowMode(mode, _) if mode.separate_window)
        })
    };
    assert!(told(connect(1, Some("inventory-ready-v1,window-mode-v1"))));
    assert!(!told(connect(2, Some("inventory-ready-v1"))));
    assert!(!told(connect(3, None)));
    let entries = relay.extensions_status().extensions;
    let warnings: Vec<usize> = entries.iter().map(|entry| entry.warnings.len()).collect();
    assert_eq!(warnings, [0, 1, 1]);
}

#[test]
fn a_first_tab_is_opened_in_the_way_that_the_extension_understands() {
    for (version, opens) in [(None, "forwardCDPCommand"), (Some("0.4.0"), "createInitialTab")] {
        let mut relay = Stage::new();
        let hello =
            ExtensionHello { version: version.map(str::to_owned), ..ExtensionHello::default() };
        let user_agent = String::new();
        relay.handle(Input::ExtensionConnected {
            connection: EXTENSION,
            hello,
            user_agent,
            proven: false,
        });
        relay.connect_client(CLIENT, None, None);
        let effects = relay.command(None, 1, "Target.setAutoAttach", AUTO_ATTACH);
        let [Effect::SendToExtension { message, .. }] = effects.as_slice() else {
            panic!("{effects:?}");
        };
        let message = serde_json::to_value(message).unwrap();
        assert_eq!(message["method"], opens);
        let id = RequestId(message["id"].as_i64().unwrap());
        let result = if version.is_some() {
            json!({ "success": true, "tabId": 1, "sessionId": "pw-tab-1", "targetInfo": info("T1") })
        } else {
            assert_eq!(message["params"]["params"], json!({ "url": "about:blank" }));
            relay.attach_tab(EXTENSION, "pw-tab-1", "T1");
            json!({ "targetId": "T1" })
        };
        let message = ExtensionMessage::Reply { id, outcome: Ok(Some(Payload::of(&result))) };
        let effects = relay.handle(Input::ExtensionSent { connection: EXTENSION, message });
        assert_eq!(effects, [attached(None, "pw-tab-1", "T1"), reply(None, 1, json!({}))]);
    }
}

#[test]
fn a_missing_feature_is_logged_once_and_names_the_side_to_update() {
    let mut script = Script::with_capabilities("");
    let window = r#"{"targetId":"T1"}"#;
    let refusal = "the Playwriter extension in this browser (0.4.0) is too old for window bounds: update \
                   the extension";
    for id in [2, 3] {
        let refused = script.says(A, &format!("- {id} Browser.getWindowForTarget"), window);
        assert_eq!(refused, [format!("A - #{id} ! {refusal:?}")]);
    }
    let grant = script.says(A, "- 4 Browser.grantPermissions", r#"{"permissions":["camera"]}"#);
    assert!(grant[0].contains("too old for permissions"), "{grant:?}");
    assert_eq!(script.says(A, "- 5 Browser.resetPermissions", "{}"), ["A - #5 {}"]);
    let warnings = script.warnings();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert_eq!(warnings[0], refusal);
    assert_eq!(script.logged(), warnings, "one line each");
}

#[test]
fn clients_that_want_the_file_see_a_download_without_one_as_canceled() {
    let mut script = Script::with_capabilities("");
    script.does(
        A,
        "- 2 Browser.setDownloadBehavior",
        r#"{"behavior":"allowAndName","downloadPath":"/tmp/d","eventsEnabled":true}"#,
    );
    let began = r#"{"guid":"G","url":"x:/f","suggestedFilename":"f"}"#;
    script.chrome_says("pw-tab-1", "Page.downloadWillBegin", began);
    let ended = r#"{"guid":"G","state":"completed"}"#;
    assert_eq!(
        script.chrome_says("pw-tab-1", "Page.downloadProgress", ended),
        [r#"A - Browser.downloadProgress {"guid":"G","state":"canceled"}"#]
    );
    assert_eq!(
        script.says(A, "- 3 Browser.cancelDownload", r#"{"guid":"G"}"#),
        ["A - #3 {}"],
        "it never fails in Chrome"
    );
    assert_eq!(script.warnings().len(), 1);
}

#[test]
fn an_extension_that_refuses_a_feature_it_claims_is_too_old() {
    let mut script = Script::with_capabilities("permissions-v1");
    let grant = r#"{"permissions":["geolocation"]}"#;
    let asked = script.says(A, "- 2 Browser.grantPermissions", grant);
    assert!(asked[0].starts_with("> setPermissions"), "{asked:?}");
    let answered = script.knows_no_such_message();
    assert_eq!(answered[0], r#"> setPermissions {"rules":[]}"#, "nothing of it stays");
    assert!(answered[1].contains("too old for permissions: update the extension"), "{answered:?}");
    assert_eq!(script.warnings().len(), 1);
}

#[test]
fn a_missing_feature_is_remembered_for_the_next_worker() {
    let mut script = Script::with_capabilities("");
    script.says(A, "- 2 Browser.getWindowForTarget", r#"{"targetId":"T1"}"#);
    let warnings = script.warnings();
    assert_eq!(warnings.len(), 1);
    script.worker_dies();
    script.worker_comes(ConnectionId(9));
    assert_eq!(script.warnings(), warnings);
}

#[test]
fn an_extension_that_can_show_warnings_is_told_which_features_it_lacks() {
    let mut script = Script::with_capabilities("notices-v1");
    let told = script.says(A, "- 2 Browser.getWindowForTarget", r#"{"targetId":"T1"}"#);
    let notice = format!("> setNotice {}", json!({ "text": script.warnings()[0] }));
    assert_eq!(told[0], notice);
    script.worker_dies();
    assert_eq!(script.worker_comes(ConnectionId(9))[0], notice, "its next worker, too");
}

#[test]
fn the_window_mode_goes_only_to_extensions_that_understand_it() {
    for (capabilities, separate_window) in [("", None), ("window-mode-v1", Some(true))] {
        let mut script = Script::with_capabilities(capabilities);
        script.connects_with_window(ClientId(7));
        let asked = script.says(ClientId(7), "- 1 Target.createTarget", r#"{"url":"x:"}"#);
        let wanted = match separate_window {
            Some(_) => r#"> - Target.createTarget {"separateWindow":true,"url":"x:"}"#,
            None => r#"> - Target.createTarget {"url":"x:"}"#,
        };
        assert_eq!(asked, [wanted]);
    }
}
