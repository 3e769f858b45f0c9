//! The tools: what agents can call, and with what.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::description;
use crate::agents::{DEFAULT_TIMEOUT, Execute, MAX_TIMEOUT, SessionName};

/// A call that can be carried out.
#[derive(Debug)]
pub(super) enum Call {
    Execute { session: Option<SessionName>, execute: Execute },
    Reset { session: Option<SessionName> },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExecuteArguments {
    code: String,
    timeout: Option<f64>,
    session: Option<SessionName>,
    browser: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ResetArguments {
    session: Option<SessionName>,
}

impl Call {
    /// # Errors
    ///
    /// Says what is wrong with the call.
    pub(super) fn read(tool: &str, arguments: JsonObject) -> Result<Self, String> {
        match tool {
            "execute" => {
                let ExecuteArguments { code, timeout, session, browser } = read(arguments)?;
                let timeout = timeout.map(milliseconds).transpose()?;
                let execute = Execute { code, timeout, browser, ..Execute::default() };
                Ok(Self::Execute { session, execute })
            }
            "reset" => {
                let ResetArguments { session } = read(arguments)?;
                Ok(Self::Reset { session })
            }
            _ => Err(format!("there is no tool '{tool}'; there are execute and reset")),
        }
    }
}

/// All tools, for an agent that has a session of its own or one that does not.
pub(super) fn all(has_session: bool) -> Vec<Tool> {
    let session = match has_session {
        true => description::OWN_SESSION,
        false => description::SHARED_SESSION,
    };
    let session = json!({ "type": "string", "description": session });
    let execute = json!({
        "type": "object",
        "properties": {
            "code": { "type": "string", "description": "JavaScript; top-level await works" },
            "timeout": {
                "type": "number",
                "description": "milliseconds",
                "default": DEFAULT_TIMEOUT.as_millis(),
                "minimum": 1,
                "maximum": MAX_TIMEOUT.as_millis(),
            },
            "session": session,
            "browser": { "type": "string", "description": description::BROWSER },
        },
        "required": ["code"],
        "additionalProperties": false,
    });
    let reset = json!({
        "type": "object",
        "properties": { "session": session },
        "additionalProperties": false,
    });
    vec![
        Tool::new("execute", description::EXECUTE, schema(execute)),
        Tool::new("reset", description::RESET, schema(reset)),
    ]
}

fn schema(value: Value) -> Arc<JsonObject> {
    Arc::new(value.as_object().cloned().unwrap_or_default())
}

fn read<T: DeserializeOwned>(arguments: JsonObject) -> Result<T, String> {
    serde_json::from_value(Value::Object(arguments)).map_err(|error| error.to_string())
}

/// Agents write 10000 and 10000.0.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the range is looked at before"
)]
fn milliseconds(timeout: f64) -> Result<u64, String> {
    match timeout {
        1.0..=1e9 => Ok(timeout as u64),
        _ => Err("timeout is a number of milliseconds".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(tool: &str, arguments: Value) -> Result<Call, String> {
        Call::read(tool, arguments.as_object().cloned().unwrap())
    }

    #[test]
    fn calls_are_read_or_refused_with_a_reason() {
        let call = read("execute", json!({ "code": "1", "timeout": 500.0, "session": "a" }));
        let Ok(Call::Execute { session: Some(session), execute }) = call else { panic!() };
        assert_eq!((session.as_str(), execute.timeout), ("a", Some(500)));
        assert!(matches!(read("reset", json!({})), Ok(Call::Reset { session: None })));
        for (tool, arguments) in [
            ("execute", json!({})),
            ("execute", json!({ "code": 1 })),
            ("execute", json!({ "code": "1", "timeout": -1 })),
            ("execute", json!({ "code": "1", "session": "../x" })),
            ("execute", json!({ "code": "1", "page": "x" })),
            ("other", json!({})),
        ] {
            assert!(read(tool, arguments.clone()).is_err(), "{tool} {arguments}");
        }
    }
}
