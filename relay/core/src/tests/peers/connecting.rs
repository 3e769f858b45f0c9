//! Connecting: the clients that are served, by which extension, and until when.

use crate::peers::joining::MAX_CLIENTS;
use crate::tests::*;

#[test]
fn a_client_without_an_extension_is_told_what_to_do() {
    let mut relay = Stage::new();
    let effects = relay.connect_client(CLIENT, None, None);
    let [Effect::CloseClient { client: CLIENT, code: CloseCode::NoSuchExtension, reason }] =
        effects.as_slice()
    else {
        panic!("{effects:?}");
    };
    assert!(reason.contains("click its icon"), "{reason}");
}

#[test]
fn a_client_id_that_is_taken_is_refused() {
    let mut relay = Stage::with_tab();
    assert_eq!(relay.connect_client(CLIENT, Some("me"), None), []);
    let effects = relay.connect_client(ClientId(3), Some("me"), None);
    assert!(matches!(
        effects.as_slice(),
        [Effect::CloseClient { client: ClientId(3), code: CloseCode::DuplicateClient, .. }]
    ));
}

#[test]
fn of_several_extensions_the_only_one_with_tabs_serves() {
    let mut relay = Stage::with_tab();
    relay.connect_extension(ConnectionId(9), "other");
    assert_eq!(relay.connect_client(CLIENT, None, None), []);
    relay.attach_tab(ConnectionId(9), "pw-tab-1", "T9");
    let effects = relay.connect_client(ClientId(3), None, None);
    assert!(matches!(
        effects.as_slice(),
        [Effect::CloseClient { code: CloseCode::NoSuchExtension, .. }]
    ));
    assert_eq!(relay.connect_client(ClientId(4), None, Some("install:unknown:other")), []);
    assert_eq!(relay.connect_client(ClientId(5), None, Some("connection-1")), []);
}

#[test]
fn a_client_waits_until_the_extension_has_announced_its_tabs() {
    let mut relay = Stage::new();
    let hello = ExtensionHello {
        capabilities: Some("inventory-ready-v1".to_owned()),
        ..ExtensionHello::default()
    };
    let user_agent = String::new();
    relay.handle(Input::ExtensionConnected {
        connection: EXTENSION,
        hello,
        user_agent,
        proven: false,
    });
    relay.connect_client(CLIENT, None, None);
    assert_eq!(relay.command(None, 1, "Target.setAutoAttach", AUTO_ATTACH), []);
    assert_eq!(relay.attach_tab(EXTENSION, "pw-tab-1", "T1"), []);
    let ready = ExtensionMessage::Ready;
    let effects = relay.handle(Input::ExtensionSent { connection: EXTENSION, message: ready });
    assert_eq!(effects, [attached(None, "pw-tab-1", "T1"), reply(None, 1, json!({}))]);
}

#[test]
fn an_extension_is_pinged_at_its_pace() {
    let mut relay = Stage::new();
    assert_eq!(relay.0.next_deadline(), None);
    relay.connect_extension(EXTENSION, "one");
    assert_eq!(relay.0.next_deadline(), Some(relay.1 + PING_INTERVAL));
    let ping = Effect::SendToExtension { connection: EXTENSION, message: RelayMessage::Ping };
    assert_eq!(relay.at(PING_INTERVAL, Input::DeadlinePassed), [ping]);
    assert_eq!(relay.0.next_deadline(), Some(relay.1 + PING_INTERVAL * 2));
}

#[test]
fn closing_the_browser_closes_the_client_only() {
    let mut relay = Stage::with_attached_client();
    let effects = relay.command(None, 1, "Browser.close", "{}");
    assert_eq!(effects.first(), Some(&reply(None, 1, json!({}))));
    assert_eq!(
        effects.last(),
        Some(&Effect::CloseClient {
            client: CLIENT,
            code: CloseCode::Normal,
            reason: "Browser.close".to_owned(),
        })
    );
    assert_eq!(relay.0.pages_status().page_count, 1);
}

#[test]
fn a_browser_context_is_refused_readably() {
    let mut relay = Stage::with_attached_client();
    let effects = relay.command(None, 1, "Target.createBrowserContext", "{}");
    let [Effect::SendToClient { frame: Frame::Reply { outcome: Err(error), .. }, .. }] =
        effects.as_slice()
    else {
        panic!("{effects:?}");
    };
    assert_eq!(error.code, -32000);
    assert!(error.message.contains("use the default context"));
}

#[test]
fn a_socket_to_a_tab_is_attached_to_its_page_and_ends_with_it() {
    let mut relay = Stage::with_tab();
    let tab = relay.0.tabs().next().unwrap().target_id;
    relay.handle(Input::ClientConnected {
        client: CLIENT,
        hello: ClientHello { page: Some(tab), ..ClientHello::default() },
    });
    let effects = relay.command(None, 1, "Target.setAutoAttach", AUTO_ATTACH);
    assert_eq!(effects, [attached(None, "pw-tab-1", "T1"), reply(None, 1, json!({}))]);
    let gone = json!({ "sessionId": "pw-tab-1" });
    let effects = relay.event(EXTENSION, None, "Target.detachedFromTarget", gone);
    assert!(matches!(effects.last(), Some(Effect::CloseClient { client: CLIENT, .. })));
}

#[test]
fn clients_beyond_the_limit_are_closed_with_a_code_of_their_own() {
    let mut relay = Stage::with_tab();
    let closed = |effects: Vec<Effect>| match effects.as_slice() {
        [Effect::CloseClient { code, .. }] => Some(*code),
        _ => None,
    };
    for client in (1000..).map(ClientId).take(MAX_CLIENTS) {
        assert_eq!(closed(relay.connect_client(client, None, None)), None);
    }
    let effects = relay.connect_client(ClientId(1), None, None);
    assert_eq!(closed(effects), Some(CloseCode::TooManyClients));

    let mut relay = Stage::with_tab();
    let confinement = Some(Confinement { folders: vec!["/session".into()] });
    let mut connect = |client| {
        let hello = ClientHello { confinement: confinement.clone(), ..ClientHello::default() };
        closed(relay.handle(Input::ClientConnected { client: ClientId(client), hello }))
    };
    let codes: Vec<_> = (1..=5).map(&mut connect).collect();
    assert_eq!(codes, [None, None, None, None, Some(CloseCode::TooManyConnections)]);
}
