//! The sockets on which the relay listens. 127.0.0.1 is always one of them: the extension knows no
//! other address.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use tokio::net::{TcpListener, TcpSocket, lookup_host};

use super::RelayOptions;
use super::access::caller::address_in;
use super::access::since::Since;
use crate::start_error::StartError;

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// The shortest token that is allowed where other machines can guess tokens.
const LONG_ENOUGH: usize = 16;

/// The sockets on which a relay listens, and the time when it began.
#[derive(Debug)]
pub(crate) struct Listening {
    pub(crate) listeners: Vec<TcpListener>,
    pub(crate) port: u16,
    /// The instant at which the relay began to listen.
    pub(crate) since: Since,
    /// The reason why the relay does not listen on `[::1]`, the address that some programs take for
    /// `localhost`.
    pub(crate) ipv6_refused: Option<io::Error>,
}

/// Takes the addresses that the options ask for, all on one port. Whatever other machines can reach
/// needs a token that nobody guesses. Somebody else at `[::1]` would be asked by programs that say
/// `localhost`, so it is taken too, if it can be had.
pub(crate) async fn listen(options: &RelayOptions) -> Result<Listening, StartError> {
    let host = resolve(&options.host).await?;
    match &options.token {
        Some(token) if !token.is_usable() => return Err(StartError::UnusableToken),
        Some(token)
            if token.secret().len() < LONG_ENOUGH
                && !(host.is_loopback() && options.allowed_hosts.is_empty()) =>
        {
            return Err(StartError::ShortToken);
        }
        None if !host.is_loopback() => {
            return Err(StartError::TokenNeeded(options.host.clone()));
        }
        None if !options.allowed_hosts.is_empty() => {
            return Err(StartError::TokenNeededFor(options.allowed_hosts.join(", ")));
        }
        Some(_) | None => {}
    }
    // The unspecified address takes loopback in.
    let takes_loopback_in = host == LOOPBACK || host.is_unspecified();
    let first = SocketAddr::new(if takes_loopback_in { host } else { LOOPBACK }, options.port);
    let listener = bind(first)?;
    let port = listener
        .local_addr()
        .map_err(|source| StartError::Listen { address: first, source })?
        .port();
    let since = Since::now();
    let mut listeners = vec![listener];
    if !takes_loopback_in {
        listeners.push(bind(SocketAddr::new(host, port))?);
    }
    if host.is_unspecified() && !cfg!(target_os = "linux") {
        // On these systems another user may bind an address that is part of ours, and would get the
        // data sent to it.
        listeners.push(bind(SocketAddr::new(LOOPBACK, port))?);
    }
    let ipv6 = IpAddr::V6(Ipv6Addr::LOCALHOST);
    let takes_ipv6_in = host == ipv6 || host == IpAddr::V6(Ipv6Addr::UNSPECIFIED);
    let ipv6_refused = match takes_ipv6_in {
        true => None,
        false => match try_bind(SocketAddr::new(ipv6, port)) {
            Ok(listener) => {
                listeners.push(listener);
                None
            }
            Err(error) => Some(error),
        },
    };
    Ok(Listening { listeners, port, since, ipv6_refused })
}

/// Takes a free port for sandboxes, which nobody else has a use for.
pub(crate) fn for_sandboxes() -> Result<(TcpListener, SocketAddr), StartError> {
    let address = SocketAddr::new(LOOPBACK, 0);
    let listener = bind(address)?;
    let taken = listener.local_addr().map_err(|source| StartError::Listen { address, source })?;
    Ok((listener, taken))
}

async fn resolve(host: &str) -> Result<IpAddr, StartError> {
    if host == "localhost" {
        return Ok(LOOPBACK);
    }
    if let Some(address) = address_in(host) {
        return Ok(address);
    }
    let found = lookup_host((host, 0)).await.ok().and_then(|mut found| found.next());
    found.map(|address| address.ip()).ok_or_else(|| StartError::UnknownHost(host.to_owned()))
}

fn try_bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // Accepted sockets inherit it: small frames must not wait for an acknowledgement.
    socket.set_nodelay(true)?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(1024)
}

fn bind(address: SocketAddr) -> Result<TcpListener, StartError> {
    try_bind(address).map_err(|source| {
        if source.kind() == io::ErrorKind::AddrInUse {
            StartError::PortTaken(address.port())
        } else {
            StartError::Listen { address, source }
        }
    })
}
