//! Settings that sessions override: how the values of several sessions become one, and how the
//! override is cleared.

mod merged;
mod table;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::cdp::Command;
use crate::cdp::payload::Payload;
use crate::ids::CommandNumber;
use table::{ALIASES, RULES};

/// The settings that one session overrides.
#[derive(Debug, Default)]
pub(crate) struct Overrides(pub(crate) BTreeMap<Setting, OverrideValue>);

#[derive(Debug)]
pub(crate) struct OverrideValue {
    pub(crate) params: Payload,
    /// When, counted in commands.
    pub(crate) since: CommandNumber,
}

impl Overrides {
    pub(crate) fn has(&self, method: &str) -> bool {
        self.0.keys().any(|setting| setting.method() == method)
    }

    /// Restores the earlier value, unless another has been set since.
    pub(crate) fn roll_back(
        &mut self,
        setting: &Setting,
        since: CommandNumber,
        before: Option<OverrideValue>,
    ) {
        if self.0.get(setting).is_some_and(|wish| wish.since == since) {
            self.0.remove(setting);
            self.0.extend(before.map(|before| (setting.clone(), before)));
        }
    }
}

#[derive(Debug)]
pub(crate) struct Rule {
    method: &'static str,
    combine: Combine,
    /// The parameter that says which of several is set, if there are several.
    of: Option<&'static str>,
    /// The command that leaves nothing overridden, and its parameters.
    reset: (&'static str, &'static str),
}

#[derive(Debug, Clone, Copy)]
enum Combine {
    /// The last value counts.
    Latest,
    /// It is on while any session wants it; the parameter that says so.
    Any(&'static str),
    /// The headers of all, later ones over earlier ones.
    Headers,
    /// What anybody wants blocked.
    Blocked,
}

/// What can be overridden by itself: a command's setting, or one of several.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    rule: &'static Rule,
    which: Option<String>,
}

impl Rule {
    /// Returns the rule for a command that overrides a setting, or gives it back.
    pub(crate) fn of(method: &str) -> Option<&'static Self> {
        let method = canonical(method);
        RULES.iter().find(|rule| [rule.method, rule.reset.0].contains(&method))
    }

    pub(crate) fn setting(&'static self, command: &Command) -> Setting {
        let which = self.of.and_then(|name| {
            let fields = command.read_params::<Map<String, Value>>().ok()?;
            fields.get(name)?.as_str().map(str::to_owned)
        });
        Setting { rule: self, which }
    }

    /// Returns whether the value is merged from all sessions.
    pub(crate) fn merges(&self) -> bool {
        matches!(self.combine, Combine::Headers | Combine::Blocked)
    }

    /// Returns whether `false` of one session is ignored while another wants `true`.
    pub(crate) fn is_flag(&self) -> bool {
        matches!(self.combine, Combine::Any(_))
    }

    /// Returns whether the parameters clear the override.
    pub(crate) fn clears(&self, command: &Command) -> bool {
        let method = canonical(&command.method);
        if method != self.method && method == self.reset.0 {
            return true;
        }
        let fields = command.read_params::<Map<String, Value>>().unwrap_or_default();
        let is_empty = |name| {
            fields.get(name).is_none_or(|value: &Value| {
                value.as_array().is_none_or(Vec::is_empty)
                    && value.as_object().is_none_or(Map::is_empty)
            })
        };
        match self.combine {
            Combine::Latest => false,
            Combine::Any(flag) => fields.get(flag) != Some(&Value::Bool(true)),
            Combine::Headers => is_empty("headers"),
            Combine::Blocked => is_empty("urls") && is_empty("urlPatterns"),
        }
    }
}

impl Setting {
    pub(crate) fn method(&self) -> &'static str {
        self.rule.method
    }

    /// Returns the command that gives Chrome the value that all sessions together want.
    pub(crate) fn effective<'a>(
        &self,
        all: impl Iterator<Item = &'a Overrides>,
    ) -> (&'static str, Payload) {
        let mut wishes: Vec<&OverrideValue> = all.filter_map(|own| own.0.get(self)).collect();
        wishes.sort_by_key(|wish| wish.since);
        let method = self.rule.method;
        match (self.rule.combine, wishes.last()) {
            (_, None) => (self.rule.reset.0, self.reset()),
            (Combine::Latest | Combine::Any(_), Some(last)) => (method, last.params.clone()),
            (Combine::Headers, Some(_)) => (method, merged::headers(&wishes)),
            (Combine::Blocked, Some(_)) => (method, merged::blocked(&wishes)),
        }
    }

    fn reset(&self) -> Payload {
        let reset = self.rule.reset.1;
        let (Some(name), Some(which)) = (self.rule.of, &self.which) else { return payload(reset) };
        let mut fields: Map<String, Value> = serde_json::from_str(reset).unwrap_or_default();
        fields.insert(name.to_owned(), which.clone().into());
        Payload::of(&fields)
    }

    fn key(&self) -> (&'static str, Option<&str>) {
        (self.rule.method, self.which.as_deref())
    }
}

