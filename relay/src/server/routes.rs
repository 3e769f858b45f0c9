//! The routes: HTTP questions are answered from the relay's state, sockets are handed to it.

use std::convert::Infallible;
use std::future::ready;
use std::sync::Arc;

use serde::Deserialize;
use shared_protocol::http::{ExtensionStatus, RELAY_NAME, Version};
use shared_protocol::pairing::{Knock, VERSION};
use shared_protocol::{ExtensionHello, TargetId};
use warp::http::{HeaderValue, StatusCode, header};
use warp::reply::Response;
use warp::{Filter, Rejection, Reply};

use super::control::Control;
use super::guard::{Caller, Door, Policy, Refusal, admitted, caller};
use super::pairing;
use super::pairing::{Entry as ExtensionEntry, Pairing};
use super::reply;
use super::reply::{Body, text};
use super::{control, json, mcp, sessions};
use crate::agents::{Entry, Executor};
use crate::event_loop::handle::{Handle, Peer};
use crate::event_loop::socket;
use crate::event_loop::socket::{MAX_CONFINED_MESSAGE, MAX_MESSAGE};
use relay_core::{Input, Relay};

const ONLY_SOCKETS: &str = "this address takes WebSocket connections only";

const UNREADABLE_KNOCK: &str = "this relay knows pairing v1 with kid and nonce only";

/// Everything the relay serves.
pub(crate) fn routes(
    handle: Handle,
    policy: Policy,
    control: Control,
    version: String,
    executor: Executor,
    pairing: Arc<Pairing>,
) -> impl Filter<Extract = (impl Reply,), Error = Infallible> + Clone {
    let policy = Arc::new(policy);
    let door = |door| admitted(Arc::clone(&policy), door);
    let extension = warp::path!("extension")
        .and(extension_socket(&handle, &policy, &pairing).recover(rejected));
    let doorbell = doorbell(&handle, &policy, version, pairing).recover(refused);
    let json = json::routes(handle.clone(), Arc::clone(&policy)).recover(refused);
    let control = control::routes(handle.clone(), &policy, control).recover(refused);
    let agents = sessions::routes(executor.clone(), &policy)
        .or(mcp::routes(executor, &policy).recover(mcp::refused).recover(reply::unreadable_query))
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
    pairing: Arc<Pairing>,
) -> impl Filter<Extract = (Body,), Error = Rejection> + Clone + use<> {
    let reading = warp::get().or(warp::head()).unify();
    let greeted = admitted(Arc::clone(policy), Door::Hello);
    let admitted = admitted(Arc::clone(policy), Door::Doorbell);
    let root = warp::path::end().and(reading).and(admitted.clone());
    let prover = Arc::clone(policy);
    let version = warp::path!("version").and(reading).and(admitted.clone()).and(caller()).map(
        move |caller: Caller| {
            let (listening, proof) = prover.prove(&caller).unzip();
            reply::json(&Version {
                version: version.clone(),
                name: Some(RELAY_NAME.to_owned()),
                listening,
                proof,
            })
        },
    );
    let hello = warp::path!("extension" / "hello").and(reading).and(greeted);
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
        .or(version)
        .unify()
        .or(hello.map(move || reply::json(&pairing.hello())))
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

/// The socket of an extension: one that can prove itself begins with the proof, all others as ever.
fn extension_socket(
    handle: &Handle,
    policy: &Arc<Policy>,
    pairing: &Arc<Pairing>,
) -> impl Filter<Extract = (Response,), Error = Rejection> + Clone + use<> {
    let agent = warp::header::optional::<String>("user-agent").map(Option::unwrap_or_default);
    let door = |door| admitted(Arc::clone(policy), door);
    let (proving, pairs, guard) = (handle.clone(), Arc::clone(pairing), Arc::clone(policy));
    let proving = warp::query::<Knocking>()
        .and_then(|knocking: Knocking| ready(knocking.wants_to_prove()))
        .and(door(Door::Proof))
        .and(agent)
        .and(caller())
        .and(warp::ws())
        .map(move |knock: Option<Knock>, user_agent, caller: Caller, ws| {
            let Some(knock) = knock else {
                return text(StatusCode::BAD_REQUEST, UNREADABLE_KNOCK).into_response();
            };
            let policy = Arc::clone(&guard);
            let entering = ExtensionEntry { knock, user_agent, remote: caller.remote, policy };
            pairing::knocked(&proving, &pairs, ws, entering)
        });
    let (handle, pairing) = (handle.clone(), Arc::clone(pairing));
    let others = door(Door::Extension).and(warp::query::<ExtensionHello>());
    let others = others.and(agent).and(warp::ws()).then(
        move |hello: ExtensionHello, user_agent, ws: warp::ws::Ws| {
            let (handle, pairing) = (handle.clone(), Arc::clone(&pairing));
            async move {
                if let Some(refusal) = pairing.refuses(hello.install_id.clone()).await {
                    return text(StatusCode::FORBIDDEN, refusal).into_response();
                }
                let entered = upgraded(ws, MAX_MESSAGE, move |socket| {
                    let connection = handle.next_connection();
                    let connected =
                        Input::ExtensionConnected { connection, hello, user_agent, proven: false };
                    socket::run(socket, handle, Peer::Extension(connection), connected)
                });
                entered.into_response()
            }
        },
    );
    proving.or(others).unify()
}

/// The query of an extension that wants to prove itself, as far as it can be told from any other.
#[derive(Debug, Deserialize)]
struct Knocking {
    pairing: Option<String>,
    kid: Option<String>,
    nonce: Option<String>,
}

impl Knocking {
    /// `None` inside for one that cannot be understood: it is not taken for anything else.
    fn wants_to_prove(self) -> Result<Option<Knock>, Rejection> {
        let Self { pairing, kid, nonce } = self;
        let pairing = pairing.ok_or_else(warp::reject::not_found)?;
        let knock =
            || Some(Knock { pairing, kid: kid?.parse().ok()?, nonce: nonce?.parse().ok()? });
        Ok(knock().filter(|knock| knock.pairing == VERSION))
    }
}

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

pub(super) fn upgraded<F>(
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
    let Some(Refusal { status, reason, .. }) = rejection.find::<Refusal>() else {
        return Err(rejection);
    };
    let mut body = text(*status, &**reason);
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
