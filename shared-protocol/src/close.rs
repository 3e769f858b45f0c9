//! The close codes of WebSockets: numbers that older peers know, too.

/// A WebSocket close code of this protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloseCode {
    /// The ordinary end. A client gets it when its extension has gone for good.
    Normal,
    /// To an extension: the same installation has connected again, stop reconnecting.
    ExtensionReplaced,
    /// To an extension: it is not served now, and should ask `/extension/status` until it may be.
    /// Relays that serve only one extension close others with this code. Our relay uses it for one
    /// extension too many, and for an extension that has to prove itself. The two cases have no codes
    /// of their own, since an extension that does not know a code goes on trying to connect, every
    /// second.
    ExtensionInUse,
    /// To a client: there is no extension to serve it, or the choice is not clear.
    NoSuchExtension,
    /// To a client: its client id is taken.
    DuplicateClient,
    /// To a client: it reads slower than its tabs send events.
    ClientTooSlow,
    /// To an extension: it has stopped to answer.
    ExtensionSilent,
    /// The peer's frame could not be read, or not to its end.
    ConnectionFailed,
    /// To an extension that wants to prove itself: its key is not known.
    UnknownKey,
    /// To an extension that wants to prove itself: it has not done so.
    NotProven,
    /// To a client: as many are connected as may be.
    TooManyClients,
    /// To a client that is an agent's code: its session has as many connections as it may have.
    TooManyConnections,
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
            Self::TooManyClients => 4012,
            Self::TooManyConnections => 4013,
        }
    }

    /// Returns `true` if a relay gave this number itself, and so is still there.
    #[must_use]
    pub const fn is_ours(number: u16) -> bool {
        number >= 4000 && number < 5000
    }
}
