//! The files that Node.js, Playwright and agents' code need.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::{PROTOCOL, Policy, Ports};

/// The folders in which systems keep their libraries. Anybody may read them.
const LIBRARIES: [&str; 4] = ["/lib", "/lib64", "/usr/lib", "/usr/lib64"];

/// The files that Node.js and its libraries read by themselves: the linker, time zones, certificates,
/// names of hosts, and how much memory and how many processors there are.
const SYSTEM: [&str; 16] = [
    "/etc/ld.so.cache",
    "/usr/share/zoneinfo",
    "/etc/localtime",
    "/etc/ssl/certs",
    "/etc/pki/tls/certs",
    "/etc/pki/ca-trust/extracted",
    "/usr/share/ca-certificates",
    "/etc/hosts",
    "/etc/nsswitch.conf",
    "/etc/host.conf",
    "/etc/gai.conf",
    "/etc/resolv.conf",
    "/dev/urandom",
    "/proc/meminfo",
    "/sys/fs/cgroup",
    "/sys/devices/system/cpu",
];

/// The largest number of headers of a program that are read.
const MAX_HEADERS: u16 = 64;

/// The files of a Node.js, as it tells them itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NodeFiles {
    /// The program itself, which what is on the PATH may only lead to.
    pub(crate) program: PathBuf,
    /// The shared libraries.
    pub(crate) objects: Vec<PathBuf>,
}

impl Policy {
    /// Returns what a process of agents' code may reach.
    pub(crate) fn new(node: &NodeFiles, code: &[&Path], own: &Path, connect: Vec<Ports>) -> Self {
        let execute = [Some(node.program.clone()), interpreter(&node.program)];
        let is_elsewhere = |object: &&PathBuf| {
            object.is_absolute() && !LIBRARIES.iter().any(|folder| object.starts_with(folder))
        };
        let read = LIBRARIES.iter().chain(&SYSTEM).map(PathBuf::from);
        let read = read.chain(node.objects.iter().filter(is_elsewhere).cloned());
        let read = read.chain(code.iter().map(|path| path.to_path_buf()));
        Self {
            protocol: PROTOCOL,
            execute: execute.into_iter().flatten().collect(),
            read: read.chain(resolver()).collect(),
            devices: vec!["/dev/null".into()],
            own: Some(own.to_owned()),
            connect,
            datagrams: true,
            newest_landlock: None,
        }
    }
}

/// Returns the folder of the file that says whom to ask for names, where that is not `/etc`: the file
/// is replaced when the network changes, and a rule for it would be one for the file that is gone.
fn resolver() -> Option<PathBuf> {
    let file = Path::new("/etc/resolv.conf").canonicalize().ok()?;
    let folder = file.parent()?;
    // A link may lead anywhere; only what the system keeps for its own runs is opened.
    let is_known = folder.starts_with("/run") || folder.starts_with("/mnt/wsl");
    (is_known && folder != Path::new("/run")).then(|| folder.to_owned())
}

/// Returns the program that loads a program's libraries, which the kernel executes with it.
fn interpreter(program: &Path) -> Option<PathBuf> {
    /// The type of the header that names the interpreter, in a table of headers.
    const INTERPRETER: u32 = 3;
    let mut file = File::open(program).ok()?;
    let mut header = [0; 64];
    file.read_exact(&mut header).ok()?;
    // 64 bits, the lower byte first.
    let is_known = header.starts_with(b"\x7fELF\x02\x01");
    let table = u64::from_le_bytes(header.get(32..40)?.try_into().ok()?);
    let size = u16::from_le_bytes(header.get(54..56)?.try_into().ok()?);
    let count = u16::from_le_bytes(header.get(56..58)?.try_into().ok()?);
    if !is_known || size < 56 {
        return None;
    }
    for number in 0..count.min(MAX_HEADERS) {
        let mut entry = [0; 56];
        file.seek(SeekFrom::Start(table + u64::from(number) * u64::from(size))).ok()?;
        file.read_exact(&mut entry).ok()?;
        if u32::from_le_bytes(entry.get(0..4)?.try_into().ok()?) != INTERPRETER {
            continue;
        }
        let place = u64::from_le_bytes(entry.get(8..16)?.try_into().ok()?);
        let length = u64::from_le_bytes(entry.get(32..40)?.try_into().ok()?);
        file.seek(SeekFrom::Start(place)).ok()?;
        let mut name = Vec::new();
        file.take(length.min(4096)).read_to_end(&mut name).ok()?;
        name.truncate(name.iter().position(|byte| *byte == 0)?);
        return Some(PathBuf::from(std::ffi::OsString::from_vec(name)));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn the_interpreter_of_a_program_is_found() {
        let found = interpreter(&std::env::current_exe().unwrap()).unwrap();
        assert!(found.is_file(), "{}", found.display());
        assert_eq!(interpreter(Path::new("/etc/hosts")), None);
        assert_eq!(interpreter(Path::new("/nowhere")), None);
    }

    #[test]
    fn a_node_in_the_home_folder_does_not_open_the_home_folder() {
        let node = NodeFiles {
            program: "/home/me/.local/bin/node".into(),
            objects: vec![
                "/home/me/.local/lib/libnode.so.1".into(),
                "/usr/lib/libc.so.6".into(),
                "linux-vdso.so.1".into(),
            ],
        };
        let policy = Policy::new(&node, &[Path::new("/scripts")], Path::new("/s/1"), Vec::new());
        assert_eq!(policy.execute, [PathBuf::from("/home/me/.local/bin/node")]);
        let own = policy.read.iter().filter(|path| path.starts_with("/home"));
        assert_eq!(own.collect::<Vec<_>>(), [Path::new("/home/me/.local/lib/libnode.so.1")]);
        assert!(
            !policy.read.iter().any(|path| path == Path::new("/") || path == Path::new("/etc"))
        );
    }
}
