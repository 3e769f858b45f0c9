//! macOS: a profile for `sandbox-exec`. It was written from Apple's own profiles, and has not been
//! run by this project's tests.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use super::Policy;

const PROGRAM: &str = "/usr/bin/sandbox-exec";

/// The rights that every process needs. Earlier rules yield to later ones.
const PROFILE: &str = r#"(version 1)
(deny default)
(allow process-exec (literal (param "NODE")))
(deny process-fork)
(allow file-read* file-map-executable (literal (param "NODE")))
(allow file-read* file-map-executable
  (subpath "/usr/lib") (subpath "/System") (subpath "/Library/Apple")
  (subpath "/private/var/db/dyld"))
(allow file-read-metadata)
(allow file-read* (literal "/") (literal "/dev/urandom") (literal "/dev/random")
  (literal "/private/etc/hosts") (literal "/private/etc/resolv.conf")
  (subpath "/usr/share/zoneinfo") (subpath "/private/var/db/timezone"))
(allow file-read* file-write-data (literal "/dev/null"))
(allow file-read* file-write* (subpath (param "OWN")))
(deny file-write-mode file-write-owner file-write-setugid)
(allow sysctl-read)
(allow mach-lookup (global-name "com.apple.system.logger")
  (global-name "com.apple.SystemConfiguration.configd"))
(allow signal (target self))
"#;

/// Returns whether profiles can be applied here: not inside of another sandbox.
pub(crate) fn is_available() -> bool {
    let tried = Command::new(PROGRAM)
        .args(["-p", "(version 1)(allow default)", "/usr/bin/true"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    tried.is_ok_and(|status| status.success())
}

/// Returns the words that stand before Node.js. Paths are parameters: none can change the profile.
pub(crate) fn launch(policy: &Policy, worker_port: u16, relay_ports: &[u16]) -> Vec<OsString> {
    let mut profile = PROFILE.to_owned();
    let mut words: Vec<OsString> = vec![PROGRAM.into()];
    let mut parameter = |name: &str, path: &Path| {
        let mut word = OsString::from(format!("{name}="));
        // Profiles know no links, and `/etc` is one.
        word.push(path.canonicalize().as_deref().unwrap_or(path));
        words.extend(["-D".into(), word]);
    };
    if let Some(node) = policy.execute.first() {
        parameter("NODE", node);
    }
    if let Some(own) = &policy.own {
        parameter("OWN", own);
    }
    for (number, path) in policy.read.iter().enumerate() {
        parameter(&format!("READ{number}"), path);
        // Writing to text cannot fail.
        drop(writeln!(
            profile,
            "(allow file-read* file-map-executable (subpath (param \"READ{number}\")))"
        ));
    }
    if policy.datagrams {
        profile.push_str("(allow network-outbound (remote ip \"*:*\"))\n");
        profile.push_str("(allow network-outbound (literal \"/private/var/run/mDNSResponder\"))\n");
        for port in relay_ports {
            drop(writeln!(profile, "(deny network-outbound (remote ip \"*:{port}\"))"));
        }
    }
    drop(writeln!(profile, "(allow network-outbound (remote tcp \"localhost:{worker_port}\"))"));
    words.extend(["-p".into(), profile.into()]);
    words
}
