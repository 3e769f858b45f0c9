//! The categories that may be traced. Chrome traces its own process for a tab's client as well, and
//! that process knows every tab: categories that would tell of the other tabs are left out.

use serde_json::{Map, Value, json};

use crate::cdp::payload::Payload;
use crate::cdp::{Command, Error};

/// The categories that the performance panel of DevTools, Playwright, Puppeteer and Lighthouse ask
/// for, without `navigation`, `net` and `netlog`, which tell of all tabs, and without those in which
/// Chrome writes about itself.
const CATEGORIES: [&str; 36] = [
    "benchmark",
    "blink",
    "blink.console",
    "blink.user_timing",
    "blink_gc",
    "cc",
    "cppgc",
    "devtools.timeline",
    "devtools.timeline.async",
    "devtools.timeline.frame",
    "devtools.timeline.picture",
    "disabled-by-default-blink.debug.layout",
    "disabled-by-default-blink.feature_usage",
    "disabled-by-default-cc.debug",
    "disabled-by-default-devtools.screenshot",
    "disabled-by-default-devtools.timeline",
    "disabled-by-default-devtools.timeline.frame",
    "disabled-by-default-devtools.timeline.invalidationTracking",
    "disabled-by-default-devtools.timeline.layers",
    "disabled-by-default-devtools.timeline.picture",
    "disabled-by-default-devtools.timeline.stack",
    "disabled-by-default-lighthouse",
    "disabled-by-default-v8.compile",
    "disabled-by-default-v8.cpu_profiler",
    "disabled-by-default-v8.cpu_profiler.hires",
    "disabled-by-default-v8.gc",
    "disabled-by-default-v8.runtime_stats",
    "gpu",
    "input",
    "latencyInfo",
    "loading",
    "rail",
    "toplevel",
    "v8",
    "v8.execute",
    "viz",
];

/// The categories that are traced for a client that names none.
const USUAL: [&str; 6] = [
    "blink.user_timing",
    "devtools.timeline",
    "disabled-by-default-devtools.timeline",
    "latencyInfo",
    "loading",
    "v8.execute",
];

/// The settings that say how a trace is kept; none of them says what is traced.
const KEPT: [&str; 3] = ["recordMode", "traceBufferSizeInKb", "enableArgumentFilter"];

/// Returns `Tracing.start` with what may be traced of what is asked for.
///
/// # Errors
///
/// Says that nothing is left, or that it is said in a way that cannot be read.
pub(super) fn limited(command: Command) -> Result<Command, Error> {
    type Fields = Map<String, Value>;
    let mut fields: Fields = command.read_params()?;
    if fields.contains_key("perfettoConfig") {
        return Err(Error::server("perfettoConfig is not available here: use traceConfig"));
    }
    let mut config = Fields::new();
    let mut wanted = Vec::new();
    if let Some(Value::String(categories)) = fields.remove("categories") {
        wanted.extend(categories.split(',').map(|name| name.trim().to_owned()));
    }
    if let Some(Value::Object(asked)) = fields.remove("traceConfig") {
        let included = asked.get("includedCategories").and_then(Value::as_array);
        let names = included.into_iter().flatten().filter_map(Value::as_str);
        wanted.extend(names.flat_map(|name| name.split(',')).map(str::to_owned));
        config.extend(asked.into_iter().filter(|(name, _)| KEPT.contains(&name.as_str())));
    }
    wanted.retain(|name| !name.is_empty() && !name.starts_with('-'));
    let included: Vec<String> = match wanted.is_empty() {
        true => USUAL.map(str::to_owned).to_vec(),
        false => wanted.into_iter().filter(|it| CATEGORIES.contains(&it.as_str())).collect(),
    };
    if included.is_empty() {
        return Err(Error::server(format!(
            "none of these categories may be traced: {} may",
            CATEGORIES.join(", ")
        )));
    }
    config.insert("includedCategories".to_owned(), json!(included));
    // Chrome takes all that is not excluded.
    config.insert("excludedCategories".to_owned(), json!(["*"]));
    for name in ["options", "tracingBackend"] {
        fields.remove(name);
    }
    fields.insert("traceConfig".to_owned(), config.into());
    Ok(Command { params: Some(Payload::of(&fields)), ..command })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traced(params: &str) -> Result<Value, String> {
        let text = format!(r#"{{"id":1,"method":"Tracing.start","params":{params}}}"#);
        let limited = limited(Command::parse(&text).unwrap()).map_err(|error| error.message)?;
        Ok(serde_json::from_str(limited.params.unwrap().as_str()).unwrap())
    }

    fn included(params: &str) -> Value {
        traced(params).unwrap()["traceConfig"]["includedCategories"].clone()
    }

    #[test]
    fn what_tells_of_other_tabs_is_left_out() {
        let asked = r#"{"traceConfig":{"includedCategories":["v8","navigation,rail","netlog","*"],
            "recordMode":"recordAsMuchAsPossible","memoryDumpConfig":{}},"transferMode":"ReturnAsStream"}"#;
        let traced = traced(asked).unwrap();
        assert_eq!(
            traced,
            json!({
                "traceConfig": {
                    "includedCategories": ["v8", "rail"],
                    "excludedCategories": ["*"],
                    "recordMode": "recordAsMuchAsPossible",
                },
                "transferMode": "ReturnAsStream",
            })
        );
        assert_eq!(included(r#"{"categories":"-*,toplevel,net,browser"}"#), json!(["toplevel"]));
    }

    #[test]
    fn who_says_nothing_gets_the_usual_and_not_everything() {
        for nothing in ["{}", r#"{"categories":""}"#, r#"{"categories":"-toplevel"}"#] {
            assert_eq!(included(nothing), json!(USUAL), "{nothing}");
        }
    }

    #[test]
    fn nothing_that_may_be_traced_is_an_error() {
        for asked in [
            r#"{"categories":"*"}"#,
            r#"{"categories":"disabled-by-default-*"}"#,
            r#"{"traceConfig":{"includedCategories":["netlog"]}}"#,
            r#"{"perfettoConfig":"CgA="}"#,
        ] {
            assert!(traced(asked).is_err(), "{asked}");
        }
    }
}
