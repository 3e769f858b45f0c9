//! Native code in the place of Node.js that tries to leave its session: files, processes, sockets.
//!
//! The relay starts a C program (`native_code/probe.c`) as it starts workers, so that no guard of Node's or
//! ours stands before the system.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use end_to_end::{RawTab, RelayProgram, TIMEOUT, compile, show_figure};
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

use super::attack::{Attack, attack};

pub(super) const ATTACKS: &[Attack] = &[
    attack!(
        Agent,
        "opens files of the user, of other sessions, of the relay in `/proc`, in `/tmp`, and the terminal, by native code",
        "refused by Landlock",
        native_code_reaches_no_file_but_its_own
    ),
    attack!(
        Agent,
        "opens files beside a Node.js that is in `~/.local/bin`, by native code",
        "refused by Landlock: the program itself may be read and executed, and not its folder",
        a_node_in_the_home_opens_nothing_beside_it
    ),
    attack!(
        Agent,
        "changes mode, owner, times, attributes or length of a file that it cannot open, takes it by rename or link",
        "refused by seccomp, and by Landlock for names",
        native_code_reaches_no_file_but_its_own
    ),
    attack!(
        Agent,
        "leaves links, pipes and devices in its own folder for programs that are not confined",
        "refused by seccomp and Landlock",
        native_code_reaches_no_file_but_its_own
    ),
    attack!(
        Agent,
        "starts processes that outlive it, or executes other programs, of the machine or of its folder",
        "refused by seccomp; Landlock lets only Node.js be executed",
        native_code_starts_and_signals_no_process
    ),
    attack!(
        Agent,
        "forks, forks twice or opens a session of its own, ignores signals, and waits until its session ends or the relay is killed",
        "nothing of it is left a second later: it has no second process, and the shell around it outlives the relay and kills it",
        nothing_of_native_code_outlives_its_session_or_the_relay
    ),
    attack!(
        Agent,
        "signals, traces, reads or throttles the relay and the shell around it",
        "refused by seccomp",
        native_code_starts_and_signals_no_process
    ),
    attack!(
        Agent,
        "connects to the relay's own port: by IPv4, IPv6, MPTCP, SMC, fast open, options of sockets",
        "refused by Landlock, and by seccomp where Landlock does not look",
        native_code_connects_to_open_ports_only
    ),
    attack!(
        Agent,
        "listens without `bind`, or opens local, netlink, raw and other sockets",
        "refused by seccomp",
        native_code_connects_to_open_ports_only
    ),
    attack!(
        Agent,
        "sends datagrams with `--agents-network=none`",
        "refused by seccomp",
        native_code_sends_nothing_without_a_network
    ),
    attack!(
        Agent,
        "uses keyrings, shared memory, queues, io_uring, namespaces, mounts, BPF, unknown calls and those of x32",
        "refused by seccomp; unknown calls are not there",
        native_code_has_no_other_doors_of_the_kernel
    ),
    attack!(
        Agent,
        "uses capabilities of a relay that runs as root, or descriptors of the shell around it",
        "it has none: they are dropped before Node.js starts",
        native_code_has_no_other_doors_of_the_kernel
    ),
    attack!(
        Agent,
        "calls the system as a 32-bit program does, where numbers mean other calls",
        "its process is ended by seccomp",
        native_code_that_calls_as_another_architecture_is_ended
    ),
];

/// A folder in which some users have their Node.js.
const PROGRAMS: &str = ".local/bin";

/// A relay that starts the probe in the place of Node.js.
struct Probed {
    relay: RelayProgram,
    _tab: RawTab,
    folder: TempDir,
}

impl Probed {
    /// Returns `None` where the kernel lacks a part of the boundary, or where the probe is for another machine.
    async fn start(arguments: &[&str]) -> Option<Self> {
        if !cfg!(target_arch = "x86_64") || !has_whole_boundary() {
            show_figure("native code", "not tried: that needs Linux 6.7 and x86-64");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let programs = folder.path().join(PROGRAMS);
        fs::create_dir_all(&programs).unwrap();
        compile("native_code/probe.c", &programs.join("node"));
        let mut path = OsString::from(programs);
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap());
        let relay = RelayProgram::start_with(arguments, &[("PATH", OsStr::new(&path))]).await;
        let tab = relay.raw_tab().await;
        Some(Self { relay, _tab: tab, folder })
    }

    /// Returns what came of each attempt, by its name.
    async fn tries(&self, what: &str) -> BTreeMap<String, String> {
        let (code, stdout, stderr) = self.relay.run(&["-e", what]).await;
        assert_eq!(code, Some(0), "{stdout} {stderr}");
        let line = |line: &str| line.rsplit_once(' ').map(|(a, b)| (a.to_owned(), b.to_owned()));
        stdout.lines().filter_map(line).collect()
    }
}

