//! The requests that a session wants to intercept.

use serde::Deserialize;
use serde_json::Value;

use crate::cdp::payload::Payload;
use crate::ids::CommandNumber;

/// What a session wants to intercept.
#[derive(Debug, Clone)]
pub(crate) struct InterceptionPatterns {
    /// `None` for all requests.
    pub(crate) patterns: Option<Vec<Pattern>>,
    pub(crate) auth: bool,
    /// The command's parameters, untouched.
    pub(crate) params: Option<Payload>,
    /// When, counted in commands.
    pub(crate) since: CommandNumber,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Pattern {
    url_pattern: Option<String>,
    resource_type: Option<String>,
    request_stage: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PausedEvent {
    pub(crate) request_id: String,
    pub(crate) request: PausedRequest,
    pub(crate) resource_type: Option<String>,
    pub(crate) response_status_code: Option<Value>,
    pub(crate) response_error_reason: Option<Value>,
}

#[derive(Deserialize)]
pub(crate) struct PausedRequest {
    pub(crate) url: String,
}

impl InterceptionPatterns {
    pub(crate) fn matches(&self, paused: &PausedEvent, at_response: bool) -> bool {
        let Some(patterns) = &self.patterns else { return !at_response };
        patterns.iter().any(|pattern| {
            let stage = pattern.request_stage.as_deref().unwrap_or("Request");
            (stage == "Response") == at_response
                && pattern.resource_type.as_ref().is_none_or(|wanted| {
                    paused.resource_type.as_ref().is_none_or(|found| found == wanted)
                })
                && matches_pattern(
                    pattern.url_pattern.as_deref().unwrap_or("*"),
                    &paused.request.url,
                )
        })
    }
}

impl Pattern {
    pub(crate) fn json(&self) -> Value {
        let fields = [
            ("urlPattern", &self.url_pattern),
            ("resourceType", &self.resource_type),
            ("requestStage", &self.request_stage),
        ];
        let given = fields
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), Value::from(value.clone()?))));
        Value::Object(given.collect())
    }
}

/// Chrome's patterns: `*` stands for any text, `?` for one character, `\` for what follows it.
fn matches_pattern(pattern: &str, text: &str) -> bool {
    enum Token {
        Any,
        One,
        Char(char),
    }

    let mut chars = pattern.chars();
    let mut tokens = Vec::new();
    while let Some(char) = chars.next() {
        tokens.push(match char {
            '*' => Token::Any,
            '?' => Token::One,
            '\\' => Token::Char(chars.next().unwrap_or('\\')),
            char => Token::Char(char),
        });
    }
    let text: Vec<char> = text.chars().collect();
    let (mut at, mut token) = (0, 0);
    // Where the last `*` stands, and how much of the text it has taken.
    let mut retry: Option<(usize, usize)> = None;
    while at < text.len() {
        match tokens.get(token) {
            Some(Token::Any) => {
                retry = Some((token, at));
                token += 1;
                continue;
            }
            Some(Token::One) => {}
            Some(Token::Char(wanted)) if wanted == &text[at] => {}
            Some(Token::Char(_)) | None => {
                let Some((star, taken)) = retry else { return false };
                retry = Some((star, taken + 1));
                (at, token) = (taken + 1, star + 1);
                continue;
            }
        }
        (at, token) = (at + 1, token + 1);
    }
    tokens[token..].iter().all(|token| matches!(token, Token::Any))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_as_in_chrome() {
        for (pattern, text, expected) in [
            ("*", "https://a.example/", true),
            ("*.png", "https://a.example/x.png", true),
            ("*.png", "https://a.example/x.png?y", false),
            ("https://?.example/*", "https://a.example/x", true),
            ("https://?.example/*", "https://ab.example/x", false),
            ("*\\?x", "https://a.example/?x", true),
            ("*\\?x", "https://a.example/yx", false),
            ("", "a", false),
            ("*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaac", false),
            ("a*", "a", true),
        ] {
            assert_eq!(matches_pattern(pattern, text), expected, "{pattern} {text}");
        }
    }
}
