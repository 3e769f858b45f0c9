//! A setting is recorded when a client sends it, so that it ends with the client. If Chrome refuses
//! it, the earlier value is restored.

use crate::Relay;
use crate::asker::Asker;
use crate::cdp::payload::PermissionRule as Rule;
use crate::ids::CommandNumber;
use crate::settings::interception::InterceptionPatterns;
use crate::settings::overrides::{OverrideValue, Setting};
use crate::turn::Turn;

/// The value before a command, in case Chrome refuses the command.
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
    /// Restores the earlier value, unless the refused one has been replaced meanwhile.
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
