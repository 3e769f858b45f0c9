//! Keeps typed text out of logs: a log only needs to say that text was typed, and how long it was.

use std::borrow::Cow;
use std::collections::BTreeMap;

use relay_core::cdp::Logged;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::excerpt::LOOKED_THROUGH;

/// The value that the log has in its place.
#[derive(Serialize)]
struct LeftOut {
    hidden: &'static str,
    length: usize,
}

/// Leaves out of a payload what was typed; nothing can be said of one that cannot be read.
pub(super) fn without<'a>(method: &str, json: &'a str) -> Option<Cow<'a, str>> {
    let Logged::Without(fields) = Logged::of(method) else { return None };
    // One that is too long to look through is not shown at all.
    if fields.is_empty() || json.len() > LOOKED_THROUGH {
        return Some(json.into());
    }
    let mut all = read(json)?;
    for field in fields {
        match field.split_once('.') {
            None => leave_out(&mut all, field)?,
            Some((outer, inner)) => {
                let Some(raw) = all.get(outer) else { continue };
                let mut within = read(raw.get())?;
                leave_out(&mut within, inner)?;
                all.insert(outer.to_owned(), to_raw_value(&within).ok()?);
            }
        }
    }
    serde_json::to_string(&all).ok().map(Cow::Owned)
}

fn read(json: &str) -> Option<BTreeMap<String, Box<RawValue>>> {
    serde_json::from_str(json).ok()
}

fn leave_out(all: &mut BTreeMap<String, Box<RawValue>>, field: &str) -> Option<()> {
    if let Some(raw) = all.get_mut(field) {
        let left_out = LeftOut { hidden: "may have been typed", length: raw.get().len() };
        *raw = to_raw_value(&left_out).ok()?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn shown(method: &str, json: &Value) -> Value {
        let json = json.to_string();
        serde_json::from_str(&without(method, &json).unwrap()).unwrap()
    }

    #[test]
    fn that_something_was_typed_is_told_and_how_long_it_was() {
        let left_out = |length: usize| json!({ "hidden": "may have been typed", "length": length });
        assert_eq!(
            shown("Input.insertText", &json!({ "text": "s3cret" })),
            json!({ "text": left_out(8) })
        );
        let call = json!({ "functionDeclaration": "f", "arguments": [{ "value": "s3cret" }] });
        assert_eq!(
            shown("Runtime.callFunctionOn", &call),
            json!({ "functionDeclaration": "f", "arguments": left_out(20) })
        );
        let sent = json!({ "request": { "url": "u", "postData": "s3cret" }, "type": "Document" });
        assert_eq!(
            shown("Network.requestWillBeSent", &sent),
            json!({ "request": { "url": "u", "postData": left_out(8) }, "type": "Document" })
        );
        let key = json!({ "type": "keyDown", "text": "s", "key": "s", "code": "KeyS" });
        let shown = shown("Input.dispatchKeyEvent", &key);
        assert_eq!(shown["type"], "keyDown");
        assert!(!shown.to_string().contains("KeyS"), "{shown}");
    }

    #[test]
    fn everything_else_stays_as_it_is_to_the_letter() {
        let json = r#"{ "expression" : "1" }"#;
        assert_eq!(without("Runtime.evaluate", json).unwrap(), json);
        assert_eq!(without("Network.requestWillBeSent", "{}").unwrap(), "{}");
    }

    #[test]
    fn what_cannot_be_read_is_not_shown() {
        assert_eq!(without("Input.insertText", "[\"s3cret\"]"), None);
        assert_eq!(without("Network.requestWillBeSent", r#"{"request":"s3cret"}"#), None);
    }
}
