//! The key, and what is sent to a relay with and without one.

use std::time::Duration;

use shared_protocol::http::RELAY_NAME;
use shared_protocol::pairing::{Key, KeyId, PairingFile, RelayHello, VERSION};

use super::super::{HelloAnswer, PairingFileRead, PairingKey, ProofFailure};
use super::*;

const KEY: PairingKey = PairingKey { kid: KeyId([1; 8]), key: Key([2; 32]), port: Some(7) };

#[test]
fn nothing_is_sent_to_a_relay_before_it_has_proven_itself() {
    let mut worker = with_key();
    let hello = ExtensionHello::default();
    assert_eq!(
        worker.handle(hello_answered(FIRST, relay())),
        [Effect::OpenSocket { attempt: FIRST, port: 19988, hello, key: Some(KEY) }]
    );
    let message = serde_json::from_value(json!({ "method": "ping" })).unwrap();
    assert_eq!(worker.handle(Input::RelaySent { attempt: FIRST, message }), []);
    let garbage = Input::RelaySentGarbage { attempt: FIRST, why: String::new() };
    assert_eq!(worker.handle(garbage), []);
    assert_eq!(
        worker.handle(Input::SocketOpened { attempt: FIRST }),
        [Effect::RememberPaired, Effect::Send(ExtensionMessage::Ready)]
    );
}

#[test]
fn with_a_key_only_a_relay_with_pairing_is_connected_to() {
    let named = |name: &str, pairing: &[&str]| {
        let pairing = pairing.iter().map(|it| (*it).to_owned()).collect();
        HelloAnswer::Relay(RelayHello { name: name.to_owned(), pairing, required: false })
    };
    for answer in [HelloAnswer::Other, named(RELAY_NAME, &[]), named("other", &["v1"])] {
        let mut worker = with_key();
        let effects = worker.handle(hello_answered(FIRST, answer));
        let text = "the program at port 19988 cannot prove that it is your relay. If it is an older \
                    relay, run `playwriter ensure`. If not, another program has the port: run \
                    `playwriter doctor`. If you forward the port, use the same number on both sides";
        let problem = Effect::ShowProblem { text: Some(text.to_owned()) };
        assert_eq!(effects, [retry(FIRST, 1), problem]);
        assert_eq!(worker.handle(Input::Probed { attempt: FIRST, found: true }), []);
        assert_eq!(worker.handle(Input::SocketOpened { attempt: FIRST }), []);
    }
}

#[test]
fn an_unknown_key_is_retried_ever_more_slowly_and_shown() {
    let mut worker = with_key();
    worker.handle(Input::IconClicked { tab: TAB });
    let mut attempt = FIRST;
    for seconds in [1, 2, 4, 8, 16, 30, 30] {
        worker.handle(hello_answered(attempt, relay()));
        let why = ProofFailure::UnknownKey;
        let effects = worker.handle(Input::RelayUnproven { attempt, why });
        assert_eq!(effects[..2], [Effect::CloseSocket, retry(attempt, seconds)]);
        assert_eq!(worker.handle(Input::SocketClosed { attempt, code: 4010 }), []);
        worker.handle(Input::RetryDue { attempt });
        attempt = Attempt(attempt.0 + 1);
        worker.handle(Input::KeyRead { attempt, stored: StoredKey::Key(KEY) });
    }
    let shown = worker.handle(Input::ToolbarShown { tab: TAB });
    let title = "Playwriter: the relay at port 19988 does not know this browser; run `playwriter \
                 extension install`";
    assert_eq!(shown, [show_badge(TAB, Icon::Grey, "!", title)]);
    worker.handle(hello_answered(attempt, relay()));
    let effects = worker.handle(Input::SocketOpened { attempt });
    assert_eq!(
        effects,
        [
            Effect::RememberPaired,
            Effect::Send(ExtensionMessage::Ready),
            Effect::Attach { tab: TAB },
            Effect::ShowProblem { text: None },
        ]
    );
    worker.handle(Input::SocketClosed { attempt, code: 1006 });
    worker.handle(Input::RetryDue { attempt });
    attempt = Attempt(attempt.0 + 1);
    worker.handle(Input::KeyRead { attempt, stored: StoredKey::Key(KEY) });
    assert_eq!(
        worker.handle(hello_answered(attempt, HelloAnswer::Other))[0],
        retry(attempt, 1),
        "anew"
    );
}

#[test]
fn a_key_that_cannot_be_read_is_waited_for() {
    let mut worker = Machine::with_stored_key();
    worker.start();
    let read = Input::KeyRead { attempt: FIRST, stored: StoredKey::Unreadable };
    let text = "pairing.json cannot be read; run `playwriter extension install`".to_owned();
    assert_eq!(worker.handle(read), [retry(FIRST, 1), Effect::ShowProblem { text: Some(text) }]);
    let again = Attempt(2);
    assert_eq!(
        worker.handle(Input::RetryDue { attempt: FIRST }),
        [Effect::ReadKey { attempt: again }]
    );
    worker.handle(Input::KeyRead { attempt: again, stored: StoredKey::Key(KEY) });
    assert_eq!(
        worker.handle(hello_answered(again, HelloAnswer::NoAnswer)),
        [Effect::RetryLater { attempt: again }, Effect::ShowProblem { text: None }]
    );
}

