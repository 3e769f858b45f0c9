//! Requests and answers on one connection, so that requests go to the very program that proved itself.

use std::pin::Pin;

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::Request;
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};

use super::{Answer, ClientError, Endpoint};

/// The most that is read of any answer; a stranger on the port may send more.
const MAX_ANSWER: usize = 64 * 1024 * 1024;

/// An open connection to the program that answers at an endpoint.
pub(super) struct Conversation {
    endpoint: Endpoint,
    sender: SendRequest<Full<Bytes>>,
    /// Moves the bytes; it must be polled while an answer is awaited.
    connection: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl Conversation {
    pub(super) async fn begin(
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        endpoint: &Endpoint,
    ) -> Result<Self, ClientError> {
        let begun = http1::handshake(TokioIo::new(stream)).await;
        let (sender, connection) = begun.map_err(|error| failed(endpoint, &error))?;
        // The request reports the failure.
        let connection = Box::pin(async move { drop(connection.await) });
        Ok(Self { endpoint: endpoint.clone(), sender, connection: Some(connection) })
    }

    /// Sends a request and gives the whole answer.
    pub(super) async fn ask(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Answer, ClientError> {
        let Self { endpoint, sender, connection } = self;
        let mut asking = std::pin::pin!(answered(endpoint, sender, request));
        if let Some(moving) = connection {
            tokio::select! {
                answer = &mut asking => return answer,
                () = moving.as_mut() => {}
            }
            *connection = None;
        }
        asking.await
    }
}

async fn answered(
    endpoint: &Endpoint,
    sender: &mut SendRequest<Full<Bytes>>,
    request: Request<Full<Bytes>>,
) -> Result<Answer, ClientError> {
    sender.ready().await.map_err(|error| failed(endpoint, &error))?;
    let answer = sender.send_request(request).await.map_err(|error| failed(endpoint, &error))?;
    let (head, body) = answer.into_parts();
    let body = Limited::new(body, MAX_ANSWER).collect().await.map_err(|error| {
        match error.downcast::<LengthLimitError>() {
            Ok(_) => ClientError::NotARelay(endpoint.clone()),
            Err(error) => unreachable(endpoint, &*error),
        }
    })?;
    let body = String::from_utf8(body.to_bytes().into());
    let body = body.map_err(|_| ClientError::NotARelay(endpoint.clone()))?;
    Ok(Answer { status: head.status, body })
}

fn failed(endpoint: &Endpoint, error: &hyper::Error) -> ClientError {
    match error.is_parse() {
        true => ClientError::NotARelay(endpoint.clone()),
        false => unreachable(endpoint, error),
    }
}

fn unreachable(endpoint: &Endpoint, error: &dyn std::error::Error) -> ClientError {
    ClientError::Unreachable { endpoint: endpoint.clone(), why: error.to_string() }
}
