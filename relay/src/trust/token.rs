//! The secret that programs show to a relay that has one.

use std::borrow::Cow;
use std::fmt;
use std::io;

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use subtle::ConstantTimeEq;
use warp::http::HeaderMap;

/// A secret. It is compared in constant time and never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Takes a secret as the user wrote it.
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }

    /// Makes a token that nobody can guess.
    pub(crate) fn random() -> io::Result<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// Returns `true` if programs could send the token: a header takes visible ASCII characters only.
    pub(crate) fn is_usable(&self) -> bool {
        !self.0.is_empty() && self.0.bytes().all(|byte| byte.is_ascii_graphic())
    }

    /// Returns `true` if a request shows the token, in its header or in its address.
    pub(crate) fn is_shown(&self, headers: &HeaderMap, query: &str) -> bool {
        let authorization = headers.get("authorization").and_then(|value| value.to_str().ok());
        let in_header = authorization.and_then(bearer).is_some_and(|shown| self.is(shown));
        let in_address = in_query(query).is_some_and(|shown| self.is(&shown));
        in_header || in_address
    }

    /// `token=…`, for an address that clients are given.
    #[must_use]
    pub fn as_query(&self) -> String {
        format!("token={}", utf8_percent_encode(&self.0, NON_ALPHANUMERIC))
    }

    /// `Bearer …`, for the header of a request.
    #[must_use]
    pub fn as_header(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// The secret itself, for the environment of a program of ours, or for its user.
    #[must_use]
    pub fn secret(&self) -> &str {
        &self.0
    }

    /// Returns `true` if a text contains the token: plain, as in an address, or as in JSON.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        let is_in_address = || {
            let is_changed = !self.0.bytes().all(|byte| byte.is_ascii_alphanumeric());
            is_changed
                && text.contains('%')
                && percent_decode_str(text).decode_utf8_lossy().contains(&self.0)
        };
        let is_in_json = || {
            self.0.contains(['"', '\\'])
                && text.contains(&self.0.replace('\\', r"\\").replace('"', r#"\""#))
        };
        text.contains(&self.0) || is_in_address() || is_in_json()
    }

    /// Takes as long whatever is shown, so that nobody can find it out piece by piece.
    fn is(&self, shown: &str) -> bool {
        self.0.as_bytes().ct_eq(shown.as_bytes()).into()
    }
}

impl From<String> for Token {
    fn from(secret: String) -> Self {
        Self::new(secret)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(hidden)")
    }
}

/// Returns `true` if a request shows any token, be it right or wrong.
pub(crate) fn is_any_shown(headers: &HeaderMap, query: &str) -> bool {
    let authorization = headers.get("authorization").and_then(|value| value.to_str().ok());
    authorization.and_then(bearer).is_some() || in_query(query).is_some()
}

fn bearer(authorization: &str) -> Option<&str> {
    let (scheme, token) = authorization.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn in_query(query: &str) -> Option<Cow<'_, str>> {
    let token = query.split('&').find_map(|part| part.strip_prefix("token="))?;
    percent_decode_str(token).decode_utf8().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_taken_from_the_header_or_from_the_address() {
        for (authorization, query) in [
            ("Bearer s3cret+", ""),
            ("bearer  s3cret+", ""),
            ("", "token=s3cret%2B"),
            ("", "extensionId=x&token=s3cret+"),
            ("Basic eDp5", "token=s3cret%2B"),
        ] {
            assert!(shown(authorization, query), "{authorization} {query}");
        }
        for (authorization, query) in [
            ("", ""),
            ("Bearer", ""),
            ("Bearer s3cret", ""),
            ("Bearer s3cret++", ""),
            ("s3cret+", ""),
            ("", "token="),
            ("", "Token=s3cret+"),
            ("", "token=S3CRET+"),
        ] {
            assert!(!shown(authorization, query), "{authorization} {query}");
        }
    }

    #[test]
    fn it_survives_the_way_through_an_address() {
        let token = Token::new("a+b/c=&d%?#");
        assert!(token.is_shown(&HeaderMap::new(), &token.as_query()));
    }

    #[test]
    fn it_is_found_however_it_is_written() {
        let token = Token::new(r#"a+b/c"\%"#);
        for text in [
            r#"?token=a+b/c"\%"#,
            "?token=a%2Bb%2Fc%22%5C%25",
            "?token=a%2bb/c%22%5c%25&x",
            r#"{"token":"a+b/c\"\\%"}"#,
        ] {
            assert!(token.is_in(text), "{text}");
        }
        assert!(!token.is_in("?token=a%2Bb"));
        assert!(!Token::new("abc").is_in("%61bc"), "nobody writes it so");
    }

    #[test]
    fn it_does_not_show_itself() {
        assert_eq!(format!("{:?}", Token::new("s3cret+")), "Token(hidden)");
    }

    #[test]
    fn what_no_program_could_send_is_not_usable() {
        assert!(Token::new("s3cret+").is_usable());
        for secret in ["", "two words", "line\n", "é"] {
            assert!(!Token::new(secret).is_usable(), "{secret}");
        }
    }

    fn shown(authorization: &str, query: &str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert("authorization", authorization.parse().unwrap());
        Token::new("s3cret+").is_shown(&headers, query)
    }
}
