//! The loop that takes connections, and what one may do until it has shown something.
//!
//! The user at the other end is looked at first, so that those who are refused have places of their
//! own and take none of others. A connection has shown something as soon as a request on it was let
//! in. Until then it is one of few, makes room for others and ends after [`ADMISSION_TIMEOUT`]; after
//! that it stays for as long as it likes: a WebSocket, a stream, an idle connection that is used
//! again.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::future::Shared;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream, UnixStream, unix};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use super::peer::{Allowance, Identity, Peers, Remote, Standing, User};
use super::refusals::Refusals;
use super::strangers::{ADMISSION_TIMEOUT, Strangers, Who};
use super::users::Users;
use crate::system::descriptors;
use crate::system::own_socket;
use crate::system::own_socket::OwnSocket;

/// The largest number of this user's connections that have shown nothing, at each address at which
/// the relay listens. The constants below limit the other kinds.
const MAX_OWN: usize = 256;
const MAX_OTHER_USERS: usize = 32;
const MAX_UNKNOWN: usize = 32;
const MAX_OTHER_MACHINES: usize = 64;

/// The largest number of connections in all, WebSockets too, however many the system allows.
const MAX_CONNECTIONS: usize = 8192;

/// The time to wait when the system has no free descriptor.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(100);

/// Everything that is served.
pub(crate) type Routes = BoxedFilter<(Response,)>;

/// Completes when the relay stops.
pub(crate) type Stopped = Shared<BoxFuture<'static, ()>>;

/// The state that all listeners of a relay share.
#[derive(Clone)]
pub(crate) struct Accept {
    pub(crate) routes: Routes,
    pub(crate) peers: Arc<Peers>,
    pub(crate) users: Arc<Users>,
    pub(crate) refusals: Arc<Refusals>,
    pub(crate) places: Arc<Semaphore>,
    pub(crate) stopped: Stopped,
}

/// Places for as many connections as the system has descriptors for, less what else needs some. When
/// all are taken, the newest connection is closed at once.
pub(crate) fn places() -> Arc<Semaphore> {
    let open = usize::try_from(descriptors::limit()).unwrap_or(MAX_CONNECTIONS);
    Arc::new(Semaphore::new((open / 4 * 3).clamp(16, MAX_CONNECTIONS)))
}

impl Accept {
    /// Serves all who come, until the relay stops and they have gone.
    pub(crate) async fn serve(self, listener: impl Listener) {
        let mut waiting = Waiting::new(self.places.available_permits());
        let mut stopped = self.stopped.clone();
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = &mut stopped => break,
            };
            match accepted {
                Ok((stream, address)) => {
                    if let Some(remote) = listener.remote(&stream, address, &self.peers).await {
                        self.admit(stream, remote, &mut waiting).await;
                    }
                }
                Err(error) => {
                    tracing::debug!(%error, "a connection could not be accepted");
                    sleep(ACCEPT_RETRY_DELAY).await;
                }
            }
        }
        drop(listener);
        waiting.all_gone().await;
    }

    async fn admit<S>(&self, stream: S, remote: Remote, waiting: &mut Waiting)
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let shown = remote.shown().clone();
        let (strangers, who) = waiting.of(&remote, &self.users);
        strangers.make_room().await;
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            self.refusals.no_place();
            return;
        };
        let stream = Placed { stream, allowance: remote.allowance().clone(), _place: place };
        let served = serve_connection(stream, remote, self.routes.clone(), self.stopped.clone());
        strangers.admit(who, shown, served);
    }
}

/// A source of connections that knows who is at their other end.
pub(crate) trait Listener: Send + Sync {
    type Stream: AsyncRead + AsyncWrite + Send + Sync + Unpin + 'static;
    /// The system's address of the other end. It has to be taken here: once a peer has gone, the
    /// stream does not tell it any more.
    type Address: Send;

    fn accept(&self) -> impl Future<Output = io::Result<(Self::Stream, Self::Address)>> + Send;

