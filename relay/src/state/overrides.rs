//! Settings of a target that a session overrides. Chrome keeps one value for all sessions of ours,
//! so each session's wish is kept, combined with the others', and undone when the session ends.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use shared_protocol::{Payload as _, SessionId};

use super::on_target::params;
use super::requests::{Asker, Purpose};
use super::sessions::{Seat, Virtual};
use super::turn::Turn;
use super::{ConnectionId, Relay};
use crate::cdp::Command;
use crate::payload::Payload;

/// What one session wishes, by the name of the setting's command.
#[derive(Debug, Default)]
pub(crate) struct Overrides(BTreeMap<&'static str, Wish>);

#[derive(Debug)]
struct Wish {
    params: Payload,
    /// When, counted in commands.
    since: u64,
}

/// How the wishes for one setting become one value, and how it is given back.
#[derive(Debug)]
pub(crate) struct Rule {
    method: &'static str,
    /// Another name for the same setting.
    alias: &'static str,
    combine: Combine,
    /// The command that leaves nothing overridden, and its parameters.
    reset: (&'static str, &'static str),
}

#[derive(Debug, Clone, Copy)]
enum Combine {
    /// The last wish counts.
    Latest,
    /// It is on when anybody wishes so; the parameter that says so.
    Any(&'static str),
    /// The headers of all, later ones over earlier ones.
    Headers,
    /// The lists of all; the parameter that holds one.
    Lists(&'static str),
}

const fn latest(method: &'static str, reset: &'static str) -> Rule {
    Rule { method, alias: "", combine: Combine::Latest, reset: (method, reset) }
}

const fn any(method: &'static str, flag: &'static str, reset: &'static str) -> Rule {
    Rule { method, alias: "", combine: Combine::Any(flag), reset: (method, reset) }
}

const fn cleared_by(method: &'static str, clear: &'static str) -> Rule {
    Rule { method, alias: "", combine: Combine::Latest, reset: (clear, "{}") }
}

static RULES: [Rule; 31] = [
    cleared_by("Emulation.setDeviceMetricsOverride", "Emulation.clearDeviceMetricsOverride"),
    cleared_by("Emulation.setGeolocationOverride", "Emulation.clearGeolocationOverride"),
    cleared_by("Emulation.setIdleOverride", "Emulation.clearIdleOverride"),
    latest("Emulation.setTouchEmulationEnabled", r#"{"enabled":false}"#),
    latest("Emulation.setEmitTouchEventsForMouse", r#"{"enabled":false}"#),
    latest("Emulation.setEmulatedMedia", r#"{"media":"","features":[]}"#),
    latest("Emulation.setEmulatedVisionDeficiency", r#"{"type":"none"}"#),
    latest("Emulation.setTimezoneOverride", r#"{"timezoneId":""}"#),
    latest("Emulation.setLocaleOverride", "{}"),
    latest("Emulation.setCPUThrottlingRate", r#"{"rate":1}"#),
    latest("Emulation.setDefaultBackgroundColorOverride", "{}"),
    latest("Emulation.setAutoDarkModeOverride", "{}"),
    latest("Emulation.setDisabledImageTypes", r#"{"imageTypes":[]}"#),
    latest("Emulation.setScriptExecutionDisabled", r#"{"value":false}"#),
    latest("Emulation.setScrollbarsHidden", r#"{"hidden":false}"#),
    latest("Emulation.setDocumentCookieDisabled", r#"{"disabled":false}"#),
    latest("Emulation.setPageScaleFactor", r#"{"pageScaleFactor":1}"#),
    latest("Emulation.setSafeAreaInsetsOverride", r#"{"insets":{}}"#),
    latest("Emulation.setDataSaverOverride", "{}"),
    latest("Page.setPrerenderingAllowed", r#"{"isAllowed":true}"#),
    latest(
        "Network.emulateNetworkConditions",
        r#"{"offline":false,"latency":0,"downloadThroughput":-1,"uploadThroughput":-1}"#,
    ),
    Rule {
        method: "Emulation.setUserAgentOverride",
        alias: "Network.setUserAgentOverride",
        combine: Combine::Latest,
        reset: ("Emulation.setUserAgentOverride", r#"{"userAgent":""}"#),
    },
    any("Emulation.setFocusEmulationEnabled", "enabled", r#"{"enabled":false}"#),
    any("Network.setCacheDisabled", "cacheDisabled", r#"{"cacheDisabled":false}"#),
    any("Network.setBypassServiceWorker", "bypass", r#"{"bypass":false}"#),
    any("Page.setBypassCSP", "enabled", r#"{"enabled":false}"#),
    any("Page.setInterceptFileChooserDialog", "enabled", r#"{"enabled":false}"#),
    any("Input.setInterceptDrags", "enabled", r#"{"enabled":false}"#),
    any("Input.setIgnoreInputEvents", "ignore", r#"{"ignore":false}"#),
    Rule {
        method: "Network.setExtraHTTPHeaders",
        alias: "",
        combine: Combine::Headers,
        reset: ("Network.setExtraHTTPHeaders", r#"{"headers":{}}"#),
    },
    Rule {
        method: "Network.setBlockedURLs",
        alias: "",
        combine: Combine::Lists("urls"),
        reset: ("Network.setBlockedURLs", r#"{"urls":[]}"#),
    },
];

impl Rule {
    /// The rule for a command that overrides a setting, or gives it back.
    pub(crate) fn of(method: &str) -> Option<&'static Self> {
        RULES.iter().find(|rule| [rule.method, rule.alias, rule.reset.0].contains(&method))
    }

    /// The value that follows from the wishes, and the command that sets it.
    fn effective<'a>(&self, all: impl Iterator<Item = &'a Virtual>) -> (&'static str, Payload) {
        let mut wishes: Vec<&Wish> = all.filter_map(|on| on.overrides.0.get(self.method)).collect();
        wishes.sort_by_key(|wish| wish.since);
        match (self.combine, wishes.last()) {
            (_, None) => (self.reset.0, payload(self.reset.1)),
            (Combine::Latest | Combine::Any(_), Some(last)) => (self.method, last.params.clone()),
            (Combine::Headers, Some(_)) => (self.method, merged_headers(&wishes)),
            (Combine::Lists(field), Some(_)) => (self.method, merged_lists(&wishes, field)),
        }
    }

    /// Whether these parameters ask for nothing but what is without them.
    fn is_nothing(&self, command: &Command) -> bool {
        if command.method != self.method && command.method == self.reset.0 {
            return true;
        }
        let fields = params::<Map<String, Value>>(command).unwrap_or_default();
        match self.combine {
            Combine::Latest => false,
            Combine::Any(flag) => fields.get(flag) != Some(&Value::Bool(true)),
            Combine::Headers => {
                fields.get("headers").and_then(Value::as_object).is_none_or(Map::is_empty)
            }
            Combine::Lists(field) => {
                fields.get(field).and_then(Value::as_array).is_none_or(Vec::is_empty)
            }
        }
    }
}

impl Overrides {
    pub(crate) fn has(&self, method: &str) -> bool {
        self.0.contains_key(method)
    }
}

impl Relay {
    pub(super) fn override_command(
        &mut self,
        seat: &Seat,
        rule: &'static Rule,
        command: Command,
        turn: &mut Turn,
    ) {
        let since = self.commands;
        let is_nothing = rule.is_nothing(&command);
        let Some(on) = self.virtual_mut(seat) else { return };
        let real = on.real.clone();
        if is_nothing {
            on.overrides.0.remove(rule.method);
        } else {
            let params = command.params.clone().unwrap_or_else(Payload::empty_object);
            on.overrides.0.insert(rule.method, Wish { params, since });
        }
        if !self.others(seat).any(|other| other.overrides.has(rule.method)) {
            return self.forward(seat, command, &real, Purpose::Forward, turn);
        }
        match rule.combine {
            Combine::Any(_) if is_nothing => {
                turn.effects.push(Asker::new(seat, &command).reply(Ok(Payload::empty_object())));
            }
            Combine::Latest | Combine::Any(_) if !is_nothing => {
                self.forward(seat, command, &real, Purpose::Forward, turn);
            }
            Combine::Latest | Combine::Any(_) | Combine::Headers | Combine::Lists(_) => {
                let Some(connection) = self.connection_of(seat) else { return };
                let (method, params) = rule.effective(self.over(connection, &real));
                let command =
                    Command { method: method.to_owned(), params: Some(params), ..command };
                self.forward(seat, command, &real, Purpose::Forward, turn);
            }
        }
    }

    /// A session has ended: its wishes give way to those of the others, or to none.
    pub(super) fn leave_overrides(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        overrides: &Overrides,
        turn: &mut Turn,
    ) {
        for rule in RULES.iter().filter(|rule| overrides.has(rule.method)) {
            let (method, params) = rule.effective(self.over(connection, real));
            self.tell_target(connection, real, method, Some(params), turn);
        }
    }
}

fn payload(text: &str) -> Payload {
    RawValue::from_string(text.to_owned()).map_or_else(|_| Payload::empty_object(), Payload::raw)
}

fn merged_headers(wishes: &[&Wish]) -> Payload {
    #[derive(Deserialize)]
    struct Headers {
        headers: Map<String, Value>,
    }

    let mut merged: BTreeMap<String, (String, Value)> = BTreeMap::new();
    for Headers { headers } in wishes.iter().filter_map(|wish| wish.params.read().ok()) {
        for (name, value) in headers {
            merged.insert(name.to_lowercase(), (name, value));
        }
    }
    let headers: Map<String, Value> = merged.into_values().collect();
    Payload::of(&serde_json::json!({ "headers": headers }))
}

fn merged_lists(wishes: &[&Wish], field: &str) -> Payload {
    let mut merged: BTreeSet<String> = BTreeSet::new();
    for mut fields in
        wishes.iter().filter_map(|wish| wish.params.read::<BTreeMap<String, Value>>().ok())
    {
        let list = fields.remove(field).unwrap_or_default();
        let list = list.as_array().into_iter().flatten().filter_map(Value::as_str);
        merged.extend(list.map(str::to_owned));
    }
    Payload::of(&BTreeMap::from([(field, merged)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reset_is_json_and_every_rule_is_found_by_its_names() {
        for rule in &RULES {
            assert!(serde_json::from_str::<Map<String, Value>>(rule.reset.1).is_ok(), "{rule:?}");
            for name in [rule.method, rule.reset.0] {
                assert_eq!(Rule::of(name).map(|found| found.method), Some(rule.method));
            }
        }
        assert!(Rule::of("Network.setUserAgentOverride").is_some());
        assert!(Rule::of("Page.navigate").is_none());
    }

    #[test]
    fn the_last_wish_counts_and_without_one_nothing_is_overridden() {
        let rule = Rule::of("Emulation.setTimezoneOverride").unwrap();
        let old = wishing(rule, 1, r#"{"timezoneId":"Asia/Tokyo"}"#);
        let new = wishing(rule, 2, r#"{"timezoneId":"Europe/Rome"}"#);
        let (_, value) = rule.effective([&new, &old].into_iter());
        assert_eq!(value.as_str(), r#"{"timezoneId":"Europe/Rome"}"#);
        assert_eq!(rule.effective([].into_iter()).1.as_str(), r#"{"timezoneId":""}"#);
    }

    #[test]
    fn headers_and_lists_are_merged() {
        let rule = Rule::of("Network.setExtraHTTPHeaders").unwrap();
        let one = wishing(rule, 1, r#"{"headers":{"A":"1","B":"1"}}"#);
        let two = wishing(rule, 2, r#"{"headers":{"b":"2"}}"#);
        let (_, value) = rule.effective([&one, &two].into_iter());
        assert_eq!(value.as_str(), r#"{"headers":{"A":"1","b":"2"}}"#);
        let rule = Rule::of("Network.setBlockedURLs").unwrap();
        let one = wishing(rule, 1, r#"{"urls":["*a*"]}"#);
        let two = wishing(rule, 2, r#"{"urls":["*b*","*a*"]}"#);
        let (_, value) = rule.effective([&one, &two].into_iter());
        assert_eq!(value.as_str(), r#"{"urls":["*a*","*b*"]}"#);
    }

    fn wishing(rule: &Rule, since: u64, params: &str) -> Virtual {
        let mut on = Virtual::over(SessionId::new("pw-tab-1"));
        on.overrides.0.insert(rule.method, Wish { params: payload(params), since });
        on
    }
}
