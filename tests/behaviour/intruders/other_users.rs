//! Other users of the machine at every door of the relay.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use end_to_end::{RelayProgram, as_user, may_be_another_user, own_user, show_figure};
use serde_json::Value;
use socket2::{Domain, SockRef, Socket, Type};
use tokio::time::Instant;

use super::attack::{Attack, attack};

pub(super) const ATTACKS: &[Attack] = &[
    attack!(
        OtherUser,
        "sends a request and closes the socket before the relay looks whose it is, by closing, by a reset or by `shutdown`, at three doors",
        "refused: a socket without an owner is nobody's, though the system shows it as root's",
        a_socket_that_was_closed_already_is_nobodys
    ),
    attack!(
        OtherUser,
        "comes by IPv6, by IPv4 in IPv6's clothes, or from 127.0.0.2",
        "refused: all four values of the connection are looked up",
        every_way_to_loopback_tells_the_user
    ),
    attack!(
        OtherUser,
        "knocks at every address of the relay, as a program and as an extension",
        "403, which names both users and `--allow-user`",
        another_user_is_refused_at_every_door
    ),
    attack!(
        OtherUser,
        "comes in where a third user was allowed",
        "refused: `--allow-user` admits one",
        an_allowed_user_comes_in_and_no_other
    ),
    attack!(
        OtherUser,
        "is a user whom the relay's user namespace does not know",
        "refused: unknown is nobody's user",
        a_user_outside_of_the_namespace_is_unknown
    ),
    attack!(
        OtherUser,
        "opens thousands of sockets and keeps them, with nothing or half of a request sent",
        "the user's own programs connect as before: other users have few places of their own",
        thousands_of_sockets_hold_up_nobody
    ),
    attack!(
        OtherUser,
        "is refused a thousand times to rotate the log away",
        "few lines: each kind is told once a minute",
        a_thousand_refusals_are_few_lines_of_log
    ),
    attack!(
        SameUser,
        "opens more sockets than the relay may have, and says nothing",
        "the oldest make room, and the rest ends after ten seconds",
        idle_sockets_end_and_make_room
    ),
    attack!(
        OtherMachine,
        "tries tokens",
        "each wrong one is answered after half a second, and few can try at once",
        a_wrong_token_takes_its_time
    ),
];

pub(super) const NOBODY: u32 = 65534;
pub(super) const ANOTHER: u32 = 4711;
pub(super) const USER: u32 = 12345;

pub(super) const AS_USER: [&str; 4] =
    ["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups"];

const PATIENCE: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_socket_that_was_closed_already_is_nobodys() {
    for (user, through) in [(USER, &AS_USER[..]), (0, &["env"])] {
        let Some(relay) = relay_of(user, through, &[]).await else { return };
        closed_sockets_are_nobodys(&relay, user).await;
    }
}

/// Sends requests to a relay that stands still, ends their connections, and lets it go on.
pub(super) async fn closed_sockets_are_nobodys(relay: &RelayProgram, user: u32) {
    let port = relay.port();
    let before = status(user, port)["users"]["unknown"].as_u64().unwrap_or_default();
    relay.signal("-STOP").await;
    as_user(NOBODY, || {
        for request in REQUESTS {
            for end in ENDS {
                let mut stream = connect(([127, 0, 0, 1], port).into());
                write!(stream, "{request} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").unwrap();
                match end {
                    End::Close => {}
                    End::Reset => {
                        SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
                    }
                    End::Shutdown(how) => stream.shutdown(how).unwrap(),
                }
            }
        }
    });
    relay.signal("-CONT").await;
    // Whether such a request is answered at all depends on when its end is noticed, so what counts
    // is whose the relay takes it for.
    let wanted = before + u64::try_from(REQUESTS.len() * ENDS.len()).unwrap();
    let start = Instant::now();
    while status(user, port)["users"]["unknown"] != wanted {
        assert!(start.elapsed() < PATIENCE, "{}, not {wanted}", status(user, port));
    }
}

#[tokio::test]
async fn every_way_to_loopback_tells_the_user() {
    let Some(relay) = relay_of(USER, &AS_USER, &[]).await else { return };
    let port = relay.port();
    let ways =
        [("127.0.0.1", ""), ("::ffff:127.0.0.1", ""), ("::1", ""), ("127.0.0.1", "127.0.0.2")];
    for (to, from) in ways {
        let ask = || request_from(to, from, port, "GET /json/version");
        assert_eq!(as_user(USER, ask).0, 200, "{to} {from}");
        assert_eq!(as_user(0, ask).0, 200, "root: {to} {from}");
        assert_eq!(as_user(NOBODY, ask).0, 403, "{to} {from}");
    }
    let before = status(USER, port)["users"]["lookups"].as_u64().unwrap();
    as_user(USER, || {
        let mut stream = connect(([127, 0, 0, 1], port).into());
        for _ in 0..3 {
            write!(stream, "HEAD / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                head.extend(byte);
            }
            assert!(head.starts_with(b"HTTP/1.1 200"));
        }
    });
    let after = status(USER, port)["users"]["lookups"].as_u64().unwrap();
    assert_eq!(after - before, 2, "one for three requests, one for the question");
}

