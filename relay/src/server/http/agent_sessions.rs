//! `/sessions`: agents' code over HTTP, for the command line and for MCP over stdio.

use std::sync::Arc;

use hyper::body::Bytes;
use serde::de::DeserializeOwned;
use warp::http::StatusCode;
use warp::{Filter, Rejection};

use super::reply;
use super::reply::{Body, text};
use crate::agents::{Deleted, Execute, Executor, MAX_CODE, NewSession, SessionName, Sessions};
use crate::server::access::Access;
use crate::server::access::guard::{Policy, admitted};

/// Code as JSON, in which a character takes up to six bytes.
const MAX_BODY: u64 = 6 * MAX_CODE as u64 + 64 * 1024;

pub(crate) fn routes(
    executor: Executor,
    policy: &Arc<Policy>,
) -> impl Filter<Extract = (Body,), Error = Rejection> + Clone + use<> {
    let needs = |needs| admitted(Arc::clone(policy), needs);
    let executor = warp::any().map(move || executor.clone());
    let body = warp::body::content_length_limit(MAX_BODY).and(warp::body::bytes());
    let listed = warp::path!("sessions")
        .and(warp::get().or(warp::head()).unify())
        .and(needs(Access::Agents))
        .and(executor.clone())
        .map(|executor: Executor| reply::json(&Sessions { sessions: executor.sessions() }));
    let created = warp::path!("sessions")
        .and(warp::post())
        .and(needs(Access::Agents))
        .and(executor.clone())
        .and(body)
        .map(|executor: Executor, body| create(&executor, &body).unwrap_or_else(Body::from));
    let done = warp::path!("sessions" / String / String)
        .and(warp::post())
        .and(needs(Access::Agents))
        .and(executor.clone())
        .and(body)
        .then(|name: String, what: String, executor: Executor, body: Bytes| async move {
            act(&executor, &name, &what, &body).await.unwrap_or_else(Body::from)
        });
    let deleted = warp::path!("sessions" / String)
        .and(warp::delete())
        .and(needs(Access::Agents))
        .and(executor)
        .then(|name: String, executor: Executor| async move {
            delete(&executor, &name).await.unwrap_or_else(Body::from)
        });
    listed.or(created).unify().or(done).unify().or(deleted).unify().recover(reply::too_long).unify()
}

/// The error for a bad request.
struct Bad(StatusCode, String);

impl From<Bad> for Body {
    fn from(Bad(status, reason): Bad) -> Self {
        text(status, reason)
    }
}

fn create(executor: &Executor, body: &Bytes) -> Result<Body, Bad> {
    let session = executor.create(read::<NewSession>(body)?);
    let session = session.map_err(|reason| Bad(StatusCode::TOO_MANY_REQUESTS, reason))?;
    Ok(reply::json(&session))
}

async fn act(executor: &Executor, name: &str, what: &str, body: &Bytes) -> Result<Body, Bad> {
    let name = named(name)?;
    match what {
        "execute" => {
            let request = read::<Execute>(body)?;
            Ok(reply::json(&executor.execute(&name, request).await))
        }
        "reset" => Ok(reply::json(&executor.reset(&name).await)),
        _ => Err(Bad(StatusCode::NOT_FOUND, "there is nothing at this path".to_owned())),
    }
}

async fn delete(executor: &Executor, name: &str) -> Result<Body, Bad> {
    Ok(reply::json(&Deleted { deleted: executor.delete(&named(name)?).await }))
}

fn named(name: &str) -> Result<SessionName, Bad> {
    let name: Result<SessionName, _> = name.parse();
    name.map_err(|error| Bad(StatusCode::BAD_REQUEST, error.to_string()))
}

/// An empty body is an empty object.
fn read<T: DeserializeOwned + Default>(body: &Bytes) -> Result<T, Bad> {
    if body.is_empty() {
        return Ok(T::default());
    }
    serde_json::from_slice(body)
        .map_err(|error| Bad(StatusCode::BAD_REQUEST, reply::unreadable(&error)))
}
