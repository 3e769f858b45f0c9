//! A made-up extension with a download, and a client that wants it.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use end_to_end::{RawClient, RawKey, RawTab, RelayProgram, http_until, may_be_another_user};
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
        let extension = relay.raw_extension(query).await;
        Self::with_tab(relay, extension).await
    }

    /// Starts an intruder that has the key of the user's extension.
    async fn with_key() -> Self {
        let relay = RelayProgram::start().await;
        let folder = tempfile::tempdir().unwrap();
        relay::pairing::pair(&relay.log_folder(), folder.path(), relay.port()).unwrap();
        let hello = json!({
            "browser": "Chrome", "installId": "x", "v": "1.0.0", "capabilities": "downloads-v1",
        });
        let key = RawKey::of(folder.path());
        let extension = key.connect(relay.port(), &hello.to_string()).await;
        Self::with_tab(relay, extension).await
    }

    async fn with_tab(relay: RelayProgram, mut extension: RawClient) -> Self {
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
        self.download_of(behavior, to, guid, |_| (from.to_owned(), 0)).await
    }

    /// As [`Intruder::download`], of a file that is made when the download has begun. The file is said to have
    /// more bytes than it has, by the number that `make` returns.
    async fn download_of(
        &mut self,
        behavior: &str,
        to: &Path,
        guid: &str,
        make: impl FnOnce(&Self) -> (PathBuf, u64),
    ) -> String {
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
        let (from, more) = make(self);
        let size = fs::metadata(&from).map_or(0, |found| found.len()) + more;
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
    if may_be_another_user() {
        std::os::unix::fs::chown(&foreign, Some(65534), None).unwrap();
    }
    for from in [&secret, &own, &link, &other_name, &foreign, &PathBuf::from("/etc/passwd")] {
        for behavior in ["allow", "allowAndName"] {
            let told = intruder.download(behavior, &loot, GUID, from).await;
            assert_eq!(told, "canceled", "{}", from.display());
            assert!(!loot.exists(), "{}", from.display());
        }
    }
}

/// Makes a file for an intruder whose download has begun, and returns by how many bytes too many the file
/// is announced.
type Made = fn(&Intruder) -> (PathBuf, u64);

#[tokio::test]
pub(super) async fn an_extension_with_a_key_takes_no_file_along_that_is_no_download() {
    let mut intruder = Intruder::with_key().await;
    let new: Made = |it| (it.file("home/new", "s3cret"), 0);
    let mut made: Vec<(&str, Made)> = vec![
        ("of another size", |it| (it.file("home/long", "s3cret"), 1)),
        ("old", |it| {
            let path = it.file("home/old", "s3cret");
            let file = File::options().write(true).open(&path).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
            (path, 0)
        }),
        ("the relay's own", |it| {
            let path = it.relay.log_folder().join("new.json");
            fs::write(&path, "s3cret").unwrap();
            (path, 0)
        }),
        ("the relay's own, by another way", |it| {
            fs::write(it.relay.log_folder().join("new.json"), "s3cret").unwrap();
            let way = it.path("way");
            symlink(it.relay.log_folder(), &way).unwrap();
            (way.join("new.json"), 0)
        }),
        ("a link", |it| {
            let link = it.path("link");
            symlink(it.file("home/behind", "s3cret"), &link).unwrap();
            (link, 0)
        }),
        ("of two names", |it| {
            let other = it.path("other-name");
            fs::hard_link(it.file("home/named", "s3cret"), &other).unwrap();
            (other, 0)
        }),
        ("no file", |it| (it.place.path().to_owned(), 0)),
        ("the system's", |_| (PathBuf::from("/etc/passwd"), 0)),
    ];
    if may_be_another_user() {
        made.push(("another user's", |it| {
            let path = it.file("home/foreign", "s3cret");
            std::os::unix::fs::chown(&path, Some(65534), None).unwrap();
            (path, 0)
        }));
    }
    for (number, (what, make)) in made.into_iter().enumerate() {
        let (loot, guid) = (intruder.path("loot"), guid(number));
        let told = intruder.download_of("allowAndName", &loot, &guid, make).await;
        assert_eq!(told, "canceled", "{what}");
        assert!(!loot.join(guid).exists(), "{what}");
    }
    // What it may have downloaded is copied: all of them were looked at.
    let (loot, last) = (intruder.path("loot"), guid(99));
    assert_eq!(intruder.download_of("allowAndName", &loot, &last, new).await, "completed");
    assert_eq!(fs::read_to_string(loot.join(last)).unwrap(), "s3cret");
}

#[tokio::test]
pub(super) async fn an_extension_with_a_key_replaces_no_file() {
    let mut intruder = Intruder::with_key().await;
    let home = intruder.path("home");
    let evil: Made = |it| (it.file("evil", "evil"), 0);
    let profile = intruder.file("home/.bashrc", "the user's");
    let there = intruder.file(&format!("home/{GUID}"), "the user's");
    for guid in [".bashrc", "../home/.bashrc", GUID] {
        assert_eq!(intruder.download_of("allowAndName", &home, guid, evil).await, "canceled");
    }
    for file in [profile, there] {
        assert_eq!(fs::read_to_string(file).unwrap(), "the user's");
    }
    let free = guid(1);
    assert_eq!(intruder.download_of("allowAndName", &home, &free, evil).await, "completed");
}

fn guid(number: usize) -> String {
    format!("0b8d5e4c-3f0a-4c8e-9a54-{number:012}")
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
