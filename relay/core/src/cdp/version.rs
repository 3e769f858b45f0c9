//! The version of the browser that the relay reports: the browser in which the extension runs.

use serde::Serialize;
use serde_json::{Value, json};

/// A browser's own name and version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BrowserVersion {
    /// `Chrome/156.0.0.0`
    product: String,
    user_agent: String,
}

impl BrowserVersion {
    /// Reads it off a user agent, which tells only the first number, unless the whole is known.
    #[must_use]
    pub fn of(user_agent: Option<&str>, whole: Option<&str>) -> Self {
        // A client that sees "Headless" changes the fonts and sizes of the user's pages.
        let user_agent = user_agent.unwrap_or_default().replace("HeadlessChrome", "Chrome");
        let product = user_agent
            .split(' ')
            .find(|part| part.starts_with("Chrome/"))
            .unwrap_or("Chrome/0.0.0.0");
        let product = whole.map_or_else(|| product.to_owned(), |whole| format!("Chrome/{whole}"));
        Self { product, user_agent }
    }

    /// Returns the result of `Browser.getVersion`.
    #[must_use]
    pub fn cdp(&self) -> Value {
        json!({
            "protocolVersion": "1.3",
            "product": self.product,
            "revision": "@relay",
            "userAgent": self.user_agent,
            "jsVersion": self.v8(),
        })
    }

    /// V8 counts with Chrome: 156 has 15.6.
    fn v8(&self) -> String {
        let major = self.product.trim_start_matches("Chrome/").split('.').next();
        let major: u32 = major.and_then(|major| major.parse().ok()).unwrap_or_default();
        format!("{}.{}", major / 10, major % 10)
    }

    /// Returns the body of `/json/version`; some clients refuse one that lacks any of these.
    #[must_use]
    pub fn http(&self, web_socket_debugger_url: &str) -> Value {
        json!({
            "Browser": self.product,
            "Protocol-Version": "1.3",
            "User-Agent": self.user_agent,
            "V8-Version": self.v8(),
            "WebKit-Version": "537.36 (@relay)",
            "webSocketDebuggerUrl": web_socket_debugger_url,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_headless_browser_does_not_say_so() {
        let version = BrowserVersion::of(
            Some(
                "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/156.0.0.0 Safari/537.36",
            ),
            None,
        );
        assert_eq!(version.product, "Chrome/156.0.0.0");
        assert!(!version.user_agent.contains("Headless"));
        assert_eq!(version.v8(), "15.6");
    }

    #[test]
    fn an_unknown_browser_has_a_version_all_the_same() {
        assert_eq!(BrowserVersion::of(None, None).cdp()["product"], "Chrome/0.0.0.0");
    }

    #[test]
    fn the_whole_version_is_told_when_it_is_known() {
        let version = BrowserVersion::of(Some("Chrome/156.0.0.0"), Some("156.0.8078.79"));
        assert_eq!(version.cdp()["product"], "Chrome/156.0.8078.79");
    }
}
