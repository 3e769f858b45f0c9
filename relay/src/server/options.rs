//! The options with which a relay is started.

use std::path::PathBuf;

use shared_protocol::DEFAULT_PORT;

use super::{AllowedUser, Logger, PairingMode};
use crate::agents::ExecutorOptions;
use crate::log::Logs;
use crate::system::folders::folder_in;
use crate::trust::Token;

/// The options of a relay: the addresses at which it listens, and the rules by which it serves.
#[derive(Debug, Clone)]
pub struct RelayOptions {
    /// An address or a name of this machine; 127.0.0.1 is served beside it.
    pub host: String,
    /// 0 takes a free one.
    pub port: u16,
    /// Other names by which programs may call it, such as a proxy's.
    pub allowed_hosts: Vec<String>,
    /// The token that programs must show. A relay that other machines can reach needs one.
    pub token: Option<Token>,
    /// Users of this machine who are served like this one and root.
    pub allowed_users: Vec<AllowedUser>,
    /// The rights of clients beyond driving tabs.
    pub policy: relay_core::Policy,
    /// The files that the relay writes.
    pub logs: Option<Logs>,
    /// Takes the relay's words, which otherwise go to the process's own `tracing`.
    pub logger: Option<Logger>,
    /// A folder for the relay file, which only this user can read, with which the relay can be asked
    /// to stop ([`RelayServer::asked_to_stop`](super::RelayServer::asked_to_stop)).
    pub relay_file: Option<PathBuf>,
    /// The folder with the secret of this user, from which the keys of extensions and programs come.
    /// Without one, no extension can prove itself, and all are believed.
    pub secret: Option<PathBuf>,
    /// True if CDP clients have to show a token, too: the user's, or one that is derived from the
    /// secret.
    pub paired: bool,
    /// The extensions that are let in.
    pub pairing: PairingMode,
    /// The arguments of `playwriter serve`, without the token. They are in the relay file, so that a
    /// newer relay in the place of this one is like it.
    pub arguments: Vec<String>,
    /// True if a browser ends with the relay, as that of `playwriter browser start` does. This is in
    /// the relay file, too: such a relay is not replaced by a newer one.
    pub has_browser: bool,
    /// The version that the relay reports. A program with its own version sets that one here.
    pub version: String,
    /// The options for running agents' code.
    pub executor: ExecutorOptions,
}

impl Default for RelayOptions {
    fn default() -> Self {
        Self {
            host: "127.0.0.1".to_owned(),
            port: DEFAULT_PORT,
            allowed_hosts: Vec::new(),
            token: None,
            allowed_users: Vec::new(),
            policy: relay_core::Policy::default(),
            logs: None,
            logger: None,
            relay_file: None,
            secret: None,
            paired: false,
            pairing: PairingMode::default(),
            arguments: Vec::new(),
            has_browser: false,
            version: crate::VERSION.to_owned(),
            executor: ExecutorOptions::default(),
        }
    }
}

/// The options that most programs need; [`RelayOptions`] has all.
#[derive(Debug, Clone)]
pub struct RelayServerOptions {
    /// 0 takes a free one.
    pub port: u16,
    /// An address or a name of this machine; 127.0.0.1 is served beside it.
    pub host: String,
    /// The token that programs must show. A relay that other machines can reach needs one.
    pub token: Option<Token>,
    /// Takes the relay's words, which otherwise go to the process's own `tracing`.
    pub logger: Option<Logger>,
    /// True if tabs that clients open go to a window of their own.
    pub separate_window: bool,
    /// True if a client that finds no tab gets one.
    pub auto_enable: bool,
    /// The home folder in whose `.playwriter` the secret of its user is; this user's when `None`.
    pub home: Option<PathBuf>,
}

impl Default for RelayServerOptions {
    fn default() -> Self {
        let RelayOptions { host, port, token, policy, .. } = RelayOptions::default();
        let relay_core::Policy { separate_window, opens_first_tab: auto_enable, .. } = policy;
        Self { port, host, token, logger: None, separate_window, auto_enable, home: None }
    }
}

impl From<RelayServerOptions> for RelayOptions {
    fn from(options: RelayServerOptions) -> Self {
        let RelayServerOptions { port, host, token, logger, separate_window, auto_enable, home } =
            options;
        let policy = relay_core::Policy {
            separate_window,
            opens_first_tab: auto_enable,
            ..relay_core::Policy::default()
        };
        let secret = folder_in(home.as_deref());
        Self { host, port, token, logger, policy, secret, ..Self::default() }
    }
}
