//! The checks of `playwriter doctor`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::Duration;

use relay::UNPROVEN;
use relay::agents::{OLDEST_NODE, fixed_node};
use relay::client::{Client, ClientError, is_ours};
use relay::server::{user_at_ipv6_loopback, user_name};
use relay::{VERSION, bundled, how_to_start};
use shared_protocol::http::{
    ExtensionEntry, ExtensionsStatus, RefusedUser, RelayStatus, SandboxStatus, UsersStatus,
};
use tokio::process::Command;
use tokio::time::timeout;

use super::Finding;
use crate::cli::commands::extension;
use crate::cli::commands::status::OTHER_VERSION;
use crate::cli::home_folder;

const NODE_TIMEOUT: Duration = Duration::from_secs(10);

const UPDATE: &str = "playwriter extension install, then click the round arrow on its card in \
                      chrome://extensions";

pub(super) async fn node() -> Finding {
    let asked = Command::new("node")
        .arg("--version")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .output();
    let install = format!("install Node.js {OLDEST_NODE} or newer");
    let Ok(Ok(output)) = timeout(NODE_TIMEOUT, asked).await else {
        return Finding::note("node", "not found; `mcp` and `-e` need it", install);
    };
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let major = version.trim_start_matches('v').split('.').next();
    match major.and_then(|major| major.parse::<u32>().ok()) {
        Some(major) if major >= OLDEST_NODE => match fixed_node(&version) {
            None => Finding::ok("node", version),
            Some(fixed) => Finding::note(
                "node",
                format!("{version} keeps agents' code from your files less well than it should"),
                format!("install Node.js {fixed} or newer"),
            ),
        },
        Some(_) => Finding::note("node", format!("{version} is too old for agents' code"), install),
        None => Finding::note("node", "does not tell its version", install),
    }
}

pub(super) fn browser() -> Finding {
    match relay::browser::find() {
        Some(program) => Finding::ok("browser", program.display().to_string()),
        None => Finding::note(
            "browser",
            "no Chromium, Chrome, Edge or Brave on the PATH",
            "install one, or give its path to `playwriter browser start`",
        ),
    }
}

pub(super) fn folder() -> Finding {
    let folder = match home_folder() {
        Ok(folder) => folder,
        Err(_) => return Finding::wrong("folder", "there is no home folder", "set HOME"),
    };
    let shown = folder.display();
    let Ok(metadata) = fs::metadata(&folder) else {
        return Finding::ok("folder", format!("{shown} is made when it is needed"));
    };
    if !metadata.is_dir() {
        let fix = format!("mv {shown} {shown}.old");
        return Finding::wrong("folder", format!("{shown} is no folder"), fix);
    }
    // Root may write everywhere, so the mode does not tell.
    let probe = folder.join(format!("doctor-{}", std::process::id()));
    let written = fs::write(&probe, "").and_then(|()| fs::remove_file(&probe));
    if let Err(error) = written {
        let fix = format!("chown -R \"$USER\" {shown} && chmod 700 {shown}");
        return Finding::wrong("folder", format!("{shown} cannot be written: {error}"), fix);
    }
    match metadata.permissions().mode() & 0o077 {
        0 => Finding::ok("folder", shown.to_string()),
        _ => Finding::wrong(
            "folder",
            format!("others can look into {shown}, where the logs are"),
            format!("chmod 700 {shown}"),
        ),
    }
}

pub(super) fn carried_extension() -> Finding {
    let folder = match extension::folder() {
        Ok(folder) if folder.join("manifest.json").is_file() => folder,
        Ok(_) | Err(_) => {
            return Finding::note(
                "files",
                "the extension is not installed by this program",
                "playwriter extension install",
            );
        }
    };
    match !bundled::is_carried() || bundled::is_installed(&folder) {
        true => Finding::ok("files", folder.display().to_string()),
        false => Finding::wrong(
            "files",
            format!("{} is not the extension of playwriter {VERSION}", folder.display()),
            "playwriter extension install",
        ),
    }
}

/// The port, the relay, its version, and the extension.
pub(super) async fn relay(client: &Client) -> Vec<Finding> {
    let place = client.endpoint();
    let version = match client.version().await {
        Ok(version) => version,
        Err(ClientError::NobodyThere(_)) => {
            let detail = format!("none is running at {place}");
            let fix = if place.is_here() { "playwriter ensure" } else { how_to_start(place) };
            return vec![Finding::wrong("relay", detail, fix)];
        }
        Err(ClientError::Refused { status, .. }) if status.as_u16() == 401 => {
            return vec![wants_token()];
        }
        Err(error @ (ClientError::Refused { .. } | ClientError::Unreachable { .. })) => {
            let fix = "check PLAYWRITER_HOST and PLAYWRITER_PORT, and how the relay was started";
            return vec![Finding::wrong("relay", error.to_string(), fix)];
        }
        Err(error) => {
            let fix = "stop the program that has the port, or choose another with PLAYWRITER_PORT";
            return vec![Finding::wrong("relay", error.to_string(), fix)];
        }
    };
    let found = format!("{} at {place}", version.version);
    if !is_ours(&version) {
        let detail = format!("{found} is another project's");
        return vec![Finding::wrong("relay", detail, "stop it, or set PLAYWRITER_PORT")];
    }
    if place.is_here() && version.proof.is_none() {
        let detail = format!("{found} cannot prove that it is yours");
        return vec![Finding::wrong("relay", detail, UNPROVEN)];
    }
    let mut findings = vec![match version.version == VERSION {
        true => Finding::ok("relay", found),
        false => {
            Finding::note("relay", format!("{found}; this program is {VERSION}"), OTHER_VERSION)
        }
    }];
    if let Ok(RelayStatus { users, sandbox, .. }) = client.get("/relay/status").await {
        findings.extend(sandbox.iter().map(confined));
        findings.extend(users.iter().flat_map(|users| other_users(users, place.port())));
    }
    findings.extend(extensions(client).await);
    findings
}

