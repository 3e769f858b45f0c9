//! Finds the user whose socket is at the other end of a connection.
//!
//! TCP does not name the user, but the system does: it has a row for each socket, with the user who
//! opened it. The row is looked up once, when the connection is accepted, by all four values of the
//! pair of addresses. Our end is open for as long as that takes, so nobody else can have the same
//! pair.
//!
//! A socket whose owner has closed it is still there for a while, with the bytes that were sent
//! before, and is shown as root's. So a row is evidence only if it has an inode. Everything else is
//! [`User::Unknown`], which is nobody's user.

#[cfg(target_os = "linux")]
mod netlink;
#[cfg(target_os = "linux")]
mod proc_net;
mod wsl;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::agents::Executor;
use crate::system::users::own_user;
#[cfg(target_os = "linux")]
use netlink::Netlink;

/// The user of root.
const ROOT: u32 = 0;

/// The user at the other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum User {
    /// The user of this relay.
    Own,
    /// Root, who can read everything that this user has.
    Root,
    /// Another user.
    Other(u32),
    /// A user whom the system does not tell.
    Unknown,
    /// A user on Windows, around the WSL in which this relay runs.
    Windows,
}

/// The socket at the other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The user who opened it.
    pub(crate) user: User,
    /// The inode, by which the process that has it can be found.
    pub(crate) inode: Option<u32>,
    /// Whether a sandbox of agents' code has it, or may have had it.
    pub(crate) is_agents: bool,
}

impl Identity {
    /// Somebody of whom nothing is known.
    pub(crate) const UNKNOWN: Self = Self { user: User::Unknown, inode: None, is_agents: false };
}

/// The other end of one connection, for all requests on it.
#[derive(Debug, Clone)]
pub(crate) struct Remote {
    /// The address; a socket in the file system has none.
    pub(crate) address: Option<SocketAddr>,
    /// Our address, as the peer connected to it.
    pub(crate) local: Option<SocketAddr>,
    pub(crate) identity: Identity,
    shown: Standing,
    allowance: Allowance,
}

impl Remote {
    /// Makes the remote of a TCP connection.
    pub(crate) fn tcp(
        address: SocketAddr,
        local: SocketAddr,
        identity: Identity,
        shown: Standing,
    ) -> Self {
        let allowance = Allowance::default();
        Self { address: Some(address), local: Some(local), identity, shown, allowance }
    }

    /// A program of this user at the socket in the user's own folder. What it dials stands for the
    /// relay's port.
    pub(crate) fn own_socket(local: SocketAddr, shown: Standing) -> Self {
        let identity = Identity { user: User::Own, inode: None, is_agents: false };
        let allowance = Allowance::default();
        Self { address: None, local: Some(local), identity, shown, allowance }
    }

    /// Returns the remote of a request that came without a connection: it is let in nowhere.
    pub(crate) fn nowhere() -> Self {
        Self {
            address: None,
            local: None,
            identity: Identity::UNKNOWN,
            shown: Standing::default(),
            allowance: Allowance::default(),
        }
    }

    /// Limits how much is read of the connection.
    pub(crate) fn allowance(&self) -> &Allowance {
        &self.allowance
    }

    /// Tells whether the connection may stay.
    pub(crate) fn shown(&self) -> &Standing {
        &self.shown
    }

    /// Returns true for connections from this machine.
    pub(crate) fn is_loopback(&self) -> bool {
        match self.address {
            Some(address) => address.ip().to_canonical().is_loopback(),
            None => self.local.is_some(),
        }
    }

    /// Returns true for the user of this relay, and for root.
    pub(crate) fn is_owner(&self) -> bool {
        matches!(self.identity.user, User::Own | User::Root)
    }

    /// Notes that a request was let in: the connection may stay.
    pub(crate) fn has_shown_something(&self) {
        self.shown.set();
    }
}

/// Limits how much is read of a connection whose other end has yet to prove itself.
#[derive(Debug, Clone)]
pub(crate) struct Allowance(Arc<AtomicU64>);

