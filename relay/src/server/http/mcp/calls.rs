//! The calls that are being answered, so that another request can cancel them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

/// The key of a call, among all clients.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct CallId {
    session: String,
    /// The request's id as JSON text, so that `1` is not `"1"`.
    request: String,
}

/// The calls that are being answered; finished calls are not kept.
#[derive(Debug, Clone, Default)]
pub(super) struct Calls(Arc<Mutex<BTreeMap<CallId, CancellationToken>>>);

/// A call's entry, until it is dropped.
#[derive(Debug)]
pub(super) struct Call {
    id: CallId,
    cancelled: CancellationToken,
    calls: Calls,
}

/// The part of a message that is read before it is passed on.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Envelope<'a> {
    method: String,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Params<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Params<'a> {
    #[serde(borrow)]
    request_id: Option<&'a RawValue>,
}

impl<'a> Envelope<'a> {
    /// Reads a message. An unreadable message is not refused here.
    pub(super) fn read(body: &'a [u8]) -> Self {
        serde_json::from_slice(body).unwrap_or_default()
    }

    /// The id of the call that it is.
    pub(super) fn call(&self) -> Option<&'a str> {
        self.id.filter(|_| self.method == "tools/call").map(RawValue::get)
    }

    /// The id of the call that it cancels.
    pub(super) fn cancelled(&self) -> Option<&'a str> {
        let id = self.params.request_id.filter(|_| self.method == "notifications/cancelled");
        id.map(RawValue::get)
    }

    /// Returns `true` if the message is a client's first.
    pub(super) fn is_greeting(&self) -> bool {
        self.method == "initialize"
    }
}

impl Calls {
    /// Registers a call. Of two calls with one id, the second cannot be cancelled.
    pub(super) fn begin(&self, session: &str, id: &str) -> Option<Call> {
        let id = CallId { session: session.to_owned(), request: id.to_owned() };
        let cancelled = CancellationToken::new();
        let mut calls = self.lock();
        if calls.contains_key(&id) {
            return None;
        }
        calls.insert(id.clone(), cancelled.clone());
        Some(Call { id, cancelled, calls: self.clone() })
    }

    pub(super) fn cancel(&self, session: &str, id: &str) {
        let id = CallId { session: session.to_owned(), request: id.to_owned() };
        if let Some(call) = self.lock().get(&id) {
            call.cancel();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<CallId, CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Call {
    pub(super) async fn cancelled(&self) {
        self.cancelled.cancelled().await;
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.calls.lock().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_cancels_its_own_calls_only() {
        let calls = Calls::default();
        let call = Envelope::read(br#"{"id":1,"method":"tools/call","params":{"name":"x"}}"#);
        let begin = |session| calls.begin(session, call.call().unwrap());
        let (one, other) = (begin("one").unwrap(), begin("other").unwrap());
        assert!(begin("one").is_none());
        let cancel = |id: &str| {
            let text = format!(
                r#"{{"method":"notifications/cancelled","params":{{"requestId":{id},"reason":"x"}}}}"#
            );
            calls.cancel("one", Envelope::read(text.as_bytes()).cancelled().unwrap());
        };
        cancel("\"1\"");
        cancel("2");
        assert!(!one.cancelled.is_cancelled());
        cancel("1");
        assert_eq!([one.cancelled.is_cancelled(), other.cancelled.is_cancelled()], [true, false]);
        drop((one, other));
        assert!(calls.lock().is_empty());
    }

    #[test]
    fn everything_else_is_passed_on() {
        for text in ["", "[]", "7", r#"{"id":1,"method":"tools/list"}"#, r#"{"method":1,"id":1}"#] {
            let message = Envelope::read(text.as_bytes());
            let read = (message.call(), message.cancelled(), message.is_greeting());
            assert_eq!(read, (None, None, false), "{text}");
        }
    }
}
