//! Excerpts of payloads: the part that a log may show.

use std::borrow::Cow;

use memchr::memchr2_iter;
use relay_core::cdp::Logged;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

use crate::trust::Token;

/// A longer payload is cut.
const SHOWN: usize = 1024;

/// A longer payload is not looked through, so nothing of it is shown.
pub(super) const LOOKED_THROUGH: usize = 64 * 1024;

/// A payload, or what the log says in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Excerpt {
    /// JSON as it was.
    Whole(Box<str>),
    /// The first characters.
    Cut {
        start: Box<str>,
        length: usize,
    },
    Hidden {
        why: Secret,
        length: usize,
    },
}

/// The reason why a payload is not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Secret {
    Cookies,
    Authorization,
    Token,
    /// The payload may contain, anywhere, text that somebody typed.
    Typed,
    /// The payload is too long to be searched.
    Unknown,
    /// The payload answers a command that was not shown.
    Reply,
}

impl Excerpt {
    /// Copies at most a kilobyte.
    pub(crate) fn of(json: &str, secret: Option<Secret>) -> Self {
        let length = json.len();
        match secret {
            Some(Secret::Unknown) => Self::Cut { start: "".into(), length },
            Some(why) => Self::Hidden { why, length },
            None if length <= SHOWN => Self::Whole(json.into()),
            None => Self::Cut { start: json[..json.floor_char_boundary(SHOWN)].into(), length },
        }
    }
}

impl Secret {
    /// Returns the kind of secret in a command or an event, judged by its method and its payload.
    pub(crate) fn of(method: &str, json: &str, token: Option<&Token>) -> Option<Self> {
        if mentions_cookies(method) {
            return Some(Self::Cookies);
        }
        match Logged::of(method) {
            Logged::NothingOfPassword => Some(Self::Authorization),
            Logged::NothingOfTyped => Some(Self::Typed),
            Logged::Without(_) => Self::within(json, token),
        }
    }

    /// Returns the kind of secret in a payload, judged by the payload alone.
    pub(crate) fn within(json: &str, token: Option<&Token>) -> Option<Self> {
        if json.len() > LOOKED_THROUGH {
            Some(Self::Unknown)
        } else if mentions_cookies(json) {
            Some(Self::Cookies)
        } else if mentions(json, "authorization", 'z') {
            Some(Self::Authorization)
        } else if token.is_some_and(|token| token.is_in(json)) {
            Some(Self::Token)
        } else {
            None
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Cookies => "mentions cookies",
            Self::Authorization => "mentions authorization",
            Self::Token => "mentions the token",
            Self::Typed => "may have been typed",
            Self::Unknown => "is too long to look through",
            Self::Reply => "answers something that is not shown",
        }
    }
}

/// Returns text of a peer as one line of a log for people.
pub(crate) fn line(text: &str, token: Option<&Token>) -> String {
    match Excerpt::of(text, Secret::within(text, token)) {
        Excerpt::Whole(text) => text.into(),
        Excerpt::Cut { start, length } => format!("{start}… ({length} bytes)"),
        Excerpt::Hidden { why, length } => format!("({length} bytes; {})", why.text()),
    }
}

fn mentions_cookies(text: &str) -> bool {
    mentions(text, "cookie", 'k')
}

/// Returns `true` if a word of ASCII letters is in a text, in whatever case. The search looks for a
/// letter of the word that is rare, which is much faster than looking for the word: it runs for every
/// frame.
fn mentions(text: &str, word: &str, rare: char) -> bool {
    let (text, word) = (text.as_bytes(), word.as_bytes());
    let (lower, upper) = (rare as u8, rare.to_ascii_uppercase() as u8);
    let before = word.iter().position(|letter| *letter == lower).unwrap_or_default();
    memchr2_iter(lower, upper, text).any(|at| {
        let start = at.checked_sub(before);
        let found = start.and_then(|start| text.get(start..start + word.len()));
        found.is_some_and(|found| found.eq_ignore_ascii_case(word))
    })
}