impl Allowance {
    const UNLIMITED: u64 = u64::MAX;

    /// Lets so many more bytes be read.
    pub(crate) fn limit(&self, bytes: u64) {
        self.0.store(bytes, Ordering::Relaxed);
    }

    /// Lets everything be read.
    pub(crate) fn lift(&self) {
        self.limit(Self::UNLIMITED);
    }

    /// Takes what was read from the allowance; returns false if it was more.
    pub(crate) fn spend(&self, bytes: usize) -> bool {
        let left = self.0.load(Ordering::Relaxed);
        if left == Self::UNLIMITED {
            return true;
        }
        let bytes = u64::try_from(bytes).unwrap_or(Self::UNLIMITED);
        self.limit(left.saturating_sub(bytes));
        bytes <= left
    }
}

impl Default for Allowance {
    fn default() -> Self {
        Self(Arc::new(AtomicU64::new(Self::UNLIMITED)))
    }
}

/// Tells whether a connection has shown that it may stay.
#[derive(Debug, Clone, Default)]
pub(crate) struct Standing(Arc<AtomicBool>);

impl Standing {
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The row of a socket, as the system has it.
#[cfg(target_os = "linux")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    state: u8,
    uid: u32,
    inode: u32,
}

/// Looks up sockets.
#[derive(Debug)]
pub(crate) struct Peers {
    own: u32,
    /// The user as which the system shows those of whom it does not tell, if there can be such.
    overflow: Option<u32>,
    is_wsl: bool,
    #[cfg(target_os = "linux")]
    netlink: Option<Netlink>,
    lookups: AtomicU64,
    from_windows: AtomicU64,
    unknown: AtomicU64,
    /// The executor whose sandboxes may have to be kept out.
    sandboxes: Option<Executor>,
}

impl Peers {
    /// Finds out how this system is asked.
    pub(crate) fn new() -> Self {
        Self {
            own: own_user(),
            overflow: overflow_user(),
            is_wsl: wsl::is_here(),
            #[cfg(target_os = "linux")]
            netlink: Netlink::open().inspect_err(|error| {
                tracing::info!(%error, "sockets are looked up in /proc: netlink does not answer");
            }).ok(),
            lookups: AtomicU64::new(0),
            from_windows: AtomicU64::new(0),
            unknown: AtomicU64::new(0),
            sandboxes: None,
        }
    }

    /// Tells the connections of the sandboxes of agents' code apart, where the system does not keep them
    /// from the relay's port.
    pub(crate) fn with_sandboxes(self, executor: Executor) -> Self {
        Self { sandboxes: Some(executor), ..self }
    }

    /// The user of this relay.
    pub(crate) fn own(&self) -> u32 {
        self.own
    }

    /// Counts the connections that were looked up.
    pub(crate) fn lookups(&self) -> u64 {
        self.lookups.load(Ordering::Relaxed)
    }

    /// Counts those that came from Windows.
    pub(crate) fn connections_from_windows(&self) -> u64 {
        self.from_windows.load(Ordering::Relaxed)
    }

    /// Counts those of whose user the system did not tell.
    pub(crate) fn unknown_connections(&self) -> u64 {
        self.unknown.load(Ordering::Relaxed)
    }

    /// Looks up the other end of a connection. Other machines' sockets are not to be found here.
    pub(crate) async fn look_up(&self, remote: SocketAddr, local: SocketAddr) -> Identity {
        let (remote, local) = (canonical(remote), canonical(local));
        if !remote.ip().is_loopback() {
            return Identity::UNKNOWN;
        }
        self.lookups.fetch_add(1, Ordering::Relaxed);
        let mut identity = self.identity(self.row(remote, local).await);
        identity.is_agents = self.is_agents(identity, remote, local).await;
        let count = match identity.user {
            User::Windows => Some(&self.from_windows),
            User::Unknown => Some(&self.unknown),
            User::Own | User::Root | User::Other(_) => None,
        };
        if let Some(count) = count {
            count.fetch_add(1, Ordering::Relaxed);
        }
        identity
    }

