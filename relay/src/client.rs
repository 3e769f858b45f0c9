//! The HTTP client with which our programs talk to a running relay.

mod conversation;
mod endpoint;
mod tls;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::{Method, Request, StatusCode, header};
use serde::Serialize;
use serde::de::DeserializeOwned;
use shared_protocol::http::{RELAY_NAME, Version};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

use conversation::Conversation;
pub use endpoint::{Endpoint, UnreadableEndpoint};

use crate::system::folders::own_folder;
use crate::system::own_socket;
use crate::trust::Token;
use crate::trust::proof::Nonce;
use crate::trust::secret::Secret;

/// A relay answers at once or is none.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// The number of attempts to connect to a relay that has only just begun to listen.
const MAX_TRIES: u32 = 5;

/// Asks one relay. One of this machine has to prove that it is this user's before it is shown a token;
/// a program that took its port first would get it otherwise.
#[derive(Debug, Clone)]
pub struct Client {
    endpoint: Endpoint,
    token: Option<Token>,
    limit: Duration,
    trust: Trust,
}

/// The relays to which a client shows its token.
#[derive(Debug, Clone)]
enum Trust {
    /// A relay that has the secret in this folder. `None` is nobody.
    Proven(Option<PathBuf>),
    /// Any relay that answers.
    Anybody,
}

/// The reason why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nothing listens there.
    #[error("nothing listens at {0}")]
    NobodyThere(Endpoint),
    /// The relay cannot be reached, or closed the connection.
    #[error("cannot talk to {endpoint}: {why}")]
    Unreachable {
        /// The relay's address.
        endpoint: Endpoint,
        /// The cause.
        why: String,
    },
    /// The relay took too long.
    #[error("{0} did not answer in time")]
    TooSlow(Endpoint),
    /// The relay answered with an error.
    #[error("{endpoint} refused: {reason} (status {})", .status.as_u16())]
    Refused {
        /// The relay's address.
        endpoint: Endpoint,
        /// The HTTP status.
        status: StatusCode,
        /// The relay's reason.
        reason: String,
    },
    /// The answer is none that a relay gives.
    #[error("{0} does not answer as a relay does")]
    NotARelay(Endpoint),
    /// The relay does not have this user's secret.
    #[error("the program at {0} cannot prove that it is your relay")]
    Unproven(Endpoint),
}

