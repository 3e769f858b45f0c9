//! Chrome runs one trace at a time. The session that started it is remembered, so that the trace ends
//! with that session and with no other.

mod categories;

use crate::Relay;
use crate::asker::Asker;
use crate::cdp::method::{Method, OnTarget};
use crate::cdp::{Command, Error};
use crate::ids::{
    ClientId, ClientSessionId, ConnectionId, ExtensionSessionId, SessionRef, TargetRef,
};
use crate::requests::purpose::Purpose;
use crate::turn::Turn;

/// A trace on a browser-level session.
#[derive(Debug, Clone)]
pub(crate) struct Trace {
    /// The session that receives the events of the trace.
    session: ClientSessionId,
    /// The tab that does it, and has the streams.
    extension_session: ExtensionSessionId,
    is_running: bool,
}

impl Relay {
    /// Runs tracing and streams of a browser-level session in one tab.
    pub(crate) fn stream_command(
        &mut self,
        session_ref: &SessionRef,
        command: Command,
        turn: &mut Turn,
    ) {
        let method = Method::of(&command.method).on_target();
        let starts = matches!(method, OnTarget::StartTrace);
        let known = self.trace_of(session_ref.client).map(|trace| trace.extension_session.clone());
        let extension_session = match known {
            Some(extension_session) if !starts => Ok(extension_session),
            Some(_) | None => self.any_tab(session_ref),
        };
        let extension_session = match extension_session {
            Ok(extension_session) => extension_session,
            Err(error) => {
                return turn.fail(&Asker::new(session_ref, &command), error);
            }
        };
        if starts {
            self.start_tracing(session_ref, &extension_session, command, turn);
        } else if matches!(method, OnTarget::EndTrace) {
            self.end_tracing(session_ref, &extension_session, command, turn);
        } else {
            self.forward(session_ref, command, &extension_session, Purpose::Forward, turn);
        }
    }

    /// `Tracing.start`, limited to the categories that may be traced.
    pub(crate) fn start_tracing(
        &mut self,
        session_ref: &SessionRef,
        extension_session: &ExtensionSessionId,
        command: Command,
        turn: &mut Turn,
    ) {
        let asker = Asker::new(session_ref, &command);
        match categories::limited(command) {
            Ok(command) => {
                self.forward(session_ref, command, extension_session, Purpose::StartTrace, turn);
            }
            Err(error) => turn.fail(&asker, error),
        }
    }

    /// `Tracing.end` ends the trace of this client, and of no other.
    pub(crate) fn end_tracing(
        &mut self,
        session_ref: &SessionRef,
        extension_session: &ExtensionSessionId,
        command: Command,
        turn: &mut Turn,
    ) {
        if self.is_tracing(session_ref.client, extension_session) {
            self.forward(session_ref, command, extension_session, Purpose::Forward, turn);
        } else {
            let error = Error::server("Tracing is not started");
            turn.fail(&Asker::new(session_ref, &command), error);
        }
    }

    /// Returns whether a client traces with this tab, or is about to.
    fn is_tracing(&self, client: ClientId, extension_session: &ExtensionSessionId) -> bool {
        let Some(state) = self.clients.get(client) else { return false };
        let on_browser = state
            .trace
            .as_ref()
            .is_some_and(|it| it.is_running && &it.extension_session == extension_session);
        on_browser
            || self.target(state.connection.target(extension_session)).is_some_and(|target| {
                let own = target.sessions.iter().filter(|session_ref| session_ref.client == client);
                own.filter_map(|session_ref| self.target_session(session_ref))
                    .any(|session| session.tracing)
            })
            || self.requests.any(|request| {
                matches!(request.purpose, Purpose::StartTrace)
                    && request.session.as_ref() == Some(extension_session)
                    && request.asker.as_ref().is_some_and(|asker| asker.session.client == client)
            })
    }

    /// Records that Chrome has begun to trace. If the session that asked has left meanwhile, ends the
    /// trace.
    pub(crate) fn trace_started(
        &mut self,
        target_ref: TargetRef<'_>,
        asker: Option<&Asker>,
        turn: &mut Turn,
    ) {
        let Some(session_ref) = asker.map(|asker| &asker.session) else {
            return self.send_to_target(target_ref, END, None, turn);
        };
        if let Some(session) = self.target_session_mut(session_ref) {
            session.tracing = true;
        } else if let Some(client) = self.clients.get_mut(session_ref.client) {
            let session = session_ref.session.clone();
            client.trace = Some(Trace {
                session,
                extension_session: target_ref.session.clone(),
                is_running: true,
            });
        }
    }

    /// Returns those that hears of a trace; the last time, if it is complete.
    pub(crate) fn tracing_sessions(
        &mut self,
        target_ref: TargetRef<'_>,
        is_complete: bool,
    ) -> Vec<SessionRef> {
        let mut tracing_sessions = Vec::new();
        for session_ref in self.target(target_ref).map(|it| it.sessions.clone()).unwrap_or_default()
        {
            if let Some(session) =
                self.target_session_mut(&session_ref).filter(|session| session.tracing)
            {
                session.tracing = !is_complete;
                tracing_sessions.push(session_ref);
            }
        }
        for client in self.clients.of(target_ref.connection) {
            let trace = self.clients.get_mut(client).and_then(|client| client.trace.as_mut());
            if let Some(trace) = trace
                .filter(|trace| trace.is_running && &trace.extension_session == target_ref.session)
            {
                trace.is_running = !is_complete;
                tracing_sessions.push(SessionRef { client, session: trace.session.clone() });
            }
        }
        tracing_sessions
    }

    /// A browser-level session has ended, and its trace with it.
    pub(crate) fn release_trace(
        &mut self,
        connection: ConnectionId,
        trace: Option<Trace>,
        turn: &mut Turn,
    ) {
        if let Some(Trace { extension_session, is_running: true, .. }) = trace {
            self.send_to_target(connection.target(&extension_session), END, None, turn);
        }
    }

    /// Ends what confined clients trace with a tab, which is not for them any more.
    pub(crate) fn end_tracing_of_confined(&mut self, target_ref: TargetRef<'_>, turn: &mut Turn) {
        for id in self.clients.of(target_ref.connection) {
            let client = self.clients.get_mut(id).filter(|client| client.confinement.is_some());
            let trace = client.and_then(|it| {
                it.trace.take_if(|trace| &trace.extension_session == target_ref.session)
            });
            self.release_trace(target_ref.connection, trace, turn);
        }
    }

    /// Takes the trace of a session away from its client, if it has one.
    pub(crate) fn take_trace(&mut self, session_ref: &SessionRef) -> Option<Trace> {
        let trace = &mut self.clients.get_mut(session_ref.client)?.trace;
        trace.take_if(|trace| trace.session == session_ref.session)
    }

    /// Returns the trace of a client, as long as the tab that has it is there.
    fn trace_of(&self, client: ClientId) -> Option<&Trace> {
        let client = self.clients.get(client)?;
        let trace = client.trace.as_ref()?;
        self.target(client.connection.target(&trace.extension_session)).map(|_| trace)
    }
}

pub(crate) const END: &str = "Tracing.end";
