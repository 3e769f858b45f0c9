//! The user's cookies. A client sees and clears those that the controlled tabs and their frames can
//! see, and those it has set itself; the rest of the profile only when the user opened it.

mod convert;
mod gather;
pub(crate) mod key;
mod queries;
mod without_tab;

use serde::Deserialize;

use crate::Relay;
use crate::asker::Asker;
use crate::browser::storage::needs_profile;
use crate::cdp::method::ProfileCommand;
use crate::cdp::{Command, Error};
use crate::ids::{ExtensionSessionId, SessionRef};
use crate::requests::purpose::Purpose;
use crate::turn::Turn;
use convert::NewCookie;
use key::web_host;
use queries::CookieAction;
pub(crate) use queries::CookieQueries;

#[derive(Deserialize)]
struct NewCookies {
    cookies: Vec<NewCookie>,
}

#[derive(Deserialize)]
struct Urls {
    urls: Option<Vec<String>>,
}

impl Relay {
    /// The function is long because it has one arm for each command.
    pub(crate) fn profile_command(
        &mut self,
        session_ref: &SessionRef,
        extension_session: Option<&ExtensionSessionId>,
        action: ProfileCommand,
        command: Command,
        turn: &mut Turn,
    ) {
        let refusal = match (action, extension_session) {
            (ProfileCommand::SetCookies, _) if self.sets_foreign_cookies(session_ref, &command) => {
                Error::server(
                    "this client may set cookies of the sites that are open in controlled tabs: \
                     open the site first",
                )
            }
            (ProfileCommand::SetCookies, None) if self.is_without_tab(session_ref) => {
                return self.cookies_without_tab(session_ref, CookieAction::Set, &command, turn);
            }
            (ProfileCommand::GetCookies, None) if self.is_without_tab(session_ref) => {
                return self.cookies_without_tab(session_ref, CookieAction::Tell, &command, turn);
            }
            (ProfileCommand::ClearCookies, None) if self.is_without_tab(session_ref) => {
                return self.cookies_without_tab(session_ref, CookieAction::Clear, &command, turn);
            }
            (ProfileCommand::SetCookies, _) => {
                self.record_own_cookies(session_ref, &command);
                return self.forward_to_profile(session_ref, extension_session, command, turn);
            }
            _ if self.policy.whole_profile => {
                return self.forward_to_profile(session_ref, extension_session, command, turn);
            }
            (ProfileCommand::GetCookies, _) => {
                return self.gather_cookies(session_ref, &command, None, CookieAction::Tell, turn);
            }
            (ProfileCommand::ClearCookies, _) => {
                return self.gather_cookies(session_ref, &command, None, CookieAction::Clear, turn);
            }
            (ProfileCommand::DeleteCookies, _) => match command.read_params() {
                Ok(deleted) => {
                    return self.gather_cookies(
                        session_ref,
                        &command,
                        None,
                        CookieAction::Delete(deleted),
                        turn,
                    );
                }
                Err(error) => error,
            },
            (ProfileCommand::GetCookiesOfSites, _) => match command.read_params::<Urls>() {
                Ok(Urls { urls: Some(urls) }) => {
                    return self.gather_cookies(
                        session_ref,
                        &command,
                        Some(urls),
                        CookieAction::Tell,
                        turn,
                    );
                }
                Ok(Urls { urls: None }) => {
                    return self.forward_to_profile(session_ref, extension_session, command, turn);
                }
                Err(error) => error,
            },
            (ProfileCommand::ClearDataOfOrigin | ProfileCommand::ClearDataOfStorageKey, _)
                if self.names_open_site(session_ref, action, &command) =>
            {
                return self.forward_to_profile(session_ref, extension_session, command, turn);
            }
            (
                ProfileCommand::ClearDataOfOrigin
                | ProfileCommand::ClearDataOfStorageKey
                | ProfileCommand::ClearBrowser,
                _,
            ) => needs_profile(&command.method),
        };
        turn.fail(&Asker::new(session_ref, &command), refusal);
    }

    fn forward_to_profile(
        &mut self,
        session_ref: &SessionRef,
        extension_session: Option<&ExtensionSessionId>,
        command: Command,
        turn: &mut Turn,
    ) {
        match extension_session {
            Some(extension_session) => {
                let command = crate::browser::profile::without_context(command);
                self.forward(session_ref, command, extension_session, Purpose::Forward, turn);
            }
            None => self.any_tab_command(session_ref, command, turn),
        }
    }

    fn record_own_cookies(&mut self, session_ref: &SessionRef, command: &Command) {
        self.cookie_queries
            .record_own(session_ref.client, new_cookies(command).unwrap_or_default());
    }

    /// Returns whether a confined client would set cookies of sites that no tab shows: they would count
    /// in tabs that are not controlled, for ever.
    fn sets_foreign_cookies(&self, session_ref: &SessionRef, command: &Command) -> bool {
        if self.policy.whole_profile || !self.is_confined(session_ref.client) {
            return false;
        }
        let Ok(cookies) = new_cookies(command) else { return true };
        let targets =
            self.extension_of(session_ref).map(|it| it.targets.iter()).into_iter().flatten();
        let seen = targets.filter(|target| self.is_visible_to(session_ref, target));
        let open: Vec<String> = seen.filter_map(|target| web_host(&target.info.url)).collect();
        !cookies.iter().all(|cookie| cookie.is_of_any(&open))
    }

    /// Returns whether the site that a command names is open in a controlled tab. Each command has
    /// a name of its own for it, and Chrome does not look at the other's.
    fn names_open_site(
        &self,
        session_ref: &SessionRef,
        action: ProfileCommand,
        command: &Command,
    ) -> bool {
        #[derive(Deserialize)]
        struct Origin {
            origin: String,
        }

        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct StorageKey {
            storage_key: String,
        }

        let site = if action == ProfileCommand::ClearDataOfOrigin {
            command.read_params::<Origin>().map(|it| it.origin).ok()
        } else {
            command.read_params::<StorageKey>().map(|it| it.storage_key).ok()
        };
        site.is_some_and(|site| self.is_site_open(session_ref, &site))
    }
}

/// Returns the cookies that a command sets, which may be one.
fn new_cookies(command: &Command) -> Result<Vec<NewCookie>, Error> {
    command
        .read_params::<NewCookies>()
        .map(|it| it.cookies)
        .or_else(|_| command.read_params::<NewCookie>().map(|cookie| vec![cookie]))
}
