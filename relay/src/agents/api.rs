//! The requests to an executor and its answers, in this process and over HTTP.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::limits::{DEFAULT_TIMEOUT, MAX_CODE, MAX_TIMEOUT};

/// The longest name of a session: it is a folder's name, too.
const MAX_NAME: usize = 40;

/// The name of a session: a number, or what an agent chose.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionName(String);

/// A name that no session can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is no name for a session: it takes up to {MAX_NAME} letters, digits, hyphens and underscores"
)]
pub struct UnusableName(String);

/// A session to be made.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NewSession {
    /// The browser that it is bound to, by extension id or stable key.
    pub browser: Option<String>,
    /// The folder of the `playwright-core` that it uses.
    pub playwright: Option<PathBuf>,
    /// True if the session's tabs go to a window of their own; `None` leaves it to the relay's mode.
    pub separate_window: Option<bool>,
}

/// Code to be run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Execute {
    /// JavaScript.
    pub code: String,
    /// The time that the call may take, in milliseconds.
    pub timeout: Option<u64>,
    /// The browser to which the session is bound, if the call makes it.
    pub browser: Option<String>,
    /// The folder of the `playwright-core` to use, if the call makes the session.
    pub playwright: Option<PathBuf>,
    /// True if the session's tabs go to a window of their own, if this call makes the session.
    pub separate_window: Option<bool>,
}

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// The session in which the code ran.
    pub session: SessionName,
    /// True if the code threw, was stopped, or was not run at all.
    pub failed: bool,
    /// The relay's own remarks. They are kept apart from the text, in which a page may say anything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Console output, and the value or the error.
    pub text: String,
    /// Pictures that the code took.
    #[serde(default)]
    pub images: Vec<Image>,
    /// The session's folder, the working directory of its code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
    /// True if the session began with this call, and nobody has been told.
    #[serde(default)]
    pub is_fresh: bool,
    /// True if the session began with this call, and an earlier relay had a session of this name.
    #[serde(skip)]
    pub(crate) is_resumed: bool,
    /// True if the session keeps its state after this call.
    #[serde(default)]
    pub has_state: bool,
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Image {
    /// `image/png` and the like.
    pub mime_type: String,
    /// The bytes in base64.
    pub data: String,
}

/// A session as others see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionInfo {
    /// The session's name.
    pub id: SessionName,
    /// The browser that it is bound to.
    pub browser: Option<String>,
    /// True if the session has a sandbox; it gets one with its first call.
    pub is_running: bool,
    /// The session's folder.
    pub folder: PathBuf,
}

/// All sessions.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Sessions {
    pub(crate) sessions: Vec<SessionInfo>,
}

/// The answer to the end of a session: says if there was one.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Deleted {
    pub(crate) deleted: bool,
}

impl SessionName {
    pub(super) fn numbered(number: u64) -> Self {
        Self(number.to_string())
    }

    /// Makes a name that no other agent has.
    #[must_use]
    pub fn unique() -> Self {
        // Without the system's random numbers, the process has to do.
        let random = getrandom::u32().unwrap_or_else(|_| std::process::id());
        Self(format!("agent-{random:08x}"))
    }

    /// Returns the name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for SessionName {
    /// The session for callers that name none and have none of their own.
    fn default() -> Self {
        Self("default".to_owned())
    }
}

impl FromStr for SessionName {
    type Err = UnusableName;

    fn from_str(name: &str) -> Result<Self, UnusableName> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(fits) {
            return Err(UnusableName(name.chars().take(MAX_NAME).collect()));
        }
        Ok(Self(name.to_owned()))
    }
}

impl TryFrom<String> for SessionName {
    type Error = UnusableName;

    fn try_from(name: String) -> Result<Self, UnusableName> {
        name.parse()
    }
}

impl From<SessionName> for String {
    fn from(name: SessionName) -> Self {
        name.0
    }
}

impl fmt::Display for SessionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Execute {
    /// Returns the time for which the code may run.
    #[must_use]
    pub fn limit(&self) -> Duration {
        self.timeout.map_or(DEFAULT_TIMEOUT, Duration::from_millis)
    }

    pub(super) fn check(&self) -> Result<(), String> {
        if self.code.len() > MAX_CODE {
            return Err(format!("the code is longer than {MAX_CODE} bytes"));
        }
        if self.limit().is_zero() || self.limit() > MAX_TIMEOUT {
            return Err(format!("timeout must be from 1 to {} ms", MAX_TIMEOUT.as_millis()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_sessions_are_names_of_folders() {
        for name in ["1", "research", "a-b_C9"] {
            assert_eq!(name.parse::<SessionName>().unwrap().as_str(), name);
        }
        for name in ["", ".", "..", "a/b", "a b", "é", &"x".repeat(41)] {
            assert!(name.parse::<SessionName>().is_err(), "{name}");
        }
    }

    #[test]
    fn a_call_has_limits() {
        let call =
            |timeout, code: &str| Execute { code: code.into(), timeout, ..Execute::default() };
        assert_eq!(call(None, "1").check(), Ok(()));
        assert_eq!(call(Some(300_000), "1").check(), Ok(()));
        assert!(call(Some(0), "1").check().is_err());
        assert!(call(Some(300_001), "1").check().is_err());
        assert!(call(None, &"x".repeat(MAX_CODE + 1)).check().is_err());
    }
}
