//! Browsers that are started with a folder of the extension that another browser uses.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use end_to_end::{RelayProgram, TIMEOUT, http, may_be_another_user, show_figure};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::attack::{Attack, attack};

pub(super) const ATTACKS: &[Attack] = &[
    attack!(
        OtherUser,
        "was given the folder of its extension by root (`extension install --for`), and leaves links in it for the next time",
        "root makes the folder anew, and refuses where others can rename what is above it; a new key goes through no link",
        root_follows_no_link_in_a_folder_that_it_gave_away
    ),
    attack!(
        SameUser,
        "starts a second browser with the extension's folder of one that runs, and a third with its profile, to have the first one lose its key",
        "no file of the folder is touched, and the first browser stays connected",
        a_second_browser_of_a_folder_leaves_it_as_it_is
    ),
];

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

#[tokio::test]
async fn root_follows_no_link_in_a_folder_that_it_gave_away() {
    if !may_be_another_user() {
        show_figure("folders given away", "not tried: only root can give files to another user");
        return;
    }
    let relay = RelayProgram::start().await;
    let all = tempfile::tempdir_in("/root").or_else(|_| tempfile::tempdir()).unwrap();
    let folder = all.path().join("extension");
    let victim = all.path().join("victim");
    fs::write(&victim, "root's").unwrap();
    let to = folder.to_str().unwrap();
    let install = ["extension", "install", "--to", to, "--for", "nobody"];
    let (code, _, stderr) = relay.run(&install).await;
    assert_eq!(code, Some(0), "{stderr}");
    let owner = |path: &Path| fs::symlink_metadata(path).unwrap().uid();
    let (nobody, key) = (owner(&folder), folder.join("pairing.json"));
    assert_ne!(nobody, 0);

    // Its owner leaves links where root writes.
    for name in ["background.js", "manifest.json", "pairing.json"] {
        fs::remove_file(folder.join(name)).unwrap();
        symlink(&victim, folder.join(name)).unwrap();
    }
    let (code, _, stderr) = relay.run(&install).await;
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(fs::read_to_string(&victim).unwrap(), "root's");
    assert_eq!((owner(&victim), owner(&folder), owner(&key)), (0, nobody, nobody));
    assert!(!fs::symlink_metadata(folder.join("background.js")).unwrap().is_symlink());

    // And in the place of the folder itself, when the key is to be a new one.
    let (aside, elsewhere) = (all.path().join("aside"), all.path().join("elsewhere"));
    fs::create_dir(&elsewhere).unwrap();
    fs::copy(&key, elsewhere.join("pairing.json")).unwrap();
    fs::rename(&folder, &aside).unwrap();
    symlink(&elsewhere, &folder).unwrap();
    std::os::unix::fs::lchown(&folder, Some(nobody), None).unwrap();
    let before = fs::read(elsewhere.join("pairing.json")).unwrap();
    // It may say so.
    relay.run(&["pair", "--rotate"]).await;
    assert_eq!(fs::read(elsewhere.join("pairing.json")).unwrap(), before);

    // Where the folder above it is not root's alone, root writes nothing.
    fs::remove_file(&folder).unwrap();
    fs::rename(&aside, &folder).unwrap();
    std::os::unix::fs::chown(all.path(), Some(nobody), None).unwrap();
    let (code, _, stderr) = relay.run(&install).await;
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("could have what is written there go elsewhere"), "{stderr}");
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
