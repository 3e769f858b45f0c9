//! Features that not every extension has: their proofs, and one warning when one is missing.

use shared_protocol::{Extra, Feature, LogLevel, Notice, Understood};

use crate::Relay;
use crate::cdp::Error;
use crate::cdp::payload::RelayMessage;
use crate::ids::{ConnectionId, SessionRef};
use crate::turn::Turn;

impl Relay {
    /// Returns the proof that an extension understands what is to be sent to it, if it does. If
    /// not, the user hears which side to update, once per connection.
    pub(crate) fn proof<const FEATURE: u8>(
        &mut self,
        connection: ConnectionId,
        turn: &mut Turn,
    ) -> Option<Understood<FEATURE>> {
        self.warn_if_missing(connection, Understood::<FEATURE>::FEATURE?, turn);
        self.extensions.get(connection)?.features.proof()
    }

    /// Logs a warning, once, if an extension does not understand a feature.
    pub(crate) fn warn_if_missing(
        &mut self,
        connection: ConnectionId,
        feature: Feature,
        turn: &mut Turn,
    ) {
        let extension = self.extensions.get(connection);
        if extension.is_some_and(|extension| !extension.features.has(feature)) {
            self.report_missing(connection, feature, turn);
        }
    }

    pub(crate) fn report_missing(
        &mut self,
        connection: ConnectionId,
        feature: Feature,
        turn: &mut Turn,
    ) {
        let Some(extension) = self.extensions.get_mut(connection) else { return };
        if extension.missing_features.insert(feature) {
            turn.log(LogLevel::Warn, extension.too_old_for(feature));
            self.revision += 1;
            self.send_notice(connection, turn);
        }
    }

    /// Returns the same as [`Relay::proof`], for a command of a client that cannot be carried out
    /// otherwise.
    ///
    /// # Errors
    ///
    /// The error says which side to update.
    pub(crate) fn require<const FEATURE: u8>(
        &mut self,
        session_ref: &SessionRef,
        turn: &mut Turn,
    ) -> Result<Understood<FEATURE>, Error> {
        let connection = self.connection_of(session_ref).ok_or_else(Error::unknown_session)?;
        self.proof(connection, turn).ok_or_else(|| {
            let feature = Understood::<FEATURE>::FEATURE.zip(self.extensions.get(connection));
            let words = feature.map(|(feature, extension)| extension.too_old_for(feature));
            Error::server(words.unwrap_or_default())
        })
    }

    /// An extension answered as those do that do not know what they are asked, whatever it said of
    /// itself.
    pub(crate) fn lacks_after_all(
        &mut self,
        connection: ConnectionId,
        feature: Feature,
        turn: &mut Turn,
    ) -> Error {
        self.report_missing(connection, feature, turn);
        let extension = self.extensions.get(connection);
        Error::server(extension.map_or_else(String::new, |it| it.too_old_for(feature)))
    }

    /// Tells the user of an extension, where it can be told, what it is too old for.
    pub(crate) fn send_notice(&mut self, connection: ConnectionId, turn: &mut Turn) {
        let Some(extension) = self.extensions.get(connection) else { return };
        let mut warnings = extension.warnings();
        if self.requires_pairing && !extension.proven {
            warnings.insert(0, "this browser is not paired".to_owned());
        }
        if let Some(proof) = extension.features.proof()
            && !warnings.is_empty()
        {
            let notice = Notice { text: Some(warnings.join("; ")), extra: Extra::default() };
            turn.send_to_extension(connection, RelayMessage::SetNotice(notice, proof));
        }
    }
}