#[tokio::test]
async fn another_user_is_refused_at_every_door() {
    let Some(relay) = relay_of(USER, &AS_USER, &[]).await else { return };
    let port = relay.port();
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                   Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
    let origin = format!("Origin: chrome-extension://{}", relay::EXTENSION_ID);
    for request in [
        "GET /",
        "HEAD /",
        "GET /version",
        "GET /extension/status",
        "GET /extensions/status",
        "GET /extension-status",
        "GET /json/version",
        "GET /json",
        "GET /json/list",
        "GET /json/protocol",
        "PUT /json/new?about:blank",
        "PUT /json/close/x",
        "PUT /json/activate/x",
        "GET /relay/status",
        "POST /relay/window-mode",
        "POST /shutdown",
        "GET /sessions",
        "POST /sessions",
        "POST /sessions/x/execute",
        "DELETE /sessions/x",
        "POST /mcp",
        "GET /mcp",
        "GET /cdp",
        "GET /cdp/x",
        "GET /devtools/browser",
        "GET /devtools/browser/x",
        "GET /devtools/page/x",
        "GET /extension",
        "GET /nothing",
    ] {
        for more in ["", &format!("\r\n{origin}"), &format!("\r\n{upgrade}\r\n{origin}")] {
            let request = format!("{request} HTTP/1.1{more}");
            let (status, body) =
                as_user(NOBODY, || exchange(([127, 0, 0, 1], port).into(), None, &request));
            assert_eq!(status, 403, "{request}");
            if !request.starts_with("HEAD") {
                for part in ["user 12345", "user 65534", "--allow-user 65534"] {
                    assert!(body.contains(part), "{request}: {body}");
                }
            }
        }
    }
    let refused = &status(USER, port)["users"]["refused"];
    assert_eq!(refused[0]["uid"], NOBODY);
}

#[tokio::test]
async fn an_allowed_user_comes_in_and_no_other() {
    let Some(relay) = relay_of(USER, &AS_USER, &["--allow-user=4711"]).await else { return };
    let ask = || request_from("127.0.0.1", "", relay.port(), "GET /json/version").0;
    assert_eq!(as_user(ANOTHER, ask), 200);
    assert_eq!(as_user(NOBODY, ask), 403);
    let asked =
        as_user(ANOTHER, || request_from("127.0.0.1", "", relay.port(), "GET /relay/status"));
    assert!(
        !asked.1.contains("lookups"),
        "who was refused is told to the owner alone: {}",
        asked.1
    );
}

#[tokio::test]
async fn a_user_outside_of_the_namespace_is_unknown() {
    let through = ["unshare", "--user", "--map-root-user"];
    let tried = std::process::Command::new(through[0]).args(&through[1..]).arg("true").status();
    if !tried.is_ok_and(|tried| tried.success()) {
        show_figure("unmapped users", "not tried: this machine makes no user namespaces");
        return;
    }
    let Some(relay) = relay_of(0, &through, &[]).await else { return };
    let ask = || request_from("127.0.0.1", "", relay.port(), "GET /json/version");
    assert_eq!(as_user(0, ask).0, 200);
    for user in [ANOTHER, NOBODY] {
        let (status, body) = as_user(user, ask);
        assert_eq!(status, 401);
        assert!(body.contains("cannot tell which user"), "{body}");
    }
}

#[tokio::test]
async fn thousands_of_sockets_hold_up_nobody() {
    let Some(relay) = relay_of(USER, &AS_USER, &[]).await else { return };
    relay::descriptors::raise_limit();
    let calm = slowness(relay.port());
    let address = SocketAddr::from(([127, 0, 0, 1], relay.port()));
    let held: Vec<TcpStream> = as_user(NOBODY, || {
        let held = |number: usize| {
            let mut stream = TcpStream::connect_timeout(&address, PATIENCE).ok()?;
            // Nothing, half of a line, and half of a head.
            let sent = ["", "GET /json", "GET /json/version HTTP/1.1\r\nHost:"][number % 3];
            // The relay may have closed it to make room.
            drop(stream.write_all(sent.as_bytes()));
            Some(stream)
        };
        (0..10_000).map_while(held).collect()
    });
    assert!(held.len() > 500, "{}", held.len());
    let took = slowness(relay.port());
    // The machine may be busy with something else.
    assert!(took < Duration::from_millis(100).max(10 * calm), "{took:?} with {}", held.len());
}

/// Measures how long a program of the user's waits for an answer, and returns the median of a few.
fn slowness(port: u16) -> Duration {
    let mut took: Vec<_> = (0..9)
        .map(|_| {
            let start = Instant::now();
            let ask = || request_from("127.0.0.1", "", port, "GET /json/version").0;
            assert_eq!(as_user(USER, ask), 200);
            start.elapsed()
        })
        .collect();
    took.sort();
    took[4]
}

