//! Reads which folders of a crate import which others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

/// The name under which edges to and from `lib.rs` would stand. It declares the machine whose
/// methods live in the rooms, and hands its inputs to them: it is above and below all, so no room.
const ROOT: &str = "";

/// A folder or file directly below a crate's `src`, with its tests left out.
pub(crate) type Room = String;

/// Each room with the rooms that it imports, and for each of those the files that do.
pub(crate) struct Rooms(pub(crate) BTreeMap<Room, BTreeMap<Room, BTreeSet<String>>>);

impl Rooms {
    /// Reads all files below a crate's `src`. A program beside a library names that by the crate's name.
    pub(crate) fn of(name: &str, source: &Path) -> Self {
        let library = name.replace('-', "_");
        let files = files(source);
        let modules: BTreeSet<Vec<String>> = files.keys().cloned().collect();
        let parsed: Vec<_> = files
            .iter()
            .map(|(module, path)| {
                let text = fs::read_to_string(path).unwrap();
                let file = syn::parse_file(&text);
                (module, path, file.unwrap_or_else(|error| panic!("{}: {error}", path.display())))
            })
            .collect();
        let tests: Vec<Vec<String>> =
            parsed.iter().flat_map(|(module, _, file)| test_modules(module, file)).collect();
        let mut rooms = BTreeMap::<Room, BTreeMap<Room, BTreeSet<String>>>::new();
        for (module, path, file) in &parsed {
            if tests.iter().any(|test| module.starts_with(test)) {
                continue;
            }
            let room = room(module);
            let path = path.strip_prefix(source).unwrap().display().to_string();
            let imports = rooms.entry(room.clone()).or_default();
            for target in imported(&library, module, file, &modules) {
                if target != room && target != ROOT {
                    imports.entry(target).or_default().insert(path.clone());
                }
            }
        }
        rooms.remove(ROOT);
        Self(rooms)
    }

    /// Returns the imports that close a circle, as lines for people.
    pub(crate) fn circles(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (room, imports) in &self.0 {
            for (other, files) in imports {
                if self.reaches(other, room) {
                    let files = files.iter().cloned().collect::<Vec<_>>().join(", ");
                    lines.push(format!("{room} imports {other} ({files}), which imports {room}"));
                }
            }
        }
        lines
    }

    /// Returns how many rooms lie below each room, in the longest way down.
    pub(crate) fn heights(&self) -> BTreeMap<&str, usize> {
        let mut heights = BTreeMap::new();
        for room in self.0.keys() {
            self.height(room, &mut heights);
        }
        heights
    }

    fn height<'a>(&'a self, room: &'a str, heights: &mut BTreeMap<&'a str, usize>) -> usize {
        if let Some(height) = heights.get(room) {
            return *height;
        }
        // Ends circles, which have no heights; another test names them.
        heights.insert(room, 0);
        let below = self.0.get(room).into_iter().flat_map(BTreeMap::keys);
        let height = below.map(|below| self.height(below, heights) + 1).max().unwrap_or(0);
        heights.insert(room, height);
        height
    }

    /// Returns the imports that no longer way leads to, which are enough to draw the order.
    pub(crate) fn direct(&self, room: &str) -> Vec<&str> {
        let imports = self.0.get(room).into_iter().flat_map(BTreeMap::keys).map(String::as_str);
        let all: Vec<&str> = imports.collect();
        all.iter()
            .copied()
            .filter(|to| !all.iter().any(|over| over != to && self.reaches(over, to)))
            .collect()
    }

    fn reaches(&self, from: &str, to: &str) -> bool {
        let mut seen = BTreeSet::new();
        let mut next = vec![from];
        while let Some(room) = next.pop() {
            if room == to {
                return true;
            }
            if seen.insert(room) {
                next.extend(
                    self.0.get(room).into_iter().flat_map(BTreeMap::keys).map(String::as_str),
                );
            }
        }
        false
    }
}

/// Returns the files of a crate by the path of their module.
pub(crate) fn files(source: &Path) -> BTreeMap<Vec<String>, PathBuf> {
    let mut files = BTreeMap::new();
    let mut folders = vec![source.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let module = path.strip_prefix(source).unwrap().with_extension("");
                let module: Vec<String> =
                    module.iter().map(|name| name.to_string_lossy().into_owned()).collect();
                let is_root =
                    matches!(module.as_slice(), [name] if name == "lib" || name == "main");
                files.insert(if is_root { Vec::new() } else { module }, path);
            }
        }
    }
    files
}

fn room(module: &[String]) -> Room {
    module.first().cloned().unwrap_or_else(|| ROOT.to_owned())
}

/// Returns the modules that are compiled for tests only.
fn test_modules(module: &[String], file: &syn::File) -> Vec<Vec<String>> {
    let tests = file.items.iter().filter_map(|item| {
        let syn::Item::Mod(child) = item else { return None };
        is_for_tests(&child.attrs).then(|| child.ident.to_string())
    });
    tests.map(|name| module.iter().cloned().chain([name]).collect()).collect()
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
    })
}

fn imported(
    library: &str,
    module: &[String],
    file: &syn::File,
    modules: &BTreeSet<Vec<String>>,
) -> Vec<Room> {
    let mut paths = Paths::default();
    paths.visit_file(file);
    paths
        .0
        .iter()
        .filter_map(|path| resolve(library, module, path, modules))
        .map(|path| room(&path))
        .collect()
}

/// Returns the module that a path leads to, or `None` when it leads out of the crate.
fn resolve(
    library: &str,
    module: &[String],
    path: &[String],
    modules: &BTreeSet<Vec<String>>,
) -> Option<Vec<String>> {
    let supers = path.iter().take_while(|name| *name == "super").count();
    let (base, rest) = match path.first()?.as_str() {
        "crate" => (&[][..], &path[1..]),
        name if name == library => (&[][..], &path[1..]),
        "self" => (module, &path[1..]),
        "super" => (module.get(..module.len().checked_sub(supers)?)?, &path[supers..]),
        _ => return None,
    };
    let mut target: Vec<String> = base.iter().chain(rest).cloned().collect();
    while !modules.contains(&target) {
        target.pop()?;
    }
    Some(target)
}

/// Every path of a file that may lead somewhere, but for what is only compiled for tests.
#[derive(Default)]
struct Paths(Vec<Vec<String>>);

impl Paths {
    fn add(&mut self, before: &[String], tree: &syn::UseTree) {
        let with = |name: &syn::Ident| {
            let mut path = before.to_vec();
            path.push(name.to_string());
            path
        };
        match tree {
            syn::UseTree::Path(path) => self.add(&with(&path.ident), &path.tree),
            syn::UseTree::Name(name) => self.0.push(with(&name.ident)),
            syn::UseTree::Rename(rename) => self.0.push(with(&rename.ident)),
            syn::UseTree::Glob(_) => self.0.push(before.to_vec()),
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.add(before, tree);
                }
            }
        }
    }
}

impl<'file> Visit<'file> for Paths {
    fn visit_item_use(&mut self, item: &'file syn::ItemUse) {
        self.add(&[], &item.tree);
    }

    fn visit_path(&mut self, path: &'file syn::Path) {
        self.0.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    /// Where something may be seen from is no import.
    fn visit_visibility(&mut self, _: &'file syn::Visibility) {}

    fn visit_item_mod(&mut self, item: &'file syn::ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }
}
