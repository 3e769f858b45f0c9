//! Answers that no file can give: what a client sent, downloads, sockets.

use std::collections::BTreeMap;

use futures_util::{StreamExt, stream};
use serde_json::json;
use warp::filters::BoxedFilter;
use warp::http::{HeaderMap, Method, StatusCode, Uri};
use warp::hyper::body::Bytes;
use warp::reply::{Reply, Response, with_header, with_status};
use warp::ws::{Message, WebSocket, Ws};
use warp::{Filter, path};

/// The name under which a browser saves a download.
const ATTACHMENT: &str = "attachment; filename=report.txt";

/// `user:secret`, as a browser sends it.
const CREDENTIALS: &str = "Basic dXNlcjpzZWNyZXQ=";

pub(super) fn routes() -> BoxedFilter<(Response,)> {
    let echo = path!("echo")
        .and(warp::method())
        .and(warp::header::headers_cloned())
        .and(warp::body::bytes())
        .map(echo);
    let redirect =
        path!("redirect").map(|| warp::redirect::found(Uri::from_static("/echo")).into_response());
    let private = path!("private")
        .and(warp::header::optional("authorization"))
        .map(|credentials: Option<String>| private(credentials.as_deref() == Some(CREDENTIALS)));
    let cookies = path!("cookies").map(cookies);
    let download = path!("download")
        .map(|| with_header("a report", "content-disposition", ATTACHMENT).into_response());
    let endless = path!("endless").map(endless);
    let silent = path!("silent").and_then(|| async {
        std::future::pending::<()>().await;
        Ok::<_, std::convert::Infallible>(warp::reply().into_response())
    });
    let socket = path!("socket")
        .and(warp::ws())
        .map(|upgrade: Ws| upgrade.on_upgrade(repeat).into_response());
    let routes = echo.or(redirect).unify().or(private).unify().or(cookies).unify();
    let files = download.or(endless).unify().or(silent).unify().or(socket).unify();
    routes.or(files).unify().boxed()
}

/// Tells what came in.
fn echo(method: Method, headers: HeaderMap, body: Bytes) -> Response {
    let headers: BTreeMap<_, _> = headers
        .iter()
        .map(|(name, value)| (name.as_str(), String::from_utf8_lossy(value.as_bytes())))
        .collect();
    let body = String::from_utf8_lossy(&body);
    let answer = json!({ "method": method.as_str(), "headers": headers, "body": body });
    warp::reply::json(&answer).into_response()
}

/// Lets in requests that have the credentials.
fn private(knows: bool) -> Response {
    if knows {
        return warp::reply::html("come in").into_response();
    }
    let refusal = with_status("who are you?", StatusCode::UNAUTHORIZED);
    with_header(refusal, "www-authenticate", "Basic realm=\"private\"").into_response()
}

/// Sets two cookies, so that there is a header with several values.
fn cookies() -> Response {
    let mut response = warp::reply::html("<title>cookies</title>").into_response();
    for cookie in ["served=yes; Path=/", "hidden=yes; Path=/; HttpOnly"] {
        response.headers_mut().append("set-cookie", warp::http::HeaderValue::from_static(cookie));
    }
    response
}

/// A download that begins and does not end.
fn endless() -> Response {
    let beginning =
        stream::once(async { Ok::<_, std::io::Error>(Bytes::from_static(&[b'.'; 4096])) });
    let body = warp::reply::stream(beginning.chain(stream::pending()));
    with_header(body, "content-disposition", ATTACHMENT).into_response()
}

/// Sends back what it gets.
async fn repeat(socket: WebSocket) {
    let (sink, messages) = socket.split();
    let spoken = messages.filter(|message| {
        let speaks = message
            .as_ref()
            .is_ok_and(|message: &Message| message.is_text() || message.is_binary());
        std::future::ready(speaks)
    });
    // The task ends with the socket, whichever side closed it.
    drop(spoken.forward(sink).await);
}
