//! A stage on which effects are read as lines:
//!
//! - `A pw-tab-1 #5 {}` answers a client's command, `A pw-tab-1 Page.loadEventFired {}` is an event
//!   for it (`-` is the socket itself),
//! - `> pw-tab-1 Page.enable {}` goes to the extension.

use super::*;

/// Two clients that are attached to the same tab, as `pw-tab-1` each.
pub(super) struct Script {
    stage: Stage,
    connection: ConnectionId,
    capabilities: String,
    last_request: i64,
    logged: Vec<String>,
}

pub(super) const A: ClientId = ClientId(2);
pub(super) const B: ClientId = ClientId(3);

impl Script {
    pub(super) fn new() -> Self {
        Self::with_capabilities("")
    }

    pub(super) fn with_capabilities(capabilities: &str) -> Self {
        let mut script = Self {
            stage: Stage::new(),
            connection: EXTENSION,
            capabilities: capabilities.to_owned(),
            last_request: 0,
            logged: Vec::new(),
        };
        script.worker_comes(EXTENSION);
        script.comes(A);
        script.comes(B);
        script.logged.clear();
        script
    }

    /// A worker of the one installation connects and announces its tab.
    pub(super) fn worker_comes(&mut self, connection: ConnectionId) -> Vec<String> {
        self.connection = connection;
        let hello = ExtensionHello {
            install_id: Some("one".to_owned()),
            version: Some("0.4.0".to_owned()),
            capabilities: Some(self.capabilities.clone()),
            ..ExtensionHello::default()
        };
        let user_agent = String::new();
        let mut lines =
            self.handle(Input::ExtensionConnected { connection, hello, user_agent, proven: false });
        lines.extend(self.attach_tab("pw-tab-1", "T1"));
        lines
    }

    /// The user lets clients have the whole profile.
    pub(super) fn opens_profile(&mut self) {
        self.stage.0.policy.whole_profile = true;
    }

    pub(super) fn worker_dies(&mut self) -> Vec<String> {
        self.handle(Input::ExtensionDisconnected { connection: self.connection })
    }

    /// A client comes, and attaches to the tab.
    pub(super) fn comes(&mut self, client: ClientId) {
        self.stage.connect_client(client, None, None);
        self.says(client, "- 1 Target.setAutoAttach", AUTO_ATTACH);
    }

