//! The messages between the relay and a sandbox, as JSON over two pipes.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::agents::api::Image;
use crate::boundary::{Boundary, Ports};

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum Request<'a> {
    Start {
        endpoint: &'a str,
        key: &'a str,
        playwright: &'a Path,
        ports: Vec<Ports>,
        datagrams: bool,
    },
    Execute {
        id: u64,
        code: &'a str,
        timeout: u128,
    },
    Cancel {},
    Ping {
        id: u64,
    },
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(super) enum Answer {
    /// Before there is any JavaScript.
    Confined {
        boundary: Boundary,
    },
    Ready {
        #[serde(default)]
        pid: Option<u32>,
    },
    Broken {
        message: String,
    },
    Alive {
        id: u64,
    },
    Received {
        id: u64,
        /// True if the sandbox has to connect to the browser first, for which it has more time.
        connects: bool,
    },
    Said {
        id: u64,
        text: String,
    },
    Begun {
        id: u64,
    },
    Done {
        id: u64,
        #[serde(flatten)]
        done: Done,
    },
}

/// The answer of a sandbox to a call.
#[derive(Debug, Deserialize)]
pub(crate) struct Done {
    pub(crate) failed: bool,
    #[serde(default)]
    pub(crate) notes: Vec<String>,
    pub(crate) text: String,
    pub(crate) images: Vec<Image>,
}
