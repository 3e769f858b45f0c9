//! Free ports.

use tokio::net::TcpSocket;
use tokio::sync::Mutex;

/// Returns a port that the system gives to nobody else: a socket that does not listen is bound to it
/// for as long as the tests run. A program that asks for it by its number gets it.
pub(crate) async fn free_port() -> u16 {
    static HELD: Mutex<Vec<TcpSocket>> = Mutex::const_new(Vec::new());
    let socket = TcpSocket::new_v4().expect("there are sockets");
    socket.set_reuseaddr(true).expect("others may bind it too");
    socket.bind(([127, 0, 0, 1], 0).into()).expect("there is a free port");
    let port = socket.local_addr().expect("it is bound").port();
    HELD.lock().await.push(socket);
    port
}
