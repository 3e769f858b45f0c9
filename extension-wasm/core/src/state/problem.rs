//! The problems that keep the extension from its relay, and what the user can do about them.

use crate::interface::ProofFailure;

/// A problem that keeps the extension from its relay.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Problem {
    #[default]
    None,
    /// A relay was found, and refused the connection.
    Refused,
    /// The relay accepts paired extensions only.
    PairingRequired,
    UnknownKey,
    NoProof,
    Unreadable,
}

impl Problem {
    /// Returns a text for the user: what is wrong, and what to do.
    pub(crate) fn text(self, port: u16) -> Option<String> {
        Some(match self {
            Self::None => return None,
            Self::Refused => {
                "another relay runs, which does not accept this extension; stop it, then start ours \
                 with `playwriter ensure`"
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
                "the program at port {port} cannot prove that it is your relay. If it is an older \
                 relay, run `playwriter ensure`. If not, another program has the port: run \
                 `playwriter doctor`. If you forward the port, use the same number on both sides"
            ),
            Self::Unreadable => {
                "pairing.json cannot be read; run `playwriter extension install`".to_owned()
            }
        })
    }

    /// Returns true if the problem is about a key, and so concerns all tabs.
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
