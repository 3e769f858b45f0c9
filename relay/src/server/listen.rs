//! Where the relay listens. 127.0.0.1 is always part of it: the extension knows no other address.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use tokio::net::{TcpListener, TcpSocket, lookup_host};

use super::guard::address_in;
use super::{RelayOptions, StartError};

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Takes the addresses that the options ask for, all on one port, which it gives too. Whatever
/// other machines can reach needs a token.
pub(crate) async fn listen(options: &RelayOptions) -> Result<(Vec<TcpListener>, u16), StartError> {
    let host = resolve(&options.host).await?;
    match &options.token {
        Some(token) if !token.is_usable() => return Err(StartError::UnusableToken),
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
    let mut listeners = vec![listener];
    if !takes_loopback_in {
        listeners.push(bind(SocketAddr::new(host, port))?);
    }
    Ok((listeners, port))
}

/// Takes a free port for workers, which nobody else has a use for.
pub(crate) fn for_workers() -> Result<(TcpListener, SocketAddr), StartError> {
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

fn bind(address: SocketAddr) -> Result<TcpListener, StartError> {
    let listen = || -> io::Result<TcpListener> {
        let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        // Accepted sockets inherit it: small frames must not wait for an acknowledgement.
        socket.set_nodelay(true)?;
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(1024)
    };
    listen().map_err(|source| {
        if source.kind() == io::ErrorKind::AddrInUse {
            StartError::PortTaken(address.port())
        } else {
            StartError::Listen { address, source }
        }
    })
}
