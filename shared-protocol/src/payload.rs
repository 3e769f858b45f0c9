//! Payloads: the parts of messages that are carried without being read.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A JSON value that is passed on as it came: raw text in the relay, a JavaScript value in the
/// worker.
///
/// Reading it is for the few payloads that one side has to understand; the rest is only forwarded.
pub trait Payload: Sized + Clone + Serialize + DeserializeOwned {
    /// Reads the payload as `T`.
    ///
    /// # Errors
    ///
    /// Says what did not fit when the payload is not a `T`.
    fn read<T: DeserializeOwned>(&self) -> Result<T, Unreadable>;

    /// Makes a payload of JSON text.
    ///
    /// # Errors
    ///
    /// Says why the text is not JSON.
    fn parse(json: &str) -> Result<Self, Unreadable>;

    /// Makes a payload of `value`.
    ///
    /// # Errors
    ///
    /// Says what `value` contains that JSON has no form for.
    fn write<T: Serialize>(value: &T) -> Result<Self, Unreadable>;
}

/// A payload that is not what its method promises.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable(pub String);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unreadable {}
