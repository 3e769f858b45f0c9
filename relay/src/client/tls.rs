//! TLS, for relays behind an `https` address. Certificates are checked against those that this
//! machine trusts; `SSL_CERT_FILE` names others.

use std::io;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

pub(super) async fn encrypted(stream: TcpStream, name: &str) -> io::Result<TlsStream<TcpStream>> {
    let mut trusted = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    let (_, unreadable) = trusted.add_parsable_certificates(found.certs);
    if trusted.is_empty() {
        let why = found.errors.first().map_or_else(
            || format!("this machine trusts no certificates ({unreadable} could not be read)"),
            ToString::to_string,
        );
        return Err(io::Error::other(why));
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(trusted)
        .with_no_client_auth();
    let name = ServerName::try_from(name.to_owned()).map_err(io::Error::other)?;
    TlsConnector::from(Arc::new(config)).connect(name, stream).await
}
