//! HTTP answers: JSON or a sentence.

use serde::Serialize;
use warp::http::{HeaderValue, Response, StatusCode, header};

/// What every route but the sockets answers with.
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

fn with_type(mut response: Body, value: &'static str) -> Body {
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(value));
    response
}
