//! The only ways in which commands go to an extension.

use shared_protocol::{CdpCommand, Extra, RequestId};

use crate::Relay;
use crate::asker::Asker;
use crate::cdp::Command;
use crate::cdp::method::Method;
use crate::cdp::payload::{Payload, RelayMessage};
use crate::ids::{ConnectionId, ExtensionSessionId, SessionRef, TargetRef};
use crate::requests::pending::{QUICK, Request};
use crate::requests::purpose::Purpose;
use crate::requests::refusal::OnRefusal;
use crate::turn::Turn;

impl Relay {
    /// Passes a command on to the client's extension and remembers who waits for the reply.
    pub(crate) fn forward(
        &mut self,
        session_ref: &SessionRef,
        command: Command,
        extension_session: &ExtensionSessionId,
        purpose: Purpose,
        turn: &mut Turn,
    ) {
        let Some(connection) = self.connection_of(session_ref) else { return };
        let quick = Method::of(&command.method).is_quick;
        let id = self.requests.add(
            Request::to_target(connection.target(extension_session), purpose)
                .asked_by(Asker::new(session_ref, &command))
                .until(quick.then(|| turn.now + QUICK))
                .on_refusal(OnRefusal::of(&command)),
        );
        if quick && let Some(session) = self.target_session_mut(session_ref) {
            session.replies.expect(id);
        }
        let command = extension_command(command.method, Some(extension_session), command.params);
        turn.send_to_extension(connection, RelayMessage::Command { id, command });
    }

    /// Asks an extension for something that has no session, or that the relay itself wants to know.
    pub(crate) fn ask(
        &mut self,
        connection: ConnectionId,
        asker: Option<Asker>,
        extension_session: Option<&ExtensionSessionId>,
        (method, params): (&str, Option<Payload>),
        purpose: Purpose,
        turn: &mut Turn,
    ) {
        let deadline = Some(turn.now + QUICK);
        let on_refusal = OnRefusal::of_own(method, params.as_ref());
        let request = Request {
            session: extension_session.cloned(),
            ..Request::to_extension(connection, purpose)
        }
        .asked_by(asker)
        .until(deadline)
        .on_refusal(on_refusal);
        let id = self.requests.add(request);
        let command = extension_command(method.to_owned(), extension_session, params);
        turn.send_to_extension(connection, RelayMessage::Command { id, command });
    }

    /// Sends a command of our own, whose answer nobody waits for.
    pub(crate) fn send_to_target(
        &mut self,
        target_ref: TargetRef<'_>,
        method: &str,
        params: Option<Payload>,
        turn: &mut Turn,
    ) {
        if self.defer_own_command(target_ref, method, params.as_ref()) {
            return;
        }
        let command = extension_command(method.to_owned(), Some(target_ref.session), params);
        let message = RelayMessage::Command { id: self.requests.next_id(), command };
        turn.send_to_extension(target_ref.connection, message);
    }

    pub(crate) fn ask_extension(
        &mut self,
        request: Request,
        message: impl FnOnce(RequestId) -> RelayMessage,
        turn: &mut Turn,
    ) {
        let connection = request.connection;
        let id = self.requests.next_id();
        let message = message(id);
        self.requests.insert(id, Request { needs: message.feature(), ..request });
        turn.send_to_extension(connection, message);
    }
}

pub(crate) fn extension_command(
    method: String,
    session: Option<&ExtensionSessionId>,
    params: Option<Payload>,
) -> CdpCommand<Payload> {
    CdpCommand {
        method,
        session_id: session.map(|it| it.on_wire().clone()),
        params,
        source: None,
        extra: Extra::default(),
    }
}
