//! `/json/…`: what Chrome answers over HTTP on its debugging port, in its words.

use std::sync::Arc;

use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde_json::json;
use shared_protocol::{Payload as _, TargetId};
use warp::http::{Method, StatusCode};
use warp::{Filter, Rejection};

use super::discovery;
use super::discovery::{Address, forwarded_query};
use super::protocol;
use super::reply;
use super::reply::{Body, text};
use crate::event_loop::handle::RelayHandle;
use crate::server::access::Access;
use crate::server::access::caller::{Caller, caller};
use crate::server::access::guard::Policy;
use relay_core::cdp::Error;

/// The request that follows `/json`.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Question {
    Version,
    List,
    Protocol,
    New,
    Activate(TargetId),
    Close(TargetId),
    Unknown(String),
}

/// Builds the routes below `/json`.
pub(crate) fn routes(
    handle: RelayHandle,
    policy: Arc<Policy>,
) -> impl Filter<Extract = (Body,), Error = Rejection> + Clone {
    warp::path("json").and(warp::path::tail()).and(warp::method()).and(caller()).and_then(
        move |tail: warp::path::Tail, method: Method, caller: Caller| {
            let (handle, policy) = (handle.clone(), Arc::clone(&policy));
            async move {
                let question = Question::parse(tail.as_str());
                policy.admit(question.needs(), &caller).await?;
                let host = caller.header("host").unwrap_or_default().to_owned();
                let is_encrypted = caller.header("x-forwarded-proto") == Some("https");
                let (token, forwarded_query) = (policy.token(), forwarded_query(&caller.query));
                let address = Address { host, is_encrypted, token, forwarded_query };
                Ok::<_, Rejection>(question.answer(&method, &caller.query, address, &handle).await)
            }
        },
    )
}

impl Question {
    /// Parses the path. As in Chrome, one more slash and anything behind it change nothing.
    fn parse(tail: &str) -> Self {
        let (command, rest) = tail.split_once('/').unwrap_or((tail, ""));
        match command {
            "" | "list" => Self::List,
            "version" => Self::Version,
            "protocol" => Self::Protocol,
            "new" => Self::New,
            "activate" => Self::Activate(TargetId::new(rest)),
            "close" => Self::Close(TargetId::new(rest)),
            unknown => Self::Unknown(unknown.to_owned()),
        }
    }

    fn needs(&self) -> Access {
        match self {
            Self::New | Self::Activate(_) | Self::Close(_) => Access::Mutate,
            Self::Version | Self::List | Self::Protocol | Self::Unknown(_) => Access::Read,
        }
    }