impl PartialEq for Setting {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Setting {}

impl PartialOrd for Setting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Setting {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// Some commands have an older name too.
fn canonical(method: &str) -> &str {
    ALIASES.iter().find(|(old, _)| *old == method).map_or(method, |(_, name)| name)
}

fn payload(text: &str) -> Payload {
    RawValue::from_string(text.to_owned()).map_or_else(|_| Payload::empty_object(), Payload::raw)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared_protocol::RequestId;

    #[test]
    fn every_reset_is_json_and_every_rule_is_found_by_its_names() {
        for rule in &RULES {
            assert!(serde_json::from_str::<Map<String, Value>>(rule.reset.1).is_ok(), "{rule:?}");
            for name in [rule.method, rule.reset.0] {
                assert_eq!(Rule::of(name).map(|found| found.method), Some(rule.method));
            }
        }
        for (old, name) in ALIASES {
            assert!(Rule::of(old).is_some(), "{old} is {name}");
        }
        assert!(Rule::of("Page.navigate").is_none());
    }

    #[test]
    fn the_last_wish_counts_and_without_one_nothing_is_overridden() {
        let rule = "Emulation.setTimezoneOverride";
        let old = wishing(rule, 1, r#"{"timezoneId":"Asia/Tokyo"}"#);
        let new = wishing(rule, 2, r#"{"timezoneId":"Europe/Rome"}"#);
        assert_eq!(value(rule, &[&new, &old]), r#"{"timezoneId":"Europe/Rome"}"#);
        assert_eq!(value(rule, &[]), r#"{"timezoneId":""}"#);
    }

    #[test]
    fn headers_are_merged() {
        let rule = "Network.setExtraHTTPHeaders";
        let one = wishing(rule, 1, r#"{"headers":{"A":"1","B":"1"}}"#);
        let two = wishing(rule, 2, r#"{"headers":{"b":"2"}}"#);
        assert_eq!(value(rule, &[&one, &two]), r#"{"headers":{"A":"1","b":"2"}}"#);
    }

    #[test]
    fn what_is_blocked_is_merged_in_its_old_form_and_its_new() {
        let rule = "Network.setBlockedURLs";
        let one = wishing(rule, 1, r#"{"urls":["*a*"]}"#);
        let two = wishing(rule, 2, r#"{"urls":["*b*","*a*"]}"#);
        assert_eq!(value(rule, &[&one, &two]), r#"{"urls":["*a*","*b*"]}"#);
        let three =
            wishing(rule, 3, r#"{"urlPatterns":[{"urlPattern":"*://*:*/c","block":true}]}"#);
        let four =
            wishing(rule, 4, r#"{"urlPatterns":[{"urlPattern":"*://*:*/d","block":false}]}"#);
        assert_eq!(
            value(rule, &[&one, &three, &four]),
            r#"{"urlPatterns":[{"block":false,"urlPattern":"*://*:*/d"},{"block":true,"urlPattern":"*://*:*/c"}],"urls":["*a*"]}"#,
            "the newest is asked first"
        );
        for nothing in ["{}", r#"{"urls":[]}"#, r#"{"urlPatterns":[]}"#] {
            assert!(Rule::of(rule).unwrap().clears(&command(rule, nothing)), "{nothing}");
        }
    }

    #[test]
    fn one_of_several_is_given_back_by_its_name() {
        let rule = "Emulation.setSensorOverrideEnabled";
        let session = |which: &str| format!(r#"{{"enabled":true,"type":"{which}"}}"#);
        let one = wishing(rule, 1, &session("gyroscope"));
        let gyroscope = Rule::of(rule).unwrap().setting(&command(rule, &session("gyroscope")));
        let magnetometer =
            Rule::of(rule).unwrap().setting(&command(rule, &session("magnetometer")));
        assert_eq!(gyroscope.effective([&one].into_iter()).1.as_str(), session("gyroscope"));
        let (_, value) = magnetometer.effective([&one].into_iter());
        assert_eq!(value.as_str(), r#"{"enabled":false,"type":"magnetometer"}"#);
    }

    fn value(method: &str, all: &[&Overrides]) -> String {
        let setting = Rule::of(method).unwrap().setting(&command(method, "{}"));
        setting.effective(all.iter().copied()).1.as_str().to_owned()
    }

    fn wishing(method: &str, since: u64, params: &str) -> Overrides {
        let mut session = Overrides::default();
        let setting = Rule::of(method).unwrap().setting(&command(method, params));
        session.0.insert(
            setting,
            OverrideValue { params: payload(params), since: CommandNumber(since) },
        );
        session
    }

    fn command(method: &str, params: &str) -> Command {
        let (method, params) = (method.to_owned(), Some(payload(params)));
        Command { id: RequestId(1), session: None, method, params }
    }
}
