//! A made-up extension with a download, and a client that wants it.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use end_to_end::{RawClient, RawTab, RelayProgram, http_until};
use serde_json::{Value, json};

const GUID: &str = "0b8d5e4c-3f0a-4c8e-9a54-0123456789ab";

/// An intruder with a socket as an extension, and one as a client.
struct Intruder {
    relay: RelayProgram,
    extension: RawClient,
    client: RawClient,
    place: tempfile::TempDir,
}

impl Intruder {
    async fn start() -> Self {
        let relay = RelayProgram::start().await;
        let query = "browser=Chrome&installId=x&v=1.0.0&capabilities=downloads-v1";
        let mut extension = relay.raw_extension(query).await;
        extension.send(&RawTab::announced()).await;
        let has_tab = |status: &Value| status["activeTargets"] == 1;
        http_until(relay.port(), "GET /extension/status", has_tab).await;
        let client = relay.raw_client("/cdp").await;
        Self { relay, extension, client, place: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// Tells of a download that is said to be in a file, and gives what the client hears of its end.
    async fn download(&mut self, behavior: &str, to: &Path, guid: &str, from: &Path) -> String {
        let params = json!({ "behavior": behavior, "downloadPath": to, "eventsEnabled": true });
        let wanted = json!({ "id": 7, "method": "Browser.setDownloadBehavior", "params": params })
            .to_string();
        self.client.answer_to(7, &wanted).await;
        let (url, name) = ("https://a.example/f", "loot");
        self.tell(
            "Page.downloadWillBegin",
            json!({ "guid": guid, "url": url, "suggestedFilename": name }),
        )
        .await;
        let size = fs::metadata(from).map_or(0, |found| found.len());
        let ended = json!({
            "guid": guid, "state": "completed", "totalBytes": size, "receivedBytes": size,
        });
        self.tell("Page.downloadProgress", ended).await;
        let found = json!({ "id": 1, "path": from, "state": "complete" });
        loop {
            tokio::select! {
                asked = self.extension.next() => {
                    if asked["method"] == "findDownload" {
                        let answer = json!({ "id": asked["id"], "result": found });
                        self.extension.send(&answer.to_string()).await;
                    }
                }
                told = self.client.next() => match told["params"]["state"].as_str() {
                    Some(state) if told["method"] == "Browser.downloadProgress" => {
                        return state.to_owned();
                    }
                    _ => {}
                },
            }
        }
    }

    async fn tell(&mut self, method: &str, params: Value) {
        let event = json!({ "method": method, "sessionId": "pw-tab-1", "params": params });
        let event = json!({ "method": "forwardCDPEvent", "params": event });
        self.extension.send(&event.to_string()).await;
    }
}

#[tokio::test]
pub(super) async fn a_download_of_another_extension_s_making_takes_no_file_along() {
    let mut intruder = Intruder::start().await;
    let loot = intruder.path("loot");
    let secret = intruder.file("home/.ssh/id_rsa", "s3cret");
    File::options()
        .write(true)
        .open(&secret)
        .unwrap()
        .set_modified(SystemTime::UNIX_EPOCH)
        .unwrap();
    // New, and yet none of the intruder's business.
    let own = intruder.relay.log_folder().join("new.json");
    fs::write(&own, "s3cret").unwrap();
    let link = intruder.path("link");
    symlink(&own, &link).unwrap();
    let new = intruder.file("home/new", "s3cret");
    let other_name = intruder.path("other-name");
    fs::hard_link(&new, &other_name).unwrap();
    let foreign = intruder.file("home/foreign", "s3cret");
    std::os::unix::fs::chown(&foreign, Some(65534), None).unwrap();
    for from in [&secret, &own, &link, &other_name, &foreign, &PathBuf::from("/etc/passwd")] {
        for behavior in ["allow", "allowAndName"] {
            let told = intruder.download(behavior, &loot, GUID, from).await;
            assert_eq!(told, "canceled", "{}", from.display());
            assert!(!loot.exists(), "{}", from.display());
        }
    }
}

#[tokio::test]
pub(super) async fn a_made_up_download_takes_the_place_of_no_file() {
    let mut intruder = Intruder::start().await;
    let home = intruder.path("home");
    let evil = intruder.file("evil", "evil");
    let profile = intruder.file("home/.bashrc", "the user's");
    let there = intruder.file(&format!("home/{GUID}"), "the user's");
    let no_ids = [".bashrc", "../home/.bashrc", "0b8d5e4c-3f0a-4c8e-9a54-0123456789a/"];
    for guid in no_ids.into_iter().chain([GUID]) {
        assert_eq!(intruder.download("allowAndName", &home, guid, &evil).await, "canceled");
    }
    for file in [profile, there] {
        assert_eq!(fs::read_to_string(file).unwrap(), "the user's");
    }
}
