//! A Chromium with an extension.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use relay::browser::{Browser, BrowserOptions};

use super::Screen;
use crate::machine::copy_folder;

/// The folder of the extension that has a key, in a home.
pub(crate) const PAIRED: &str = "extension";

/// An extension to load, and where it finds its relay.
#[derive(Debug)]
pub(crate) struct Extension {
    pub(crate) folder: PathBuf,
    pub(crate) id: String,
    /// The port that this browser reaches when it dials the usual one. `None` for nothing.
    pub(crate) at_usual_port: Option<u16>,
    /// A port that this browser dials, and the one that it reaches.
    pub(crate) detour: Option<(u16, u16)>,
    /// More switches.
    pub(crate) switches: Vec<OsString>,
}

impl Extension {
    /// The built extension, which is told its relay's port. Nobody's relay on the usual port can be
    /// reached: the address is taken away.
    pub(crate) fn ours() -> Self {
        let id = relay::EXTENSION_ID.to_owned();
        let (folder, switches) = (built_extension(), Vec::new());
        Self { folder, id, at_usual_port: None, detour: None, switches }
    }

    /// Works like [`Extension::ours`], in a folder of its own, with a key that relays of this home
    /// know.
    pub(crate) fn paired(home: &Path, port: u16) -> Self {
        let folder = home.join(PAIRED);
        copy_folder(&built_extension(), &folder);
        relay::pairing::pair(&home.join(".playwriter"), &folder, port).expect("it can be paired");
        Self { folder, ..Self::ours() }
    }

    /// The extension that a browser of this home had.
    pub(crate) fn again(home: &Path) -> Self {
        let folder = home.join(PAIRED);
        if folder.is_dir() { Self { folder, ..Self::ours() } } else { Self::ours() }
    }

    pub(crate) async fn start_browser(
        &self,
        home: &Path,
        other_extensions: &[PathBuf],
        screen: Option<&Screen>,
    ) -> Browser {
        let program =
            relay::browser::find().expect("a Chromium is installed; `make test` does that");
        let usual_port = match self.at_usual_port {
            Some(port) => format!("127.0.0.1:{port}"),
            None => "~NOTFOUND".to_owned(),
        };
        let mut rules =
            format!("MAP 127.0.0.1:19988 {usual_port},MAP localhost:19988 {usual_port}");
        // The user may go there; what counts is the address.
        rules += ",MAP chromewebstore.google.com ~NOTFOUND";
        if let Some((dialled, reached)) = self.detour {
            rules += &format!(",MAP 127.0.0.1:{dialled} 127.0.0.1:{reached}");
        }
        let mut arguments: Vec<OsString> = vec![
            "--disable-quic".into(),
            // The port helps people who want to know why a test failed.
            "--remote-debugging-port=0".into(),
            "--screen-info={1920x1080}".into(),
            format!("--host-resolver-rules={rules}").into(),
            // The switch hides all banners but the one that a user would see.
            "--test-type".into(),
        ];
        arguments.extend(self.switches.iter().cloned());
        let mut environment: Vec<(OsString, OsString)> = vec![("HOME".into(), home.into())];
        environment.extend(screen.map(|screen| ("DISPLAY".into(), screen.display().into())));
        if !other_extensions.is_empty() {
            let mut all = self.folder.clone().into_os_string();
            for other in other_extensions {
                all.push(",");
                all.push(other);
            }
            // The last of a repeated switch counts.
            for switch in ["--load-extension=", "--disable-extensions-except="] {
                let mut argument = OsString::from(switch);
                argument.push(&all);
                arguments.push(argument);
            }
        }
        let options = BrowserOptions {
            program,
            extension: self.folder.clone(),
            extension_id: self.id.clone(),
            profile: home.join("profile"),
            headless: screen.is_none(),
            arguments,
            environment,
        };
        match Browser::start(&options).await {
            Ok(browser) => browser,
            Err(error) => panic!("{error}"),
        }
    }
}

/// The folder that `make extension` fills.
#[must_use]
pub fn built_extension() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../extension-shell/dist")
}