impl ClientError {
    /// The relay that was asked.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        match self {
            Self::NobodyThere(endpoint)
            | Self::TooSlow(endpoint)
            | Self::NotARelay(endpoint)
            | Self::Unproven(endpoint)
            | Self::Unreachable { endpoint, .. }
            | Self::Refused { endpoint, .. } => endpoint,
        }
    }
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
    /// Makes a client for the relay at an address, with the token that the relay may want.
    #[must_use]
    pub fn new(endpoint: Endpoint, token: Option<Token>) -> Self {
        let trust = match endpoint.is_here() {
            true => Trust::Proven(own_folder()),
            false => Trust::Anybody,
        };
        Self { endpoint, token, limit: ANSWER_TIMEOUT, trust }
    }

    /// Makes a client for a relay of this machine that has the secret in another folder than this
    /// user's.
    #[must_use]
    pub fn in_folder(self, folder: impl Into<PathBuf>) -> Self {
        match self.trust {
            Trust::Proven(_) => Self { trust: Trust::Proven(Some(folder.into())), ..self },
            Trust::Anybody => self,
        }
    }

    /// Returns whether the relay has to prove that it is this user's.
    pub(crate) fn wants_proof(&self) -> bool {
        matches!(self.trust, Trust::Proven(_))
    }

    /// Returns the token that this user's own relay takes for every access, unless the user chose one.
    pub(crate) fn cdp_token(&self) -> Option<Token> {
        let Trust::Proven(Some(folder)) = &self.trust else { return None };
        Secret::read(folder).ok()?.map(|secret| secret.cdp_token())
    }

    /// Makes a client that shows its token to any program that has the port: no other program accepts
    /// the token.
    #[must_use]
    pub(crate) fn trusting_anybody(self) -> Self {
        Self { trust: Trust::Anybody, ..self }
    }

    /// Sets another time limit for requests.
    #[must_use]
    pub fn with_timeout(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }

    /// Returns the address of the relay.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Returns which relay is there. Its proof is left out unless it is right.
    ///
    /// # Errors
    ///
    /// See [`ClientError`].
    pub async fn version(&self) -> Result<Version, ClientError> {
        match timeout(self.limit, self.version_and_proof()).await {
            Ok(answer) => answer,
            Err(_) => Err(ClientError::TooSlow(self.endpoint.clone())),
        }
    }

    async fn version_and_proof(&self) -> Result<Version, ClientError> {
        let Trust::Proven(folder) = &self.trust else { return self.get("/version").await };
        let port = self.endpoint.port();
        if let Some(folder) = folder
            && let Some(stream) = own_socket::connect(folder, port).await
        {
            let mut relay = Conversation::begin(stream, &self.endpoint).await?;
            return self.identify(&mut relay).await;
        }
        self.identified().await.map(|(_, version)| version)
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

    /// Sends a DELETE request and returns its JSON.
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
        let answer = self.send(method, path, body).await?;
        self.read(answer)
    }

    fn read<T: DeserializeOwned>(&self, answer: Answer) -> Result<T, ClientError> {
        let Answer { status, body } = answer;
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
        match timeout(self.limit, self.exchange(method, path, body)).await {
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
        let mut relay = self.connected().await?;
        let token = self.token.clone().or_else(|| self.cdp_token());
        let request = self.request(method, path, body, token.as_ref())?;
        relay.ask(request).await
    }

    /// Connects to a relay that may be shown the token.
    async fn connected(&self) -> Result<Conversation, ClientError> {
        let Trust::Proven(folder) = &self.trust else { return self.by_port().await };
        if let Some(folder) = folder
            && let Some(stream) = own_socket::connect(folder, self.endpoint.port()).await
        {
            return Conversation::begin(stream, &self.endpoint).await;
        }
        match self.identified().await? {
            (relay, Version { proof: Some(_), .. }) => Ok(relay),
            (_, Version { proof: None, .. }) => Err(ClientError::Unproven(self.endpoint.clone())),
        }
    }

    /// Connects by the port, and asks who answers. The proof is left out unless it is right.
    ///
    /// A relay may have come after the connection was made. Then the program that had the port before
    /// has the connection and passes the relay's answers on, and a new connection is made.
    async fn identified(&self) -> Result<(Conversation, Version), ClientError> {
        let mut tries = MAX_TRIES;
        loop {
            let began = Instant::now();
            let mut relay = self.by_port().await?;
            let version = self.identify(&mut relay).await?;
            let listening = version.listening.map(u64::from).map(Duration::from_millis);
            if version.proof.is_none() || listening.is_some_and(|it| it >= began.elapsed()) {
                return Ok((relay, version));
            }
            tries -= 1;
            if tries == 0 {
                return Ok((relay, Version { proof: None, ..version }));
            }
        }
    }

    async fn by_port(&self) -> Result<Conversation, ClientError> {
        let name = self.endpoint.name();
        let stream = TcpStream::connect((name, self.endpoint.port())).await;
        let stream =
            stream.map_err(|error| match error.kind() == io::ErrorKind::ConnectionRefused {
                true => ClientError::NobodyThere(self.endpoint.clone()),
                false => self.unreachable(&error),
            })?;
        if !self.endpoint.is_encrypted() {
            return Conversation::begin(stream, &self.endpoint).await;
        }
        let stream =
            tls::encrypted(stream, name).await.map_err(|error| self.unreachable(&error))?;
        Conversation::begin(stream, &self.endpoint).await
    }

    /// Asks who answers, and for a proof, which is left out unless it is right.
    async fn identify(&self, relay: &mut Conversation) -> Result<Version, ClientError> {
        let Some(nonce) = Nonce::random() else {
            return Err(ClientError::Unproven(self.endpoint.clone()));
        };
        let path = format!("/version?{}", nonce.as_query());
        let request = self.request(Method::GET, &path, None, None)?;
        let version: Version = self.read(relay.ask(request).await?)?;
        let is_right = |proof: &String| {
            let Trust::Proven(Some(folder)) = &self.trust else { return false };
            let Ok(Some(secret)) = Secret::read(folder) else { return false };
            let here = self.endpoint.address().zip(version.listening);
            here.is_some_and(|(here, since)| nonce.is_proven(proof, &secret, here, since))
        };
        let proof = version.proof.clone().filter(is_right);
        Ok(Version { proof, ..version })
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        body: Option<String>,
        token: Option<&Token>,
    ) -> Result<Request<Full<Bytes>>, ClientError> {
        let mut request = Request::builder()
            .method(method)
            .uri(self.endpoint.path(path))
            .header(header::HOST, self.endpoint.authority());
        if let Some(token) = token {
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

/// Returns `true` if a relay is one of this project.
#[must_use]
pub fn is_ours(version: &Version) -> bool {
    version.name.as_deref() == Some(RELAY_NAME)
}

/// Writes a body as JSON. Our own types can always be written.
fn written(body: &impl Serialize) -> String {
    serde_json::to_string(body).unwrap_or_default()
}
