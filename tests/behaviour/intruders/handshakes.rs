//! Extensions that begin to prove themselves and never end, and other users who say hello and stay.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use end_to_end::{RawKey, RelayProgram, as_user};
use relay::pairing;
use shared_protocol::pairing::{Key, KeyId, Nonce};

use super::attack::{Attack, attack};
use super::other_users::{NOBODY, USER, relay_of, request_from};

pub(super) const ATTACKS: &[Attack] = &[
    attack!(
        SameUser,
        "begins to prove itself on hundreds of sockets, with made-up names of keys and with one that it overheard, and keeps them",
        "a made-up one takes no place, and the oldest of the others makes room: the real extension comes in",
        unfinished_handshakes_hold_up_no_extension
    ),
    attack!(
        OtherUser,
        "asks for the hello that is open to everybody on more sockets than the relay may have, and keeps them",
        "they count as having shown nothing: they are few, and end after ten seconds",
        sockets_that_said_hello_hold_up_nobody
    ),
];

#[tokio::test]
async fn unfinished_handshakes_hold_up_no_extension() {
    let relay = RelayProgram::start().await;
    let folder = tempfile::tempdir().unwrap();
    pairing::pair(&relay.log_folder(), folder.path(), relay.port()).unwrap();
    let real = RawKey::of(folder.path());
    let made_up = RawKey { kid: KeyId([7; 8]), key: Key([7; 32]) };
    let mut held = Vec::new();
    for key in [made_up, real] {
        for number in 0..200 {
            // Some are cut off before they can be answered.
            held.extend(key.knock(relay.port(), &Nonce([number; 32])).await.ok());
        }
        let mut extension = real.connect(relay.port(), r#"{"installId":"a"}"#).await;
        assert_eq!(extension.next().await["method"], "ping");
    }
}

#[tokio::test]
async fn sockets_that_said_hello_hold_up_nobody() {
    let few = [
        "sh",
        "-c",
        "ulimit -n 512; exec setpriv --reuid=12345 --regid=12345 --clear-groups \"$@\"",
        "sh",
    ];
    let Some(relay) = relay_of(USER, &few, &[]).await else { return };
    relay::descriptors::raise_limit();
    let address = SocketAddr::from(([127, 0, 0, 1], relay.port()));
    let held: Vec<TcpStream> = as_user(NOBODY, || {
        let held = |_| {
            let mut stream = TcpStream::connect(address).ok()?;
            stream.set_read_timeout(Some(Duration::from_secs(2))).ok()?;
            // The relay may have closed it to make room.
            drop(stream.write_all(b"GET /extension/hello HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"));
            drop(stream.read(&mut [0; 1024]));
            Some(stream)
        };
        (0..500).map_while(held).collect()
    });
    assert!(held.len() > 400, "{}", held.len());
    let ask = || request_from("127.0.0.1", "", relay.port(), "GET /json/version").0;
    assert_eq!(as_user(USER, ask), 200);
}
