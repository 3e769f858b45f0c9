//! The settings that sessions override: how the values of several sessions become one, and how a
//! setting is reset. The table of all settings is in `shared_protocol::overrides`, because the
//! extension reads it too.

mod merged;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde_json::{Map, Value};
use shared_protocol::Payload as _;
use shared_protocol::overrides::{Combine, Override, canonical};

use crate::cdp::Command;
use crate::cdp::payload::Payload;
use crate::ids::CommandNumber;

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

/// What can be overridden by itself: a command's setting, or one of several.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    rule: &'static Override,
    member: Option<String>,
}

/// Returns whether the value is merged from all sessions.
pub(crate) fn merges(rule: &Override) -> bool {
    matches!(rule.combine, Combine::Headers | Combine::Blocked)
}

/// Returns whether `false` of one session is ignored while another wants `true`.
pub(crate) fn is_flag(rule: &Override) -> bool {
    matches!(rule.combine, Combine::Any(_))
}

/// Returns whether the parameters of a command clear the override.
pub(crate) fn clears(rule: &Override, command: &Command) -> bool {
    let method = canonical(&command.method);
    if method != rule.method && method == rule.reset_method() {
        return true;
    }
    let fields = command.read_params::<Map<String, Value>>().unwrap_or_default();
    let is_empty = |name| {
        fields.get(name).is_none_or(|value: &Value| {
            value.as_array().is_none_or(Vec::is_empty)
                && value.as_object().is_none_or(Map::is_empty)
        })
    };
    match rule.combine {
        Combine::Latest => false,
        Combine::Any(flag) => fields.get(flag) != Some(&Value::Bool(true)),
        Combine::Headers => is_empty("headers"),
        Combine::Blocked => is_empty("urls") && is_empty("urlPatterns"),
    }
}

impl Setting {
    /// Returns the setting that a command overrides or resets.
    pub(crate) fn of(rule: &'static Override, command: &Command) -> Self {
        let member = rule.members.and_then(|members| {
            let fields = command.read_params::<Map<String, Value>>().ok()?;
            fields.get(members.parameter)?.as_str().map(str::to_owned)
        });
        Self { rule, member }
    }

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
            (_, None) => (self.rule.reset_method(), self.reset()),
            (Combine::Latest | Combine::Any(_), Some(last)) => (method, last.params.clone()),
            (Combine::Headers, Some(_)) => (method, merged::headers(&wishes)),
            (Combine::Blocked, Some(_)) => (method, merged::blocked(&wishes)),
        }
    }

    fn reset(&self) -> Payload {
        let (Some(members), Some(member)) = (self.rule.members, &self.member) else {
            return Payload::parse(self.rule.reset).unwrap_or_else(|_| Payload::empty_object());
        };
        let mut fields: Map<String, Value> =
            serde_json::from_str(self.rule.reset).unwrap_or_default();
        fields.insert(members.parameter.to_owned(), member.clone().into());
        Payload::of(&fields)
    }

    fn key(&self) -> (&'static str, Option<&str>) {
        (self.rule.method, self.member.as_deref())
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

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;
    use shared_protocol::RequestId;

    use super::*;

    #[test]
    fn the_last_value_counts_and_without_one_nothing_is_overridden() {
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
            assert!(clears(rule_of(rule), &command(rule, nothing)), "{nothing}");
        }
    }

    #[test]
    fn one_of_several_is_given_back_by_its_name() {
        let rule = "Emulation.setSensorOverrideEnabled";
        let session = |which: &str| format!(r#"{{"enabled":true,"type":"{which}"}}"#);
        let one = wishing(rule, 1, &session("gyroscope"));
        let setting = |which: &str| Setting::of(rule_of(rule), &command(rule, &session(which)));
        let (gyroscope, magnetometer) = (setting("gyroscope"), setting("magnetometer"));
        assert_eq!(gyroscope.effective([&one].into_iter()).1.as_str(), session("gyroscope"));
        let (_, value) = magnetometer.effective([&one].into_iter());
        assert_eq!(value.as_str(), r#"{"enabled":false,"type":"magnetometer"}"#);
    }

    fn rule_of(method: &str) -> &'static Override {
        Override::of(method).unwrap()
    }

    fn payload(text: &str) -> Payload {
        Payload::raw(RawValue::from_string(text.to_owned()).unwrap())
    }

    fn value(method: &str, all: &[&Overrides]) -> String {
        let setting = Setting::of(rule_of(method), &command(method, "{}"));
        setting.effective(all.iter().copied()).1.as_str().to_owned()
    }

    fn wishing(method: &str, since: u64, params: &str) -> Overrides {
        let mut session = Overrides::default();
        let setting = Setting::of(rule_of(method), &command(method, params));
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
