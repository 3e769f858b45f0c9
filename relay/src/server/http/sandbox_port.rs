//! The port for sandboxes. It serves a confined CDP connection, and nothing else.
//!
//! Their code can reach no other port of the relay ([`crate::boundary`]), where it would be taken for a
//! program of the user's. It can open any number of sockets here, so there are limits for those who
//! have shown no key yet, and for each key.

use std::convert::Infallible;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::time::{sleep, timeout};
use warp::http::{HeaderMap, StatusCode};
use warp::{Filter, Rejection, Reply};

use super::clients::{ClientPath, ClientQuery, Entering, client_entered};
use super::reply::text;
use crate::agents::{Keys, MAX_SOCKETS, Shown};
use crate::event_loop::handle::RelayHandle;
use crate::server::access::peer::Standing;
use crate::server::access::strangers::{ADMISSION_TIMEOUT, Strangers, Who};

const NO_KEY: &str = "only workers of the relay may connect here";

/// The largest number of open sockets that have not shown a key; the oldest makes room for another.
const MAX_STRANGERS: usize = 64;

/// The time for which a socket is kept before it may have to make room: a program that opens many
/// must not take the sockets of others.
const MINIMUM_LIFETIME: Duration = Duration::from_secs(1);

/// The time to wait when the system has no free descriptor.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(100);

/// Serves all who come, until it is dropped. Those who got a CDP connection go on without it.
pub(crate) async fn serve(listener: TcpListener, handle: RelayHandle, keys: Keys) {
    let service = warp::service(routes(handle, keys));
    let mut strangers = Strangers::new(MAX_STRANGERS, MINIMUM_LIFETIME);
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::debug!(%error, "a worker could not be let in");
                sleep(ACCEPT_RETRY_DELAY).await;
                continue;
            }
        };
        // The others wait with the system.
        strangers.make_room().await;
        // The request ends with the upgrade, for which a key is needed.
        let service = TowerToHyperService::new(service.clone());
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        let served = timeout(ADMISSION_TIMEOUT, connection.with_upgrades());
        let served = async move { drop(served.await) };
        strangers.admit(Who::Anybody, Standing::default(), served);
    }
}

fn routes(
    handle: RelayHandle,
    keys: Keys,
) -> impl Filter<Extract = (impl Reply,), Error = Infallible> + Clone {
    warp::path!("cdp" / String)
        .and(warp::header::headers_cloned())
        .and(warp::query::<ClientQuery>())
        .and(warp::ws())
        .map(move |name, headers: HeaderMap, query: ClientQuery, ws| match keys.shown(&headers) {
            Shown::Key(key) => {
                let path = ClientPath::named(name);
                let query = query.bound_to(key.browser.clone());
                client_entered(&handle, ws, Entering { path, query, key: Some(key) })
            }
            Shown::TooOften => {
                let reason = format!("a session may have {MAX_SOCKETS} sockets");
                text(StatusCode::TOO_MANY_REQUESTS, reason).into_response()
            }
            Shown::Nothing => text(StatusCode::FORBIDDEN, NO_KEY).into_response(),
        })
        .recover(|_: Rejection| async { Ok::<_, Infallible>(text(StatusCode::FORBIDDEN, NO_KEY)) })
}
