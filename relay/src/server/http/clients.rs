//! The sockets of CDP clients.

use serde::Deserialize;
use shared_protocol::TargetId;
use warp::http::StatusCode;
use warp::{Filter, Rejection, Reply};

use super::reply::text;
use super::routes::ONLY_SOCKETS;
use crate::agents::Entry;
use crate::event_loop::handle::{Peer, RelayHandle};
use crate::event_loop::socket;
use crate::event_loop::socket::{MAX_CONFINED_MESSAGE, MAX_MESSAGE};
use relay_core::{ClientHello, Input};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ClientQuery {
    extension_id: Option<String>,
    separate_window: Option<String>,
}

impl ClientQuery {
    /// Returns the same for one browser, whichever was asked for.
    pub(crate) fn bound_to(self, browser: Option<String>) -> Self {
        Self { extension_id: browser, ..self }
    }

    /// Returns the client's wish for a window of its own, if it has one; an error if the value cannot
    /// be understood.
    fn wants_window(&self) -> Result<Option<bool>, &'static str> {
        let Some(said) = &self.separate_window else { return Ok(None) };
        match said.to_ascii_lowercase().as_str() {
            "" | "1" | "true" | "yes" | "on" => Ok(Some(true)),
            "0" | "false" | "no" | "off" => Ok(Some(false)),
            _ => Err("separateWindow is either true or false"),
        }
    }
}

/// The client's name and options, as its path and query give them.
#[derive(Debug, Default)]
pub(crate) struct ClientPath {
    name: Option<String>,
    page: Option<TargetId>,
}

impl ClientPath {
    pub(crate) fn named(name: String) -> Self {
        Self { name: Some(name), page: None }
    }
}

/// A client that asks to connect.
#[derive(Debug)]
pub(crate) struct Entering {
    pub(crate) path: ClientPath,
    pub(crate) query: ClientQuery,
    /// The key of a sandbox.
    pub(crate) key: Option<Entry>,
}

pub(crate) fn client_socket(
    handle: RelayHandle,
) -> impl Filter<Extract = (impl Reply,), Error = Rejection> + Clone {
    let browser = warp::path!("cdp")
        .or(warp::path!("devtools" / "browser"))
        .unify()
        .or(warp::path!("devtools" / "browser" / String).map(drop).untuple_one())
        .unify()
        .map(ClientPath::default);
    let named = warp::path!("cdp" / String).map(ClientPath::named);
    let page = warp::path!("devtools" / "page" / String)
        .map(|id: String| ClientPath { page: Some(TargetId::new(id)), ..ClientPath::default() });
    let plain = warp::any().map(|| text(StatusCode::BAD_REQUEST, ONLY_SOCKETS));
    let path = browser.or(named).unify().or(page).unify();
    let socket =
        path.and(warp::query::<ClientQuery>()).and(warp::ws()).map(move |path, query, ws| {
            client_entered(&handle, ws, Entering { path, query, key: None })
        });
    socket.or(path.map(drop).untuple_one().and(plain))
}

pub(crate) fn client_entered(
    handle: &RelayHandle,
    ws: warp::ws::Ws,
    Entering { path, query, key }: Entering,
) -> warp::reply::Response {
    let separate_window = match query.wants_window() {
        Ok(wanted) => wanted,
        Err(problem) => return text(StatusCode::BAD_REQUEST, problem).into_response(),
    };
    let ClientPath { name, page } = path;
    let (handle, extension) = (handle.clone(), query.extension_id);
    let largest = if key.is_some() { MAX_CONFINED_MESSAGE } else { MAX_MESSAGE };
    let upgraded = upgraded(ws, largest, move |socket| async move {
        let client = handle.next_client();
        let confinement = key.as_ref().map(|key| key.confinement.clone());
        let connected = Input::ClientConnected {
            client,
            hello: ClientHello { name, extension, page, separate_window, confinement },
        };
        socket::run(socket, handle, Peer::Client(client), connected).await;
        drop(key);
    });
    upgraded.into_response()
}

pub(crate) fn upgraded<F>(
    ws: warp::ws::Ws,
    largest: usize,
    serve: impl FnOnce(warp::ws::WebSocket) -> F + Send + 'static,
) -> impl Reply
where
    F: Future<Output = ()> + Send + 'static,
{
    ws.max_message_size(largest).max_frame_size(largest).on_upgrade(serve)
}