#[test]
fn the_key_gives_the_port_unless_the_user_has_set_one() {
    let mut worker = Machine::with_stored_key();
    worker.handle(Input::Started {
        settings: Settings { port: None, tab_groups: false },
        hello: Box::default(),
        snapshot: Box::default(),
    });
    let read = |attempt| Input::KeyRead { attempt, stored: StoredKey::Key(KEY) };
    assert_eq!(worker.handle(read(FIRST)), [Effect::AskHello { attempt: FIRST, port: 7 }]);
    worker.handle(hello_answered(FIRST, HelloAnswer::NoAnswer));
    let again = Attempt(2);
    assert_eq!(
        worker.handle(Input::SettingsChanged(settings(8))),
        [Effect::ReadKey { attempt: again }]
    );
    assert_eq!(worker.handle(read(again)), [Effect::AskHello { attempt: again, port: 8 }]);
}

#[test]
fn a_relay_that_accepts_paired_browsers_only_is_named() {
    let mut worker = Machine::default();
    worker.start();
    worker.handle(Input::Probed { attempt: FIRST, found: true });
    let effects = worker.handle(Input::SocketClosed { attempt: FIRST, code: 1006 });
    let ask = Effect::AskHello { attempt: FIRST, port: 19988 };
    assert_eq!(effects, [Effect::RetryLater { attempt: FIRST }, ask]);
    let hello = RelayHello { name: RELAY_NAME.to_owned(), required: true, ..RelayHello::default() };
    let effects = worker.handle(hello_answered(FIRST, HelloAnswer::Relay(hello)));
    let text = "this relay takes paired browsers only: run `playwriter extension install`, then \
                click the round arrow on this extension's card in chrome://extensions";
    assert_eq!(effects, [Effect::ShowProblem { text: Some(text.to_owned()) }]);
}

#[test]
fn a_pasted_code_replaces_the_connection() {
    let mut worker = Machine::connected();
    worker.reads_key = true;
    assert_eq!(worker.handle(Input::KeyChanged), [Effect::CloseSocket]);
    worker.handle(Input::SocketClosed { attempt: FIRST, code: 1005 });
    let effects = worker.handle(Input::RetryDue { attempt: FIRST });
    assert_eq!(effects, [Effect::ReadKey { attempt: Attempt(2) }]);
}

#[test]
fn only_the_user_ends_a_pairing() {
    let whole = PairingFileRead::Whole(PairingFile::with_key(KEY.kid, KEY.key, 7));
    let unpaired = PairingFileRead::Whole(PairingFile::unpaired());
    let newer = PairingFileRead::Whole(PairingFile { v: 2, ..PairingFile::unpaired() });
    let half = PairingFileRead::Whole(PairingFile {
        kid: Some(KEY.kid),
        unpaired: false,
        ..PairingFile::unpaired()
    });
    let given = PairingKey { kid: KeyId([9; 8]), ..KEY };
    use StoredKey::{Unpaired, Unreadable};
    for (file, given, was_paired, expected) in [
        (&whole, None, false, StoredKey::Key(KEY)),
        (&whole, Some(given), true, StoredKey::Key(KEY)),
        (&PairingFileRead::Missing, None, false, Unpaired),
        (&PairingFileRead::Missing, None, true, Unreadable),
        (&PairingFileRead::Missing, Some(given), true, StoredKey::Key(given)),
        (&PairingFileRead::Damaged, None, false, Unreadable),
        (&PairingFileRead::Damaged, Some(given), true, Unreadable),
        (&unpaired, Some(given), true, Unpaired),
        (&newer, None, false, Unreadable),
        (&half, None, false, Unreadable),
    ] {
        assert_eq!(StoredKey::choose(file, given, was_paired), expected, "{file:?} {was_paired}");
    }
}

fn with_key() -> Machine {
    let mut worker = Machine::with_stored_key();
    worker.start();
    let read = Input::KeyRead { attempt: FIRST, stored: StoredKey::Key(KEY) };
    assert_eq!(worker.handle(read), [Effect::AskHello { attempt: FIRST, port: 19988 }]);
    worker
}

fn hello_answered(attempt: Attempt, answer: HelloAnswer) -> Input<Json> {
    Input::HelloAnswered { attempt, answer }
}

fn relay() -> HelloAnswer {
    let pairing = vec![VERSION.to_owned()];
    HelloAnswer::Relay(RelayHello { name: RELAY_NAME.to_owned(), pairing, required: false })
}

fn retry(attempt: Attempt, seconds: u64) -> Effect<Json> {
    Effect::RetryAfter { attempt, wait: Duration::from_secs(seconds) }
}
