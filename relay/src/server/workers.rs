//! The door for workers: a port of its own that serves a confined CDP connection, and nothing else.
//!
//! Their code can reach no other port of the relay (`worker/doors.mjs`), where it would be taken for a
//! program of the user's. It can open any number of sockets here, so there are limits for those who have
//! shown no key yet, and for each key.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};
use warp::http::{HeaderMap, StatusCode};
use warp::{Filter, Rejection, Reply};

use super::events::Handle;
use super::reply::text;
use super::routes::{ClientPath, ClientQuery, Entering, client_entered};
use crate::executor::{Keys, MAX_SOCKETS, Shown};

const NO_KEY: &str = "only workers of the relay may connect here";

/// How many sockets may be open that have not shown a key; the oldest makes room for another.
const MAX_STRANGERS: usize = 64;

/// How long one may take to show it.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long to wait when the system has no socket for us.
const NO_ROOM: Duration = Duration::from_millis(100);

/// Serves all who come, until it is dropped. Those who got a CDP connection go on without it.
pub(crate) async fn serve(listener: TcpListener, handle: Handle, keys: Keys) {
    let service = warp::service(routes(handle, keys));
    let mut serving = JoinSet::new();
    let mut strangers: VecDeque<AbortHandle> = VecDeque::new();
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::debug!(%error, "a worker could not be let in");
                sleep(NO_ROOM).await;
                continue;
            }
        };
        while serving.try_join_next().is_some() {}
        strangers.retain(|stranger| !stranger.is_finished());
        if strangers.len() >= MAX_STRANGERS
            && let Some(oldest) = strangers.pop_front()
        {
            oldest.abort();
        }
        // It ends with the upgrade, for which a key is needed.
        let service = TowerToHyperService::new(service.clone());
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        let served = timeout(PATIENCE, connection.with_upgrades());
        strangers.push_back(serving.spawn(async move { drop(served.await) }));
    }
}

fn routes(
    handle: Handle,
    keys: Keys,
) -> impl Filter<Extract = (impl Reply,), Error = Infallible> + Clone {
    warp::path!("cdp" / String)
        .and(warp::header::headers_cloned())
        .and(warp::query::<ClientQuery>())
        .and(warp::ws())
        .map(move |name, headers: HeaderMap, query, ws| match keys.shown(&headers) {
            Shown::Key(key) => {
                let path = ClientPath::named(name);
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
