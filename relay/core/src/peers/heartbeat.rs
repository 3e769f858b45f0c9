//! Pings keep workers awake, and tell which have died without closing their socket.

use std::time::{Duration, Instant};

use shared_protocol::{CloseCode, LogLevel};

use crate::Relay;
use crate::cdp::payload::RelayMessage;
use crate::effect::Effect;
use crate::peers::extensions::Extension;
use crate::turn::Turn;

/// A worker sleeps after 30 s without a message; released relays ping at this pace too.
pub(crate) const PING_INTERVAL: Duration = Duration::from_secs(5);

/// The longest time for which an extension that answers pings may send nothing. A message may be
/// large, and the machine busy.
const MAX_SILENCE: Duration = Duration::from_secs(60);

impl Relay {
    pub(crate) fn ping_extensions(&mut self, turn: &mut Turn) {
        let mut silent = Vec::new();
        for (connection, extension) in self.extensions.iter_mut() {
            if extension.next_ping <= turn.now && extension.presence.is_connected() {
                extension.next_ping = turn.now + PING_INTERVAL;
                if extension.is_silent(turn.now) {
                    silent.push(connection);
                } else {
                    turn.send_to_extension(connection, RelayMessage::Ping);
                }
            }
        }
        for connection in silent {
            let (code, reason) = (CloseCode::ExtensionSilent, "no sign of life".to_owned());
            turn.effects.push(Effect::CloseExtension { connection, code, reason });
            turn.log(LogLevel::Warn, format!("extension {connection} gives no sign of life"));
            self.extension_disconnected(connection, turn);
        }
    }
}

impl Extension {
    /// Returns whether it has been silent for too long: a worker that lives answers pings.
    pub(crate) fn is_silent(&self, now: Instant) -> bool {
        self.answers_pings && now.saturating_duration_since(self.last_message_at) >= MAX_SILENCE
    }
}
