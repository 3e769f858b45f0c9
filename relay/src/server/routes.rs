//! The routes: HTTP questions are answered from the relay's state, sockets are handed to it.

use std::convert::Infallible;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use shared_protocol::ExtensionHello;
use shared_protocol::http::Version;
use warp::http::{Response, StatusCode};
use warp::{Filter, Rejection, Reply};

use super::guard::{Door, Policy, Refusal, admitted};
use super::socket::{self, MAX_MESSAGE};
use super::{Handle, Peer, discovery};
use crate::state::{Input, Relay};

type Body = Response<String>;

const ONLY_SOCKETS: &str = "this address takes WebSocket connections only";

/// Everything the relay serves.
pub(crate) fn routes(
    handle: Handle,
    policy: Policy,
) -> impl Filter<Extract = (impl Reply,), Error = Infallible> + Clone {
    let policy = Arc::new(policy);
    let at_extension_door = admitted(Arc::clone(&policy), Door::Extension);
    let at_client_door = admitted(policy, Door::Client);
    let extension = warp::path!("extension")
        .and(at_extension_door.and(extension_socket(handle.clone())).recover(refused));
    let others = at_client_door.and(
        questions(&handle)
            .or(client_socket(handle))
            .or(warp::any().map(|| text(StatusCode::NOT_FOUND, "there is nothing at this path"))),
    );
    extension.or(others).recover(refused)
}

fn questions(handle: &Handle) -> impl Filter<Extract = (Body,), Error = Rejection> + Clone + use<> {
    let reading = warp::get().or(warp::head()).unify();
    let root = warp::path::end().and(reading).map(|| text(StatusCode::OK, "OK"));
    let version = warp::path!("version")
        .and(reading)
        .map(|| json(&Version { version: crate::VERSION.to_owned() }));
    let extension = warp::path!("extension" / "status")
        .and(reading)
        .and(answer(handle, |relay, _, _| json(&relay.extension_status())));
    let extensions = warp::path!("extensions" / "status")
        .and(reading)
        .and(answer(handle, |relay, _, _| json(&relay.extensions_status())));
    let pages = warp::path!("extension-status")
        .and(reading)
        .and(answer(handle, |relay, _, _| json(&relay.pages_status())));
    // Chrome takes either verb for these.
    let reading = warp::get().or(warp::put()).unify().or(warp::head()).unify();
    let json_version =
        warp::path!("json" / "version").and(reading).and(answer(handle, |relay, handle, host| {
            json(&discovery::version(relay, handle.browser_id(), host))
        }));
    let json_list = warp::path!("json")
        .or(warp::path!("json" / "list"))
        .unify()
        .and(reading)
        .and(answer(handle, |relay, _, host| json(&discovery::list(relay, host))));
    root.or(version)
        .unify()
        .or(extension)
        .unify()
        .or(extensions)
        .unify()
        .or(pages)
        .unify()
        .or(json_version)
        .unify()
        .or(json_list)
        .unify()
}

/// Answers from the relay's state, which only its own task may look at.
fn answer<F>(
    handle: &Handle,
    body: F,
) -> impl Filter<Extract = (Body,), Error = Rejection> + Clone + use<F>
where
    F: Fn(&Relay, &Handle, &str) -> Body + Clone + Send + Sync + 'static,
{
    let handle = handle.clone();
    warp::header::<String>("host").then(move |host: String| {
        let (handle, body) = (handle.clone(), body.clone());
        async move {
            let asker = handle.clone();
            let answer = handle.view(move |relay| body(relay, &asker, &host)).await;
            answer.unwrap_or_else(|| {
                text(StatusCode::SERVICE_UNAVAILABLE, "the relay is shutting down")
            })
        }
    })
}

fn extension_socket(
    handle: Handle,
) -> impl Filter<Extract = (impl Reply,), Error = Rejection> + Clone {
    warp::query::<ExtensionHello>()
        .and(warp::header::optional::<String>("user-agent"))
        .and(warp::ws())
        .map(move |hello, user_agent: Option<String>, ws: warp::ws::Ws| {
            let handle = handle.clone();
            upgraded(ws, move |socket| {
                let connection = handle.next_connection();
                let user_agent = user_agent.unwrap_or_default();
                let connected = Input::ExtensionConnected { connection, hello, user_agent };
                socket::run(socket, handle, Peer::Extension(connection), connected)
            })
        })
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClientQuery {
    extension_id: Option<String>,
}

fn client_socket(
    handle: Handle,
) -> impl Filter<Extract = (impl Reply,), Error = Rejection> + Clone {
    let unnamed = warp::path!("cdp")
        .or(warp::path!("devtools" / "browser"))
        .unify()
        .or(warp::path!("devtools" / "browser" / String).map(drop).untuple_one())
        .unify()
        .map(|| None);
    let named = warp::path!("cdp" / String).map(Some);
    let plain = warp::any().map(|| text(StatusCode::BAD_REQUEST, ONLY_SOCKETS));
    let path = unnamed.or(named).unify();
    let socket = path.and(warp::query::<ClientQuery>()).and(warp::ws()).map(
        move |name, query: ClientQuery, ws: warp::ws::Ws| {
            let handle = handle.clone();
            upgraded(ws, move |socket| {
                let client = handle.next_client();
                let extension = query.extension_id;
                let connected = Input::ClientConnected { client, name, extension, page: None };
                socket::run(socket, handle, Peer::Client(client), connected)
            })
        },
    );
    socket.or(path.map(drop).untuple_one().and(plain))
}

fn upgraded<F>(
    ws: warp::ws::Ws,
    serve: impl FnOnce(warp::ws::WebSocket) -> F + Send + 'static,
) -> impl Reply
where
    F: Future<Output = ()> + Send + 'static,
{
    ws.max_message_size(MAX_MESSAGE).max_frame_size(MAX_MESSAGE).on_upgrade(serve)
}

/// Turns a rejection into a status and a sentence.
async fn refused(rejection: Rejection) -> Result<Body, Infallible> {
    let (status, reason) = if let Some(refusal) = rejection.find::<Refusal>() {
        (refusal.status, refusal.reason.clone())
    } else if rejection.find::<warp::reject::InvalidQuery>().is_some() {
        (StatusCode::BAD_REQUEST, "the query of this address cannot be read".to_owned())
    } else {
        (StatusCode::BAD_REQUEST, ONLY_SOCKETS.to_owned())
    };
    tracing::debug!(%status, reason, "refused a request");
    Ok(text(status, &reason))
}

fn json<T: Serialize>(value: &T) -> Body {
    let mut response = Response::new(serde_json::to_string(value).unwrap_or_default());
    content_type(&mut response, "application/json; charset=UTF-8");
    response
}

fn text(status: StatusCode, body: &str) -> Body {
    let mut response = Response::new(body.to_owned());
    *response.status_mut() = status;
    content_type(&mut response, "text/plain; charset=UTF-8");
    response
}

fn content_type(response: &mut Body, value: &'static str) {
    let value = warp::http::HeaderValue::from_static(value);
    response.headers_mut().insert(warp::http::header::CONTENT_TYPE, value);
}
