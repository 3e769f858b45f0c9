//! Machines on which Node.js, or the file that says whom to ask for names, is in an unusual place.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use end_to_end::{Stage, program, show_figure};
use tokio::net::UdpSocket;
use tokio::process::Child;
use tokio::task::JoinHandle;

use super::attack::{Attack, attack};
use super::native_code::has_whole_boundary;

pub(super) const ATTACKS: &[Attack] = &[
    attack!(
        Agent,
        "is run where `node` is a script that starts the Node.js of a version manager, to be left without a boundary",
        "Node.js itself tells where it is: the boundary is the same",
        a_script_in_the_place_of_node_is_seen_through
    ),
    attack!(
        Agent,
        "is run by another version of Node.js (20, 22, 24 and 26 were tried) that needs something which the boundary refuses",
        "what agents do all day works with `--sandbox=required`, and files of the user stay closed",
        every_node_that_is_given_runs_code_inside_of_the_boundary
    ),
];

/// Has a folder of the test's take the place of `/etc`.
const WITH_ETC: [&str; 6] =
    ["unshare", "--mount", "sh", "-c", "mount --bind \"$ETC\" /etc && exec \"$@\"", "sh"];

#[tokio::test]
async fn a_script_in_the_place_of_node_is_seen_through() {
    if !has_whole_boundary() {
        show_figure("Node.js", "not tried: `--sandbox=required` needs Linux 6.7");
        return;
    }
    let stage = Stage::without_relay().await;
    let folder = stage.home().join(".volta/bin");
    fs::create_dir_all(&folder).unwrap();
    let real = Command::new("sh").args(["-c", "command -v node"]).output().unwrap().stdout;
    let script = format!("#!/bin/sh\nexec {} \"$@\"\n", String::from_utf8(real).unwrap().trim());
    fs::write(folder.join("node"), script).unwrap();
    fs::set_permissions(folder.join("node"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut path = OsString::from(&folder);
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap());
    let mut relay = stage.playwriter(&["serve", "--sandbox=required"]);
    let _relay = relay.env("PATH", path).stderr(Stdio::null()).spawn().unwrap();
    connected(&stage).await;
    let (code, stdout, stderr) = stage.run(&["-e", "6 * 7"]).await;
    assert_eq!((code, stdout.as_str()), (Some(0), "42"), "{stderr}");
    stage.end().await;
}

/// Calls that agents make all day, and at the end one that they may not make.
const CALLS: &str = "
    const fs = require('fs'), crypto = require('crypto'), { promisify } = require('util');
    await page.goto(SITE + '/index.html');
    await page.setContent('<a href=\"/x\">a link</a>');
    const done = [1 + 1, await page.locator('a').textContent(), (await page.screenshot()).length > 100];
    fs.mkdirSync('folder', { recursive: true }); fs.writeFileSync('a', 'text'); fs.copyFileSync('a', 'b');
    fs.renameSync('b', 'folder/c'); fs.appendFileSync('folder/c', 's'); fs.truncateSync('folder/c', 3);
    done.push(fs.readFileSync('folder/c', 'utf8'), fs.readdirSync('folder').join());
    done.push((await fetch(SITE + '/index.html')).status, (await page.request.get(SITE + '/index.html')).status());
    done.push((await promisify(crypto.scrypt)('a', 'b', 8)).length);
    done.push(new Date(0).toLocaleString('en', { timeZone: 'Asia/Tokyo', hour: 'numeric' }));
    const refused = (act) => { try { act(); return 'done'; } catch { return 'refused'; } };
    done.push(refused(() => fs.readFileSync('/etc/passwd')), refused(() => fs.chmodSync('a', 0o777)));
    done.join('|')";

#[tokio::test]
async fn every_node_that_is_given_runs_code_inside_of_the_boundary() {
    if !has_whole_boundary() {
        show_figure("Node.js", "not tried: `--sandbox=required` needs Linux 6.7");
        return;
    }
    let stage = Stage::without_relay().await;
    let found = Command::new("sh").args(["-c", "command -v node"]).output().unwrap().stdout;
    let found = String::from_utf8(found).unwrap();
    let more = std::env::var("NODES").unwrap_or_default();
    let network = format!("--agents-network=web,{}", stage.site.url().rsplit(':').next().unwrap());
    for node in more.split(':').chain([found.trim()]).filter(|node| !node.is_empty()) {
        let folder = tempfile::tempdir().unwrap();
        symlink(node, folder.path().join("node")).unwrap();
        let mut path = OsString::from(folder.path());
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap());
        let mut relay = stage.playwriter(&["serve", "--sandbox=required", &network]);
        let mut relay = relay.env("PATH", path).stderr(Stdio::null()).spawn().unwrap();
        connected(&stage).await;
        let code = CALLS.replace("SITE", &format!("'{}'", stage.site.url()));
        let (code, stdout, stderr) = stage.run(&["-e", &code]).await;
        let version = Command::new(node).arg("--version").output().unwrap().stdout;
        let version = String::from_utf8(version).unwrap();
        assert_eq!(code, Some(0), "{version}: {stderr}");
        let expected = "2|a link|true|tex|c|200|200|8|9 AM|refused|refused";
        assert_eq!(stdout.replace('\u{202f}', " "), expected, "{version}");
        show_figure("Node.js", &format!("{} runs code inside of the boundary", version.trim()));
        relay.kill().await.unwrap();
        let gone = "getExtensionState().then((s) => s.connectionState !== 'connected')";
        stage.until_in_worker(gone).await;
    }
    stage.end().await;
}

