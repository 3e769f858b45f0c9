//! `/mcp`: the MCP server over HTTP, in which each request stands alone.
//!
//! Clients are given a session id only so that they can cancel a call, by its id, with another request.

mod calls;

use std::pin::pin;
use std::sync::Arc;

use futures_util::{Stream, StreamExt};
use http_body_util::{BodyExt, Full};
use hyper::body::{Buf, Bytes};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;
use serde_json::json;
use warp::http::header::CONTENT_TYPE;
use warp::http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use warp::{Filter, Rejection};

use crate::agents::{Executor, MAX_CODE, SessionName};
use crate::mcp::{Backend, Mcp};
use crate::server::access::Access;
use crate::server::access::caller::{Caller, caller};
use crate::server::access::guard::{Policy, Refusal, admitted};
use calls::{Calls, Envelope};

/// Code as JSON, in which a character takes up to six bytes, and what is around it.
const MAX_BODY: usize = 6 * MAX_CODE + 64 * 1024;

const SESSION_ID: &str = "mcp-session-id";

/// The options that a configuration can give in the address.
#[derive(Debug, Default, Deserialize)]
struct Query {
    session: Option<SessionName>,
    browser: Option<String>,
}

pub(crate) fn routes(
    executor: Executor,
    policy: &Arc<Policy>,
) -> impl Filter<Extract = (Response<Vec<u8>>,), Error = Rejection> + Clone + use<> {
    let guard = Arc::clone(policy);
    let calls = Calls::default();
    warp::path!("mcp")
        .and(admitted(Arc::clone(policy), Access::Agents))
        .and(warp::method())
        .and(warp::header::headers_cloned())
        .and(caller())
        .and(warp::query::<Query>())
        .and(warp::body::stream())
        .then(move |method, headers, caller: Caller, query: Query, body| {
            let server = Mcp::new(Backend::Here(executor.clone()), query.session, query.browser);
            let service = StreamableHttpService::new(
                move || Ok(server.clone()),
                Arc::new(NeverSessionManager::default()),
                config(&guard),
            );
            answer(service, calls.clone(), request(method, headers, &caller.query), body)
        })
}

/// Answers an agent that shows no token. Many take any 401 for an invitation to OAuth, and open a
/// window; so this is a 403, and an error of JSON-RPC that says what to type.
pub(crate) async fn refused(rejection: Rejection) -> Result<Response<Vec<u8>>, Rejection> {
    let Some(Refusal { status, reason, .. }) = rejection.find::<Refusal>() else {
        return Err(rejection);
    };
    if *status != StatusCode::UNAUTHORIZED {
        return Err(rejection);
    }
    let error =
        json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32001, "message": reason } });
    let mut answer = Response::new(error.to_string().into_bytes());
    *answer.status_mut() = StatusCode::FORBIDDEN;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(answer)
}

async fn answer<B: Buf>(
    service: StreamableHttpService<Mcp, NeverSessionManager>,
    calls: Calls,
    request: Request<()>,
    body: impl Stream<Item = Result<B, warp::Error>> + Send + 'static,
) -> Response<Vec<u8>> {
    let body = collected(body).await;
    let passed_on = Full::new(body.clone());
    let message = Envelope::read(&body);
    let session = request.headers().get(SESSION_ID).and_then(|id| id.to_str().ok());
    if let (Some(session), Some(cancelled)) = (session, message.cancelled()) {
        calls.cancel(session, cancelled);
    }
    let call = session.zip(message.call()).and_then(|(session, id)| calls.begin(session, id));
    let is_greeting = message.is_greeting();
    let answering = async {
        let (head, answer) = service.handle(request.map(|()| passed_on)).await.into_parts();
        // The body has an end: nothing is sent but the answer.
        let answer = answer.collect().await.map(|all| all.to_bytes().to_vec()).unwrap_or_default();
        Response::from_parts(head, answer)
    };
    let mut answer = match &call {
        Some(call) => tokio::select! {
            answer = answering => answer,
            // Letting go of the call ends it, and there is nothing to be said about it.
            () = call.cancelled() => accepted(),
        },
        None => answering.await,
    };
    if is_greeting && answer.status().is_success() {
        answer.headers_mut().insert(SESSION_ID, new_session());
    }
    answer
}

/// The whole of it, or enough to see that it is too long.
async fn collected<B: Buf>(body: impl Stream<Item = Result<B, warp::Error>>) -> Bytes {
    let mut body = pin!(body);
    let mut whole = Vec::new();
    while let Some(Ok(mut part)) = body.next().await {
        whole.extend_from_slice(&part.copy_to_bytes(part.remaining()));
        if whole.len() > MAX_BODY {
            break;
        }
    }
    whole.into()
}

fn accepted() -> Response<Vec<u8>> {
    let mut answer = Response::default();
    *answer.status_mut() = StatusCode::ACCEPTED;
    answer
}

/// Makes a session id that nobody else has. The id is not kept: a client's id is only compared with
/// itself.
fn new_session() -> HeaderValue {
    let random = getrandom::u64().unwrap_or_default();
    HeaderValue::from_str(&format!("{random:016x}")).unwrap_or(HeaderValue::from_static("none"))
}

fn request(method: Method, headers: HeaderMap, query: &str) -> Request<()> {
    let mut request = Request::new(());
    *request.method_mut() = method;
    *request.headers_mut() = headers;
    *request.uri_mut() = format!("/mcp?{query}").parse().unwrap_or_default();
    request
}

/// The guard has looked at `Host` and `Origin` before; this is the library's own look.
fn config(policy: &Policy) -> StreamableHttpServerConfig {
    let mut config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .enforce_origin_validation();
    config.max_request_body_bytes = MAX_BODY;
    match policy.hosts() {
        Some(hosts) => {
            config.with_allowed_hosts(hosts.iter().map(|host| host.trim_matches(['[', ']'])))
        }
        None => config.disable_allowed_hosts(),
    }
}
