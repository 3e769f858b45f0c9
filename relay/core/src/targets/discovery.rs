//! Target discovery: clients learn which targets exist.

use serde::Deserialize;
use serde_json::json;
use shared_protocol::Extra;

use crate::Relay;
use crate::cdp::payload::{Payload, TargetInfo};
use crate::cdp::target_domain::{InfoEvent, OneTarget};
use crate::cdp::target_filter::Filter;
use crate::cdp::{Command, Error};
use crate::ids::SessionRef;
use crate::sessions::model::Kind;
use crate::targets::lookup::no_such_target;
use crate::targets::model::Target;
use crate::turn::Turn;

impl Relay {
    pub(crate) fn set_discover_targets(
        &mut self,
        session_ref: &SessionRef,
        command: &Command,
        turn: &mut Turn,
    ) -> Result<Payload, Error> {
        #[derive(Deserialize)]
        struct SetDiscoverTargets {
            discover: bool,
            filter: Option<Filter>,
        }

        let wanted: SetDiscoverTargets = command.read_params()?;
        let filter = wanted.discover.then(|| wanted.filter.unwrap_or_default());
        let session = self.clients.session_mut(session_ref).ok_or_else(Error::unknown_session)?;
        let begins = filter.is_some() && session.discover.is_none();
        session.discover.clone_from(&filter);
        self.children_changed = true;
        if begins {
            self.hide_blocked_from(session_ref);
        }
        let infos = self.open_infos(session_ref).into_iter();
        for info in infos.filter(|info| filter.as_ref().is_some_and(|it| it.admits(&info.kind))) {
            turn.event(session_ref, "Target.targetCreated", &InfoEvent::of(info));
        }
        Ok(Payload::empty_object())
    }

    /// Hides tabs that show a dialog from a session. They are announced when the dialog closes.
    fn hide_blocked_from(&mut self, session_ref: &SessionRef) {
        let connection = self.connection_of(session_ref);
        let extension = connection.and_then(|connection| self.extensions.get_mut(connection));
        let targets = extension.map(|extension| extension.targets.iter_mut()).into_iter().flatten();
        for target in targets.filter(|target| target.is_blocked_for(session_ref.client)) {
            target.hide_from(session_ref);
        }
    }

    pub(crate) fn get_targets(
        &self,
        session_ref: &SessionRef,
        command: &Command,
    ) -> Result<Payload, Error> {
        #[derive(Deserialize)]
        struct GetTargets {
            #[serde(default)]
            filter: Filter,
        }

        let GetTargets { filter } = command.read_params()?;
        let mut infos = self.open_infos(session_ref);
        infos.retain(|info| filter.admits(&info.kind));
        Ok(Payload::of(&json!({ "targetInfos": infos })))
    }

    pub(crate) fn target_info(
        &self,
        session_ref: &SessionRef,
        command: &Command,
    ) -> Result<Payload, Error> {
        let wanted = command.read_params::<OneTarget>().ok().map(|wanted| wanted.target_id);
        let own = match self.clients.session(session_ref).map(|session| &session.kind) {
            Some(Kind::Target(_)) => {
                self.target_under(session_ref).map(|it| it.info.target_id.clone())
            }
            Some(Kind::Tab { page }) => self
                .extension_of(session_ref)
                .and_then(|extension| extension.targets.by_session(page)?.tab.clone()),
            Some(Kind::Browser) | None => None,
        };
        let id = wanted.or(own).unwrap_or_else(|| self.browser_id.clone());
        let info = self.infos(session_ref, |_| true).into_iter().find(|info| info.target_id == id);
        let info = info.ok_or_else(no_such_target)?;
        Ok(Payload::of(&InfoEvent::of(info)))
    }

    /// Returns every target to which a client had better attach, the browser first.
    pub(crate) fn open_infos(&self, session_ref: &SessionRef) -> Vec<TargetInfo> {
        self.infos(session_ref, |target| !target.is_blocked_for(session_ref.client))
    }

    fn infos(
        &self,
        session_ref: &SessionRef,
        matching: impl Fn(&Target) -> bool,
    ) -> Vec<TargetInfo> {
        let mut infos = vec![self.browser_info()];
        if let Some(extension) = self.extension_of(session_ref) {
            let first = extension.targets.iter().filter(|it| extension.targets.is_first(it));
            for target in first.filter(|it| matching(it) && self.is_visible_to(session_ref, it)) {
                infos.extend(target.tab_info());
                infos.push(target.info.clone());
            }
        }
        infos
    }

    pub(crate) fn browser_info(&self) -> TargetInfo {
        TargetInfo {
            target_id: self.browser_id.clone(),
            kind: "browser".to_owned(),
            title: String::new(),
            url: String::new(),
            attached: true,
            opener_id: None,
            can_access_opener: false,
            browser_context_id: None,
            extra: Extra::default(),
        }
    }
}