    /// `None` if there is nobody to serve.
    fn remote(
        &self,
        stream: &Self::Stream,
        address: Self::Address,
        peers: &Peers,
    ) -> impl Future<Output = Option<Remote>> + Send;
}

impl Listener for TcpListener {
    type Stream = TcpStream;
    type Address = SocketAddr;

    async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        Self::accept(self).await
    }

    async fn remote(
        &self,
        stream: &TcpStream,
        address: SocketAddr,
        peers: &Peers,
    ) -> Option<Remote> {
        let local = stream.local_addr().ok()?;
        let identity = peers.look_up(address, local).await;
        Some(Remote::tcp(address, local, identity, Standing::default()))
    }
}

impl Listener for OwnSocket {
    type Stream = UnixStream;
    type Address = unix::SocketAddr;

    async fn accept(&self) -> io::Result<(UnixStream, Self::Address)> {
        Self::accept(self).await
    }

    async fn remote(&self, stream: &UnixStream, _: Self::Address, _: &Peers) -> Option<Remote> {
        if !own_socket::is_own(stream) {
            // The folder keeps others out; this is for a folder that somebody opened.
            tracing::info!("refused a program of another user at the relay's socket");
            return None;
        }
        let dialled = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port()));
        Some(Remote::own_socket(dialled, Standing::default()))
    }
}

/// Serves one connection until it ends, which it does without a word if it shows nothing.
pub(crate) async fn serve_connection<S>(stream: S, remote: Remote, routes: Routes, stopped: Stopped)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let shown = remote.shown().clone();
    let routes = TowerToHyperService::new(warp::service(routes));
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(remote.clone());
        routes.call(request)
    });
    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection.with_upgrades());
    tokio::select! {
        // The connection's own outcome is of no interest here.
        _ = &mut connection => return,
        () = ends_unless(&shown) => return,
        () = stopped => connection.as_mut().graceful_shutdown(),
    }
    drop(connection.await);
}

/// Completes if nothing is shown in time.
async fn ends_unless(shown: &Standing) {
    sleep(ADMISSION_TIMEOUT).await;
    if shown.is_set() {
        std::future::pending::<()>().await;
    }
}

/// Connections to one listener, by who opened them.
#[derive(Debug)]
struct Waiting {
    own: Strangers,
    other_users: Strangers,
    unknown: Strangers,
    other_machines: Strangers,
}

impl Waiting {
    fn new(places: usize) -> Self {
        // Nobody waits: a peer that opens many connections would delay all others.
        let strangers = |max: usize| Strangers::new(max.min(places / 8).max(1), Duration::ZERO);
        Self {
            own: strangers(MAX_OWN),
            other_users: strangers(MAX_OTHER_USERS),
            unknown: strangers(MAX_UNKNOWN),
            other_machines: strangers(MAX_OTHER_MACHINES),
        }
    }

    fn of(&mut self, remote: &Remote, users: &Users) -> (&mut Strangers, Who) {
        let Identity { user, .. } = remote.identity;
        match remote.address {
            Some(address) if !remote.is_loopback() => {
                (&mut self.other_machines, Who::Address(address.ip()))
            }
            Some(_) | None => match user {
                User::Other(uid) if !users.allow(uid) => (&mut self.other_users, Who::User(uid)),
                User::Unknown => (&mut self.unknown, Who::Anybody),
                User::Own | User::Root | User::Windows | User::Other(_) => {
                    (&mut self.own, Who::Anybody)
                }
            },
        }
    }

    async fn all_gone(&mut self) {
        self.own.all_gone().await;
        self.other_users.all_gone().await;
        self.unknown.all_gone().await;
        self.other_machines.all_gone().await;
    }
}

/// A connection with its place, which it keeps when it becomes a WebSocket.
#[derive(Debug)]
struct Placed<S> {
    stream: S,
    allowance: Allowance,
    _place: OwnedSemaphorePermit,
}

impl<S: AsyncRead + Unpin> AsyncRead for Placed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if matches!(read, Poll::Ready(Ok(())))
            && !self.allowance.spend(buffer.filled().len() - before)
        {
            return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Placed<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
