//! Why a WebSocket is closed, as a number that older peers know too.

/// A WebSocket close code of this protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloseCode {
    /// The ordinary end. A client gets it when its extension has gone for good.
    Normal,
    /// To an extension: the same installation has connected again, stop reconnecting.
    ExtensionReplaced,
    /// To an extension, from older relays: another extension is being served.
    ExtensionInUse,
    /// To a client: there is no extension to serve it, or the choice is not clear.
    NoSuchExtension,
    /// To a client: its client id is taken.
    DuplicateClient,
    /// To a client: it reads slower than its tabs talk.
    ClientTooSlow,
    /// To an extension: it has stopped to answer.
    ExtensionSilent,
    /// What the peer sent could not be read, or not to its end.
    ConnectionFailed,
    /// To an extension that wants to prove itself: its key is not known.
    UnknownKey,
    /// To an extension that wants to prove itself: it has not.
    NotProven,
}

impl CloseCode {
    /// The number on the wire.
    #[must_use]
    pub const fn number(self) -> u16 {
        match self {
            Self::Normal => 1000,
            Self::ExtensionReplaced => 4001,
            Self::ExtensionInUse => 4002,
            Self::NoSuchExtension => 4003,
            Self::DuplicateClient => 4004,
            Self::ClientTooSlow => 4007,
            Self::ExtensionSilent => 4008,
            Self::ConnectionFailed => 4009,
            Self::UnknownKey => 4010,
            Self::NotProven => 4011,
        }
    }

    /// Whether a relay gave this number itself, and so is still there.
    #[must_use]
    pub const fn is_ours(number: u16) -> bool {
        number >= 4000 && number < 5000
    }
}
