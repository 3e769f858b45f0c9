//! The problems that keep the extension from its relay.

use crate::interface::ProofFailure;

/// What keeps the extension from its relay.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Problem {
    #[default]
    None,
    /// A relay was found, and closed its door.
    Refused,
    /// That relay takes paired extensions only.
    PairingRequired,
    UnknownKey,
    NoProof,
    Unreadable,
}

impl Problem {
    /// What the user is to know and can do.
    pub(crate) fn text(self, port: u16) -> Option<String> {
        Some(match self {
            Self::None => return None,
            Self::Refused => {
                "the relay that runs does not let this extension in; stop it, then start \
                              ours with `playwriter ensure`"
                    .to_owned()
            }
            Self::PairingRequired => {
                "this relay takes paired browsers only: run `playwriter extension \
                                 install`, then click the round arrow on this extension's card in \
                                 chrome://extensions"
                    .to_owned()
            }
            Self::UnknownKey => format!(
                "the relay at port {port} does not know this browser; run `playwriter extension \
                 install`"
            ),
            Self::NoProof => format!(
                "what answers at port {port} cannot prove that it is your relay. An older one: \
                 `playwriter ensure`. If not, another program has the port: `playwriter doctor`. If \
                 you forward the port, use the same number on both sides"
            ),
            Self::Unreadable => {
                "pairing.json cannot be read; run `playwriter extension install`".to_owned()
            }
        })
    }

    /// Whether it is about a key, and so concerns all tabs.
    pub(crate) fn is_about_key(self) -> bool {
        matches!(self, Self::UnknownKey | Self::NoProof | Self::Unreadable | Self::PairingRequired)
    }
}

impl From<ProofFailure> for Problem {
    fn from(why: ProofFailure) -> Self {
        match why {
            ProofFailure::UnknownKey => Self::UnknownKey,
            ProofFailure::NoProof => Self::NoProof,
        }
    }
}
