//! What a client asks for is remembered when it asks, so that it goes with the client. If Chrome
//! does not take it, what was wished before counts again.

use crate::Relay;
use crate::asker::Asker;
use crate::cdp::payload::PermissionRule as Rule;
use crate::ids::CommandNumber;
use crate::settings::interception::InterceptionPatterns;
use crate::settings::overrides::{OverrideValue, Setting};
use crate::turn::Turn;

/// What was wished before.
#[derive(Debug)]
pub(crate) enum Rollback {
    Override {
        setting: Setting,
        since: CommandNumber,
        wish: Option<OverrideValue>,
    },
    Fetch {
        since: CommandNumber,
        wanted: Option<InterceptionPatterns>,
    },
    /// The asker did not watch.
    NoScreencast {
        since: CommandNumber,
    },
    Permissions {
        added: Vec<Rule>,
        replaced: Vec<Rule>,
    },
}

impl Relay {
    /// A wish was refused. One that has been replaced meanwhile is none any more.
    pub(crate) fn roll_back(&mut self, asker: &Asker, before: Rollback, turn: &mut Turn) {
        match before {
            Rollback::Override { setting, since, wish } => {
                self.override_refused(&asker.session, setting, since, wish, turn);
            }
            Rollback::Fetch { since, wanted } => {
                self.interception_refused(&asker.session, since, wanted, turn);
            }
            Rollback::NoScreencast { since } => {
                self.screencast_refused(&asker.session, since, turn);
            }
            Rollback::Permissions { added, replaced } => {
                self.permissions_refused(asker.session.client, &added, replaced, turn);
            }
        }
    }
}
