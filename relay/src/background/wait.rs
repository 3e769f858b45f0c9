//! Waits for the person at the browser.

use std::path::PathBuf;
use std::time::Duration;

use shared_protocol::DEFAULT_PORT;
use shared_protocol::http::PagesStatus;

use super::poll::{Poll, poll};
use super::{RelayServerError, folder_of};
use crate::client::{Client, Endpoint};
use crate::trust::Token;

/// The options that say what to wait for.
#[derive(Debug, Clone)]
pub struct WaitOptions {
    /// The port on this machine at which the relay listens.
    pub port: u16,
    /// A relay elsewhere, in place of the one on this machine.
    pub remote: Option<Endpoint>,
    /// The token that the relay wants.
    pub token: Option<Token>,
    /// The time to wait.
    pub timeout: Duration,
    /// The interval between polls.
    pub poll_interval: Duration,
    /// True if a controlled tab is wanted, too, and not just the extension.
    pub needs_tab: bool,
    /// The home folder in whose `.playwriter` a relay of this machine keeps its files; this user's when
    /// `None`.
    pub home: Option<PathBuf>,
}

impl Default for WaitOptions {
    fn default() -> Self {
        Self {
            port: DEFAULT_PORT,
            remote: None,
            token: None,
            timeout: Duration::from_secs(30),
            poll_interval: Duration::from_millis(500),
            needs_tab: true,
            home: None,
        }
    }
}

/// An extension that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectedExtension {
    /// Always true.
    pub connected: bool,
    /// The number of tabs that can be driven.
    pub page_count: usize,
}

/// Waits until an extension is connected and controls a tab.
///
/// ```
/// # #[tokio::main]
/// # async fn main() -> Result<(), relay::RelayServerError> {
/// use std::time::Duration;
///
/// use relay::{RelayServerError, WaitOptions, wait_for_extension};
///
/// # let server = relay::RelayServerOptions { port: 0, ..Default::default() };
/// # let server = relay::start_relay_server(server).await?;
/// # let port = server.address().port();
/// let options = WaitOptions { port, timeout: Duration::from_millis(100), ..Default::default() };
/// match wait_for_extension(&options).await {
///     Ok(extension) => println!("tabs to drive: {}", extension.page_count),
///     Err(RelayServerError::ExtensionNotConnected { .. }) => println!("nobody clicked yet"),
///     Err(error) => return Err(error),
/// }
/// # server.close().await;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`RelayServerError::ExtensionNotConnected`] or [`RelayServerError::NoTab`] when nobody clicked in
/// time; otherwise what is wrong with the relay.
pub async fn wait_for_extension(
    options: &WaitOptions,
) -> Result<ConnectedExtension, RelayServerError> {
    let relay = options.remote.clone().unwrap_or_else(|| Endpoint::local(options.port));
    let client = Client::new(relay.clone(), options.token.clone());
    let client = match &options.home {
        Some(home) => client.in_folder(folder_of(Some(home), options.port)?),
        None => client,
    };
    let judge = |PagesStatus { connected, page_count, .. }| match connected {
        true if page_count > 0 || !options.needs_tab => {
            Poll::Ready(ConnectedExtension { connected, page_count })
        }
        true => Poll::Pending(RelayServerError::NoTab { relay: relay.clone() }),
        false => Poll::Pending(RelayServerError::ExtensionNotConnected { relay: relay.clone() }),
    };
    poll(&client, "/extension-status", options.timeout, options.poll_interval, judge).await
}
