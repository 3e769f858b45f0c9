//! The socket of an extension, `/extension`.

use std::future::ready;
use std::sync::Arc;

use serde::Deserialize;
use shared_protocol::ExtensionHello;
use shared_protocol::pairing::{Knock, VERSION};
use warp::http::StatusCode;
use warp::reply::Response;
use warp::ws::Ws;
use warp::{Filter, Rejection, Reply};

use super::clients::upgraded;
use super::handshake;
use super::handshake::Proven;
use super::reply::text;
use crate::event_loop::handle::{LoopEvent, Peer, RelayHandle};
use crate::event_loop::socket;
use crate::event_loop::socket::MAX_MESSAGE;
use crate::server::access::Access;
use crate::server::access::caller::{Caller, caller};
use crate::server::access::guard::{Policy, admitted};
use crate::server::access::pairing::Pairing;
use crate::server::access::peer::Remote;
use relay_core::Input;

/// The number of bytes that are read of an extension before it has proven itself. Its next message
/// may be read in one go with its proof.
const MAX_UNPROVEN: u64 = 256 * 1024;

const UNREADABLE_KNOCK: &str = "this relay knows pairing v1 with kid and nonce only";

/// An extension that asks to connect and to prove itself.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) knock: Knock,
    pub(crate) user_agent: String,
    pub(crate) remote: Remote,
    pub(crate) policy: Arc<Policy>,
}

/// The socket of an extension: one that can prove itself begins with the proof, all others as ever.
pub(crate) fn extension_socket(
    handle: &RelayHandle,
    policy: &Arc<Policy>,
    pairing: &Arc<Pairing>,
) -> impl Filter<Extract = (Response,), Error = Rejection> + Clone + use<> {
    let agent = warp::header::optional::<String>("user-agent").map(Option::unwrap_or_default);
    let needs = |needs| admitted(Arc::clone(policy), needs);
    let (proving, pairs, guard) = (handle.clone(), Arc::clone(pairing), Arc::clone(policy));
    let proving = warp::query::<Knocking>()
        .and_then(|knocking: Knocking| ready(knocking.wants_to_prove()))
        .and(needs(Access::Pairing))
        .and(agent)
        .and(caller())
        .and(warp::ws())
        .map(move |knock: Option<Knock>, user_agent, caller: Caller, ws| {
            let Some(knock) = knock else {
                return text(StatusCode::BAD_REQUEST, UNREADABLE_KNOCK).into_response();
            };
            let policy = Arc::clone(&guard);
            let entering = Entry { knock, user_agent, remote: caller.remote, policy };
            knocked(&proving, &pairs, ws, entering)
        });
    let (handle, pairing) = (handle.clone(), Arc::clone(pairing));
    let others = needs(Access::Extension).and(warp::query::<ExtensionHello>());
    let others = others.and(agent).and(warp::ws()).then(
        move |hello: ExtensionHello, user_agent, ws: warp::ws::Ws| {
            let (handle, pairing) = (handle.clone(), Arc::clone(&pairing));
            async move {
                if let Some(refusal) = pairing.refuses(hello.install_id.clone()).await {
                    return text(StatusCode::FORBIDDEN, refusal).into_response();
                }
                let entered = upgraded(ws, MAX_MESSAGE, move |socket| {
                    let connection = handle.next_connection();
                    let connected =
                        Input::ExtensionConnected { connection, hello, user_agent, proven: false };
                    socket::run(socket, handle, Peer::Extension(connection), connected)
                });
                entered.into_response()
            }
        },
    );
    proving.or(others).unify()
}

/// The query of an extension that wants to prove itself, as far as it can be told from any other.
#[derive(Debug, Deserialize)]
struct Knocking {
    pairing: Option<String>,
    kid: Option<String>,
    nonce: Option<String>,
}

impl Knocking {
    /// `None` inside for one that cannot be understood: it is not taken for anything else.
    fn wants_to_prove(self) -> Result<Option<Knock>, Rejection> {
        let Self { pairing, kid, nonce } = self;
        let pairing = pairing.ok_or_else(warp::reject::not_found)?;
        let knock =
            || Some(Knock { pairing, kid: kid?.parse().ok()?, nonce: nonce?.parse().ok()? });
        Ok(knock().filter(|knock| knock.pairing == VERSION))
    }
}

/// Lets an extension prove itself, and serves it if it has.
fn knocked(
    handle: &RelayHandle,
    pairing: &Arc<Pairing>,
    ws: Ws,
    Entry { knock, user_agent, remote, policy }: Entry,
) -> Response {
    let (handle, pairing) = (handle.clone(), Arc::clone(pairing));
    let upgraded = upgraded(ws, MAX_MESSAGE, move |socket| async move {
        // A longer message would have to be kept before it could be refused.
        remote.allowance().limit(MAX_UNPROVEN);
        let places = pairing.places(policy.is_known(&remote));
        let proven = handshake::shake(socket, &knock, &pairing, places).await;
        let Some(Proven { socket, hello }) = proven else { return };
        remote.allowance().lift();
        policy.extension_proved_itself(&remote);
        // Before it is there: nobody may take its place from now on.
        pairing.remember(hello.install_id.clone(), knock.kid).await;
        let connection = handle.next_connection();
        let peer = Peer::Extension(connection);
        let connected = Input::ExtensionConnected { connection, hello, user_agent, proven: true };
        tokio::select! {
            () = socket::run(socket, handle.clone(), peer, connected) => {}
            () = pairing.key_ended(knock.kid) => {
                tracing::info!(%connection, "the key of an extension is not good any more");
                // The event loop may have ended.
                drop(handle.send(LoopEvent::Input(peer.disconnected())).await);
            }
        }
    });
    upgraded.into_response()
}
