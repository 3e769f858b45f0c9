//! Connects: starts a relay if none runs, waits for a browser, and returns the address for a CDP
//! client.

use std::time::Duration;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use relay_core::choice::{self, Candidate, NoChoice};
use shared_protocol::DEFAULT_PORT;
use shared_protocol::http::{ExtensionEntry, ExtensionsStatus, RelayStatus};

use super::poll::{Poll, poll};
use super::{PersistentRelayOptions, RelayServerError, ensure_persistent_relay, version_of_ours};
use crate::client::{Client, Endpoint};
use crate::trust::Token;

/// The interval at which the list of extensions is polled.
const EXTENSION_POLL_INTERVAL: Duration = Duration::from_millis(500);

/// The options of a connection.
#[derive(Debug, Clone)]
pub struct ConnectOptions {
    /// The relay's port on this machine.
    pub port: u16,
    /// A relay elsewhere, which is used as it is.
    pub remote: Option<Endpoint>,
    /// The token that the relay wants.
    pub token: Option<Token>,
    /// The time that the extension may take.
    pub timeout: Duration,
    /// True if the tabs that this client opens go to a window of their own; `None` leaves it to the
    /// relay's mode.
    pub separate_window: Option<bool>,
    /// The wanted browser out of several, by extension id or stable key.
    pub browser: Option<String>,
    /// The options for starting a relay, if none runs. Port and token are those above.
    pub relay: PersistentRelayOptions,
}

impl Default for ConnectOptions {
    fn default() -> Self {
        Self {
            port: DEFAULT_PORT,
            remote: None,
            token: None,
            timeout: Duration::from_secs(30),
            separate_window: None,
            browser: None,
            relay: PersistentRelayOptions::default(),
        }
    }
}

/// A browser that waits for a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// The address for a CDP client. It carries the token, if there is one.
    pub cdp_url: String,
    /// True if this call started the relay.
    pub started: bool,
    /// The relay's version.
    pub version: String,
    /// The number of tabs that can be driven.
    pub page_count: usize,
}

#[cfg(feature = "chromiumoxide")]
impl Connection {
    /// Connects chromiumoxide. Nothing happens until the handler is polled, as that library's own
    /// documentation says; dropping both disconnects, and the user's browser stays.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use futures_util::StreamExt;
    /// use relay::{ConnectOptions, connect_to_playwriter};
    ///
    /// let connection = connect_to_playwriter(&ConnectOptions::default()).await?;
    /// let (browser, mut handler) = connection.browser().await?;
    /// tokio::spawn(async move { while handler.next().await.is_some() {} });
    /// let page = browser.new_page("https://example.com").await?;
    /// println!("{:?}", page.get_title().await?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As chromiumoxide's `Browser::connect`.
    pub async fn browser(
        &self,
    ) -> Result<(chromiumoxide::Browser, chromiumoxide::Handler), chromiumoxide::error::CdpError>
    {
        chromiumoxide::Browser::connect(&self.cdp_url).await
    }
}

/// Sees to a relay, waits for the browser that is meant, and says where to connect.
///
/// A tab is not needed where the relay opens one for a client that finds none.
///
/// ```
/// # #[tokio::main]
/// # async fn main() -> Result<(), relay::RelayServerError> {
/// use std::time::Duration;
///
/// use relay::{ConnectOptions, RelayServerError, connect_to_playwriter};
///
/// # let server = relay::RelayServerOptions { port: 0, ..Default::default() };
/// # let server = relay::start_relay_server(server).await?;
/// # let port = server.address().port();
/// let options = ConnectOptions { port, timeout: Duration::from_millis(100), ..Default::default() };
/// match connect_to_playwriter(&options).await {
///     Ok(connection) => println!("connect a CDP client to {}", connection.cdp_url),
///     Err(RelayServerError::ExtensionNotConnected { .. }) => println!("no browser has come yet"),
///     Err(error) => return Err(error),
/// }
/// # server.close().await;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Works like [`ensure_persistent_relay`]; [`RelayServerError::ExtensionNotConnected`],
/// [`RelayServerError::NoTab`] or [`RelayServerError::WhichBrowser`] when the browser that is meant
/// did not come in time.
pub async fn connect_to_playwriter(
    options: &ConnectOptions,
) -> Result<Connection, RelayServerError> {
    let ConnectOptions { port, remote, token, timeout, separate_window, browser, relay } = options;
    let endpoint = remote.clone().unwrap_or_else(|| Endpoint::local(*port));
    let mut client = Client::new(endpoint.clone(), token.clone());
    let (started, version) = match remote {
        Some(_) => (false, version_of_ours(&client).await?.version),
        None => {
            let (port, token) = (*port, token.clone());
            let relay = PersistentRelayOptions { port, token, ..relay.clone() };
            client = relay.client();
            let relay = ensure_persistent_relay(&relay).await?;
            (relay.started, relay.version)
        }
    };
    let status: RelayStatus = client.get("/relay/status").await?;
    let wanted = browser.as_deref();
    let needs_tab = !status.auto_enable;
    let judge = |found: ExtensionsStatus| choose(&found.extensions, wanted, needs_tab, &endpoint);
    let page_count =
        poll(&client, "/extensions/status", *timeout, EXTENSION_POLL_INTERVAL, judge).await?;
    let is_paired = status.settings.is_some_and(|settings| settings.is_paired);
    let token = token.clone().or_else(|| client.cdp_token().filter(|_| is_paired));
    let cdp_url = cdp_url(&endpoint, token.as_ref(), *separate_window, wanted);
    Ok(Connection { cdp_url, started, version, page_count })
}

