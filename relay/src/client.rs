//! How programs of ours talk to a running relay over HTTP.

mod endpoint;
mod tls;

use std::io;
use std::time::Duration;

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::{Method, Request, StatusCode, header};
use hyper_util::rt::TokioIo;
use serde::Serialize;
use serde::de::DeserializeOwned;
use shared_protocol::http::{RELAY_NAME, Version};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;

pub use endpoint::{Endpoint, UnreadableEndpoint};

use crate::server::Token;

/// A relay answers at once or is none.
const PATIENCE: Duration = Duration::from_secs(5);

/// The most that is read of any answer; a stranger on the port may send more.
const MAX_ANSWER: usize = 64 * 1024 * 1024;

/// Asks one relay.
#[derive(Debug, Clone)]
pub struct Client {
    endpoint: Endpoint,
    token: Option<Token>,
    patience: Duration,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody is there.
    #[error("nothing listens at {0}")]
    NobodyThere(Endpoint),
    /// It cannot be reached, or hung up.
    #[error("cannot talk to {endpoint}: {why}")]
    Unreachable {
        /// Whom.
        endpoint: Endpoint,
        /// Why not.
        why: String,
    },
    /// It took too long.
    #[error("{0} did not answer in time")]
    TooSlow(Endpoint),
    /// It answered with an error.
    #[error("{endpoint} refused: {reason} (status {})", .status.as_u16())]
    Refused {
        /// Who.
        endpoint: Endpoint,
        /// How.
        status: StatusCode,
        /// What it said.
        reason: String,
    },
    /// It said something that no relay says.
    #[error("{0} does not answer as a relay does")]
    NotARelay(Endpoint),
}

/// An answer of whatever status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The body.
    pub body: String,
}

impl Client {
    /// For the relay at an address, with the token that it may want.
    #[must_use]
    pub fn new(endpoint: Endpoint, token: Option<Token>) -> Self {
        Self { endpoint, token, patience: PATIENCE }
    }

    /// For requests that may take longer, or must not take as long.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Whom it asks.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Which relay is there.
    ///
    /// # Errors
    ///
    /// See [`ClientError`].
    pub async fn version(&self) -> Result<Version, ClientError> {
        self.get("/version").await
    }

    /// Asks for JSON.
    ///
    /// # Errors
    ///
    /// See [`ClientError`].
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        self.json(Method::GET, path, None).await
    }

    /// Sends JSON and gets JSON.
    ///
    /// # Errors
    ///
    /// See [`ClientError`].
    pub async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &(impl Serialize + Sync),
    ) -> Result<T, ClientError> {
        self.json(Method::POST, path, Some(written(body))).await
    }

    /// Has something removed and gets JSON.
    ///
    /// # Errors
    ///
    /// See [`ClientError`].
    pub async fn delete<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        self.json(Method::DELETE, path, None).await
    }

    async fn json<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<String>,
    ) -> Result<T, ClientError> {
        let Answer { status, body } = self.send(method, path, body).await?;
        if !status.is_success() {
            let (endpoint, reason) = (self.endpoint.clone(), body.trim().to_owned());
            return Err(ClientError::Refused { endpoint, status, reason });
        }
        serde_json::from_str(&body).map_err(|_| ClientError::NotARelay(self.endpoint.clone()))
    }

    /// Sends one request, with a body of JSON or none, and gives the answer, whatever its status.
    ///
    /// # Errors
    ///
    /// See [`ClientError`].
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<String>,
    ) -> Result<Answer, ClientError> {
        match timeout(self.patience, self.exchange(method, path, body)).await {
            Ok(answer) => answer,
            Err(_) => Err(ClientError::TooSlow(self.endpoint.clone())),
        }
    }

    async fn exchange(
        &self,
        method: Method,
        path: &str,
        body: Option<String>,
    ) -> Result<Answer, ClientError> {
        let name = self.endpoint.name();
        let stream = TcpStream::connect((name, self.endpoint.port())).await;
        let stream =
            stream.map_err(|error| match error.kind() == io::ErrorKind::ConnectionRefused {
                true => ClientError::NobodyThere(self.endpoint.clone()),
                false => self.unreachable(&error),
            })?;
        if !self.endpoint.is_encrypted() {
            return self.exchange_over(stream, method, path, body).await;
        }
        let stream =
            tls::encrypted(stream, name).await.map_err(|error| self.unreachable(&error))?;
        self.exchange_over(stream, method, path, body).await
    }

    async fn exchange_over(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        method: Method,
        path: &str,
        body: Option<String>,
    ) -> Result<Answer, ClientError> {
        let failed = |error: hyper::Error| match error.is_parse() {
            true => ClientError::NotARelay(self.endpoint.clone()),
            false => self.unreachable(&error),
        };
        let request = self.request(method, path, body)?;
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
        let asking = async {
            let (head, body) = sender.send_request(request).await.map_err(failed)?.into_parts();
            let body = Limited::new(body, MAX_ANSWER).collect().await.map_err(|error| {
                match error.downcast::<LengthLimitError>() {
                    Ok(_) => ClientError::NotARelay(self.endpoint.clone()),
                    Err(error) => self.unreachable(&*error),
                }
            })?;
            let body = String::from_utf8(body.to_bytes().into());
            let body = body.map_err(|_| ClientError::NotARelay(self.endpoint.clone()))?;
            Ok(Answer { status: head.status, body })
        };
        let mut connection = std::pin::pin!(connection);
        let mut asking = std::pin::pin!(asking);
        tokio::select! {
            answer = &mut asking => answer,
            // What it failed with, the request says.
            _ = &mut connection => asking.await,
        }
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        body: Option<String>,
    ) -> Result<Request<Full<Bytes>>, ClientError> {
        let mut request = Request::builder()
            .method(method)
            .uri(self.endpoint.path(path))
            .header(header::HOST, self.endpoint.authority())
            .header(header::CONNECTION, "close");
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, token.as_header());
        }
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        let request = request.body(Full::from(body.unwrap_or_default()));
        request.map_err(|error| self.unreachable(&error))
    }

    fn unreachable(&self, error: &dyn std::error::Error) -> ClientError {
        ClientError::Unreachable { endpoint: self.endpoint.clone(), why: error.to_string() }
    }
}

/// Whether a relay is one of this project.
#[must_use]
pub fn is_ours(version: &Version) -> bool {
    version.name.as_deref() == Some(RELAY_NAME)
}

/// Our own types can always be written.
fn written(body: &impl Serialize) -> String {
    serde_json::to_string(body).unwrap_or_default()
}
