//! Programs in C, for what only native code can do.

use std::path::Path;
use std::process::Command;

/// Compiles a program of `tests/behaviour/intruders` into a file.
///
/// # Panics
///
/// Without a compiler.
pub fn compile(source: &str, program: &Path) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("behaviour/intruders");
    let mut compiler = Command::new("cc");
    compiler.arg("-w").arg("-o").arg(program).arg(folder.join(source));
    assert!(compiler.status().expect("there is a compiler").success());
}
