//! Which targets a confined client sees: those that show the web. What else comes into a tab, in
//! whatever way, ends the sessions of such clients before they hear of it. For the others, a tab is a
//! tab.

use serde::Deserialize;
use shared_protocol::{Payload as _, SessionId, TargetId};

use super::announce::{InfoEvent, TargetDestroyed, tab_info};
use super::children::is_browser_with_auto_attach;
use super::confinement::is_web;
use super::sessions::{Seat, Session};
use super::targets::{Target, Targets};
use super::turn::Turn;
use super::{ClientId, ConnectionId, Relay};
use crate::payload::{Payload, TargetInfo};

impl Relay {
    /// Returns whether a client may know of a target.
    pub(super) fn sees(
        &self,
        client: ClientId,
        connection: ConnectionId,
        real: &SessionId,
    ) -> bool {
        !self.is_confined(client) || self.shows_web(connection, real)
    }

    pub(super) fn is_confined(&self, client: ClientId) -> bool {
        self.clients.get(client).is_some_and(|client| client.confinement.is_some())
    }

    pub(super) fn shows_web(&self, connection: ConnectionId, real: &SessionId) -> bool {
        let extension = self.extensions.get(connection);
        extension
            .is_some_and(|it| it.targets.by_session(real).is_some_and(|t| it.targets.is_web(t)))
    }

    /// Changes what is known of a target. If it is not on the web from then on, it is gone for confined
    /// clients; if it is again, it is new to them.
    pub(super) fn change_target(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        change: impl FnOnce(&mut Target),
        turn: &mut Turn,
    ) {
        let was_web = self.shows_web(connection, real);
        let Some(target) = self.target_mut(connection, real) else { return };
        change(target);
        self.tabs_changed = true;
        match (was_web, self.shows_web(connection, real)) {
            (true, false) => self.hide_from_confined(connection, real, turn),
            (false, true) => self.show_to_confined(connection, real, turn),
            (true, true) | (false, false) => {}
        }
    }

    /// `Page.frameStartedNavigating`: what is sent to a tab that goes to a file could arrive in the file,
    /// so the tab is gone already when it sets out.
    pub(super) fn navigation_began(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        params: &Payload,
        turn: &mut Turn,
    ) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Began {
            frame_id: TargetId,
            url: String,
        }

        let Ok(Began { frame_id, url }) = params.read() else { return };
        let goes_to_file = ["file:", "view-source:"].iter().any(|kind| url.starts_with(kind));
        let is_main = |target: &&mut Target| target.info.target_id == frame_id;
        let target = self.target_mut(connection, real).filter(is_main);
        if target.is_some_and(|target| target.goes_to_file != goes_to_file) {
            let change = |target: &mut Target| target.goes_to_file = goes_to_file;
            self.change_target(connection, real, change, turn);
        }
    }

    /// Nothing is shown of a file that Chrome downloads.
    pub(super) fn navigation_became_download(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        turn: &mut Turn,
    ) {
        if self.target(connection, real).is_some_and(|target| target.goes_to_file) {
            self.change_target(connection, real, |target| target.goes_to_file = false, turn);
        }
    }

    fn hide_from_confined(&mut self, connection: ConnectionId, real: &SessionId, turn: &mut Turn) {
        let Some(extension) = self.extensions.get(connection) else { return };
        if !self.clients.all_of(connection).any(|client| client.confinement.is_some()) {
            return;
        }
        let targets = &extension.targets;
        // They have not heard of the others.
        let below = targets.below(real).into_iter().rev().filter(|target| target.shows_web());
        let is_confined = |seat: &Seat| self.is_confined(seat.client);
        let gone: Vec<Gone> = below
            .chain(targets.by_session(real))
            .map(|target| Gone::of(target, targets, is_confined))
            .collect();
        for Gone { real, page, tab, seats } in gone {
            for seat in seats {
                self.end_session(&seat, page.as_ref().map(|page| &page.target_id), turn);
            }
            self.end_traces(connection, &real, turn);
            for seat in self.confined(connection, |session| session.is_tab_of(&real)) {
                self.end_session(&seat, tab.as_ref().map(|tab| &tab.target_id), turn);
            }
            for info in page.iter().chain(&tab) {
                let destroyed = TargetDestroyed { target_id: info.target_id.clone() };
                for seat in self.confined(connection, |session| session.follows(info)) {
                    turn.event(&seat, "Target.targetDestroyed", &destroyed);
                }
            }
        }
    }

    fn show_to_confined(&mut self, connection: ConnectionId, real: &SessionId, turn: &mut Turn) {
        let Some(extension) = self.extensions.get(connection) else { return };
        let Some(target) = extension.targets.by_session(real) else { return };
        let below = extension.targets.below(real).into_iter();
        let workers: Vec<SessionId> = below
            .filter(|target| target.is_service_worker())
            .map(|target| target.session.clone())
            .collect();
        for info in [tab_info(target), Some(target.info.clone())].into_iter().flatten() {
            for seat in self.confined(connection, |session| session.follows(&info)) {
                turn.event(&seat, "Target.targetCreated", &InfoEvent::of(info.clone()));
            }
        }
        match target.parent.clone() {
            None => {
                for seat in self.confined(connection, is_browser_with_auto_attach) {
                    self.auto_attach_tab(&seat, real, turn);
                }
            }
            Some(parent) => {
                let seats = self.target(connection, &parent).map(|parent| parent.seats.clone());
                for seat in seats.unwrap_or_default() {
                    self.announce_child(&seat, real, turn);
                }
            }
        }
        for worker in workers {
            self.announce_service_worker(connection, &worker, turn);
        }
    }

    /// The sessions of confined clients for which `wanted` holds.
    fn confined(&self, connection: ConnectionId, wanted: impl Fn(&Session) -> bool) -> Vec<Seat> {
        let mut seats = self.clients.seats(connection, wanted);
        seats.retain(|seat| self.is_confined(seat.client));
        seats
    }
}

/// A target that confined clients had.
struct Gone {
    real: SessionId,
    /// `None` for a service worker that another page still tells of.
    page: Option<TargetInfo>,
    tab: Option<TargetInfo>,
    seats: Vec<Seat>,
}

impl Gone {
    fn of(target: &Target, all: &Targets, is_confined: impl Fn(&Seat) -> bool) -> Self {
        let is_other =
            |other: &Target| other.info.target_id == target.info.target_id && all.is_web(other);
        Self {
            real: target.session.clone(),
            page: (!all.iter().any(is_other)).then(|| target.info.clone()),
            tab: tab_info(target),
            seats: target.seats.iter().filter(|seat| is_confined(seat)).cloned().collect(),
        }
    }
}

impl Session {
    fn follows(&self, info: &TargetInfo) -> bool {
        self.discover.as_ref().is_some_and(|filter| filter.admits(&info.kind))
    }
}

impl Target {
    /// Returns whether it shows the web, by what it has loaded and by what the user is told: an address
    /// that was typed is told before anything of it has come.
    fn shows_web(&self) -> bool {
        self.is_on_web && !self.goes_to_file && is_web(&self.info.url)
    }
}

impl Targets {
    /// Returns whether a target and all around it show the web.
    pub(super) fn is_web(&self, target: &Target) -> bool {
        let mut target = target;
        loop {
            if !target.shows_web() {
                return false;
            }
            match target.parent.as_ref().and_then(|parent| self.by_session(parent)) {
                Some(parent) => target = parent,
                None => return true,
            }
        }
    }
}
