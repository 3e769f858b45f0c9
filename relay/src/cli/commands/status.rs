//! `playwriter status`

use relay::client::{Client, ClientError};
use relay::server::user_name;
use relay::{RelayServerError, how_to_start, version_of_ours};
use serde::Serialize;
use shared_protocol::http::{
    ExtensionEntry, ExtensionsStatus, PageEntry, PagesStatus, RefusedUser, RelayStatus,
    SandboxStatus, UsersStatus, Version,
};

use crate::cli::args::address::Address;
use crate::cli::progress::Progress;
use crate::cli::{Outcome, one_line, print, print_json};

/// The hint for a relay of another version.
pub(crate) const OTHER_VERSION: &str =
    "playwriter ensure replaces an older relay; update this program for a newer one";

const EXAMPLES: &str = "\
Examples:
  playwriter status
  playwriter status --json | jq -r '.pages[].url'
  PLAYWRITER_HOST=192.168.1.7 playwriter status

Exit code: 0 when a relay runs, 1 when none does, 2 when it cannot be told.";

/// Show the relay and its connections.
///
/// Shows versions, browsers with the key that `--browser` takes, controlled tabs, clients, the window
/// of new tabs, the boundary around agents' code, and features for which an extension is too old.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Status {
    #[command(flatten)]
    address: Address,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

/// All that a relay tells.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    running: bool,
    url: String,
    #[serde(flatten)]
    version: Version,
    #[serde(flatten)]
    relay: RelayStatus,
    #[serde(flatten)]
    pub(crate) extensions: ExtensionsStatus,
    pub(crate) pages: Vec<PageEntry>,
}

impl Status {
    pub(crate) async fn run(self) -> anyhow::Result<Outcome> {
        let client = self.address.client()?;
        let report = {
            let _progress = Progress::show("asking the relay");
            Report::of(&client).await
        };
        let report = match report {
            Ok(report) => report,
            Err(RelayServerError::Relay(ClientError::NobodyThere(relay))) => {
                match self.json {
                    true => print_json(
                        &serde_json::json!({ "running": false, "url": relay.to_string() }),
                    )?,
                    false => print(&format!(
                        "no relay is running at {relay}\n\nhint: {}",
                        how_to_start(&relay)
                    ))?,
                }
                return Ok(Outcome::No);
            }
            Err(error) => return Err(error.into()),
        };
        match self.json {
            true => print_json(&report)?,
            false => print(&report.lines().join("\n"))?,
        }
        Ok(Outcome::Yes)
    }
}

impl Report {
    pub(crate) async fn of(client: &Client) -> Result<Self, RelayServerError> {
        // The relay has proved what it had to.
        let version = Version { proof: None, listening: None, ..version_of_ours(client).await? };
        Ok(Self {
            running: true,
            url: client.endpoint().to_string(),
            version,
            relay: client.get("/relay/status").await?,
            extensions: client.get("/extensions/status").await?,
            pages: client.get::<PagesStatus>("/extension-status").await?.pages,
        })
    }

    fn lines(&self) -> Vec<String> {
        let version = one_line(&self.version.version);
        let mut lines = vec![format!("relay      {version} at {}", self.url)];
        if self.version.version != relay::VERSION {
            let words = format!("this program is {}: {OTHER_VERSION}", relay::VERSION);
            lines.push(format!("           {words}"));
        }
        lines.push(format!("new tabs   {}", window_mode(self.relay.separate_window)));
        if let Some(users) = &self.relay.users {
            lines.extend(users_lines(users));
        }
        lines.extend(self.relay.sandbox.iter().flat_map(sandbox));
        let extensions = &self.extensions.extensions;
        lines.extend(or_none("extension", extensions.iter().map(extension)));
        let warnings =
            extensions.iter().flat_map(|entry| &entry.warnings).chain(&self.relay.refused);
        lines.extend(warnings.map(|warning| format!("           warning: {}", one_line(warning))));
        lines.extend(or_none("tab", self.pages.iter().map(page)));
        let clients = self.relay.clients.iter().map(|client| {
            let mode = if client.separate_window == self.relay.separate_window {
                String::new()
            } else {
                format!(", new tabs {}", window_mode(client.separate_window))
            };
            format!("{} drives {}{mode}", client.client_id, client.extension_id)
        });
        lines.extend(or_none("client", clients));
        lines
    }
}