/// Returns whether this kernel can keep code from files and TCP ports. An older one lacks the second.
pub(super) fn has_whole_boundary() -> bool {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split(['.', '-']).map_while(|part| part.trim().parse::<u32>().ok());
    (numbers.next(), numbers.next()) >= (Some(6), Some(7))
}

/// Compares each attempt with the errors that it may meet; those that are not named must be refused.
fn expect(tries: &BTreeMap<String, String>, default: &[&str], others: &[(&str, &[&str])]) {
    assert!(tries.len() > others.len(), "{tries:?}");
    for (name, _) in others {
        assert!(tries.contains_key(*name), "{name} was not tried: {tries:?}");
    }
    for (name, outcome) in tries {
        let allowed = others.iter().find(|(other, _)| other == name).map_or(default, |it| it.1);
        assert!(allowed.contains(&outcome.as_str()), "{name}: {outcome}, not {allowed:?}");
    }
}

#[tokio::test]
async fn native_code_reaches_no_file_but_its_own() {
    let Some(probed) = Probed::start(&[]).await else { return };
    let home = probed.relay.log_folder();
    let secret = home.join("pairing-probe");
    fs::write(&secret, "secret").unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    let other = home.join("sessions/other/file");
    fs::create_dir_all(other.parent().unwrap()).unwrap();
    fs::write(&other, "theirs").unwrap();
    let (secret_path, other_path) = (secret.display(), other.display());
    let process = probed.relay.process();
    let code = format!("try=files;secret={secret_path};other={other_path};relay={process};");
    let tries = probed.tries(&code).await;
    let moved: &[&str] = &["EACCES", "EXDEV", "EPERM"];
    expect(
        &tries,
        &["EACCES", "EPERM"],
        &[
            ("file_setattr", &["ENOSYS"]),
            ("take by rename", moved),
            ("take by a link", moved),
            ("chmod", &["EPERM"]),
            ("symlink in its folder", &["EPERM"]),
            ("file in its folder", &["done"]),
            ("mode by descriptor", &["done"]),
            ("folder in its folder", &["done"]),
            ("rename in its folder", &["done"]),
            ("temporary file", &["done"]),
        ],
    );
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
    assert_eq!(fs::metadata(&secret).unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn a_node_in_the_home_opens_nothing_beside_it() {
    let Some(probed) = Probed::start(&[]).await else { return };
    let process = probed.relay.process();
    for place in [PROGRAMS, ".local/share", ".local"] {
        let secret = probed.folder.path().join(place).join("secret");
        fs::create_dir_all(secret.parent().unwrap()).unwrap();
        fs::write(&secret, "secret").unwrap();
        let secret = secret.display();
        let code = format!("try=files;secret={secret};other={secret};relay={process};");
        let tries = probed.tries(&code).await;
        for (name, outcome) in tries.iter().filter(|(name, _)| name.contains("secret")) {
            assert!(["EACCES", "EPERM"].contains(&outcome.as_str()), "{place}, {name}: {outcome}");
        }
        assert!(tries.keys().any(|name| name.contains("secret")), "{tries:?}");
    }
}

#[tokio::test]
async fn native_code_starts_and_signals_no_process() {
    let Some(probed) = Probed::start(&[]).await else { return };
    let tries = probed.tries(&format!("try=processes;relay={};", probed.relay.process())).await;
    expect(
        &tries,
        &["EPERM"],
        &[
            ("clone3", &["ENOSYS"]),
            ("execute /bin/sh", &["EACCES"]),
            ("execute /usr/bin/env", &["EACCES"]),
            ("execute a file in its folder", &["EACCES"]),
            // It may become what it wrote to memory: that stays inside of the boundary, and this is no program.
            ("execute memory by path", &["ENOEXEC", "EACCES"]),
            ("kill itself", &["done"]),
            ("prlimit of itself", &["done"]),
        ],
    );
}

#[tokio::test]
async fn native_code_connects_to_open_ports_only() {
    let Some(probed) = Probed::start(&[]).await else { return };
    let tries = probed.tries(&format!("try=sockets;port={};", probed.relay.port())).await;
    expect(
        &tries,
        &["EAFNOSUPPORT"],
        &[
            ("connect to the relay", &["EACCES"]),
            ("connect to the relay by ::1", &["EACCES"]),
            ("connect to the relay by a mapped address", &["EACCES"]),
            ("connect to the usual relay", &["EACCES"]),
            ("connect to ssh", &["EACCES"]),
            // Nobody may be there, but the way is open.
            ("connect to a web server", &["ECONNREFUSED", "done"]),
            ("UDP", &["done"]),
            ("fast open by sendto", &["EPERM"]),
            ("fast open by sendmsg", &["EPERM"]),
            ("fast open by sendmmsg", &["EPERM"]),
            ("connect later by an option", &["EACCES"]),
            ("another protocol by an option", &["EPERM"]),
            ("connect without a family", &["EPIPE", "ENOTCONN"]),
            ("listen without bind", &["EPERM"]),
            ("bind", &["EACCES"]),
            ("accept", &["EPERM"]),
            ("socketpair", &["EPERM"]),
        ],
    );
}

#[tokio::test]
async fn native_code_sends_nothing_without_a_network() {
    let Some(probed) = Probed::start(&["--agents-network=none"]).await else { return };
    let tries = probed.tries(&format!("try=sockets;port={};", probed.relay.port())).await;
    assert_eq!(tries["UDP"], "EAFNOSUPPORT");
    assert_eq!(tries["connect to a web server"], "EACCES");
    let Some(every) = Probed::start(&["--agents-network=all"]).await else { return };
    let tries = every.tries(&format!("try=sockets;port={};", every.relay.port())).await;
    assert_eq!(tries["connect to the relay"], "EACCES", "{tries:?}");
    assert_eq!(tries["connect to the usual relay"], "EACCES");
    assert!(["ECONNREFUSED", "done"].contains(&&*tries["connect to ssh"]), "{tries:?}");
}

#[tokio::test]
async fn native_code_has_no_other_doors_of_the_kernel() {
    let Some(probed) = Probed::start(&[]).await else { return };
    let tries = probed.tries("try=kernel;").await;
    let not_there: &[&str] = &["ENOSYS"];
    expect(
        &tries,
        &["EPERM"],
        &[
            ("io_uring", not_there),
            ("io_setup", not_there),
            ("x32", not_there),
            ("an unknown call", not_there),
            ("have another descriptor", &["EBADF"]),
        ],
    );
}

#[tokio::test]
async fn native_code_that_calls_as_another_architecture_is_ended() {
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    let Some(probed) = Probed::start(&[]).await else { return };
    let (code, _, stderr) = probed.relay.run(&["-e", "try=int80;"]).await;
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("crashed its own process"), "{stderr}");
}

#[tokio::test]
async fn nothing_of_native_code_outlives_its_session_or_the_relay() {
    let Some(mut probed) = Probed::start(&[]).await else { return };
    for kills_the_relay in [false, true] {
        let tries = probed.tries("try=survive;").await;
        let left = Survivors::of(&probed);
        assert!(left.those_who_live().len() >= 2, "the shell and the worker");
        if kills_the_relay {
            probed.relay.kill().await;
        } else {
            let (code, stdout, stderr) = probed.relay.run(&["session", "delete", "default"]).await;
            assert_eq!(code, Some(0), "{stdout} {stderr}");
        }
        let end = Instant::now() + TIMEOUT;
        while !left.those_who_live().is_empty() {
            assert!(Instant::now() < end, "{:?} are left", left.those_who_live());
            sleep(Duration::from_millis(10)).await;
        }
        expect(&tries, &["EPERM"], &[("clone3", &["ENOSYS"])]);
    }
}

/// The processes of a worker: all that run the probe, and what the relay had started. Those that are left
/// are killed at the end.
struct Survivors {
    probe: PathBuf,
    started: Vec<u32>,
}

impl Survivors {
    fn of(probed: &Probed) -> Self {
        let (mut started, mut next) = (Vec::new(), vec![probed.relay.process()]);
        while let Some(parent) = next.pop() {
            let children = processes().into_iter().filter(|&it| parent_of(it) == Some(parent));
            let children: Vec<_> = children.collect();
            next.extend(&children);
            started.extend(children);
        }
        Self { probe: probed.folder.path().join(PROGRAMS).join("node"), started }
    }

    fn those_who_live(&self) -> Vec<u32> {
        // One that has ended and waits for its parent has no program any more.
        let program = |process: u32| fs::read_link(format!("/proc/{process}/exe"));
        let is_left = |&process: &u32| match program(process) {
            Ok(program) => program == self.probe || self.started.contains(&process),
            Err(_) => false,
        };
        processes().into_iter().filter(is_left).collect()
    }
}

impl Drop for Survivors {
    fn drop(&mut self) {
        for process in self.those_who_live() {
            let kill = ["-9", &process.to_string()];
            // It may have ended by now.
            drop(std::process::Command::new("kill").args(kill).status());
        }
    }
}

fn processes() -> Vec<u32> {
    let found = fs::read_dir("/proc").unwrap();
    found.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

fn parent_of(process: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}
