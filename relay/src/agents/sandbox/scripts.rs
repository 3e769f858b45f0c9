//! The program that sandboxes run, which this binary carries.

use std::io;
use std::path::{Path, PathBuf};

macro_rules! scripts {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../../sandbox/", $name)))),*]
    };
}

const SCRIPTS: [(&str, &str); 20] = scripts![
    "browser.mjs",
    "compile.mjs",
    "console.mjs",
    "diff.mjs",
    "harden.mjs",
    "errors.mjs",
    "html.mjs",
    "inspect.mjs",
    "labels.mjs",
    "load.mjs",
    "logs.mjs",
    "main.mjs",
    "markdown.mjs",
    "output.mjs",
    "call_deadline.mjs",
    "pipe.mjs",
    "require.mjs",
    "scope.mjs",
    "session.mjs",
    "snapshot.mjs",
];

/// Writes the scripts out, for Node reads only files, and gives the folder. Each is replaced as a
/// whole, since another sandbox may be reading it.
pub(crate) fn write(folder: &Path) -> io::Result<PathBuf> {
    let folder = folder.join("sandbox").join(crate::VERSION);
    std::fs::create_dir_all(&folder)?;
    for (name, text) in SCRIPTS {
        let path = folder.join(name);
        if std::fs::read(&path).is_ok_and(|there| there == text.as_bytes()) {
            continue;
        }
        let new = folder.join(format!("{name}.{}", std::process::id()));
        std::fs::write(&new, text)?;
        std::fs::rename(&new, &path)?;
    }
    Ok(folder)
}
