//! Lines of `cdp.jsonl` as people read them.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Side;
use crate::cli::one_line;

/// The number of commands that are remembered for their answers.
const MAX_UNANSWERED: usize = 10_000;

/// The number of characters that are shown of a payload.
const SHOWN: usize = 160;

/// The selection of messages to show; an empty filter shows everything.
#[derive(Debug, Clone)]
pub(super) struct Filter {
    pub(super) methods: Vec<String>,
    pub(super) sessions: Vec<String>,
    pub(super) clients: Vec<String>,
    pub(super) side: Side,
}

/// The messages that have been read so far.
#[derive(Debug)]
pub(super) struct Traffic {
    filter: Filter,
    /// The methods of unanswered commands, by side, client and id: an answer names no method.
    unanswered: BTreeMap<(bool, String, i64), String>,
    counts: BTreeMap<(&'static str, String), u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    timestamp: &'a str,
    direction: Option<&'a str>,
    client_id: Option<String>,
    #[serde(borrow)]
    message: Message<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Message<'a> {
    id: Option<i64>,
    method: Option<String>,
    session_id: Option<String>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl Traffic {
    pub(super) fn new(filter: Filter) -> Self {
        Self { filter, unanswered: BTreeMap::new(), counts: BTreeMap::new() }
    }

    /// Returns a line as people read it, if the filter selects it.
    pub(super) fn read(&mut self, line: &str) -> Option<String> {
        // The last line of a relay that was killed may be half a one.
        let Line { timestamp, direction, client_id, message } = serde_json::from_str(line).ok()?;
        let client = client_id.unwrap_or_default();
        let (way, side, is_request) = match direction {
            Some("from-playwright") => ("client → relay", Side::Client, true),
            Some("to-playwright") => ("client ← relay", Side::Client, false),
            Some("to-extension") => ("relay → tab", Side::Extension, true),
            Some("from-extension") => ("relay ← tab", Side::Extension, false),
            Some(_) | None => ("log", self.filter.side, false),
        };
        let method = self.method(&message, side, &client, is_request);
        let is_wanted = (self.filter.side == Side::Both || self.filter.side == side)
            && self.filter.wants(&method, message.session_id.as_deref(), &client);
        if !is_wanted {
            return None;
        }
        let is_answer = message.method.is_none();
        let verdict = match (is_answer, message.error.is_some()) {
            (false, _) => "",
            (true, false) => " ok",
            (true, true) => " failed",
        };
        *self.counts.entry((way, format!("{method}{verdict}"))).or_default() += 1;
        let time = timestamp.get(11..23).unwrap_or(timestamp);
        let id = message.id.map(|id| format!(" #{id}")).unwrap_or_default();
        let session = message.session_id.map(|it| format!(" [{it}]")).unwrap_or_default();
        let body = message.params.or(message.result).or(message.error);
        let body = body.map(|body| format!(" {}", shortened(body.get()))).unwrap_or_default();
        let line = format!("{time} {client:<10} {way:<14} {method}{id}{session}{verdict}{body}");
        Some(one_line(&line))
    }

    /// Counts how often each message came, the most frequent first.
    pub(super) fn summary(&self) -> String {
        let mut counts: Vec<_> = self.counts.iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let line = |((way, what), count): &(&(&str, String), &u64)| {
            format!("{count:>8}  {way:<14}  {}", one_line(what))
        };
        match counts.is_empty() {
            true => "no messages".to_owned(),
            false => counts.iter().map(line).collect::<Vec<_>>().join("\n"),
        }
    }

    /// Returns the method of a message, or of the command that it answers.
    fn method(&mut self, message: &Message, side: Side, client: &str, is_request: bool) -> String {
        let key = message.id.map(|id| (side == Side::Client, client.to_owned(), id));
        match (&message.method, key) {
            (Some(method), key) => {
                if let Some(key) = key.filter(|_| is_request) {
                    if self.unanswered.len() >= MAX_UNANSWERED {
                        self.unanswered.pop_first();
                    }
                    self.unanswered.insert(key, method.clone());
                }
                method.clone()
            }
            (None, Some(key)) => {
                self.unanswered.remove(&key).unwrap_or_else(|| "an answer".to_owned())
            }
            (None, None) => "an answer".to_owned(),
        }
    }
}

impl Filter {
    fn wants(&self, method: &str, session: Option<&str>, client: &str) -> bool {
        let is_in = |wanted: &[String], is: &dyn Fn(&str) -> bool| {
            wanted.is_empty() || wanted.iter().any(|wanted| is(wanted))
        };
        is_in(&self.methods, &|pattern| fits(method, pattern))
            && is_in(&self.sessions, &|wanted| session == Some(wanted))
            && is_in(&self.clients, &|wanted| client == wanted)
    }
}

/// Returns `true` if a text matches a pattern, in which `*` stands for anything.
fn fits(text: &str, pattern: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return text == pattern };
    let Some(text) = text.strip_prefix(start) else { return false };
    let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    ends.into_iter().any(|at| fits(&text[at..], rest))
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMAND: &str = r#"{"timestamp":"2026-01-02T03:04:05.678Z","direction":"from-playwright","clientId":"client-1","source":"client","message":{"id":7,"method":"Page.navigate","sessionId":"S1","params":{"url":"about:blank"}}}"#;
    const ANSWER: &str = r#"{"timestamp":"2026-01-02T03:04:05.700Z","direction":"to-playwright","clientId":"client-1","source":"extension","message":{"id":7,"sessionId":"S1","result":{}}}"#;
    const EVENT: &str = r#"{"timestamp":"2026-01-02T03:04:05.701Z","direction":"from-extension","source":"extension","message":{"method":"Page.loadEventFired","sessionId":"pw-tab-1"}}"#;

    #[test]
    fn an_answer_is_told_with_the_method_that_it_answers() {
        let mut traffic = Traffic::new(all());
        let told: Vec<String> = [COMMAND, ANSWER, EVENT, "{\"half"]
            .iter()
            .filter_map(|line| traffic.read(line))
            .collect();
        assert_eq!(
            told,
            [
                r#"03:04:05.678 client-1   client → relay Page.navigate #7 [S1] {"url":"about:blank"}"#,
                r#"03:04:05.700 client-1   client ← relay Page.navigate #7 [S1] ok {}"#,
                r#"03:04:05.701            relay ← tab    Page.loadEventFired [pw-tab-1]"#,
            ]
        );
        assert_eq!(traffic.summary().lines().count(), 3);
    }

    #[test]
    fn only_what_is_of_interest_is_told_and_counted() {
        for (filter, expected) in [
            (Filter { methods: vec!["Page.nav*".to_owned()], ..all() }, 2),
            (Filter { methods: vec!["Page.*Fired".to_owned()], ..all() }, 1),
            (Filter { sessions: vec!["S1".to_owned()], ..all() }, 2),
            (Filter { clients: vec!["client-2".to_owned()], ..all() }, 0),
            (Filter { side: Side::Client, ..all() }, 2),
            (Filter { side: Side::Extension, ..all() }, 1),
        ] {
            let mut traffic = Traffic::new(filter.clone());
            let told = [COMMAND, ANSWER, EVENT].iter().filter(|it| traffic.read(it).is_some());
            assert_eq!(told.count(), expected, "{filter:?}");
        }
    }

    #[test]
    fn what_is_told_is_one_line_without_control_characters() {
        let mut traffic = Traffic::new(all());
        let line = EVENT.replace("loadEvent", r"\n\u001b[2J\u009b");
        let told = traffic.read(&line).unwrap();
        assert!(told.contains("Page.\u{fffd}\u{fffd}[2J\u{fffd}Fired"), "{told}");
        assert!(!traffic.summary().contains(char::is_control), "{}", traffic.summary());
    }

    fn all() -> Filter {
        Filter { methods: vec![], sessions: vec![], clients: vec![], side: Side::Both }
    }
}
