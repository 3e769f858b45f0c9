//! Chrome runs one screencast for a target; every session that started one gets the frames, in the
//! largest size that any of them wants. Chrome waits for acknowledgements, which name the screencast
//! and not the frame, so the fastest session sets the pace.

use serde::{Deserialize, Serialize};

use crate::Relay;
use crate::asker::Asker;
use crate::cdp::method::ScreencastCommand;
use crate::cdp::payload::Payload;
use crate::cdp::{Command, Error};
use crate::ids::{CommandNumber, SessionRef, TargetRef};
use crate::requests::purpose::Purpose;
use crate::requests::rollback::Rollback;
use crate::turn::Turn;

const START: &str = "Page.startScreencast";
const STOP: &str = "Page.stopScreencast";

/// The screencast that a session watches.
#[derive(Debug)]
pub(crate) struct WatchedScreencast {
    wanted: Cast,
    since: CommandNumber,
    acknowledged: Acknowledged,
}

/// The last acknowledged frame: the number of its screencast and its number in it. A later screencast
/// has a greater number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Acknowledged {
    cast: i64,
    frames: u64,
}

/// A cast as Chrome is asked for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cast {
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quality: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_width: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_height: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    every_nth_frame: Option<i64>,
}

impl Acknowledged {
    fn and(self, cast: i64) -> Self {
        let frames = if self.cast == cast { self.frames } else { 0 };
        Self { cast, frames: frames + 1 }
    }
}

impl Cast {
    /// Chrome's own, unless another is asked for.
    fn format(&self) -> &str {
        self.format.as_deref().unwrap_or("png")
    }

    /// Returns parameters that are good enough for both. A missing parameter means no limit.
    fn with(self, other: &Self) -> Self {
        Self {
            format: self.format,
            quality: self.quality.zip(other.quality).map(|(one, other)| one.max(other)),
            max_width: self.max_width.zip(other.max_width).map(|(one, other)| one.max(other)),
            max_height: self.max_height.zip(other.max_height).map(|(one, other)| one.max(other)),
            every_nth_frame: self
                .every_nth_frame
                .zip(other.every_nth_frame)
                .map(|(one, other)| one.min(other)),
        }
    }
}

impl Relay {
    pub(crate) fn screencast_command(
        &mut self,
        session_ref: &SessionRef,
        action: ScreencastCommand,
        command: Command,
        turn: &mut Turn,
    ) {
        let Some(connection) = self.connection_of(session_ref) else { return };
        let Some(session) = self.target_session(session_ref) else { return };
        let (extension_session, watches) =
            (session.extension_session.clone(), session.screencast.is_some());
        match action {
            ScreencastCommand::Acknowledge => self.acknowledge(session_ref, command, turn),
            // Chrome's own answer; it may not have come to the first yet.
            ScreencastCommand::Start if watches => {
                let error = Error::server("Screencast is already active");
                turn.fail(&Asker::new(session_ref, &command), error);
            }
            ScreencastCommand::Start => self.start_screencast(
                session_ref,
                connection.target(&extension_session),
                command,
                turn,
            ),
            ScreencastCommand::Stop => {
                let before = self.cast_for_all(connection.target(&extension_session));
                if let Some(session) = self.target_session_mut(session_ref) {
                    session.screencast = None;
                }
                if self.cast_for_all(connection.target(&extension_session)).is_none() {
                    return self.forward(
                        session_ref,
                        command,
                        &extension_session,
                        Purpose::Forward,
                        turn,
                    );
                }
                self.restart_screencast(connection.target(&extension_session), before, turn);
                turn.ok(&Asker::new(session_ref, &command));
            }
        }
    }

