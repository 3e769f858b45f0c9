//! What a client asks for is remembered when it asks, so that it goes with the client. If Chrome
//! does not take it, what was wished before counts again.

use crate::Relay;
use crate::cdp::payload::PermissionRule as Rule;
use crate::requests::asker::Asker;
use crate::settings::interception::Wanted;
use crate::settings::overrides::{Setting, Wish};
use crate::turn::Turn;

/// What was wished before.
#[derive(Debug)]
pub(crate) enum Before {
    Override {
        setting: Setting,
        since: u64,
        wish: Option<Wish>,
    },
    Fetch {
        since: u64,
        wanted: Option<Wanted>,
    },
    /// The asker did not watch.
    NoScreencast {
        since: u64,
    },
    Permissions {
        added: Vec<Rule>,
        replaced: Vec<Rule>,
    },
}

impl Relay {
    /// A wish was refused. One that has been replaced meanwhile is none any more.
    pub(crate) fn take_back(&mut self, asker: &Asker, before: Before, turn: &mut Turn) {
        match before {
            Before::Override { setting, since, wish } => {
                self.take_override_back(&asker.seat, setting, since, wish, turn);
            }
            Before::Fetch { since, wanted } => {
                self.take_fetch_back(&asker.seat, since, wanted, turn);
            }
            Before::NoScreencast { since } => self.take_screencast_back(&asker.seat, since, turn),
            Before::Permissions { added, replaced } => {
                self.take_permissions_back(asker.seat.client, &added, replaced, turn);
            }
        }
    }
}
