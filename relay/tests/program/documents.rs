//! The documents name pages, headings and files that exist.

use std::fs;
use std::path::{Path, PathBuf};

const FOLDERS: [&str; 3] = ["", "docs", "tests"];

/// Folders that the build and the tests make.
const BUILT: [&str; 2] = ["extension-shell/dist", "target/"];

#[test]
fn links_and_files_in_documents_exist() {
    let mut missing = Vec::new();
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        let folder = document.parent().unwrap();
        let name = document.strip_prefix(root()).unwrap().display();
        for (number, line) in text.lines().enumerate() {
            let links = links(line).filter(|link| !has_target(&document, link));
            let files = files(line, folder).filter(|file| !has_file(folder, file));
            missing
                .extend(links.chain(files).map(|found| format!("{name}:{}: {found}", number + 1)));
        }
    }
    assert!(missing.is_empty(), "not there:\n{}", missing.join("\n"));
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn documents() -> Vec<PathBuf> {
    let folders = FOLDERS.map(|folder| fs::read_dir(root().join(folder)).unwrap());
    let entries = folders.into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

/// Returns the targets of the links in a line, other than web addresses.
fn links(line: &str) -> impl Iterator<Item = &str> {
    let targets = line.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0));
    targets.filter(|target| !target.contains("://"))
}

fn has_target(document: &Path, link: &str) -> bool {
    let (path, heading) = link.split_once('#').unwrap_or((link, ""));
    let page = match path {
        "" => document.to_owned(),
        path => document.parent().unwrap().join(path),
    };
    if heading.is_empty() {
        return page.exists();
    }
    let text = fs::read_to_string(page).unwrap_or_default();
    text.lines().filter(|line| line.starts_with('#')).any(|line| anchor(line) == heading)
}

/// Returns the name by which a link reaches a heading.
fn anchor(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = words.chars().filter(|sign| sign.is_alphanumeric() || " -_".contains(*sign));
    kept.map(|sign| if sign == ' ' { '-' } else { sign }).collect()
}

/// Returns the words in code style that are paths: they begin with a folder of the repository, or
/// of the document.
fn files<'a>(line: &'a str, folder: &'a Path) -> impl Iterator<Item = &'a str> {
    let words = line.split('`').skip(1).step_by(2);
    words.filter(move |word| {
        let is_path =
            word.chars().all(|sign| sign.is_ascii_alphanumeric() || "/._-".contains(sign));
        let first = word.split_once('/').map_or("", |(first, _)| first);
        is_path
            && !first.is_empty()
            && !first.starts_with('.')
            && [root().join(first), folder.join(first)].iter().any(|first| first.is_dir())
    })
}

fn has_file(folder: &Path, file: &str) -> bool {
    BUILT.iter().any(|built| file.starts_with(built))
        || [root().join(file), folder.join(file)].iter().any(|path| path.exists())
}
