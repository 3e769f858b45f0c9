//! The routes: HTTP questions are answered from the relay's state, sockets are handed to it.

use std::convert::Infallible;
use std::sync::Arc;

use serde::Deserialize;
use shared_protocol::http::{ExtensionStatus, RELAY_NAME, Version};
use shared_protocol::{ExtensionHello, TargetId};
use warp::http::{HeaderValue, StatusCode, header};
use warp::{Filter, Rejection, Reply};

use super::control::Control;
use super::events::{Handle, Peer};
use super::guard::{Caller, Door, Policy, Refusal, admitted, caller};
use super::reply::{self, Body, text};
use super::socket::{self, MAX_CONFINED_MESSAGE, MAX_MESSAGE};
use super::{control, json, mcp, sessions};
use crate::executor::{Entry, Executor};
use crate::state::{Input, Relay};

const ONLY_SOCKETS: &str = "this address takes WebSocket connections only";

/// Everything the relay serves.
pub(crate) fn routes(
    handle: Handle,
    policy: Policy,
    control: Control,
    version: String,
    executor: Executor,
) -> impl Filter<Extract = (impl Reply,), Error = Infallible> + Clone {
    let policy = Arc::new(policy);
    let door = |door| admitted(Arc::clone(&policy), door);
    let extension = warp::path!("extension")
        .and(door(Door::Extension).and(extension_socket(handle.clone())).recover(rejected));
    let doorbell = doorbell(&handle, &policy, version).recover(refused);
    let json = json::routes(handle.clone(), Arc::clone(&policy)).recover(refused);
    let control = control::routes(handle.clone(), &policy, control).recover(refused);
    let agents = sessions::routes(executor.clone(), &policy)
        .or(mcp::routes(executor, &policy).recover(reply::unreadable_query))
        .recover(refused);
    let others = door(Door::Client).and(
        questions(&handle)
            .or(client_socket(handle))
            .or(warp::any().map(|| text(StatusCode::NOT_FOUND, "there is nothing at this path"))),
    );
    extension.or(doorbell).or(json).or(control).or(agents).or(others).recover(rejected)
}

/// What the extension asks before it connects.
fn doorbell(
    handle: &Handle,
    policy: &Arc<Policy>,
    version: String,
) -> impl Filter<Extract = (Body,), Error = Rejection> + Clone + use<> {
    let reading = warp::get().or(warp::head()).unify();
    let admitted = admitted(Arc::clone(policy), Door::Doorbell);
    let root = warp::path::end().and(reading).and(admitted.clone());
    let told = Version { version, name: Some(RELAY_NAME.to_owned()) };
    let version = warp::path!("version").and(reading).and(admitted.clone());
    let status = warp::path!("extension" / "status").and(reading).and(admitted).and(caller());
    let (handle, policy) = (handle.clone(), Arc::clone(policy));
    let status = status.then(move |caller: Caller| {
        let (handle, is_trusted) = (handle.clone(), policy.trusts(&caller));
        async move {
            let status = handle.view(Relay::extension_status).await;
            // Whose browser it is concerns only those who have the token.
            let status = status.map(|status| match is_trusted {
                true => status,
                false => ExtensionStatus {
                    connected: status.connected,
                    active_targets: status.active_targets,
                    ..ExtensionStatus::default()
                },
            });
            status.map_or_else(reply::shutting_down, |status| reply::json(&status))
        }
    });
    root.map(|| text(StatusCode::OK, "OK"))
        .or(version.map(move || reply::json(&told)))
        .unify()
        .or(status)
        .unify()
}

fn questions(handle: &Handle) -> impl Filter<Extract = (Body,), Error = Rejection> + Clone + use<> {
    let reading = warp::get().or(warp::head()).unify();
    let extensions = warp::path!("extensions" / "status")
        .and(reading)
        .and(answer(handle, |relay| reply::json(&relay.extensions_status())));
    let pages = warp::path!("extension-status")
        .and(reading)
        .and(answer(handle, |relay| reply::json(&relay.pages_status())));
    extensions.or(pages).unify()
}

/// Answers from the relay's state, which only its own task may look at.
fn answer(
    handle: &Handle,
    body: fn(&Relay) -> Body,
) -> impl Filter<Extract = (Body,), Error = Infallible> + Clone + use<> {
    let handle = handle.clone();
    warp::any().then(move || {
        let handle = handle.clone();
        async move { handle.view(body).await.unwrap_or_else(reply::shutting_down) }
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
            upgraded(ws, MAX_MESSAGE, move |socket| {
                let connection = handle.next_connection();
                let user_agent = user_agent.unwrap_or_default();
                let connected = Input::ExtensionConnected { connection, hello, user_agent };
                socket::run(socket, handle, Peer::Extension(connection), connected)
            })
        })
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ClientQuery {
    extension_id: Option<String>,
    separate_window: Option<String>,
}

impl ClientQuery {
    /// Where the client wants its tabs, if it says so; an error if it cannot be understood.
    fn wants_window(&self) -> Result<Option<bool>, &'static str> {
        let Some(said) = &self.separate_window else { return Ok(None) };
        match said.to_ascii_lowercase().as_str() {
            "" | "1" | "true" | "yes" | "on" => Ok(Some(true)),
            "0" | "false" | "no" | "off" => Ok(Some(false)),
            _ => Err("separateWindow is either true or false"),
        }
    }
}

/// Who a client is and what it wants, as its path says.
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

/// A client at the door.
#[derive(Debug)]
pub(crate) struct Entering {
    pub(crate) path: ClientPath,
    pub(crate) query: ClientQuery,
    /// Of a worker.
    pub(crate) key: Option<Entry>,
}

fn client_socket(
    handle: Handle,
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
    handle: &Handle,
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
        let connected =
            Input::ClientConnected { client, name, extension, page, separate_window, confinement };
        socket::run(socket, handle, Peer::Client(client), connected).await;
        drop(key);
    });
    upgraded.into_response()
}

fn upgraded<F>(
    ws: warp::ws::Ws,
    largest: usize,
    serve: impl FnOnce(warp::ws::WebSocket) -> F + Send + 'static,
) -> impl Reply
where
    F: Future<Output = ()> + Send + 'static,
{
    ws.max_message_size(largest).max_frame_size(largest).on_upgrade(serve)
}

/// Answers what the guard refused; another route may still take the rest.
async fn refused(rejection: Rejection) -> Result<Body, Rejection> {
    let Some(Refusal { status, reason }) = rejection.find::<Refusal>() else {
        return Err(rejection);
    };
    let mut body = text(*status, *reason);
    if *status == StatusCode::UNAUTHORIZED {
        let scheme = HeaderValue::from_static("Bearer");
        body.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
    }
    Ok(body)
}

/// Answers whatever no route took.
async fn rejected(rejection: Rejection) -> Result<Body, Infallible> {
    Ok(match refused(rejection).await {
        Ok(body) => body,
        Err(rejection) => reply::unreadable_query(rejection)
            .await
            .unwrap_or_else(|_| text(StatusCode::BAD_REQUEST, ONLY_SOCKETS)),
    })
}
