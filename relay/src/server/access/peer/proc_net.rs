//! The tables of all sockets in `/proc/net`, for systems where netlink does not answer. The longer
//! they are, the longer it takes.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::{Row, canonical};

/// An IPv6 socket that was connected to an IPv4 address stands in the second alone.
const TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];

const LISTEN: u8 = 10;

/// Returns the row of the socket at `remote` that is connected to `local`.
pub(super) fn row(remote: SocketAddr, local: SocketAddr) -> Option<Row> {
    TABLES
        .iter()
        .find_map(|table| rows(table).find(|found| (found.local, found.remote) == (remote, local)))
        .map(|found| found.row)
}

/// Returns the user who listens at an address.
pub(super) fn listener_on(address: SocketAddr) -> Option<u32> {
    let is_it = |found: &Found| found.local == address && found.row.state == LISTEN;
    TABLES.iter().find_map(|table| rows(table).find(is_it)).map(|found| found.row.uid)
}

#[derive(Debug, PartialEq, Eq)]
struct Found {
    local: SocketAddr,
    remote: SocketAddr,
    row: Row,
}

fn rows(table: &str) -> impl Iterator<Item = Found> + use<> {
    let lines = File::open(table).ok().map(|file| BufReader::new(file).lines());
    lines.into_iter().flatten().map_while(Result::ok).filter_map(|line| parse(&line))
}

/// `sl local_address rem_address st queues timer retransmits uid timeout inode …`
fn parse(line: &str) -> Option<Found> {
    let mut words = line.split_ascii_whitespace().skip(1);
    let (local, remote) = (words.next().and_then(address)?, words.next().and_then(address)?);
    let state = u8::from_str_radix(words.next()?, 16).ok()?;
    let mut words = words.skip(3);
    let uid = words.next()?.parse().ok()?;
    let inode = words.nth(1)?.parse().ok()?;
    Some(Found { local, remote, row: Row { state, uid, inode } })
}

/// Words of four bytes in this machine's order, which is not that of networks everywhere.
fn address(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let mut bytes = Vec::with_capacity(16);
    for at in (0..address.len()).step_by(8) {
        let word = u32::from_str_radix(address.get(at..at + 8)?, 16).ok()?;
        bytes.extend(word.to_ne_bytes());
    }
    let address = match bytes.len() {
        4 => IpAddr::V4(Ipv4Addr::from(*bytes.first_chunk::<4>()?)),
        16 => IpAddr::V6(Ipv6Addr::from(*bytes.first_chunk::<16>()?)),
        _ => return None,
    };
    Some(canonical(SocketAddr::new(address, u16::from_str_radix(port, 16).ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_both_tables_are_read() {
        if cfg!(target_endian = "big") {
            return;
        }
        let four = "  12: 0100007F:C350 0200007F:4E14 01 00000000:00000000 00:00000000 00000000  \
                    1001        0 48211 1 0000000000000000 20 4 30 10 -1";
        let row = Row { state: 1, uid: 1001, inode: 48211 };
        let local = SocketAddr::from(([127, 0, 0, 1], 50000));
        let remote = SocketAddr::from(([127, 0, 0, 2], 19988));
        assert_eq!(parse(four), Some(Found { local, remote, row }));
        let mapped = four
            .replace("0100007F:", "0000000000000000FFFF00000100007F:")
            .replace("0200007F:", "0000000000000000FFFF00000200007F:");
        assert_eq!(parse(&mapped), Some(Found { local, remote, row }));
        assert_eq!(parse("  sl  local_address rem_address   st tx_queue"), None);
    }
}
