//! JSON over a sandbox's private pipes: one object per line, none longer than the limit.

use std::io;
use std::os::fd::OwnedFd;

use futures_util::FutureExt;
use memchr::memchr;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe;

use crate::agents::limits::MAX_ANSWER;

#[derive(Debug)]
pub(crate) struct Pipe {
    sender: pipe::Sender,
    receiver: BufReader<pipe::Receiver>,
    /// The part of the next message that has come so far.
    line: Vec<u8>,
}

/// The reason why nothing more comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PipeError {
    /// The other end is gone.
    Closed,
    /// The other end sent something that cannot be used.
    Nonsense(&'static str),
}

impl Pipe {
    pub(crate) fn new(sender: OwnedFd, receiver: OwnedFd) -> io::Result<Self> {
        Ok(Self {
            sender: pipe::Sender::from_owned_fd(sender)?,
            receiver: BufReader::new(pipe::Receiver::from_owned_fd(receiver)?),
            line: Vec::new(),
        })
    }

    pub(crate) async fn send(&mut self, message: &impl Serialize) -> Result<(), PipeError> {
        let unwritable = |_| PipeError::Nonsense("a request cannot be written");
        let mut line = serde_json::to_vec(message).map_err(unwritable)?;
        line.push(b'\n');
        self.sender.write_all(&line).await.map_err(|_| PipeError::Closed)
    }

    /// Returns the next message. A caller that stops waiting loses nothing of it.
    pub(crate) async fn receive<T: DeserializeOwned>(&mut self) -> Result<T, PipeError> {
        loop {
            let bytes = self.receiver.fill_buf().await.map_err(|_| PipeError::Closed)?;
            if bytes.is_empty() {
                return Err(PipeError::Closed);
            }
            let end = memchr(b'\n', bytes);
            let part = end.unwrap_or(bytes.len());
            self.line.extend(bytes.iter().take(part));
            self.receiver.consume(part + usize::from(end.is_some()));
            if self.line.len() > MAX_ANSWER {
                return Err(PipeError::Nonsense("its answer was too long"));
            }
            if end.is_some() {
                let unreadable = |_| PipeError::Nonsense("its answer cannot be read");
                return serde_json::from_slice(&std::mem::take(&mut self.line)).map_err(unreadable);
            }
        }
    }

    /// Returns `true` if the other end is there and has not spoken out of turn, as far as can be
    /// told.
    pub(crate) fn is_quiet(&mut self) -> bool {
        self.receiver.fill_buf().now_or_never().is_none()
    }
}
