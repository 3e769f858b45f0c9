//! What the tree of files promises: folders import only folders below them, files are short, and
//! the pure machines depend on nothing that could do I/O.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper that fails fails its test")]

mod picture;
mod rooms;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rooms::Rooms;

/// The crates that have rooms, each above those that it imports.
const CRATES: [(&str, &str); 4] = [
    ("relay", "relay/src"),
    ("relay-core", "relay/core/src"),
    ("extension-wasm", "extension-wasm/src"),
    ("extension-core", "extension-wasm/core/src"),
];

/// The crates that hold a pure machine, which may depend on these only.
const PURE: [&str; 2] = ["relay-core", "extension-core"];
const PURE_DEPENDENCIES: [&str; 3] = ["serde", "serde_json", "shared-protocol"];

const LONGEST_FILE: usize = 450;
const MEDIAN_FILE: usize = 150;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn a_folder_imports_only_folders_below_it() {
    let circles: Vec<String> = CRATES
        .iter()
        .flat_map(|(name, source)| {
            let circles = Rooms::of(name, &root().join(source)).circles();
            circles.into_iter().map(move |line| format!("{name}: {line}"))
        })
        .collect();
    assert!(circles.is_empty(), "imports in circles:\n{}", circles.join("\n"));
}

#[test]
fn the_picture_of_the_folders_is_up_to_date() {
    let crates = CRATES.map(|(name, source)| (name, Rooms::of(name, &root().join(source))));
    for (name, rooms) in &crates {
        println!("{name}");
        for (room, imports) in &rooms.0 {
            let imports = imports.keys().cloned().collect::<Vec<_>>().join(", ");
            println!("  {room}: {imports}");
        }
    }
    let file = root().join("docs/architecture.svg");
    let picture = picture::draw(&crates);
    if fs::read_to_string(&file).unwrap_or_default() != picture {
        fs::write(&file, picture).unwrap();
        panic!("docs/architecture.svg was out of date and has been drawn: look, and commit it");
    }
}

#[test]
fn files_are_short() {
    let sources = CRATES.map(|(_, source)| source);
    let mut lengths: Vec<(usize, PathBuf)> = sources
        .into_iter()
        .chain(["shared-protocol/src"])
        .flat_map(|source| rooms::files(&root().join(source)).into_values())
        .map(|file| (fs::read_to_string(&file).unwrap().lines().count(), file))
        .collect();
    lengths.sort();
    let long: Vec<_> = lengths.iter().filter(|(lines, _)| *lines > LONGEST_FILE).collect();
    assert!(long.is_empty(), "files of more than {LONGEST_FILE} lines: {long:?}");
    let median = lengths[lengths.len() / 2].0;
    println!("{} files, median {median} lines", lengths.len());
    assert!(median < MEDIAN_FILE, "the median file has {median} lines");
}

#[test]
fn pure_machines_depend_on_the_wire_and_serde_only() {
    for (name, dependencies) in dependencies_of(&PURE) {
        let more: Vec<_> = dependencies
            .iter()
            .filter(|dependency| !PURE_DEPENDENCIES.contains(&dependency.as_str()))
            .collect();
        assert!(more.is_empty(), "{name} also depends on {more:?}");
    }
}

fn dependencies_of(packages: &[&str]) -> Vec<(String, BTreeSet<String>)> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let all = metadata["packages"].as_array().unwrap().iter();
    let found: Vec<_> = all
        .filter(|package| packages.contains(&package["name"].as_str().unwrap()))
        .map(|package| {
            let of_program = package["dependencies"].as_array().unwrap().iter();
            let of_program = of_program.filter(|dependency| dependency["kind"].is_null());
            let names = of_program.map(|it| it["name"].as_str().unwrap().to_owned()).collect();
            (package["name"].as_str().unwrap().to_owned(), names)
        })
        .collect();
    assert_eq!(found.len(), packages.len(), "a package is missing");
    found
}
