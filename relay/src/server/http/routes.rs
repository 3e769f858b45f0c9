//! The routes: HTTP questions are answered from the relay's state, sockets are handed to it.

use std::convert::Infallible;
use std::sync::Arc;

use shared_protocol::http::{ExtensionStatus, RELAY_NAME, Version};
use warp::http::{HeaderValue, StatusCode, header};
use warp::{Filter, Rejection, Reply};

use super::clients::client_socket;
use super::control::Control;
use super::extension::extension_socket;
use super::reply;
use super::reply::{Body, text};
use super::{agent_sessions, control, devtools, mcp};
use crate::agents::Executor;
use crate::event_loop::handle::RelayHandle;
use crate::server::access::Access;
use crate::server::access::caller::{Caller, caller};
use crate::server::access::guard::{Policy, Refusal, admitted};
use crate::server::access::pairing::Pairing;
use relay_core::Relay;

pub(super) const ONLY_SOCKETS: &str = "this address takes WebSocket connections only";

/// Builds all routes of the relay.
pub(crate) fn routes(
    handle: RelayHandle,
    policy: Policy,
    control: Control,
    version: String,
    executor: Executor,
    pairing: Arc<Pairing>,
) -> impl Filter<Extract = (impl Reply,), Error = Infallible> + Clone {
    let policy = Arc::new(policy);
    let needs = |needs| admitted(Arc::clone(&policy), needs);
    let extension = warp::path!("extension")
        .and(extension_socket(&handle, &policy, &pairing).recover(rejected));
    let probe = probe(&handle, &policy, version, pairing).recover(refused);
    let devtools = devtools::routes(handle.clone(), Arc::clone(&policy)).recover(refused);
    let control = control::routes(handle.clone(), &policy, control).recover(refused);
    let agents = agent_sessions::routes(executor.clone(), &policy)
        .or(mcp::routes(executor, &policy).recover(mcp::refused).recover(reply::unreadable_query))
        .recover(refused);
    let others = needs(Access::Read).and(
        questions(&handle)
            .or(client_socket(handle))
            .or(warp::any().map(|| text(StatusCode::NOT_FOUND, "there is nothing at this path"))),
    );
    extension.or(probe).or(devtools).or(control).or(agents).or(others).recover(rejected)
}

/// The routes that the extension asks before it connects.
fn probe(
    handle: &RelayHandle,
    policy: &Arc<Policy>,
    version: String,
    pairing: Arc<Pairing>,
) -> impl Filter<Extract = (Body,), Error = Rejection> + Clone + use<> {
    let reading = warp::get().or(warp::head()).unify();
    let greeted = admitted(Arc::clone(policy), Access::Hello);
    let admitted = admitted(Arc::clone(policy), Access::Probe);
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
            let status = handle.query(Relay::extension_status).await;
            // The owner of the browser concerns only callers that have the token.
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

fn questions(
    handle: &RelayHandle,
) -> impl Filter<Extract = (Body,), Error = Rejection> + Clone + use<> {
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
    handle: &RelayHandle,
    body: fn(&Relay) -> Body,
) -> impl Filter<Extract = (Body,), Error = Infallible> + Clone + use<> {
    let handle = handle.clone();
    warp::any().then(move || {
        let handle = handle.clone();
        async move { handle.query(body).await.unwrap_or_else(reply::shutting_down) }
    })
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
