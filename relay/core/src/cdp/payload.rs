//! Payloads as raw JSON text: read once to find their end, then carried as they came.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use shared_protocol::Unreadable;

/// A JSON value that the relay passes on byte for byte.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Payload(Box<RawValue>);

/// A message of the relay to an extension.
pub type RelayMessage = shared_protocol::RelayMessage<Payload>;
/// A message of an extension to the relay.
pub type ExtensionMessage = shared_protocol::ExtensionMessage<Payload>;
/// A target as the relay stores it.
pub type TargetInfo = shared_protocol::TargetInfo<Payload>;

/// A rule that says what a site may do, as extensions receive it.
pub type PermissionRule = shared_protocol::PermissionRule<Payload>;

impl Payload {
    /// `{}`, the result of a command that returns nothing.
    #[must_use]
    pub fn empty_object() -> Self {
        Self::of(&serde_json::Map::new())
    }

    /// Makes a payload of a type of ours, all of which have a JSON form.
    #[must_use]
    pub fn of<T: Serialize>(value: &T) -> Self {
        // Writing fails only for maps whose keys are no text, and no type of ours has one.
        to_raw_value(value).map_or_else(|_| Self(RawValue::NULL.to_owned()), Self)
    }

    /// Takes JSON text as it is.
    #[must_use]
    pub fn raw(text: Box<RawValue>) -> Self {
        Self(text)
    }

    /// Returns the JSON text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.get()
    }
}

impl PartialEq for Payload {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl shared_protocol::Payload for Payload {
    fn read<T: DeserializeOwned>(&self) -> Result<T, Unreadable> {
        serde_json::from_str(self.as_str()).map_err(|error| Unreadable(error.to_string()))
    }

    fn parse(json: &str) -> Result<Self, Unreadable> {
        serde_json::from_str(json).map(Self).map_err(|error| Unreadable(error.to_string()))
    }

    fn write<T: Serialize>(value: &T) -> Result<Self, Unreadable> {
        to_raw_value(value).map(Self).map_err(|error| Unreadable(error.to_string()))
    }
}