    async fn answer(
        self,
        method: &Method,
        query: &str,
        address: Address,
        handle: &RelayHandle,
    ) -> Body {
        match self {
            Self::Version => {
                let id = handle.browser_id().clone();
                let body =
                    handle.query(move |relay| discovery::version(relay, &id, &address)).await;
                body.map_or_else(reply::shutting_down, |body| reply::json(&body))
            }
            Self::List => {
                let for_tab =
                    query.split('&').any(|field| field.split('=').next() == Some("for_tab"));
                let body =
                    handle.query(move |relay| discovery::list(relay, for_tab, &address)).await;
                body.map_or_else(reply::shutting_down, |body| reply::json(&body))
            }
            Self::Protocol => protocol::text().map_or_else(
                |error| text(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
                reply::json_text,
            ),
            Self::New if method != Method::PUT => unsafe_verb(method, "new", "PUT verb"),
            Self::New => open(query, address, handle).await,
            Self::Activate(_) if !reads_or_puts(method) => {
                unsafe_verb(method, "activate", "GET and PUT verbs")
            }
            Self::Activate(id) => {
                let failed = "Could not activate target id";
                on_target(id, "Target.activateTarget", "Target activated", failed, handle).await
            }
            Self::Close(_) if !reads_or_puts(method) => {
                unsafe_verb(method, "close", "GET and PUT verbs")
            }
            Self::Close(id) => {
                let failed = "Could not close target id";
                on_target(id, "Target.closeTarget", "Target is closing", failed, handle).await
            }
            Self::Unknown(command) => {
                text(StatusCode::NOT_FOUND, format!("Unknown command: {command}"))
            }
        }
    }
}

/// `PUT /json/new?<url>`, or `PUT /json/new?extensionId=<browser>&<url>` where there are several
async fn open(query: &str, address: Address, handle: &RelayHandle) -> Body {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Created {
        target_id: TargetId,
    }

    let (extension, url) = page_in(query);
    if address.token.as_ref().is_some_and(|token| token.is_in(&url)) {
        let body = "the token would be told to that page: send it in the header \
                    `Authorization: Bearer <token>`, or first: /json/new?token=<token>&<url>";
        return text(StatusCode::BAD_REQUEST, body);
    }
    let created = handle.call(extension, None, "Target.createTarget", &json!({ "url": url })).await;
    let created = created.and_then(|result| {
        result.read::<Created>().map_err(|error| Error::server(error.to_string()))
    });
    let id = match created {
        Ok(created) => created.target_id,
        Err(Error { message, .. }) => {
            let body = format!("Could not create new page: {message}");
            return text(StatusCode::INTERNAL_SERVER_ERROR, body);
        }
    };
    let page = handle.query(move |relay| discovery::page(relay, &id, &url, &address)).await;
    page.map_or_else(reply::shutting_down, |page| reply::json(&page))
}

/// Sends a command that takes a target and nothing else.
async fn on_target(
    id: TargetId,
    method: &str,
    done: &str,
    failed: &str,
    handle: &RelayHandle,
) -> Body {
    let wanted = id.clone();
    let is_there =
        handle.query(move |relay| relay.pages().any(|info| info.target_id == wanted)).await;
    match is_there {
        None => return reply::shutting_down(),
        Some(false) => return text(StatusCode::NOT_FOUND, format!("No such target id: {id}")),
        Some(true) => {}
    }
    // The command is sent as a client of that page, which also names the extension if there are
    // several.
    match handle.call(None, Some(id.clone()), method, &json!({ "targetId": id })).await {
        Ok(_) => text(StatusCode::OK, done),
        Err(Error { message, .. }) => {
            text(StatusCode::INTERNAL_SERVER_ERROR, format!("{failed}: {id}: {message}"))
        }
    }
}

/// The browser and the address. The whole query is the address, but for a token and a browser's name
/// before it. Chrome takes what is none for a blank page.
fn page_in(mut query: &str) -> (Option<String>, String) {
    let mut extension = None;
    while let Some((name @ ("token" | "extensionId"), rest)) = query.split_once('=') {
        let (value, rest) = rest.split_once('&').unwrap_or((rest, ""));
        if name == "extensionId" {
            extension = Some(percent_decode_str(value).decode_utf8_lossy().into_owned());
        }
        query = rest;
    }
    let url = percent_decode_str(query).decode_utf8_lossy();
    let has_scheme = url.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    });
    let url = if has_scheme { url.into_owned() } else { "about:blank".to_owned() };
    (extension, url)
}

fn reads_or_puts(method: &Method) -> bool {
    [Method::GET, Method::PUT].contains(method)
}

fn unsafe_verb(method: &Method, command: &str, supported: &str) -> Body {
    let body = format!(
        "Using unsafe HTTP verb {method} to invoke /json/{command}. \
         This action supports only {supported}."
    );
    text(StatusCode::METHOD_NOT_ALLOWED, body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_told_apart_as_chrome_does() {
        let id = || TargetId::new("T1");
        for (tail, question) in [
            ("", Question::List),
            ("list", Question::List),
            ("list/", Question::List),
            ("version", Question::Version),
            ("version/", Question::Version),
            ("protocol/", Question::Protocol),
            ("new", Question::New),
            ("activate/T1", Question::Activate(id())),
            ("close/T1", Question::Close(id())),
            ("close", Question::Close(TargetId::new(""))),
            ("nothing/x", Question::Unknown("nothing".to_owned())),
        ] {
            assert_eq!(Question::parse(tail), question, "{tail}");
        }
    }

    #[test]
    fn requests_that_open_and_close_tabs_need_mutate_access() {
        for tail in ["new", "activate/T1", "close/T1"] {
            assert_eq!(Question::parse(tail).needs(), Access::Mutate, "{tail}");
        }
        assert_eq!(Question::parse("list").needs(), Access::Read);
    }

    #[test]
    fn the_query_is_the_address_of_a_new_page() {
        for (query, url) in [
            ("http://a.example/?x=1&y=2", "http://a.example/?x=1&y=2"),
            ("http%3A%2F%2Fa.example%2F%3Fx", "http://a.example/?x"),
            ("token=s3cret&http://a.example/", "http://a.example/"),
            ("token=s3cret", "about:blank"),
            ("a.example", "about:blank"),
            ("1:2", "about:blank"),
            ("", "about:blank"),
            ("about:blank", "about:blank"),
        ] {
            assert_eq!(page_in(query), (None, url.to_owned()), "{query}");
        }
        for (query, url) in [
            ("extensionId=profile%3Aa&https://a.example/?b&c", "https://a.example/?b&c"),
            ("token=x&extensionId=profile:a&https://a.example/", "https://a.example/"),
            ("extensionId=profile:a&token=x", "about:blank"),
        ] {
            let expected = (Some("profile:a".to_owned()), url.to_owned());
            assert_eq!(page_in(query), expected, "{query}");
        }
    }
}