    /// A client comes that is confined to a folder, follows targets and attaches to all of them.
    pub(super) fn comes_confined(&mut self, client: ClientId) -> Vec<String> {
        self.leaves(client);
        let folders = vec!["/session".into()];
        let confinement = Some(Confinement { folders });
        self.handle(Input::ClientConnected {
            client,
            hello: ClientHello { confinement, ..ClientHello::default() },
        });
        let mut lines = self.says(client, "- 1 Target.setDiscoverTargets", r#"{"discover":true}"#);
        lines.extend(self.says(client, "- 2 Target.setAutoAttach", AUTO_ATTACH));
        lines
    }

    /// The user lets agents use everything.
    pub(super) fn agents_may_all(&mut self) {
        self.stage.0.policy.agents_may =
            AgentsMay { camera: true, microphone: true, clipboard_read: true };
    }

    /// A client's command, as `session id method`.
    pub(super) fn says(&mut self, client: ClientId, command: &str, params: &str) -> Vec<String> {
        let mut words = command.split(' ');
        let mut word = || words.next().unwrap();
        let session = Some(word()).filter(|session| *session != "-").map(SessionId::new);
        let id = RequestId(word().parse().unwrap());
        let (method, params) = (word().to_owned(), Some(serde_json::from_str(params).unwrap()));
        let command = Command { id, session, method, params };
        self.handle(Input::ClientSent { client, command })
    }

    /// Works like [`Script::says`], and the extension answers at once.
    pub(super) fn does(&mut self, client: ClientId, command: &str, params: &str) -> Vec<String> {
        let mut lines = self.says(client, command, params);
        if lines.iter().any(|line| line.starts_with('>')) {
            lines.extend(self.chrome_answers("{}"));
        }
        lines
    }

    /// The extension answers the last request.
    pub(super) fn chrome_answers(&mut self, result: &str) -> Vec<String> {
        let id = self.last_request;
        self.chrome_answers_to(id, result)
    }

    pub(super) fn chrome_answers_to(&mut self, id: i64, result: &str) -> Vec<String> {
        let result = serde_json::from_str(result).unwrap();
        let message = ExtensionMessage::Reply { id: RequestId(id), outcome: Ok(Some(result)) };
        self.handle(Input::ExtensionSent { connection: self.connection, message })
    }

    /// The extension answers the last request as one that does not know it.
    pub(super) fn knows_no_such_message(&mut self) -> Vec<String> {
        let id = RequestId(self.last_request);
        let message = ExtensionMessage::Reply { id, outcome: Ok(None) };
        self.handle(Input::ExtensionSent { connection: self.connection, message })
    }

    /// A client comes that wants a window of its own.
    pub(super) fn connects_with_window(&mut self, client: ClientId) {
        let separate_window = Some(true);
        self.handle(Input::ClientConnected {
            client,
            hello: ClientHello { separate_window, ..ClientHello::default() },
        });
    }

    pub(super) fn chrome_fails(&mut self, error: &str) -> Vec<String> {
        self.chrome_refuses(self.last_request, error)
    }

    pub(super) fn chrome_refuses(&mut self, id: i64, error: &str) -> Vec<String> {
        let id = RequestId(id);
        let message = ExtensionMessage::Reply { id, outcome: Err(error.to_owned()) };
        self.handle(Input::ExtensionSent { connection: self.connection, message })
    }

    /// An event of an extension's session.
    pub(super) fn chrome_says(&mut self, session: &str, method: &str, params: &str) -> Vec<String> {
        let message = ExtensionMessage::Event(CdpEvent {
            session_id: Some(SessionId::new(session)).filter(|id| id.as_str() != "-"),
            method: method.to_owned(),
            params: Some(serde_json::from_str(params).unwrap()),
            extra: Extra::default(),
        });
        self.handle(Input::ExtensionSent { connection: self.connection, message })
    }

    /// Has Chrome attach to a child.
    pub(super) fn child(
        &mut self,
        parent: &str,
        session: &str,
        kind: &str,
        waits: bool,
    ) -> Vec<String> {
        let params = json!({
            "sessionId": session,
            "targetInfo": { "targetId": format!("target-{kind}"), "type": kind, "url": "x:" },
            "waitingForDebugger": waits,
        });
        self.chrome_says(parent, "Target.attachedToTarget", &params.to_string())
    }

    pub(super) fn leaves(&mut self, client: ClientId) -> Vec<String> {
        self.handle(Input::ClientDisconnected { client })
    }

    pub(super) fn after(&mut self, time: Duration) -> Vec<String> {
        let effects = self.stage.at(time, Input::DeadlinePassed);
        self.read(effects)
    }

    pub(super) fn handle(&mut self, input: Input) -> Vec<String> {
        let effects = self.stage.handle(input);
        self.read(effects)
    }

    pub(super) fn attach_tab(&mut self, session: &str, target: &str) -> Vec<String> {
        let effects = self.stage.attach_tab(self.connection, session, target);
        self.read(effects)
    }

    /// The number of the last request to the extension.
    pub(super) fn last_request(&self) -> i64 {
        self.last_request
    }

    /// Returns the warnings about the extension that the status shows.
    pub(super) fn warnings(&self) -> Vec<String> {
        let extensions = self.stage.0.extensions_status().extensions;
        let warnings: Vec<String> =
            extensions.into_iter().flat_map(|entry| entry.warnings).collect();
        assert_eq!(self.stage.0.warnings(None), warnings, "agents are told the same");
        warnings
    }

    /// Returns the lines that were logged since the clients came.
    pub(super) fn logged(&self) -> &[String] {
        &self.logged
    }

    fn read(&mut self, effects: Vec<Effect>) -> Vec<String> {
        effects.iter().filter_map(|effect| self.line(effect)).collect()
    }

    fn line(&mut self, effect: &Effect) -> Option<String> {
        match effect {
            Effect::SendToClient { client, frame } => {
                let frame = serde_json::to_value(frame).unwrap();
                let session = frame["sessionId"].as_str().unwrap_or("-");
                let who = if *client == A { "A" } else { "B" };
                Some(match frame["method"].as_str() {
                    Some(method) => format!("{who} {session} {method} {}", frame["params"]),
                    None if frame["error"].is_null() => {
                        format!("{who} {session} #{} {}", frame["id"], frame["result"])
                    }
                    None => {
                        format!("{who} {session} #{} ! {}", frame["id"], frame["error"]["message"])
                    }
                })
            }
            Effect::SendToExtension { message: RelayMessage::Ping, .. } => None,
            Effect::Log { text, .. } => {
                self.logged.push(text.clone());
                None
            }
            Effect::SendToExtension { message, .. } => {
                let message = serde_json::to_value(message).unwrap();
                if let Some(id) = message["id"].as_i64() {
                    self.last_request = id;
                }
                let params = &message["params"];
                Some(match params["method"].as_str() {
                    Some(method) => {
                        let session = params["sessionId"].as_str().unwrap_or("-");
                        let params = &params["params"];
                        let params =
                            if params.is_null() { String::new() } else { params.to_string() };
                        format!("> {session} {method} {params}").trim_end().to_owned()
                    }
                    None => format!("> {} {params}", message["method"].as_str().unwrap()),
                })
            }
            Effect::CloseClient { client, reason, .. } => {
                Some(format!("{client:?} closed: {reason}"))
            }
            Effect::CloseExtension { reason, .. } => Some(format!("extension closed: {reason}")),
            Effect::CopyDownload { from, to, .. } => {
                let to: Vec<_> = to.iter().map(|wanted| &wanted.to).collect();
                Some(format!("copy {:?} to {to:?}", from.path))
            }
        }
    }
}

const NOTHING: [&str; 0] = [];

/// Returns no effects.
pub(super) fn nothing() -> [&'static str; 0] {
    NOTHING
}
