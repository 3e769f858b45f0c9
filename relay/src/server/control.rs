//! `/relay/…` and `/shutdown`: what concerns the relay itself.

use std::sync::Arc;

use hyper::body::Bytes;
use shared_protocol::http::{RelaySettings, RelayStatus, WindowModeChange};
use tokio::sync::Notify;
use warp::http::StatusCode;
use warp::{Filter, Rejection};

use super::events::{Event, Handle};
use super::guard::{Door, Policy, admitted};
use super::reply::{self, Body, text};
use crate::record::Pen;
use crate::state::{Input, Relay};

/// More than any request here has to say.
const MAX_BODY: u64 = 1024;

/// The relay itself, as far as it can be asked and told.
#[derive(Debug)]
pub(crate) struct Control {
    pub(crate) settings: RelaySettings,
    /// Notified when its user wants it to stop.
    pub(crate) stop: Arc<Notify>,
    /// Where a window mode that was changed is kept, for a relay that comes after it.
    pub(crate) note: Option<Pen>,
}

pub(crate) fn routes(
    handle: Handle,
    policy: &Arc<Policy>,
    control: Control,
) -> impl Filter<Extract = (Body,), Error = Rejection> + Clone + use<> {
    let Control { settings, stop, note } = control;
    let door = |door| admitted(Arc::clone(policy), door);
    let view = handle.clone();
    let status = warp::path!("relay" / "status")
        .and(warp::get().or(warp::head()).unify())
        .and(door(Door::Client))
        .then(move || {
            let (handle, settings) = (view.clone(), Some(settings.clone()));
            async move {
                let status = handle.view(Relay::status).await;
                let status = status.map(|status| RelayStatus { settings, ..status });
                status.map_or_else(reply::shutting_down, |status| reply::json(&status))
            }
        });
    let window_mode = warp::path!("relay" / "window-mode")
        .and(warp::post())
        .and(door(Door::Change))
        .and(warp::body::content_length_limit(MAX_BODY))
        .and(warp::body::bytes())
        .then(move |body: Bytes| {
            let (handle, note) = (handle.clone(), note.clone());
            async move {
                let change: WindowModeChange = match serde_json::from_slice(&body) {
                    Ok(change) => change,
                    Err(error) => return text(StatusCode::BAD_REQUEST, reply::unreadable(&error)),
                };
                let separate_window = change.separate_window;
                let chosen = Event::Input(Input::WindowModeChosen { separate_window });
                if handle.tell(chosen).await.is_err() {
                    return reply::shutting_down();
                }
                if let Some(note) = note {
                    note.change(|record| record.separate_window = separate_window);
                }
                reply::json(&change)
            }
        });
    let shutdown =
        warp::path!("shutdown").and(warp::post()).and(door(Door::Owner)).map(move || {
            tracing::info!("asked to stop");
            stop.notify_one();
            text(StatusCode::OK, "the relay is stopping")
        });
    let window_mode = window_mode.recover(reply::too_long).unify();
    status.or(window_mode).unify().or(shutdown).unify()
}
