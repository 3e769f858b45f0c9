use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};

use super::*;

const ANOTHER: u32 = 4711;

#[test]
fn a_row_without_an_inode_is_nobodys() {
    let peers = peers();
    for user in [ROOT, peers.own, ANOTHER] {
        assert_eq!(peers.identity(Some(Row { inode: 0, ..row(user) })), Identity::UNKNOWN);
    }
    assert_eq!(peers.identity(None), Identity::UNKNOWN);
}

#[test]
fn a_listening_socket_and_one_that_waits_are_nobodys() {
    const TIME_WAIT: u8 = 6;
    const CLOSE: u8 = 7;
    const LISTEN: u8 = 10;
    for state in [TIME_WAIT, CLOSE, LISTEN] {
        assert_eq!(peers().identity(Some(Row { state, ..row(ROOT) })), Identity::UNKNOWN);
    }
}

#[test]
fn users_are_told_apart() {
    let peers = Peers { own: 1000, ..peers() };
    let user = |uid| peers.identity(Some(row(uid))).user;
    assert_eq!(user(1000), User::Own);
    assert_eq!(user(ROOT), User::Root);
    assert_eq!(user(ANOTHER), User::Other(ANOTHER));
}

#[test]
fn the_user_whom_a_namespace_does_not_know_is_unknown() {
    let peers = Peers { overflow: Some(65534), own: 65534, ..peers() };
    assert_eq!(peers.identity(Some(row(65534))).user, User::Unknown);
}

#[test]
fn root_and_the_unknown_are_windows_inside_of_wsl() {
    let peers = Peers { is_wsl: true, own: 1000, ..peers() };
    assert_eq!(peers.identity(None).user, User::Windows);
    assert_eq!(peers.identity(Some(row(ROOT))).user, User::Windows);
    assert_eq!(peers.identity(Some(row(1000))).user, User::Own);
    assert_eq!(peers.identity(Some(row(ANOTHER))).user, User::Other(ANOTHER));
}

#[tokio::test]
async fn netlink_and_proc_find_the_same_socket() {
    let Ok(netlink) = Netlink::open() else {
        println!("netlink does not answer here: it was not compared");
        return;
    };
    let four = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = four.local_addr().unwrap().port();
    let mapped = Ipv4Addr::LOCALHOST.to_ipv6_mapped();
    let mut addresses =
        vec![SocketAddr::from((Ipv4Addr::LOCALHOST, port)), SocketAddr::from((mapped, port))];
    let six = TcpListener::bind((Ipv6Addr::LOCALHOST, 0));
    addresses.extend(six.iter().map(|six| six.local_addr().unwrap()));
    for address in addresses {
        let stream = TcpStream::connect(address).unwrap();
        let remote = canonical(stream.local_addr().unwrap());
        let local = canonical(stream.peer_addr().unwrap());
        let row = netlink.row(remote, local).unwrap();
        assert_eq!(row, proc_net::row(remote, local), "{address}");
        assert_eq!(peers().identity(row).user, User::Own, "{address}");
        let elsewhere = SocketAddr::from((Ipv4Addr::new(127, 0, 0, 9), local.port()));
        assert_eq!(netlink.row(remote, elsewhere).unwrap(), None, "all four values count");
        assert_eq!(proc_net::row(remote, elsewhere), None, "all four values count");
        drop(stream);
        for row in [netlink.row(remote, local).unwrap(), proc_net::row(remote, local)] {
            assert_eq!(peers().identity(row), Identity::UNKNOWN, "{address}");
        }
    }
}

fn row(uid: u32) -> Row {
    Row { state: 1, uid, inode: 7 }
}

fn peers() -> Peers {
    Peers { overflow: None, is_wsl: false, ..Peers::new() }
}
