//! A model of the lasting effects of commands on Chrome, which would stay for ever. The model
//! executes commands in the order in which it is told, whenever it answers.

use super::*;

#[derive(Default)]
pub(super) struct Chrome {
    sessions: BTreeMap<String, Doing>,
    /// The session on which Chrome traces; it traces only once.
    tracing: Option<String>,
    /// True if Chrome has been told to end the trace, and has not done so.
    is_ending: bool,
    scripts: u64,
}

#[derive(Debug, Default, PartialEq)]
struct Doing {
    domains: BTreeSet<String>,
    scripts: BTreeSet<String>,
    bindings: BTreeSet<String>,
    breakpoints: BTreeSet<String>,
    overrides: BTreeMap<String, String>,
    fetch: bool,
    /// The requests that it holds until it is told what to do.
    held: BTreeSet<String>,
    screencast: bool,
    auto_attach: bool,
    lifecycle: bool,
    /// The execution contexts that Chrome has reported; they need not be undone.
    contexts: BTreeSet<i64>,
    /// True if the worker died before the relay could know the outcome of a command.
    is_unsure: bool,
}

impl Chrome {
    /// Executes a command, unless Chrome refuses it.
    pub(super) fn does(
        &mut self,
        session: &str,
        method: &str,
        params: &Value,
        refuses: bool,
    ) -> Result<Value, String> {
        if refuses && !undoes(method, params) {
            return Err("it did not work".to_owned());
        }
        let doing = self.sessions.entry(session.to_owned()).or_default();
        let named = |field: &str| params[field].as_str().unwrap_or_default().to_owned();
        match method {
            "Fetch.enable" => doing.fetch = true,
            "Fetch.disable" => {
                doing.fetch = false;
                doing.held.clear();
            }
            decision if decision.starts_with("Fetch.") => {
                doing.held.remove(&named("requestId"));
            }
            "Page.startScreencast" if doing.screencast => {
                return Err("Screencast is already active".to_owned());
            }
            "Page.startScreencast" => doing.screencast = true,
            "Page.stopScreencast" => doing.screencast = false,
            "Page.addScriptToEvaluateOnNewDocument" => {
                self.scripts += 1;
                let identifier = self.scripts.to_string();
                doing.scripts.insert(identifier.clone());
                return Ok(json!({ "identifier": identifier }));
            }
            "Page.removeScriptToEvaluateOnNewDocument" => {
                doing.scripts.remove(&named("identifier"));
            }
            "Debugger.setBreakpointByUrl" if !doing.domains.contains("Debugger") => {
                return Err("Debugger agent is not enabled".to_owned());
            }
            "Debugger.setBreakpointByUrl" => {
                self.scripts += 1;
                let breakpoint = self.scripts.to_string();
                doing.breakpoints.insert(breakpoint.clone());
                return Ok(json!({ "breakpointId": breakpoint }));
            }
            "Debugger.removeBreakpoint" => {
                doing.breakpoints.remove(&named("breakpointId"));
            }
            "Runtime.addBinding" => {
                doing.bindings.insert(named("name"));
            }
            "Runtime.removeBinding" => {
                doing.bindings.remove(&named("name"));
            }
            "Page.setLifecycleEventsEnabled" => doing.lifecycle = params["enabled"] == true,
            "Target.setAutoAttach" => doing.auto_attach = params["autoAttach"] == true,
            "Tracing.start" if self.tracing.is_some() => {
                return Err("Tracing has already been started".to_owned());
            }
            "Tracing.start" => self.tracing = Some(session.to_owned()),
            "Tracing.end" if self.is_ending || self.tracing.as_deref() != Some(session) => {
                return Err("Tracing is not started".to_owned());
            }
            "Tracing.end" => self.is_ending = true,
            _ if is_override(method) && undoes(method, params) => {
                doing.overrides.remove(method);
            }
            _ if is_override(method) => {
                doing.overrides.insert(method.to_owned(), params.to_string());
            }
            _ => match method.split_once('.') {
                Some((domain, "enable")) => {
                    doing.domains.insert(domain.to_owned());
                }
                Some((domain, "disable")) => {
                    doing.domains.remove(domain);
                    match domain {
                        "Runtime" => doing.contexts.clear(),
                        "Debugger" => doing.breakpoints.clear(),
                        _ => {}
                    }
                }
                _ => {}
            },
        }
        Ok(json!({}))
    }

    /// The trace that it was told to end is complete.
    pub(super) fn ends_trace(&mut self) {
        self.tracing = None;
        self.is_ending = false;
    }

    /// Creates an execution context in a session. Returns `true` if anybody is to be told.
    pub(super) fn creates_context(&mut self, session: &str, id: i64) -> bool {
        let Some(doing) = self.sessions.get_mut(session) else { return false };
        !doing.is_unsure && doing.domains.contains("Runtime") && doing.contexts.insert(id)
    }

    /// A page makes a request; whether it is held.
    pub(super) fn holds_request(&mut self, session: &str, id: &str) -> bool {
        let Some(doing) = self.sessions.get_mut(session) else { return false };
        !doing.is_unsure && doing.fetch && doing.held.insert(id.to_owned())
    }

    /// Returns the sessions in which something is held, as far as that is certain.
    pub(super) fn held(&self) -> Vec<(String, String)> {
        let sure = self.sessions.iter().filter(|(_, doing)| !doing.is_unsure);
        let all = sure.flat_map(|(session, doing)| doing.held.iter().map(move |id| (session, id)));
        all.map(|(session, id)| (session.clone(), id.clone())).collect()
    }

    pub(super) fn contexts(&self, session: &str) -> BTreeSet<i64> {
        self.sessions.get(session).map(|doing| doing.contexts.clone()).unwrap_or_default()
    }

    /// Marks a session whose last command has an outcome that nobody will know.
    pub(super) fn is_unsure(&mut self, session: &str) {
        self.sessions.entry(session.to_owned()).or_default().is_unsure = true;
    }

    pub(super) fn forgets(&mut self, session: &str) {
        self.sessions.remove(session);
        if self.tracing.as_deref() == Some(session) {
            self.ends_trace();
        }
    }

    /// Returns everything that is still switched on, except for what the extension itself uses.
    pub(super) fn leftovers(&mut self) -> Vec<String> {
        let mut left = Vec::new();
        for (session, doing) in &mut self.sessions {
            doing.domains.remove("Page");
            doing.contexts.clear();
            if self.tracing.as_ref() == Some(session) && !doing.is_unsure {
                left.push(format!("{session} traces"));
            }
            if !doing.is_unsure && *doing != Doing::default() {
                left.push(format!("{session}: {doing:?}"));
            }
        }
        left
    }
}

fn is_override(method: &str) -> bool {
    ["Emulation.set", "Network.set", "Page.setIntercept"].iter().any(|it| method.starts_with(it))
}

/// Returns `true` if a command ends something, which Chrome never refuses.
fn undoes(method: &str, params: &Value) -> bool {
    let name = method.split_once('.').map_or("", |(_, name)| name);
    let is_off = params.as_object().is_some_and(|fields| {
        let clears =
            |value: &Value| [json!(""), json!(false), json!({}), json!([])].contains(value);
        !fields.is_empty() && fields.iter().all(|(name, value)| name == "flatten" || clears(value))
    });
    ["disable", "end"].contains(&name)
        || name.starts_with("continue")
        || name.starts_with("remove")
        || name.starts_with("stop")
        || (name.starts_with("set") && is_off)
}
