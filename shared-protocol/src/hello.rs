//! The introduction of an extension, which it sends when it connects.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The query parameters of the extension's socket. Every one is optional: the first released
/// extensions sent none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExtensionHello {
    /// The browser's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser: Option<String>,
    /// The browser's whole version, which its user agent does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser_version: Option<String>,
    /// The signed-in user's address; ours sends it only when the user turned that on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// The signed-in user's opaque id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// A random id made when the extension was installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub install_id: Option<String>,
    /// The extension's version.
    #[serde(rename = "v", skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The features that it understands beyond its version, separated by commas; see
    /// [`Features`](crate::Features).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<String>,
}

impl ExtensionHello {
    /// Returns the key that names this installation across connections, or `None` for an extension
    /// that says nothing about itself.
    #[must_use]
    pub fn stable_key(&self) -> Option<StableKey> {
        let browser = said(self.browser.as_ref());
        let key = if let Some(install) = said(self.install_id.as_ref()) {
            format!("install:{}:{install}", browser.unwrap_or("unknown"))
        } else if let Some(id) = said(self.id.as_ref()) {
            format!("profile:{id}")
        } else if let Some(email) = said(self.email.as_ref()) {
            format!("email:{email}")
        } else {
            format!("browser:{}", browser?)
        };
        Some(StableKey::new(key))
    }
}

/// Released extensions send an empty parameter where they have nothing to say.
fn said(parameter: Option<&String>) -> Option<&str> {
    parameter.map(String::as_str).filter(|text| !text.is_empty())
}

/// Names an installation of the extension across connections.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StableKey(String);

impl StableKey {
    /// Takes the text as it is.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text that clients may choose an extension by.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StableKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
