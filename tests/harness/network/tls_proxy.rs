//! A proxy with a certificate of its own, as people put one before what they run.

use std::sync::Arc;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// Takes TLS off on the way to a port, and gives its own port and certificate.
pub async fn tls_proxy(to: u16) -> (u16, String) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("it can be had");
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("it can be had");
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("it can be had")
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .expect("it can be had");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("it can be had");
    let port = listener.local_addr().expect("it can be had").port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                // A caller that does not trust it hangs up.
                let Ok(mut stream) = acceptor.accept(stream).await else { return };
                let mut relay = TcpStream::connect(("127.0.0.1", to)).await.expect("it can be had");
                drop(copy_bidirectional(&mut stream, &mut relay).await);
            });
        }
    });
    (port, made.cert.pem())
}