/// Returns lines about other users who came, and about the options that would let them in.
fn users_lines(users: &UsersStatus) -> Vec<String> {
    let refused = users.refused.iter().map(|RefusedUser { uid, .. }| {
        format!("user       {} was refused: --allow-user {uid} lets it in", user_name(*uid))
    });
    let windows = (users.from_windows > 0)
        .then(|| "user       Windows: its users cannot be told apart".to_owned());
    refused.chain(windows).collect()
}

fn window_mode(is_separate: bool) -> &'static str {
    if is_separate { "in a window of their own" } else { "beside yours" }
}

/// Returns lines about the boundary: what the system keeps agents' code from, and what it cannot.
fn sandbox(sandbox: &SandboxStatus) -> Vec<String> {
    let SandboxStatus { mode, agents_network, enforced, missing, .. } = sandbox;
    let kept = match &enforced[..] {
        [] => "nothing".to_owned(),
        enforced => enforced.join(", "),
    };
    let first = format!("--sandbox={mode}, --agents-network={agents_network}; confined: {kept}");
    let missing = missing.iter().map(|it| format!("           not confined: {}", one_line(it)));
    [format!("agents     {}", one_line(&first))].into_iter().chain(missing).collect()
}

fn extension(entry: &ExtensionEntry) -> String {
    let browser = entry.browser.as_deref().unwrap_or("a browser");
    let email = entry.profile.as_ref().map(|profile| &*profile.email);
    let profile = email.filter(|email| !email.is_empty()).map(|email| format!(" of {email}"));
    let version = entry.playwriter_version.as_deref().unwrap_or("of unknown version");
    let tabs = if entry.active_targets == 1 { "tab" } else { "tabs" };
    let paired = match entry.paired {
        Some(true) => ", paired",
        Some(false) => ", not paired",
        None => "",
    };
    format!(
        "{version} in {browser}{}{paired}, controls {} {tabs} ({}, --browser {})",
        profile.unwrap_or_default(),
        entry.active_targets,
        entry.extension_id,
        entry.stable_key,
    )
}

fn page(page: &PageEntry) -> String {
    match &*page.title {
        "" => page.url.clone(),
        title => format!("{title} <{}>", page.url),
    }
}

/// Returns a line for each entry, or one that says that there is none.
fn or_none(what: &str, entries: impl Iterator<Item = String>) -> Vec<String> {
    let line = |entry: String| format!("{what:<11}{}", one_line(&entry));
    let lines: Vec<String> = entries.map(line).collect();
    if lines.is_empty() { vec![format!("{what:<11}none")] } else { lines }
}

#[cfg(test)]
mod tests {
    use shared_protocol::TargetId;

    use super::*;

    #[test]
    fn what_others_chose_moves_no_cursor_and_makes_no_line() {
        let report = Report {
            running: true,
            url: "http://127.0.0.1:7".to_owned(),
            version: Version {
                version: relay::VERSION.to_owned(),
                name: None,
                listening: None,
                proof: None,
            },
            relay: RelayStatus {
                separate_window: false,
                auto_enable: true,
                clients: Vec::new(),
                settings: None,
                sandbox: None,
                users: None,
                refused: Vec::new(),
            },
            extensions: ExtensionsStatus {
                extensions: vec![ExtensionEntry {
                    extension_id: "connection-1".to_owned(),
                    stable_key: "install:Chr\u{7}ome:one".to_owned(),
                    browser: Some("Chr\u{7}ome".to_owned()),
                    profile: None,
                    active_targets: 1,
                    playwriter_version: Some("0.1.0".to_owned()),
                    paired: Some(false),
                    warnings: vec!["too\u{9b}2J old".to_owned()],
                }],
            },
            pages: vec![PageEntry {
                target_id: TargetId::new("A"),
                url: "about:blank".to_owned(),
                title: "\u{1b}]0;owned\u{7}\nclient     root".to_owned(),
            }],
        };
        let shown = report.lines().join("\n");
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(
            lines[2..],
            [
                "extension  0.1.0 in Chr\u{fffd}ome, not paired, controls 1 tab (connection-1, --browser \
                 install:Chr\u{fffd}ome:one)",
                "           warning: too\u{fffd}2J old",
                "tab        \u{fffd}]0;owned\u{fffd}\u{fffd}client     root <about:blank>",
                "client     none",
            ]
        );
    }
}