    fn start_screencast(
        &mut self,
        session_ref: &SessionRef,
        target_ref: TargetRef<'_>,
        command: Command,
        turn: &mut Turn,
    ) {
        let asker = Asker::new(session_ref, &command);
        let before = self.cast_for_all(target_ref);
        let wanted = command.read_params::<Cast>().and_then(|wanted| match &before {
            Some(running) if running.format() != wanted.format() => Err(Error::server(format!(
                "Screencast is already active as {}: ask for that format",
                running.format()
            ))),
            Some(_) | None => Ok(wanted),
        });
        let wanted = match wanted {
            Ok(wanted) => wanted,
            Err(error) => return turn.fail(&asker, error),
        };
        let Some(target) = self.target_mut(target_ref) else { return };
        if before.is_none() {
            target.state.acknowledged = Acknowledged::default();
        }
        let acknowledged = target.state.acknowledged;
        let since = self.last_command;
        if let Some(session) = self.target_session_mut(session_ref) {
            session.screencast = Some(WatchedScreencast { wanted, since, acknowledged });
        }
        let Some(cast) = self.cast_for_all(target_ref) else { return };
        if before.as_ref() == Some(&cast) {
            return turn.ok(&asker);
        }
        if before.is_some() {
            self.send_to_target(target_ref, STOP, None, turn);
        }
        let command = match before {
            Some(_) => Command { params: Some(Payload::of(&cast)), ..command },
            None => command,
        };
        self.forward(
            session_ref,
            command,
            target_ref.session,
            Purpose::ChangeSetting(Rollback::NoScreencast { since }),
            turn,
        );
    }

    /// Chrome refused what a session wanted: it casts for the others as before. It may have been
    /// told again meanwhile, for another's sake.
    pub(crate) fn screencast_refused(
        &mut self,
        session_ref: &SessionRef,
        since: CommandNumber,
        turn: &mut Turn,
    ) {
        let Some(connection) = self.connection_of(session_ref) else { return };
        let Some(session) = self.target_session_mut(session_ref) else { return };
        if session.screencast.take_if(|watching| watching.since == since).is_none() {
            return;
        }
        let extension_session = session.extension_session.clone();
        self.send_to_target(connection.target(&extension_session), STOP, None, turn);
        if let Some(cast) = self.cast_for_all(connection.target(&extension_session)) {
            self.send_to_target(
                connection.target(&extension_session),
                START,
                Some(Payload::of(&cast)),
                turn,
            );
        }
    }

    /// A session that watched has ended.
    pub(crate) fn release_screencast(
        &mut self,
        target_ref: TargetRef<'_>,
        gone: WatchedScreencast,
        turn: &mut Turn,
    ) {
        let others = self.cast_for_all(target_ref);
        let before = others.map_or(gone.wanted.clone(), |others| others.with(&gone.wanted));
        self.restart_screencast(target_ref, Some(before), turn);
    }

    /// Fewer watch than before: casts no larger than they want, or not at all.
    fn restart_screencast(
        &mut self,
        target_ref: TargetRef<'_>,
        before: Option<Cast>,
        turn: &mut Turn,
    ) {
        let now = self.cast_for_all(target_ref);
        if now == before {
            return;
        }
        self.send_to_target(target_ref, STOP, None, turn);
        if let Some(cast) = now {
            self.send_to_target(target_ref, START, Some(Payload::of(&cast)), turn);
        }
    }

    /// Returns what Chrome must cast so that everybody sees enough.
    fn cast_for_all(&self, target_ref: TargetRef<'_>) -> Option<Cast> {
        let watching =
            self.sessions_on(target_ref).filter_map(|session| session.screencast.as_ref());
        watching.map(|it| it.wanted.clone()).reduce(|all, wanted| all.with(&wanted))
    }

    fn acknowledge(&mut self, session_ref: &SessionRef, command: Command, turn: &mut Turn) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Ack {
            session_id: i64,
        }

        let asker = Asker::new(session_ref, &command);
        let cast = match command.read_params::<Ack>() {
            Ok(Ack { session_id }) => session_id,
            Err(error) => return turn.fail(&asker, error),
        };
        let Some(session) = self.target_session_mut(session_ref) else { return };
        let extension_session = session.extension_session.clone();
        let own = session.screencast.as_mut().map(|watching| {
            watching.acknowledged = watching.acknowledged.and(cast);
            watching.acknowledged
        });
        let Some(target) = self.target_under_mut(session_ref) else { return };
        match own {
            Some(own) if own <= target.state.acknowledged => {
                turn.ok(&asker);
            }
            own => {
                target.state.acknowledged = own.unwrap_or(target.state.acknowledged);
                self.forward(session_ref, command, &extension_session, Purpose::Forward, turn);
            }
        }
    }
}