/// Checks the extensions that are connected to a relay.
async fn extensions(client: &Client) -> Vec<Finding> {
    match client.get::<ExtensionsStatus>("/extensions/status").await {
        Ok(status) if status.extensions.is_empty() => vec![Finding::wrong(
            "extension",
            "none is connected",
            "open the browser that has it, or `playwriter extension install`",
        )],
        Ok(status) => {
            let warnings = status.extensions.iter().flat_map(|entry| &entry.warnings);
            let warnings = warnings.map(|warning| Finding::note("extension", warning, UPDATE));
            let relay = client.get::<RelayStatus>("/relay/status").await;
            let opens_tab = relay.as_ref().is_ok_and(|status| status.auto_enable);
            let connected = status.extensions.iter().map(|entry| connected(entry, opens_tab));
            let refused = relay.map(|status| status.refused).unwrap_or_default();
            let refused = refused.into_iter().map(|it| Finding::note("pairing", it, UPDATE));
            let unpaired = status.extensions.iter().filter(|entry| entry.paired == Some(false));
            let unpaired = unpaired.map(unpaired_finding);
            connected.chain(unpaired).chain(warnings).chain(refused).collect()
        }
        Err(ClientError::Refused { status, .. }) if status.as_u16() == 401 => {
            vec![wants_token()]
        }
        Err(error) => vec![Finding::wrong("extension", error.to_string(), "playwriter logfile")],
    }
}

/// Reports users who were refused, and the program at the address that some programs take for
/// `localhost`.
fn other_users(users: &UsersStatus, port: u16) -> Vec<Finding> {
    let refused = users.refused.iter().map(|RefusedUser { uid, .. }| {
        // A browser refuses to run as root, so that of a container often has another user.
        let detail = match users.uid {
            0 => format!("the relay is root's, and user {} was refused", user_name(*uid)),
            _ => format!("user {} was refused", user_name(*uid)),
        };
        let fix = format!(
            "playwriter stop; playwriter ensure --allow-user {uid}, if that user is to come in"
        );
        Finding::note("users", detail, fix)
    });
    let taken = users.ipv6_refused.as_ref().and_then(|_| user_at_ipv6_loopback(port));
    let taken = taken.map(|uid| {
        let detail = format!(
            "[::1]:{port} is another program's, of user {}: who says localhost may get there",
            user_name(uid)
        );
        Finding::note("localhost", detail, format!("use 127.0.0.1:{port}, or end that program"))
    });
    refused.chain(taken).collect()
}

fn confined(sandbox: &SandboxStatus) -> Finding {
    let SandboxStatus { mode, is_whole, enforced, missing, .. } = sandbox;
    if *is_whole {
        return Finding::ok("agents", format!("their code is confined: {}", enforced.join(", ")));
    }
    let without = format!("their code is not kept by the system from: {}", missing.join("; "));
    match mode.as_str() {
        "required" => Finding::wrong(
            "agents",
            format!("{without}; so it is not run"),
            "a newer kernel, or --sandbox=auto, with which JavaScript alone keeps it in",
        ),
        _ => Finding::note(
            "agents",
            format!("{without}; only JavaScript is in the way"),
            "use a newer kernel; --sandbox=required does not run code without",
        ),
    }
}

fn wants_token() -> Finding {
    Finding::wrong("token", "the relay wants its token", "set PLAYWRITER_TOKEN to it")
}

fn unpaired_finding(entry: &ExtensionEntry) -> Finding {
    let browser = entry.browser.as_deref().unwrap_or("a browser");
    let detail = format!(
        "the extension in {browser} is not paired: it could be another program's, gets no client while \
         a paired one is there, and gives clients no downloads"
    );
    Finding::note("pairing", detail, UPDATE)
}

fn connected(entry: &ExtensionEntry, opens_tab: bool) -> Finding {
    let browser = entry.browser.as_deref().unwrap_or("a browser");
    let version = entry.playwriter_version.as_deref().unwrap_or("of unknown version");
    let found = format!("{version} in {browser}");
    match entry.active_targets {
        0 if opens_tab => Finding::note(
            "extension",
            format!("{found} controls no tab; a client that finds none gets one"),
            "click the Playwriter icon on a tab that clients should have",
        ),
        0 => Finding::wrong(
            "extension",
            format!("{found} controls no tab"),
            "click the Playwriter icon on a tab",
        ),
        count => Finding::ok("extension", format!("{found}, tabs: {count}")),
    }
}
