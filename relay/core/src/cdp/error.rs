//! Errors in the words of Chrome.

use serde::{Deserialize, Serialize};

/// A CDP error. Clients match on Chrome's texts, so those are kept word for word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Error {
    /// JSON-RPC's number; some clients hang without one.
    pub code: i64,
    /// Chrome's words, or ours.
    pub message: String,
    /// Further details.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
}

impl Error {
    /// An error with a code of JSON-RPC's.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Returns the code Chrome gives to what can be understood but not done.
    pub fn server(message: impl Into<String>) -> Self {
        Self::new(-32000, message)
    }

    /// The command does not exist.
    #[must_use]
    pub fn unknown_method(method: &str) -> Self {
        Self::new(-32601, format!("'{method}' wasn't found"))
    }

    /// Parameters that the command does not take.
    #[must_use]
    pub fn invalid_params(data: impl Into<String>) -> Self {
        Self { data: Some(data.into()), ..Self::new(-32602, "Invalid parameters") }
    }

    /// The session does not exist.
    #[must_use]
    pub fn unknown_session() -> Self {
        Self::new(-32001, "Session with given id not found.")
    }

    /// Returns what an extension says went wrong: `chrome.debugger` gives a CDP error as JSON text,
    /// and errors of its own as plain text.
    #[must_use]
    pub fn from_extension(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_else(|_| Self::server(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cdp_error_of_chrome_debugger_is_unwrapped() {
        assert_eq!(
            Error::from_extension(r#"{"code":-32602,"message":"Invalid parameters","data":"x"}"#),
            Error::invalid_params("x")
        );
        assert_eq!(
            Error::from_extension("Detached while handling command."),
            Error::server("Detached while handling command.")
        );
    }
}
