//! The extension of a pair, as a folder to load.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::released::dist;
use super::{Maker, Pair};
use crate::browser::{Extension, built_extension};
use crate::machine::copy_folder;

/// The id of released extensions that come without a store, by the key in their manifests.
pub(crate) const RELEASED_ID: &str = "pebbngnfojnignonigcnkdilknapkgid";

/// The folder to load. Released relays let in only who has the id of a released extension.
pub(crate) fn extension(pair: Pair, port: u16, home: &Path) -> Extension {
    let id = RELEASED_ID.to_owned();
    match (pair.extension, pair.relay) {
        (Maker::Ours, Maker::Ours) => Extension::ours(),
        (Maker::Ours, Maker::Released(version)) => {
            let folder = home.join("extension");
            copy_folder(&built_extension(), &folder);
            let mut manifest = manifest_in(&folder);
            manifest["key"] = manifest_in(&dist(version))["key"].take();
            fs::write(folder.join("manifest.json"), manifest.to_string())
                .expect("the copy can be written");
            Extension { folder, id, ..Extension::ours() }
        }
        (Maker::Released(version), _) => {
            Extension { folder: dist(version), id, at_usual_port: Some(port), ..Extension::ours() }
        }
    }
}

fn manifest_in(folder: &Path) -> Value {
    let text = fs::read_to_string(folder.join("manifest.json"));
    serde_json::from_str(&text.expect("`make test` installs and builds what is needed"))
        .expect("a manifest is JSON")
}
