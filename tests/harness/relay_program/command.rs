//! The command line of the built `playwriter`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;

/// The built `playwriter` with arguments and a HOME.
pub(crate) fn command(arguments: &[&str], home: &Path) -> Command {
    let mut command = without_settings(Command::new(program()));
    command.args(arguments).env("HOME", home).stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// Returns a command without the settings of the person who runs the tests.
pub(crate) fn without_settings(mut command: Command) -> Command {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("PLAYWRITER_") {
            command.env_remove(name);
        }
    }
    command
}

/// The built `playwriter`.
#[must_use]
pub fn program() -> PathBuf {
    let tests = std::env::current_exe().expect("the tests are a program");
    let folder = tests.ancestors().nth(2).expect("the tests are built into a folder");
    folder.join("playwriter")
}

/// A `PATH` on which `playwriter` is found first.
pub(crate) fn path() -> OsString {
    let program = program();
    let mut path = program.parent().expect("a program is in a folder").as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    path
}
