//! A web site of our own, since tests reach no other.

mod answers;

use std::net::SocketAddr;
use std::path::Path;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use warp::Filter;

/// Serves `tests/fixtures/site`, and what a file cannot do, on a free port until it is dropped.
#[derive(Debug)]
pub struct Site {
    address: SocketAddr,
    serving: JoinHandle<()>,
}

impl Site {
    pub(crate) async fn start() -> Self {
        let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/site");
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("there is a free port");
        let address = listener.local_addr().expect("the listener has an address");
        let routes = answers::routes().or(warp::fs::dir(pages));
        let serving = tokio::spawn(warp::serve(routes).incoming(listener).run());
        Self { address, serving }
    }

    /// The site's address. As `localhost`, the same pages are another site to the browser.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.port()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
