//! A web site of our own, since tests reach no other.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::Path;

use futures_util::{StreamExt, stream};
use serde_json::{Map, Value};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use warp::http::{HeaderMap, Response};
use warp::{Filter, Rejection, Reply};

/// `user:secret`, as a browser sends it.
const CREDENTIALS: &str = "Basic dXNlcjpzZWNyZXQ=";

/// Serves `tests/site` on a free port until it is dropped.
#[derive(Debug)]
pub struct Site {
    address: SocketAddr,
    serving: JoinHandle<()>,
}

impl Site {
    pub(crate) async fn start() -> Self {
        let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("site");
        let routes = headers().or(private()).or(endless()).or(warp::fs::dir(pages));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("there is a free port");
        let address = listener.local_addr().expect("the listener has an address");
        let serving = tokio::spawn(warp::serve(routes).incoming(listener).run());
        Self { address, serving }
    }

    /// The site's address. As `localhost`, the same pages are another site to the browser.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Says which headers a request came with.
fn headers() -> impl Filter<Extract = (impl Reply,), Error = Rejection> + Clone {
    warp::path!("headers").and(warp::header::headers_cloned()).map(|headers: HeaderMap| {
        let text = |value: &[u8]| Value::from(String::from_utf8_lossy(value));
        let named = headers.iter().map(|(name, value)| (name.to_string(), text(value.as_bytes())));
        warp::reply::json(&named.collect::<Map<_, _>>())
    })
}

/// A page that wants to know who comes.
fn private() -> impl Filter<Extract = (impl Reply,), Error = Rejection> + Clone {
    let credentials = warp::header::optional::<String>("authorization");
    warp::path!("private").and(credentials).map(|credentials: Option<String>| {
        let reply = Response::builder().header("content-type", "text/html");
        if credentials.as_deref() == Some(CREDENTIALS) {
            reply.body("welcome")
        } else {
            let challenge = "Basic realm=\"the private page\"";
            reply.status(401).header("www-authenticate", challenge).body("who are you?")
        }
    })
}

/// A file that begins and never ends.
fn endless() -> impl Filter<Extract = (impl Reply,), Error = Rejection> + Clone {
    warp::path!("endless.bin").map(|| {
        let start = stream::iter([Ok::<_, Infallible>(vec![0_u8; 1 << 16])]);
        let reply = warp::reply::stream(start.chain(stream::pending()));
        warp::reply::with_header(reply, "content-type", "application/octet-stream")
    })
}
