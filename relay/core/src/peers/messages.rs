//! Messages of extensions.

use std::time::Instant;

use shared_protocol::{CloseCode, ExtensionHello, Feature, Features, LogLevel, StableKey};

use crate::Relay;
use crate::cdp::payload::ExtensionMessage;
use crate::effect::Effect;
use crate::ids::ConnectionId;
use crate::peers::extensions::Extension;
use crate::peers::heartbeat::PING_INTERVAL;
use crate::peers::reconnect::Handover;
use crate::requests::purpose::Purpose;
use crate::turn::Turn;

/// The largest number of extensions that may be connected. Extensions that have not proven themselves
/// are counted apart: anybody can make up any number of them.
const MAX_EXTENSIONS: usize = 64;
const MAX_UNPROVEN: usize = 8;

impl Relay {
    pub(crate) fn extension_connected(
        &mut self,
        connection: ConnectionId,
        hello: ExtensionHello,
        user_agent: String,
        proven: bool,
        turn: &mut Turn,
    ) {
        let stable_key = hello
            .stable_key()
            .unwrap_or_else(|| StableKey::new(format!("connection:{connection}")));
        if let Some(reason) = self.refusal_of_extension(&hello, &stable_key, proven) {
            let (code, reason) = (CloseCode::ExtensionInUse, reason.to_owned());
            return turn.effects.push(Effect::CloseExtension { connection, code, reason });
        }
        let version = hello.version.as_deref().unwrap_or("an unknown version");
        turn.log(LogLevel::Info, format!("extension {connection} connected as {version}"));
        let Handover {
            targets,
            downloads,
            held_commands,
            interrupted,
            outgoing_queue,
            missing_features,
            may_lack_tab,
            presence,
        } = self.take_over(&stable_key, connection, turn);
        let features = Features::of(&hello);
        let next_ping: Instant = turn.now + PING_INTERVAL;
        let extension = Extension {
            features,
            missing_features: missing_features.without(features),
            hello,
            stable_key,
            proven,
            user_agent,
            targets,
            downloads,
            permissions: Vec::new(),
            context: None,
            may_lack_tab,
            opens_tab: false,
            presence,
            held_commands,
            interrupted,
            outgoing_queue,
            next_ping,
            last_message_at: turn.now,
            answers_pings: false,
        };
        self.extensions.insert(connection, extension);
        self.revision += 1;
        self.send_window_mode(connection, turn);
        self.send_notice(connection, turn);
        if features.has(Feature::Permissions) {
            // Sent even without any rules: the extension may still have rules of clients that left
            // meanwhile.
            self.apply_permissions(connection, None, Purpose::Forward, turn);
        }
        self.complete_inventory_if_confirmed(connection, turn);
    }

    /// Returns why an extension is not served, if it is not.
    fn refusal_of_extension(
        &self,
        hello: &ExtensionHello,
        stable_key: &StableKey,
        proven: bool,
    ) -> Option<&'static str> {
        let is_known = self.extensions.newest(stable_key).is_some();
        let limit = if proven { MAX_EXTENSIONS } else { MAX_UNPROVEN };
        if !proven && self.extensions.is_impersonating(hello, stable_key) {
            Some("this installation has to prove itself")
        } else if self.extensions.count(proven) >= limit && !is_known {
            Some("too many extensions")
        } else {
            None
        }
    }

    pub(crate) fn extension_sent(
        &mut self,
        connection: ConnectionId,
        message: ExtensionMessage,
        turn: &mut Turn,
    ) {
        if let Some(extension) = self.extensions.get_mut(connection) {
            extension.last_message_at = turn.now;
            extension.answers_pings |= matches!(message, ExtensionMessage::Pong);
        }
        match message {
            ExtensionMessage::Reply { id, outcome } => {
                self.extension_replied(connection, id, outcome, turn);
            }
            ExtensionMessage::Event(event) => self.extension_event(connection, event, turn),
            ExtensionMessage::Ready => self.inventory_complete(connection, turn),
            ExtensionMessage::Log(line) => {
                turn.log(line.level, format!("extension {connection}: {}", line.args.join(" ")));
            }
            ExtensionMessage::ParseFailure(failure) => turn.log(
                LogLevel::Error,
                format!("extension {connection} could not read a message: {}", failure.message),
            ),
            ExtensionMessage::Unknown { method, .. } => {
                turn.log(LogLevel::Warn, format!("extension {connection} sent unknown {method}"));
            }
            ExtensionMessage::Pong
            | ExtensionMessage::Hello(_)
            | ExtensionMessage::RecordingData(_)
            | ExtensionMessage::RecordingCancelled(_) => {}
        }
    }
}
