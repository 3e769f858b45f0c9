//! A program that took the relay's port first, and writes down all that it is told.

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt, stream};
use shared_protocol::pairing::Knock;
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use warp::Filter;
use warp::http::Response;
use warp::ws::{Message, WebSocket};

use crate::machine::TIMEOUT;
use crate::network::free_port;

/// The answer to `GET /extension/hello`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Squat {
    /// Answers as a relay that knows pairing does; then with these frames.
    Relay(Vec<String>),
    /// Answers as a relay that knows pairing does; then as the test says, by [`Squatter::knocked`].
    Held,
    /// Answers with a status.
    Status(u16),
    /// Answers with a redirect to another address of its own.
    Redirect,
    /// Answers with a body that never ends.
    Endless,
}

/// Serves until it is dropped.
#[derive(Debug)]
pub struct Squatter {
    port: u16,
    heard: watch::Receiver<Vec<String>>,
    held: UnboundedReceiver<HeldSocket>,
    serving: JoinHandle<()>,
}

/// A socket that an extension has opened, for the test to answer.
#[derive(Debug)]
pub struct HeldSocket {
    query: String,
    socket: WebSocket,
}

impl HeldSocket {
    /// The query with which it was opened.
    #[must_use]
    pub fn query(&self) -> &str {
        &self.query
    }

    /// The query, read.
    #[must_use]
    pub fn knock(&self) -> Knock {
        serde_urlencoded::from_str(&self.query).expect("it is the query of an extension with a key")
    }

    /// Sends a frame to the extension, and gives what that says to it: `None` if it hangs up.
    pub async fn answer_to(mut self, frame: &str) -> Option<String> {
        self.socket.send(Message::text(frame)).await.expect("the extension waits");
        let answer = async {
            loop {
                match self.socket.next().await {
                    Some(Ok(message)) if message.is_text() => {
                        return message.to_str().ok().map(str::to_owned);
                    }
                    Some(Ok(_)) => {}
                    Some(Err(_)) | None => return None,
                }
            }
        };
        timeout(TIMEOUT, answer).await.expect("the extension answers or hangs up")
    }
}

impl Squatter {
    /// Takes a free port.
    pub async fn start(how: Squat) -> Self {
        Self::start_at(free_port().await, how).await
    }

    /// Takes a port that nobody has.
    pub async fn start_at(port: u16, how: Squat) -> Self {
        let (hear, heard) = watch::channel(Vec::new());
        let note = move |line: String| hear.send_modify(|lines| lines.push(line));
        let (hold, held) = unbounded_channel();
        let (asked, greeting) = (note.clone(), how.clone());
        let hello = warp::path!("extension" / "hello").map(move || {
            asked("hello".to_owned());
            hello(&greeting)
        });
        let socket = warp::path!("extension").and(warp::query::raw()).and(warp::ws()).map(
            move |query: String, ws: warp::ws::Ws| {
                note(format!("socket {query}"));
                let (note, hold, how) = (note.clone(), hold.clone(), how.clone());
                ws.on_upgrade(move |socket| serve(socket, query, how, note, hold))
            },
        );
        // Whatever else is asked is answered as an older relay does.
        let routes = socket.or(hello).or(warp::any().map(|| "OK"));
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let listener = TcpListener::bind(address).await.expect("the port is free");
        let serving = tokio::spawn(warp::serve(routes).incoming(listener).run());
        Self { port, heard, held, serving }
    }

    /// Returns the port on which it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns everything that it was told.
    #[must_use]
    pub fn heard(&self) -> Vec<String> {
        self.heard.borrow().clone()
    }

    /// Waits until an extension has opened a socket and left again, and gives all that it was told.
    pub async fn heard_a_visit(&self) -> Vec<String> {
        let mut heard = self.heard.clone();
        let left = heard.wait_for(|lines| lines.iter().any(|line| line == "end"));
        match timeout(TIMEOUT, left).await {
            Ok(lines) => lines.expect("it serves").clone(),
            Err(_) => panic!("no extension came and went; heard so far: {:?}", self.heard()),
        }
    }

    /// Waits for a socket of an extension.
    pub async fn knocked(&mut self) -> HeldSocket {
        let held = timeout(TIMEOUT, self.held.recv()).await.expect("an extension comes");
        held.expect("it is told to hold sockets")
    }

    /// Gives the port back. Sockets that it has stay open.
    pub async fn leave(mut self) {
        self.serving.abort();
        // The task was told to end.
        drop((&mut self.serving).await);
    }
}

impl Drop for Squatter {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(
    socket: WebSocket,
    query: String,
    how: Squat,
    note: impl Fn(String),
    hold: UnboundedSender<HeldSocket>,
) {
    let words = match how {
        Squat::Held => {
            // The test may have seen enough.
            drop(hold.send(HeldSocket { query, socket }));
            return;
        }
        Squat::Relay(words) => words,
        Squat::Status(_) | Squat::Redirect | Squat::Endless => Vec::new(),
    };
    let (mut sink, mut frames) = socket.split();
    for word in words {
        // The extension may have seen enough.
        drop(sink.send(Message::text(word)).await);
    }
    while let Some(Ok(frame)) = frames.next().await {
        if let Ok(text) = frame.to_str() {
            note(format!("frame {text}"));
        }
    }
    note("end".to_owned());
}

fn hello(how: &Squat) -> warp::reply::Response {
    use warp::Reply;
    match how {
        Squat::Relay(_) | Squat::Held => {
            warp::reply::json(&serde_json::json!({ "name": "playwriter-rs", "pairing": ["v1"] }))
                .into_response()
        }
        Squat::Status(status) => {
            let status = warp::http::StatusCode::from_u16(*status).expect("it is a status");
            warp::reply::with_status("no", status).into_response()
        }
        Squat::Redirect => {
            let answer = Response::builder().status(302).header("location", "/elsewhere");
            answer.body("").expect("it is an answer").into_response()
        }
        Squat::Endless => {
            let parts = stream::unfold((), |()| async {
                tokio::time::sleep(Duration::from_millis(1)).await;
                Some((Ok::<&'static [u8], std::convert::Infallible>(&[b' '; 1024]), ()))
            });
            warp::reply::stream(parts).into_response()
        }
    }
}
