//! The introduction of an extension, as every generation of it sends it.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use shared_protocol::ExtensionHello;

#[test]
fn an_extension_that_says_nothing_is_welcome() {
    let hello = read("");
    assert_eq!(hello, ExtensionHello::default());
    assert_eq!(hello.stable_key(), None);
}

#[test]
fn a_released_extension_sends_empty_parameters() {
    let hello = read("browser=Chrome&email=&id=&installId=&v=0.0.97");
    assert_eq!(hello.version.as_deref(), Some("0.0.97"));
    assert_eq!(hello.stable_key().unwrap().as_str(), "browser:Chrome");
}

#[test]
fn the_stable_key_is_the_best_name_there_is() {
    for (query, key) in [
        ("browser=Chrome&installId=i1&id=p1&email=e1", "install:Chrome:i1"),
        ("installId=i1", "install:unknown:i1"),
        ("browser=Chrome&id=p1&email=e1", "profile:p1"),
        ("browser=Chrome&email=e1", "email:e1"),
        ("browser=Brave+Browser", "browser:Brave Browser"),
    ] {
        assert_eq!(read(query).stable_key().unwrap().as_str(), key);
    }
}

#[test]
fn unknown_parameters_do_no_harm() {
    let hello = read("v=99.0.0&capabilities=inventory-ready-v1,teleport&mood=good");
    assert_eq!(hello.capabilities.as_deref(), Some("inventory-ready-v1,teleport"));
}

#[test]
fn ours_survives_the_query_string() {
    let hello = ExtensionHello {
        browser: Some("Chrome & Friends".to_owned()),
        install_id: Some("a-b".to_owned()),
        version: Some("1.0.0".to_owned()),
        ..ExtensionHello::default()
    };
    let query = serde_urlencoded::to_string(&hello).unwrap();
    assert_eq!(query, "browser=Chrome+%26+Friends&installId=a-b&v=1.0.0");
    assert_eq!(read(&query), hello);
}

fn read(query: &str) -> ExtensionHello {
    serde_urlencoded::from_str(query).unwrap()
}
