//! Browsers that are started with a folder of the extension that another browser uses.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use end_to_end::{RelayProgram, TIMEOUT, http};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::attack::{Attack, attack};

pub(super) const ATTACKS: &[Attack] = &[attack!(
    SameUser,
    "starts a second browser with the extension's folder of one that runs, and a third with its profile, to have the first one lose its key",
    "no file of the folder is touched, and the first browser stays connected",
    a_second_browser_of_a_folder_leaves_it_as_it_is
)];

/// Three browsers are started, on a machine that may have others to start.
const STARTING: Duration = TIMEOUT.saturating_mul(3);

#[tokio::test]
async fn a_second_browser_of_a_folder_leaves_it_as_it_is() {
    let relay = RelayProgram::start().await;
    let home = relay.log_folder();
    let (profile, other) = (home.join("profile"), home.join("other-profile"));
    let folder = profile.join("playwriter-extension");
    let (profile, other) = (profile.to_str().unwrap(), other.to_str().unwrap());
    let start = ["browser", "start", "--headless", "--profile"];
    let first = started(&relay, &[&start[..], &[profile]].concat()).await;
    let files = files_of(&folder);
    assert!(files.contains_key(&folder.join("pairing.json")), "{files:?}");
    let before = connections(&relay).await;
    assert_eq!(before.len(), 1);

    let more = [other, "--extension", folder.to_str().unwrap()];
    let second = started(&relay, &[&start[..], &more].concat()).await;
    assert_eq!(files_of(&folder), files);
    let with_second = connections(&relay).await;
    assert_eq!(with_second.len(), 2);
    assert!(before.iter().all(|connection| with_second.contains(connection)), "{with_second:?}");

    // Chrome lets one browser have a profile.
    let mut third = relay.playwriter(&[&start[..], &[profile]].concat());
    let third = timeout(STARTING, third.output()).await.unwrap().unwrap();
    assert!(!third.status.success(), "{third:?}");
    assert_eq!(files_of(&folder), files);
    let after = connections(&relay).await;
    assert!(before.iter().all(|connection| after.contains(connection)), "{after:?}");
    for browser in [first, second] {
        end(browser).await;
    }
}

/// Starts a browser, and waits until its tab is under control.
async fn started(relay: &RelayProgram, arguments: &[&str]) -> Child {
    let mut browser = relay.playwriter(arguments).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(browser.stderr.take().unwrap()).lines();
    let told = async {
        loop {
            let line = said.next_line().await.unwrap().unwrap();
            if line.starts_with("press Ctrl-C") {
                return;
            }
        }
    };
    timeout(STARTING, told).await.unwrap();
    browser
}

async fn end(mut browser: Child) {
    let process = browser.id().unwrap().to_string();
    assert!(Command::new("kill").args(["-INT", &process]).status().await.unwrap().success());
    timeout(STARTING, browser.wait()).await.unwrap().unwrap();
}

/// The connections of browsers that have proven themselves and have a tab.
async fn connections(relay: &RelayProgram) -> Vec<String> {
    let status = http(relay.port(), "GET /extensions/status", &[]).await;
    let status: Value = serde_json::from_str(&status.body).unwrap();
    let entries = status["extensions"].as_array().unwrap().iter();
    let entries = entries.filter(|it| it["paired"] == true && it["activeTargets"] == 1);
    entries.map(|entry| entry["extensionId"].as_str().unwrap().to_owned()).collect()
}

/// The inode and the time of the last change of every file.
fn files_of(folder: &Path) -> BTreeMap<PathBuf, (u64, i64, i64)> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_of(&path));
        } else {
            let about = fs::metadata(&path).unwrap();
            files.insert(path, (about.ino(), about.ctime(), about.ctime_nsec()));
        }
    }
    files
}