#[tokio::test]
async fn names_are_found_when_the_network_changes() {
    let tried =
        Command::new(WITH_ETC[0]).args(&WITH_ETC[1..]).arg("true").env("ETC", "/etc").status();
    if !tried.is_ok_and(|tried| tried.success()) {
        show_figure("names", "not tried: this machine makes no mount namespaces");
        return;
    }
    let stage = Stage::without_relay().await;
    let etc = stage.home().join("etc");
    assert!(Command::new("cp").args(["-a", "/etc"]).arg(&etc).status().unwrap().success());
    fs::write(etc.join("nsswitch.conf"), "hosts: files dns\n").unwrap();
    // As systemd has it: a link to a file that is replaced when the network changes.
    let run = tempfile::Builder::new().prefix("playwriter-").tempdir_in("/run").unwrap();
    fs::set_permissions(run.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let file = etc.join("resolv.conf");
    fs::remove_file(&file).unwrap();
    symlink(run.path().join("resolv.conf"), &file).unwrap();
    ask_at("127.0.53.1", run.path());
    let first = NameServer::start("127.0.53.1").await;
    let _relay = relay_with(&stage, &etc);
    connected(&stage).await;
    let visit = |name: &str| {
        let url = stage.site.url().replace("127.0.0.1", name);
        format!("(await fetch('{url}/index.html')).status")
    };
    let (_, stdout, stderr) = stage.run(&["-e", &visit("one.example")]).await;
    assert_eq!(stdout, "200", "{stderr}");
    drop(first);
    ask_at("127.0.53.2", run.path());
    let _second = NameServer::start("127.0.53.2").await;
    let (_, stdout, stderr) = stage.run(&["-e", &visit("two.example")]).await;
    assert_eq!(stdout, "200", "{stderr}");
    // Where the file itself is in /etc, no rule is left for the one that takes its place.
    fs::remove_file(&file).unwrap();
    ask_at("127.0.53.2", &etc);
    let (_, stdout, _) = stage.run(&["-e", &visit("three.example")]).await;
    assert_ne!(stdout, "200", "a session knows the file that was there when it began");
    let (code, _, stderr) = stage.run(&["session", "reset", "default"]).await;
    assert_eq!(code, Some(0), "{stderr}");
    let (_, stdout, stderr) = stage.run(&["-e", &visit("three.example")]).await;
    assert_eq!(stdout, "200", "{stderr}");
    stage.end().await;
}

fn relay_with(stage: &Stage, etc: &Path) -> Child {
    let site = stage.site.url();
    let network = format!("--agents-network=web,{}", site.rsplit(':').next().unwrap());
    let port = stage.port().to_string();
    let mut command = tokio::process::Command::new(WITH_ETC[0]);
    command
        .args(&WITH_ETC[1..])
        .arg(program())
        .args(["serve", "--port", &port, &network])
        .env("ETC", etc)
        .env("HOME", stage.home())
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    command.spawn().unwrap()
}

async fn connected(stage: &Stage) {
    stage
        .until_in_worker("getExtensionState().then((s) => s.connectionState === 'connected')")
        .await;
}

/// Replaces the file that says whom to ask for names.
fn ask_at(address: &str, folder: &Path) {
    let new = folder.join("resolv.conf.new");
    fs::write(&new, format!("nameserver {address}\n")).unwrap();
    fs::rename(new, folder.join("resolv.conf")).unwrap();
}

/// Says that every name is 127.0.0.1, until it is dropped.
struct NameServer(JoinHandle<()>);

impl NameServer {
    async fn start(address: &str) -> Self {
        let socket = UdpSocket::bind((address, 53)).await.unwrap();
        Self(tokio::spawn(async move {
            let mut question = [0; 512];
            while let Ok((length, from)) = socket.recv_from(&mut question).await {
                let answer = answer_to(&question[..length]);
                // Whoever asked may have gone.
                drop(socket.send_to(&answer, from).await);
            }
        }))
    }
}

impl Drop for NameServer {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// See RFC 1035, section 4.1. Only IPv4 addresses are told.
fn answer_to(question: &[u8]) -> Vec<u8> {
    let name = question[12..].iter().position(|&byte| byte == 0).unwrap();
    let end = 12 + name + 1 + 4;
    let is_v4 = question[end - 4..end - 2] == [0, 1];
    let mut answer = question[..2].to_vec();
    answer.extend([0x81, 0x80, 0, 1, 0, u8::from(is_v4), 0, 0, 0, 0]);
    answer.extend(&question[12..end]);
    if is_v4 {
        answer.extend([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1]);
    }
    answer
}
