//! Chrome casts a target's screen once; whoever started to watch gets the frames.

use serde::Deserialize;

use super::Relay;
use super::on_target::params;
use super::requests::{Asker, Purpose};
use super::sessions::Seat;
use super::turn::Turn;
use crate::cdp::Command;
use crate::payload::Payload;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameAck {
    /// The frame's number, whatever CDP calls it.
    session_id: i64,
}

impl Relay {
    pub(super) fn screencast_command(&mut self, seat: &Seat, command: Command, turn: &mut Turn) {
        let Some(on) = self.virtual_mut(seat) else { return };
        let real = on.real.clone();
        let is_shared = match command.method.as_str() {
            "Page.screencastFrameAck" => {
                let frame = params::<FrameAck>(&command).map(|ack| ack.session_id);
                let Some(target) = self.target_under_mut(seat) else { return };
                match frame {
                    Ok(frame) if frame <= target.shared.acknowledged => true,
                    Ok(frame) => {
                        target.shared.acknowledged = frame;
                        false
                    }
                    Err(_) => false,
                }
            }
            method => {
                let starts = method == "Page.startScreencast";
                let was_on = std::mem::replace(&mut on.screencast, starts);
                let is_shared = self.others(seat).any(|other| other.screencast);
                if starts
                    && !is_shared
                    && let Some(target) = self.target_under_mut(seat)
                {
                    target.shared.acknowledged = 0;
                }
                // One who starts twice gets Chrome's own answer to that.
                is_shared && !(starts && was_on)
            }
        };
        if is_shared {
            turn.effects.push(Asker::new(seat, &command).reply(Ok(Payload::empty_object())));
        } else {
            self.forward(seat, command, &real, Purpose::Forward, turn);
        }
    }
}
