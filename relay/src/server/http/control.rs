//! `/relay/…` and `/shutdown`: what concerns the relay itself.

use std::sync::Arc;

use hyper::body::Bytes;
use shared_protocol::http::{RelaySettings, RelayStatus, UsersStatus, WindowModeChange};
use tokio::sync::Notify;
use warp::http::StatusCode;
use warp::{Filter, Rejection};

use super::reply;
use super::reply::{Body, text};
use crate::agents::Executor;
use crate::event_loop::handle::{LoopEvent, RelayHandle};
use crate::relay_file::RelayFileWriter;
use crate::server::access::Access;
use crate::server::access::caller::{Caller, caller};
use crate::server::access::guard::{Policy, admitted};
use crate::server::access::pairing::Pairing;
use crate::server::access::peer::Peers;
use crate::server::access::refusals::Refusals;
use relay_core::{Input, Relay};

/// More than any request here has to say.
const MAX_BODY: u64 = 1024;

/// The facts about peers that connect: their users, the refusals, and the listener on `[::1]`.
#[derive(Debug, Clone)]
pub(crate) struct Others {
    pub(crate) peers: Arc<Peers>,
    pub(crate) refusals: Arc<Refusals>,
    /// The reason why the relay does not listen on `[::1]`.
    pub(crate) ipv6_refused: Option<String>,
}

impl Others {
    fn status(&self) -> UsersStatus {
        UsersStatus {
            uid: self.peers.own(),
            lookups: self.peers.lookups(),
            from_windows: self.peers.connections_from_windows(),
            unknown: self.peers.unknown_connections(),
            refused: self.refusals.users(),
            ipv6_refused: self.ipv6_refused.clone(),
        }
    }
}

/// The relay itself, as far as it can be asked and told.
#[derive(Debug)]
pub(crate) struct Control {
    pub(crate) settings: RelaySettings,
    pub(crate) others: Others,
    /// Notified when its user wants it to stop.
    pub(crate) stop: Arc<Notify>,
    /// The file in which a changed window mode is kept, for a relay that comes after this one.
    pub(crate) relay_file: Option<RelayFileWriter>,
    /// Knows which extensions were not let in.
    pub(crate) pairing: Arc<Pairing>,
    /// The executor, which reports the boundary around agents' code.
    pub(crate) executor: Executor,
}

pub(crate) fn routes(
    handle: RelayHandle,
    policy: &Arc<Policy>,
    control: Control,
) -> impl Filter<Extract = (Body,), Error = Rejection> + Clone + use<> {
    let Control { settings, others, stop, relay_file, pairing, executor } = control;
    let needs = |needs| admitted(Arc::clone(policy), needs);
    let view = handle.clone();
    let status = warp::path!("relay" / "status")
        .and(warp::get().or(warp::head()).unify())
        .and(needs(Access::Read))
        .and(caller())
        .then(move |caller: Caller| {
            let (handle, settings) = (view.clone(), Some(settings.clone()));
            let executor = executor.clone();
            // The users whom this user refuses concern nobody else.
            let users = caller.remote.is_owner().then(|| others.status());
            let refused = pairing.refused();
            async move {
                let status = handle.query(Relay::status).await;
                let sandbox = Some(executor.sandbox().await);
                let status = status.map(|status| RelayStatus {
                    settings,
                    users,
                    refused,
                    sandbox,
                    ..status
                });
                status.map_or_else(reply::shutting_down, |status| reply::json(&status))
            }
        });
    let window_mode = warp::path!("relay" / "window-mode")
        .and(warp::post())
        .and(needs(Access::Mutate))
        .and(warp::body::content_length_limit(MAX_BODY))
        .and(warp::body::bytes())
        .then(move |body: Bytes| change_window_mode(handle.clone(), relay_file.clone(), body));
    let shutdown =
        warp::path!("shutdown").and(warp::post()).and(needs(Access::Owner)).map(move || {
            tracing::info!("asked to stop");
            stop.notify_one();
            text(StatusCode::OK, "the relay is stopping")
        });
    let window_mode = window_mode.recover(reply::too_long).unify();
    status.or(window_mode).unify().or(shutdown).unify()
}

async fn change_window_mode(
    handle: RelayHandle,
    relay_file: Option<RelayFileWriter>,
    body: Bytes,
) -> Body {
    let change: WindowModeChange = match serde_json::from_slice(&body) {
        Ok(change) => change,
        Err(error) => return text(StatusCode::BAD_REQUEST, reply::unreadable(&error)),
    };
    let separate_window = change.separate_window;
    let chosen = LoopEvent::Input(Input::WindowModeChosen { separate_window });
    if handle.send(chosen).await.is_err() {
        return reply::shutting_down();
    }
    if let Some(relay_file) = relay_file {
        relay_file.change(|record| record.separate_window = separate_window);
    }
    reply::json(&change)
}
