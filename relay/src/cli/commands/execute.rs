//! `playwriter -e 'code'`

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use relay::agents::{Execute, Image, SessionName};

use super::mcp::Mcp;
use crate::cli::args::address::Address;
use crate::cli::args::listen::SeparateWindow;
use crate::cli::progress::Progress;
use crate::cli::{Outcome, home_folder, one_line, print, say};

/// The kinds of images that are saved, and how their files' names end.
const KINDS: [(&str, &str); 4] =
    [("image/png", "png"), ("image/jpeg", "jpeg"), ("image/webp", "webp"), ("image/gif", "gif")];

/// More images than anybody looks at.
const MAX_NUMBER: u32 = 100_000;

/// Code that is run without a subcommand.
#[derive(Debug, clap::Args)]
pub(crate) struct Eval {
    /// Run JavaScript with Playwright in a session, and print its value
    #[arg(short = 'e', long = "eval", value_name = "CODE")]
    pub(crate) code: Option<String>,
    /// Session in which the code runs; a missing session is made
    #[arg(short, long, env = "PLAYWRITER_SESSION")]
    session: Option<SessionName>,
    /// Time that the code may take, in milliseconds
    #[arg(long, value_name = "MS")]
    timeout: Option<u64>,
    /// Browser for a new session, by extension id or stable key
    #[arg(long)]
    browser: Option<String>,
    #[command(flatten)]
    window: SeparateWindow,
    #[command(flatten)]
    address: Address,
}

impl Eval {
    /// Converts the options to those of an agent's server.
    pub(crate) fn into_mcp(self) -> Mcp {
        let Self { session, browser, window, address, .. } = self;
        Mcp { session, browser, window, address }
    }

    /// Runs the code; the outcome says if it ended without an error.
    pub(crate) async fn run(self, code: String) -> anyhow::Result<Outcome> {
        let Self { session, timeout, browser, window, address, .. } = self;
        let session = session.unwrap_or_default();
        let is_here = address.remote()?.is_none();
        let execute = Execute { code, timeout, browser, ..Execute::default() };
        let outcome = {
            let _progress = Progress::show("running the code");
            address.sessions_with(window)?.execute(&session, execute).await?
        };
        let notes = outcome.notes_shown();
        // A relay's answer must not decide where files are written.
        let folder = match is_here {
            true => home_folder()?.join("sessions").join(session.as_str()),
            false => PathBuf::new(),
        };
        for image in &outcome.images {
            print(&save(&folder, image)?.display().to_string())?;
        }
        if let Some(notes) = notes {
            say(&notes);
        }
        if outcome.failed {
            say(&format!("error: {}", outcome.text));
            return Ok(Outcome::No);
        }
        if !outcome.text.is_empty() {
            print(&outcome.text)?;
        }
        Ok(Outcome::Yes)
    }
}

/// Writes an image into a folder under a name that is free.
fn save(folder: &Path, image: &Image) -> anyhow::Result<PathBuf> {
    use base64::Engine;
    let bytes = base64::engine::general_purpose::STANDARD.decode(&image.data)?;
    let (_, ending) =
        KINDS.iter().find(|(kind, _)| image.mime_type == *kind).with_context(|| {
            format!("an image of the kind {:?} is not saved", one_line(&image.mime_type))
        })?;
    for number in 1..=MAX_NUMBER {
        let path = folder.join(format!("image-{number}.{ending}"));
        let mut file = match File::create_new(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            file => file.with_context(|| format!("cannot write {}", path.display()))?,
        };
        file.write_all(&bytes).with_context(|| format!("cannot write {}", path.display()))?;
        return Ok(path);
    }
    bail!("there is no free name for an image in {}\n\nhint: remove some", folder.display())
}
