//! The network around browser and relay: free ports, a web site, a TLS proxy, plain HTTP requests.
//!
//! Nothing here speaks CDP or the wire of the extension. Peers that do are in `raw_peers`.

mod http;
mod ports;
mod site;
mod tls_proxy;

pub use http::{Answer, http, http_until};
pub(crate) use ports::free_port;
pub use site::Site;
pub use tls_proxy::tls_proxy;