/// Applies the relay's own rule to the browsers that are there, and returns how many tabs the browser
/// of the client has.
fn choose(
    entries: &[ExtensionEntry],
    wanted: Option<&str>,
    needs_tab: bool,
    relay: &Endpoint,
) -> Poll<usize> {
    let candidates: Vec<Candidate<'_>> = entries.iter().map(Candidate::of_entry).collect();
    let which = || {
        let newest: Vec<&ExtensionEntry> =
            choice::newest(&candidates).into_iter().map(|at| &entries[at]).collect();
        which(relay.port(), &newest)
    };
    match choice::choose(&candidates, wanted) {
        Ok(at) => match entries[at].active_targets {
            0 if needs_tab => Poll::Pending(RelayServerError::NoTab { relay: relay.clone() }),
            tabs => Poll::Ready(tabs),
        },
        Err(NoChoice::Nobody) => {
            Poll::Pending(RelayServerError::ExtensionNotConnected { relay: relay.clone() })
        }
        Err(NoChoice::Several { with_tabs: true }) => Poll::Failed(which()),
        // A click may still say which.
        Err(NoChoice::NotThere | NoChoice::Several { with_tabs: false }) => Poll::Pending(which()),
    }
}

fn which(port: u16, entries: &[&ExtensionEntry]) -> RelayServerError {
    let choice = |entry: &&ExtensionEntry| match &entry.browser {
        Some(browser) => format!("{} ({browser})", entry.stable_key),
        None => entry.stable_key.clone(),
    };
    let choices: Vec<String> = entries.iter().map(choice).collect();
    RelayServerError::WhichBrowser { port, choices: choices.join(", ") }
}

/// Returns the address to which a CDP client connects.
///
/// ```
/// use relay::client::Endpoint;
/// use relay::server::Token;
///
/// assert_eq!(relay::cdp_url(&Endpoint::local(19988), None, None, None), "ws://127.0.0.1:19988/cdp");
/// assert_eq!(
///     relay::cdp_url(
///         &"https://relay.example".parse()?,
///         Some(&Token::new("s3cret")),
///         Some(true),
///         Some("profile:1"),
///     ),
///     "wss://relay.example/cdp?token=s3cret&separateWindow=true&extensionId=profile%3A1",
/// );
/// # Ok::<(), relay::client::UnreadableEndpoint>(())
/// ```
#[must_use]
pub fn cdp_url(
    relay: &Endpoint,
    token: Option<&Token>,
    separate_window: Option<bool>,
    browser: Option<&str>,
) -> String {
    let token = token.map(Token::as_query);
    let window = separate_window.map(|wanted| format!("separateWindow={wanted}"));
    let browser =
        browser.map(|key| format!("extensionId={}", utf8_percent_encode(key, NON_ALPHANUMERIC)));
    let query: Vec<String> = token.into_iter().chain(window).chain(browser).collect();
    let question = if query.is_empty() { "" } else { "?" };
    format!("{}{question}{}", relay.socket("/cdp"), query.join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_says_what_there_is_to_wait_for() {
        for (there, wanted, needs_tab, expected) in [
            (&[][..], None, false, "not connected"),
            (&[("one", 0)], None, false, "0"),
            (&[("one", 0)], None, true, "no tab"),
            (&[("one", 1), ("one", 3)], None, true, "3"),
            (&[("one", 0), ("two", 0)], None, false, "which, yet"),
            (&[("one", 1), ("two", 1)], None, false, "which"),
            (&[("one", 1), ("two", 0)], Some("two"), true, "no tab"),
            (&[("one", 1)], Some("two"), true, "which, yet"),
            (&[], Some("two"), true, "not connected"),
        ] {
            let entries: Vec<_> = there.iter().enumerate().map(entry).collect();
            let found = match choose(&entries, wanted, needs_tab, &Endpoint::local(7)) {
                Poll::Ready(tabs) => tabs.to_string(),
                Poll::Pending(RelayServerError::ExtensionNotConnected { .. }) => {
                    "not connected".to_owned()
                }
                Poll::Pending(RelayServerError::NoTab { .. }) => "no tab".to_owned(),
                Poll::Pending(RelayServerError::WhichBrowser { .. }) => "which, yet".to_owned(),
                Poll::Failed(RelayServerError::WhichBrowser { .. }) => "which".to_owned(),
                Poll::Pending(error) | Poll::Failed(error) => error.to_string(),
            };
            assert_eq!(found, expected, "{there:?} {wanted:?} {needs_tab}");
        }
    }

    fn entry((number, (key, tabs)): (usize, &(&str, usize))) -> ExtensionEntry {
        ExtensionEntry {
            paired: None,
            extension_id: format!("connection-{number}"),
            stable_key: (*key).to_owned(),
            browser: None,
            profile: None,
            active_targets: *tabs,
            playwriter_version: None,
            warnings: Vec::new(),
        }
    }
}