#[tokio::test]
async fn a_thousand_refusals_are_few_lines_of_log() {
    let Some(relay) = relay_of(USER, &AS_USER, &[]).await else { return };
    as_user(NOBODY, || {
        for _ in 0..1000 {
            request_from("127.0.0.1", "", relay.port(), "GET /json/version");
        }
    });
    let refused = status(USER, relay.port());
    assert_eq!(refused["users"]["refused"][0]["times"], 1000);
    let log = std::fs::read_to_string(relay.log_folder().join("relay-server.log")).unwrap();
    let lines = log.lines().filter(|line| line.contains("refused a request")).count();
    assert!((1..=3).contains(&lines), "{log}");
}

#[tokio::test]
async fn idle_sockets_end_and_make_room() {
    let few = ["sh", "-c", "ulimit -n 128; exec \"$@\"", "sh"];
    let relay = RelayProgram::start_through(&few, own_user(), &[]).await;
    let address = SocketAddr::from(([127, 0, 0, 1], relay.port()));
    let mut kept = connect(address);
    write!(kept, "HEAD / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").unwrap();
    let mut answer = [0; 1024];
    assert!(kept.read(&mut answer).unwrap() > 0);
    let mut idle: Vec<_> = (0..300).map(|_| connect(address)).collect();
    assert_eq!(request_from("127.0.0.1", "", relay.port(), "GET /json/version").0, 200);
    let mut last = idle.pop().unwrap();
    let start = Instant::now();
    assert!(matches!(last.read(&mut answer), Ok(0) | Err(_)), "it ends");
    assert!(start.elapsed() > Duration::from_secs(5), "but not at once");
    write!(kept, "HEAD / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").unwrap();
    assert!(kept.read(&mut answer).unwrap() > 0, "who has shown something stays");
}

#[tokio::test]
async fn a_wrong_token_takes_its_time() {
    let token = [("PLAYWRITER_TOKEN", OsStr::new("s3cret"))];
    let relay = RelayProgram::start_with(&[], &token).await;
    for (query, expected, is_slow) in
        [("", 401, false), ("?token=guess", 401, true), ("?token=s3cret", 200, false)]
    {
        let start = Instant::now();
        let request = format!("GET /json/version{query}");
        assert_eq!(request_from("127.0.0.1", "", relay.port(), &request).0, expected);
        if is_slow {
            assert!(start.elapsed() >= Duration::from_millis(400), "{query}");
        }
    }
}

/// Requests that need no answer, at three doors.
const REQUESTS: [&str; 3] = ["PUT /json/new", "GET /json/list", "GET /version"];

/// The ways in which their connections end.
const ENDS: [End; 5] = [
    End::Close,
    End::Reset,
    End::Shutdown(Shutdown::Write),
    End::Shutdown(Shutdown::Read),
    End::Shutdown(Shutdown::Both),
];

/// A way in which a connection ends before anybody has looked at it.
#[derive(Clone, Copy)]
enum End {
    Close,
    Reset,
    Shutdown(Shutdown),
}

/// A relay of a user, if this machine lets the tests be other users.
pub(super) async fn relay_of(
    user: u32,
    through: &[&str],
    arguments: &[&str],
) -> Option<RelayProgram> {
    if !may_be_another_user() {
        show_figure("other users", "not tried: only root can be another user");
        return None;
    }
    Some(RelayProgram::start_through(through, user, arguments).await)
}

fn status(user: u32, port: u16) -> Value {
    let (status, body) = as_user(user, || request_from("127.0.0.1", "", port, "GET /relay/status"));
    assert_eq!(status, 200, "{body}");
    serde_json::from_str(&body).unwrap()
}

pub(super) fn request_from(to: &str, from: &str, port: u16, request: &str) -> (u16, String) {
    let to = SocketAddr::new(to.parse().unwrap(), port);
    exchange(to, from.parse().ok(), &format!("{request} HTTP/1.1"))
}

/// Sends the lines of a request, and gives the status and the body.
fn exchange(to: SocketAddr, from: Option<IpAddr>, lines: &str) -> (u16, String) {
    let mut stream = match from {
        Some(from) => connect_from(to, from),
        None => connect(to),
    };
    let close = if lines.contains("Upgrade") { "" } else { "Connection: close\r\n" };
    write!(stream, "{lines}\r\nHost: 127.0.0.1:{}\r\n{close}\r\n", to.port()).unwrap();
    let mut answer = String::new();
    if lines.contains("Upgrade") {
        let mut part = [0; 4096];
        let length = stream.read(&mut part).unwrap();
        answer.push_str(&String::from_utf8_lossy(&part[..length]));
    } else {
        stream.read_to_string(&mut answer).unwrap();
    }
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
    (status.unwrap_or_default(), body.unwrap_or_default())
}

fn connect_from(to: SocketAddr, from: IpAddr) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::new(from, 0).into()).unwrap();
    socket.connect(&to.into()).unwrap();
    socket.into()
}

fn connect(to: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect_timeout(&to, PATIENCE).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}
