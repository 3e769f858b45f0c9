//! Puts the built extension into the program, if there is one.

use std::io;
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    let missing = || io::Error::other("Cargo sets this");
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").ok_or_else(missing)?);
    let shell = here.join("../extension-shell");
    let dist = shell.join("dist");
    let mut files = Vec::new();
    // The manifest comes last when the extension is built: a folder that has one is whole.
    if dist.join("manifest.json").is_file() {
        files_in(&dist, &dist, &mut files)?;
    }
    files.sort();
    let mut code = String::from("&[\n");
    for (name, path) in files {
        code.push_str(&format!("    ({name:?}, include_bytes!({path:?})),\n"));
    }
    code.push_str("]\n");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or_else(missing)?);
    std::fs::write(out.join("extension_files.rs"), code)?;
    // Not `dist`, which may not be there: Cargo would look again at each build.
    io::Write::write_all(
        &mut io::stdout(),
        format!("cargo::rerun-if-changed={}\n", shell.display()).as_bytes(),
    )
}

fn files_in(folder: &Path, root: &Path, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files_in(&path, root, files)?;
        } else if path.ends_with("pairing.json") {
            // The key of a person who tried the extension here belongs to nobody else.
        } else if let Ok(name) = path.strip_prefix(root) {
            files.push((name.to_string_lossy().into_owned(), path.canonicalize()?));
        }
    }
    Ok(())
}
