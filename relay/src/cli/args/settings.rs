//! The settings in which a running relay differs from the ones asked for.

use relay::client::{Client, ClientError};
use shared_protocol::http::{RelaySettings, RelayStatus, SandboxStatus};

use super::listen::{Cookies, Listen, Pairing, THIS_MACHINE};

const UNTOLD: &str = "the relay that runs tells its settings only to those who have its token\n\n\
    hint: set PLAYWRITER_TOKEN to it, to see whether they are yours";

impl Listen {
    /// Returns a message about a relay that was running already: the settings that it does not have,
    /// and how it gets them.
    pub(crate) async fn objection(&self, client: &Client, is_here: bool) -> Option<String> {
        let differences = match client.get::<RelayStatus>("/relay/status").await {
            Ok(status) => self.differences(&status, client).await,
            Err(ClientError::Refused { status, .. }) if status.as_u16() == 401 => {
                if self.token.is_none() {
                    return (!self.arguments().is_empty()).then(|| UNTOLD.to_owned());
                }
                vec!["token: another one than yours".to_owned()]
            }
            Err(error) => return Some(format!("the relay does not tell its settings: {error}")),
        };
        let fix = match is_here {
            true => "`playwriter stop`, and then the same again, applies yours",
            false => "change them where that relay was started",
        };
        let told = differences.join("\n  ");
        (!differences.is_empty()).then(|| {
            format!(
                "the relay that runs has other settings, and keeps them:\n  {told}\n\nhint: {fix}"
            )
        })
    }

    async fn differences(&self, status: &RelayStatus, client: &Client) -> Vec<String> {
        let mut differences = self.differences_to(status);
        if self.token.is_some() {
            let stranger = Client::new(client.endpoint().clone(), None);
            if stranger.get::<RelayStatus>("/relay/status").await.is_ok() {
                differences.push("token: none, not yours".to_owned());
            }
        }
        differences
    }

    fn differences_to(&self, status: &RelayStatus) -> Vec<String> {
        let mut differences = Vec::new();
        let mut compare = |name: &str, has: String, asked: Option<String>| {
            if let Some(asked) = asked.filter(|asked| *asked != has) {
                differences.push(format!("{name}: {has}, not {asked}"));
            }
        };
        compare(
            "--auto-enable",
            status.auto_enable.to_string(),
            self.auto_enable.map(|it| it.to_string()),
        );
        // A relay that does not tell cannot be compared.
        if let Some(SandboxStatus { mode, agents_network, .. }) = &status.sandbox {
            compare("--sandbox", mode.clone(), self.sandbox.map(|it| it.to_string()));
            let asked = self.agents_network.as_ref().map(ToString::to_string);
            compare("--agents-network", agents_network.clone(), asked);
        }
        let Some(settings) = &status.settings else { return differences };
        let RelaySettings {
            host,
            allowed_hosts,
            allow_focus,
            whole_profile,
            is_paired,
            allowed_users,
            pairing_required,
            agents_may,
            ..
        } = settings;
        compare("--host", usual(host), self.host.as_deref().map(usual));
        compare(
            "--allow-focus",
            allow_focus.to_string(),
            self.allow_focus.then(|| true.to_string()),
        );
        compare("--paired", is_paired.to_string(), self.paired.map(|it| it.to_string()));
        let cookies = if *whole_profile { Cookies::Profile } else { Cookies::Tabs };
        compare("--cookies", cookies.to_string(), self.cookies.map(|it| it.to_string()));
        let pairing = if *pairing_required { Pairing::Required } else { Pairing::Auto };
        compare("--pairing", pairing.to_string(), self.pairing.map(|it| it.to_string()));
        let unknown = self.allow_host.iter().filter(|name| !allowed_hosts.contains(name));
        differences.extend(unknown.map(|name| format!("--allow-host: without {name}")));
        let devices = self.agents_may.iter().map(ToString::to_string);
        let unknown = devices.filter(|device| !agents_may.contains(device));
        differences.extend(unknown.map(|device| format!("--agents-may: without {device}")));
        let users = self.allow_user.iter().map(ToString::to_string);
        let unknown = users.filter(|user| !allowed_users.contains(user));
        differences.extend(unknown.map(|user| format!("--allow-user: without {user}")));
        differences
    }
}

/// Two names mean this machine alone.
fn usual(host: &str) -> String {
    if host == "localhost" { THIS_MACHINE.to_owned() } else { host.to_owned() }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Asked {
        #[command(flatten)]
        listen: Listen,
    }

    #[test]
    fn only_what_was_asked_for_is_compared() {
        for (asked, expected) in [
            (&[][..], &[][..]),
            (&["--host=localhost", "--auto-enable=true", "--cookies=tabs"], &[]),
            (&["--allow-host=a.example", "--allow-user=1001"], &[]),
            (&["--allow-user=1001,1002"], &["--allow-user: without 1002"]),
            (&["--agents-may=camera,microphone"], &["--agents-may: without microphone"]),
            (&["--host=0.0.0.0"], &["--host: 127.0.0.1, not 0.0.0.0"]),
            (&["--pairing=required"], &["--pairing: auto, not required"]),
            (&["--auto-enable=no"], &["--auto-enable: true, not false"]),
            (
                &["--allow-focus", "--cookies=profile", "--allow-host=a.example,b.example"],
                &[
                    "--allow-focus: false, not true",
                    "--cookies: tabs, not profile",
                    "--allow-host: without b.example",
                ],
            ),
        ] {
            let words = ["playwriter"].iter().chain(asked);
            let listen = Asked::try_parse_from(words).unwrap().listen;
            assert_eq!(listen.differences_to(&status()), expected, "{asked:?}");
        }
    }

    fn status() -> RelayStatus {
        let settings = RelaySettings {
            host: THIS_MACHINE.to_owned(),
            allowed_hosts: vec!["a.example".to_owned()],
            allow_focus: false,
            whole_profile: false,
            wants_token: false,
            is_paired: false,
            allowed_users: vec!["1001".to_owned()],
            pairing_required: false,
            agents_may: vec!["camera".to_owned()],
        };
        RelayStatus {
            separate_window: false,
            auto_enable: true,
            clients: Vec::new(),
            settings: Some(settings),
            sandbox: None,
            users: None,
            refused: Vec::new(),
        }
    }
}
