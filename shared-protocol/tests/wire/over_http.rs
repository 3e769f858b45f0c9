//! The relay's answers over HTTP.

use shared_protocol::{TargetId, http};

use super::check;

#[test]
fn every_http_body_round_trips() {
    let profile = http::Profile { email: String::new(), id: "123".to_owned() };
    let version =
        http::Version { version: "1.0.0".to_owned(), name: None, listening: None, proof: None };
    check("http/version", &version);
    let name = Some(http::RELAY_NAME.to_owned());
    check("http/version-of-ours", &http::Version { name, ..version });
    let status = http::RelayStatus {
        separate_window: true,
        auto_enable: true,
        clients: vec![http::ClientEntry {
            client_id: "client-1".to_owned(),
            name: None,
            extension_id: "connection-1".to_owned(),
            separate_window: false,
        }],
        settings: None,
        users: None,
        refused: Vec::new(),
        sandbox: None,
    };
    check("http/relay-status", &status);
    let settings = http::RelaySettings {
        host: "0.0.0.0".to_owned(),
        allowed_hosts: vec!["relay.example".to_owned()],
        allow_focus: true,
        whole_profile: false,
        pairing_required: false,
        wants_token: false,
        is_paired: false,
        allowed_users: Vec::new(),
        agents_may: Vec::new(),
    };
    let settings = Some(settings);
    check("http/relay-status-with-settings", &http::RelayStatus { settings, ..status });
    check("http/window-mode", &http::WindowModeChange { separate_window: true });
    check(
        "http/extension-status",
        &http::ExtensionStatus {
            connected: true,
            active_targets: 2,
            browser: Some("Chrome".to_owned()),
            profile: Some(profile),
            playwriter_version: Some("1.0.0".to_owned()),
        },
    );
    check("http/extension-status-without-extension", &http::ExtensionStatus::default());
    check(
        "http/extensions-status",
        &http::ExtensionsStatus {
            extensions: vec![http::ExtensionEntry {
                warnings: Vec::new(),
                extension_id: "c-1".to_owned(),
                stable_key: "install:Chrome:i-1".to_owned(),
                browser: Some("Chrome".to_owned()),
                profile: None,
                active_targets: 1,
                playwriter_version: Some("0.0.151".to_owned()),
                paired: None,
            }],
        },
    );
    check(
        "http/extensions-status-with-warnings",
        &http::ExtensionsStatus {
            extensions: vec![http::ExtensionEntry {
                paired: None,
                extension_id: "c-2".to_owned(),
                stable_key: "browser:Chrome".to_owned(),
                browser: Some("Chrome".to_owned()),
                profile: None,
                active_targets: 0,
                playwriter_version: Some("0.4.0".to_owned()),
                warnings: vec!["update the extension".to_owned()],
            }],
        },
    );
    check(
        "http/pages-status",
        &http::PagesStatus {
            connected: true,
            page_count: 1,
            pages: vec![http::PageEntry {
                target_id: TargetId::new("T1"),
                url: "https://example.com/".to_owned(),
                title: "Example".to_owned(),
            }],
        },
    );
}