impl Serialize for Excerpt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = match self {
            Self::Whole(json) => {
                // Between strings, JSON may have line breaks; a file of lines may not.
                let line: Cow<'_, str> = match json.contains(['\n', '\r']) {
                    true => json.replace(['\n', '\r'], " ").into(),
                    false => json.as_ref().into(),
                };
                let json: &RawValue =
                    serde_json::from_str(&line).map_err(serde::ser::Error::custom)?;
                return json.serialize(serializer);
            }
            Self::Cut { .. } | Self::Hidden { .. } => serializer.serialize_map(Some(2))?,
        };
        match self {
            Self::Cut { start, length } => {
                map.serialize_entry("cut", start)?;
                map.serialize_entry("length", length)?;
            }
            Self::Hidden { why, length } => {
                map.serialize_entry("hidden", why.text())?;
                map.serialize_entry("length", length)?;
            }
            Self::Whole(_) => {}
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_short_payload_is_shown_on_one_line() {
        let shown =
            serde_json::to_string(&Excerpt::of("{\"a\":\r\n[1.0, \"\\n\"]}", None)).unwrap();
        assert_eq!(shown, "{\"a\":  [1.0, \"\\n\"]}");
    }

    #[test]
    fn a_long_payload_is_cut_between_characters_and_its_length_is_told() {
        let json = format!("\"{}\"", "é".repeat(1000));
        let shown = value(&Excerpt::of(&json, Secret::within(&json, None)));
        assert_eq!(shown, json!({ "cut": format!("\"{}", "é".repeat(511)), "length": 2002 }));
    }

    #[test]
    fn a_payload_that_is_too_long_to_look_through_is_not_shown_at_all() {
        let json = format!("\"{}\"", "x".repeat(LOOKED_THROUGH));
        let secret = Secret::within(&json, None);
        assert_eq!(value(&Excerpt::of(&json, secret)), json!({ "cut": "", "length": 65538 }));
    }

    #[test]
    fn cookies_are_found_in_whatever_case() {
        for json in [r#"{"Cookie":"a=b"}"#, "set-cookie", "COOKIE", "xcOoKiEx", "k cookies"] {
            assert_eq!(Secret::within(json, None), Some(Secret::Cookies), "{json}");
        }
        for json in ["", "k", "okie", "cooki", "ookie", "cookmark", "kkkkkk"] {
            assert_eq!(Secret::within(json, None), None, "{json}");
        }
        assert_eq!(Secret::of("Network.setCookie", "{}", None), Some(Secret::Cookies));
    }

    #[test]
    fn tokens_are_found() {
        let token = Token::new("s3cret");
        assert_eq!(Secret::within("?token=s3cret", Some(&token)), Some(Secret::Token));
        let header = r#"{"Authorization":"Bearer x"}"#;
        assert_eq!(Secret::within(header, None), Some(Secret::Authorization));
    }

    #[test]
    fn passwords_for_sites_are_not_shown() {
        let json = r#"{"authChallengeResponse":{"username":"me","password":"p"}}"#;
        let secret = Secret::of("Fetch.continueWithAuth", json, None);
        assert_eq!(secret, Some(Secret::Authorization));
    }

    #[test]
    fn lines_of_others_are_cut_and_looked_through() {
        let token = Token::new("s3cret+");
        assert_eq!(line("a tab was lost", Some(&token)), "a tab was lost");
        let long = line(&"x".repeat(5000), None);
        assert_eq!(long, format!("{}… (5000 bytes)", "x".repeat(SHOWN)));
        for text in ["at ?token=s3cret%2B", "at ?token=s3cret+", "Cookie: a=b"] {
            let shown = line(text, Some(&token));
            assert!(shown.starts_with('(') && !shown.contains('='), "{shown}");
        }
        assert!(!line(&"x".repeat(LOOKED_THROUGH + 1), None).contains('x'));
    }

    #[test]
    fn what_is_hidden_says_why_and_how_long_it_was() {
        let hidden = value(&Excerpt::of(r#"{"cookies":[]}"#, Some(Secret::Cookies)));
        assert_eq!(hidden, json!({ "hidden": "mentions cookies", "length": 14 }));
    }

    fn value(excerpt: &Excerpt) -> Value {
        serde_json::to_value(excerpt).unwrap()
    }
}
