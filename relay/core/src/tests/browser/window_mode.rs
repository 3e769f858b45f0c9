//! The window in which tabs open: the relay's setting, or a client's own.

use crate::tests::*;

#[test]
fn extensions_are_told_when_the_mode_changes_and_only_then() {
    let mut stage = with_extension();
    let mut choose = |separate_window| {
        let effects = stage.handle(Input::WindowModeChosen { separate_window });
        effects.iter().filter_map(told).collect::<Vec<_>>()
    };
    assert!(choose(false).is_empty());
    assert_eq!(choose(true), [true]);
    assert!(choose(true).is_empty());
    assert_eq!(choose(false), [false]);
}

#[test]
fn each_tab_that_a_client_opens_goes_to_the_window_it_wants() {
    for (separate_window, expected) in [
        (None, r#"{"url":"about:blank"}"#),
        (Some(true), r#"{"separateWindow":true,"url":"about:blank"}"#),
        (Some(false), r#"{"separateWindow":false,"url":"about:blank"}"#),
    ] {
        let mut stage = with_extension();
        connect(&mut stage, separate_window);
        let effects = stage.command(None, 1, "Target.createTarget", r#"{"url":"about:blank"}"#);
        let asked = effects.iter().find_map(|effect| {
            let RelayMessage::Command { command, .. } = message(effect)? else { return None };
            command.params.as_ref().map(|params| params.as_str())
        });
        assert_eq!(asked, Some(expected));
    }
}

#[test]
fn the_tab_that_a_client_finds_is_where_it_wants_it() {
    for (separate_window, expected) in
        [(None, None), (Some(true), Some(r#"{"separateWindow":true}"#))]
    {
        let mut stage = with_extension();
        connect(&mut stage, separate_window);
        let effects = stage.command(None, 1, "Browser.getVersion", "{}");
        let asked = effects.iter().find_map(|effect| {
            let RelayMessage::CreateInitialTab { params, .. } = message(effect)? else {
                return None;
            };
            Some(params.as_ref().map(|params| params.as_str()))
        });
        assert_eq!(asked, Some(expected));
    }
}

/// An extension that knows about windows.
fn with_extension() -> Stage {
    let mut stage = Stage::new();
    let hello = ExtensionHello {
        install_id: Some("a".to_owned()),
        version: Some("1.0.0".to_owned()),
        capabilities: Some("window-mode-v1".to_owned()),
        ..ExtensionHello::default()
    };
    let (connection, user_agent) = (EXTENSION, String::new());
    stage.handle(Input::ExtensionConnected { connection, hello, user_agent, proven: false });
    stage
}

fn told(effect: &Effect) -> Option<bool> {
    let RelayMessage::SetWindowMode(mode, _) = message(effect)? else { return None };
    Some(mode.separate_window)
}

fn message(effect: &Effect) -> Option<&RelayMessage> {
    let Effect::SendToExtension { message, .. } = effect else { return None };
    Some(message)
}

fn connect(stage: &mut Stage, separate_window: Option<bool>) {
    let client = CLIENT;
    let connected = Input::ClientConnected {
        client,
        hello: ClientHello { separate_window, ..ClientHello::default() },
    };
    stage.handle(connected);
    // The extension has announced what it has: nothing.
    let message = ExtensionMessage::Ready;
    stage.handle(Input::ExtensionSent { connection: EXTENSION, message });
}