    /// Returns whether a sandbox has the other end of a connection, or may have had it. This is looked up
    /// once, before anything is read: what was sent stays when its sender has closed.
    async fn is_agents(&self, peer: Identity, remote: SocketAddr, local: SocketAddr) -> bool {
        let Some((sandboxes, inode)) = self.sandboxes.as_ref().zip(peer.inode) else {
            return false;
        };
        if !sandboxes.reach_the_relay() {
            return false;
        }
        // A peer that has closed it meanwhile may have been a sandbox.
        sandboxes.holds_socket(u64::from(inode))
            || self.identity(self.row(remote, local).await).inode != peer.inode
    }

    #[cfg(target_os = "linux")]
    async fn row(&self, remote: SocketAddr, local: SocketAddr) -> Option<Row> {
        if let Some(netlink) = &self.netlink {
            match netlink.row(remote, local) {
                Ok(row) => return row,
                Err(error) => tracing::debug!(%error, "netlink does not answer"),
            }
        }
        // Its length is that of all sockets of the machine.
        let read = tokio::task::spawn_blocking(move || proc_net::row(remote, local));
        read.await.ok().flatten()
    }

    #[cfg(target_os = "linux")]
    fn identity(&self, row: Option<Row>) -> Identity {
        let row = row.filter(Row::has_owner);
        let user = match row.map(|row| row.uid) {
            Some(uid) if Some(uid) == self.overflow => User::Unknown,
            Some(uid) if uid == self.own => User::Own,
            Some(ROOT) => User::Root,
            Some(uid) => User::Other(uid),
            None => User::Unknown,
        };
        let user = match user {
            // The process that forwards for Windows is root's, or is in no table of this system.
            User::Root | User::Unknown if self.is_wsl => User::Windows,
            User::Own | User::Root | User::Other(_) | User::Unknown | User::Windows => user,
        };
        Identity { user, inode: row.map(|row| row.inode), is_agents: false }
    }

    #[cfg(not(target_os = "linux"))]
    async fn row(&self, _: SocketAddr, _: SocketAddr) {}

    #[cfg(not(target_os = "linux"))]
    fn identity(&self, (): ()) -> Identity {
        Identity::UNKNOWN
    }
}

#[cfg(target_os = "linux")]
impl Row {
    /// Returns true for a socket that a process has open. A socket that listens at the peer's address,
    /// and one that was closed, tell nothing about who connected.
    fn has_owner(&self) -> bool {
        const ESTABLISHED: u8 = 1;
        // Its owner has nothing more to say, and may still read.
        const FIN_WAIT1: u8 = 4;
        const FIN_WAIT2: u8 = 5;
        self.inode != 0 && [ESTABLISHED, FIN_WAIT1, FIN_WAIT2].contains(&self.state)
    }
}

/// The address as the one who connected wrote it, if it is an IPv4 address in IPv6's clothes.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// Returns the user whose program listens on `[::1]` at a port, where the system tells.
#[cfg(target_os = "linux")]
#[must_use]
pub fn user_at_ipv6_loopback(port: u16) -> Option<u32> {
    proc_net::listener_on(SocketAddr::from((std::net::Ipv6Addr::LOCALHOST, port)))
}

/// Returns the user whose program listens on `[::1]` at a port, where the system tells.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn user_at_ipv6_loopback(_: u16) -> Option<u32> {
    None
}

/// Returns the number that the system shows in place of users that it hides: there are such users
/// only inside of a user namespace.
#[cfg(target_os = "linux")]
fn overflow_user() -> Option<u32> {
    let text = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    if text.split_whitespace().eq(["0", "0", "4294967295"]) {
        return None;
    }
    let told = std::fs::read_to_string("/proc/sys/kernel/overflowuid");
    Some(told.ok().and_then(|told| told.trim().parse().ok()).unwrap_or(65534))
}

#[cfg(not(target_os = "linux"))]
fn overflow_user() -> Option<u32> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
