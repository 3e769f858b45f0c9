//! Asks the kernel for one socket. The question takes the same time however many sockets there are.
//!
//! The layout is that of `inet_diag_req_v2` and `inet_diag_msg` in `linux/inet_diag.h`.

use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::{Mutex, PoisonError};

use rustix::io::Errno;
use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, connect, recv, send, socket_with,
};

use super::{Row, canonical};

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLMSG_ERROR: u16 = 2;
const NLM_F_REQUEST: u16 = 1;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
const IPPROTO_TCP: u8 = 6;

/// A request: the header of a message, and `inet_diag_req_v2`.
const REQUEST: usize = 16 + 56;

/// An answer: the header of a message, and `inet_diag_msg`. More may follow.
const ANSWER: usize = 16 + 72;

/// The position of the pair of addresses in a request and in an answer.
const REQUESTED_PAIR: usize = 16 + 8;
const ANSWERED_PAIR: usize = 16 + 4;

/// The number of answers to earlier questions that are skipped.
const MAX_STALE: usize = 4;

/// A socket to the kernel. A question waits for those before it, which is short: the kernel has
/// answered when the question is sent.
#[derive(Debug)]
pub(super) struct Netlink(Mutex<Asking>);

#[derive(Debug)]
struct Asking {
    socket: OwnedFd,
    sequence: u32,
}

impl Netlink {
    /// Opens one, and tries it: where the kernel has no module for it, it knows no socket at all.
    pub(super) fn open() -> io::Result<Self> {
        let kind = SocketType::DGRAM;
        let socket =
            socket_with(AddressFamily::NETLINK, kind, SocketFlags::CLOEXEC, Some(SOCK_DIAG))?;
        connect(&socket, &SocketAddrNetlink::new(0, 0))?;
        let netlink = Self(Mutex::new(Asking { socket, sequence: 0 }));
        let listener = TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0))?;
        let known = TcpStream::connect(listener.local_addr()?)?;
        let row = netlink.row(known.local_addr()?, known.peer_addr()?)?;
        row.filter(Row::has_owner).map(|_| netlink).ok_or_else(|| Errno::OPNOTSUPP.into())
    }

    /// Returns the row of the socket at `remote` that is connected to `local`; an error if there was no
    /// answer.
    pub(super) fn row(&self, remote: SocketAddr, local: SocketAddr) -> io::Result<Option<Row>> {
        let mut asking = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        asking.sequence = asking.sequence.wrapping_add(1);
        let sequence = asking.sequence;
        send(&asking.socket, &request(sequence, remote, local), SendFlags::empty())?;
        for _ in 0..=MAX_STALE {
            let mut answer = [0; 1024];
            let (length, _) = recv(&asking.socket, &mut answer, RecvFlags::DONTWAIT)?;
            let answer = answer.get(..length).unwrap_or_default();
            if u32_at(answer, 8) == Some(sequence) {
                return read(answer, remote, local);
            }
        }
        Err(io::ErrorKind::InvalidData.into())
    }
}

fn request(sequence: u32, remote: SocketAddr, local: SocketAddr) -> [u8; REQUEST] {
    let mut request = [0; REQUEST];
    let mut put = |at: usize, bytes: &[u8]| {
        if let Some(place) = request.get_mut(at..at + bytes.len()) {
            place.copy_from_slice(bytes);
        }
    };
    let length = u32::try_from(REQUEST).unwrap_or_default();
    put(0, &length.to_ne_bytes());
    put(4, &SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    put(6, &NLM_F_REQUEST.to_ne_bytes());
    put(8, &sequence.to_ne_bytes());
    put(16, &[if remote.is_ipv4() { AF_INET } else { AF_INET6 }, IPPROTO_TCP]);
    // All states: the answer says in which it is.
    put(20, &u32::MAX.to_ne_bytes());
    put(REQUESTED_PAIR, &remote.port().to_be_bytes());
    put(REQUESTED_PAIR + 2, &local.port().to_be_bytes());
    for (at, address) in [(4, remote), (20, local)] {
        match address.ip() {
            IpAddr::V4(address) => put(REQUESTED_PAIR + at, &address.octets()),
            IpAddr::V6(address) => put(REQUESTED_PAIR + at, &address.octets()),
        }
    }
    // The cookie is unknown: the pair is all that is known of the socket.
    put(REQUESTED_PAIR + 40, &[0xff; 8]);
    request
}

fn read(answer: &[u8], remote: SocketAddr, local: SocketAddr) -> io::Result<Option<Row>> {
    let kind = answer.get(4..6).and_then(|bytes| bytes.try_into().ok()).map(u16::from_ne_bytes);
    match kind {
        Some(SOCK_DIAG_BY_FAMILY) if answer.len() >= ANSWER => {}
        Some(NLMSG_ERROR) => {
            let code = u32_at(answer, 16).map_or(0, |code| code.cast_signed().wrapping_neg());
            let error = io::Error::from_raw_os_error(code);
            return if error.kind() == io::ErrorKind::NotFound { Ok(None) } else { Err(error) };
        }
        Some(_) | None => return Err(io::ErrorKind::InvalidData.into()),
    }
    let (family, state) = (byte_at(answer, 16), byte_at(answer, 17));
    let found = (pair_end(answer, family, 0, 4), pair_end(answer, family, 2, 20));
    // A listening socket is found where no connected one is.
    if found != (Some(remote), Some(local)) {
        return Ok(None);
    }
    let (uid, inode) = (u32_at(answer, 16 + 64), u32_at(answer, 16 + 68));
    Ok(uid.zip(inode).map(|(uid, inode)| Row { state, uid, inode }))
}

/// Reads one end of the pair in an answer.
fn pair_end(answer: &[u8], family: u8, port: usize, address: usize) -> Option<SocketAddr> {
    let port =
        answer.get(ANSWERED_PAIR + port..)?.first_chunk().copied().map(u16::from_be_bytes)?;
    let address = answer.get(ANSWERED_PAIR + address..)?;
    let address = match family {
        AF_INET => IpAddr::from(*address.first_chunk::<4>()?),
        AF_INET6 => IpAddr::from(Ipv6Addr::from(*address.first_chunk::<16>()?)),
        _ => return None,
    };
    Some(canonical(SocketAddr::new(address, port)))
}

fn byte_at(answer: &[u8], at: usize) -> u8 {
    answer.get(at).copied().unwrap_or_default()
}

fn u32_at(answer: &[u8], at: usize) -> Option<u32> {
    answer.get(at..)?.first_chunk().copied().map(u32::from_ne_bytes)
}
