//! HTTP answers: JSON or a sentence.

use serde::Serialize;
use warp::Rejection;
use warp::http::{HeaderValue, Response, StatusCode, header};

use warp::reject::{InvalidQuery, LengthRequired, PayloadTooLarge};

/// The type of every answer but those of sockets.
pub(crate) type Body = Response<String>;

pub(crate) fn json<T: Serialize>(value: &T) -> Body {
    json_text(serde_json::to_string(value).unwrap_or_default())
}

pub(crate) fn json_text(text: String) -> Body {
    with_type(Response::new(text), "application/json; charset=UTF-8")
}

pub(crate) fn text(status: StatusCode, body: impl Into<String>) -> Body {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    with_type(response, "text/plain; charset=UTF-8")
}

pub(crate) fn shutting_down() -> Body {
    text(StatusCode::SERVICE_UNAVAILABLE, "the relay is shutting down")
}

/// Returns the reply to a body that cannot be read.
pub(crate) fn unreadable(error: &serde_json::Error) -> String {
    format!("the request cannot be read: {error}")
}

/// Answers requests whose body is not taken.
pub(crate) async fn too_long(rejection: Rejection) -> Result<Body, Rejection> {
    if rejection.find::<PayloadTooLarge>().is_some() {
        return Ok(text(StatusCode::PAYLOAD_TOO_LARGE, "the request is too long"));
    }
    if rejection.find::<LengthRequired>().is_some() {
        return Ok(text(StatusCode::LENGTH_REQUIRED, "the request does not say its length"));
    }
    Err(rejection)
}

/// Answers requests whose query means nothing.
pub(crate) async fn unreadable_query(rejection: Rejection) -> Result<Body, Rejection> {
    match rejection.find::<InvalidQuery>() {
        Some(_) => Ok(text(StatusCode::BAD_REQUEST, "the query of this address cannot be read")),
        None => Err(rejection),
    }
}

fn with_type(mut response: Body, value: &'static str) -> Body {
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(value));
    response
}
