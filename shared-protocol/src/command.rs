//! What the relay says to an extension.

use serde::de;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::cookies::CookieCalls;
use crate::downloads::{DownloadId, DownloadQuery};
use crate::features::{Feature, Understood};
use crate::frame::{Frame, FrameParams, FrameRef, ParamsRef};
use crate::ids::{RequestId, SessionId, TabId};
use crate::payload::Payload;
use crate::permissions::Permissions;
use crate::target::TargetInfo;
use crate::windows::{TabQuery, WindowChange, WindowQuery};

pub(crate) const FORWARD_CDP_COMMAND: &str = "forwardCDPCommand";
pub(crate) const SET_WINDOW_MODE: &str = "setWindowMode";
const CREATE_INITIAL_TAB: &str = "createInitialTab";
const PING: &str = "ping";
const GET_WINDOW: &str = "getWindow";
const SET_WINDOW: &str = "setWindow";
const ACTIVATE_TAB: &str = "activateTab";
const BLANK_TAB: &str = "blankTab";
const CLOSE_TAB: &str = "closeTab";
const SET_PERMISSIONS: &str = "setPermissions";
const FIND_DOWNLOAD: &str = "findDownload";
const CANCEL_DOWNLOAD: &str = "cancelDownload";
const CALL_COOKIES: &str = "callCookies";
const SET_NOTICE: &str = "setNotice";

type InitialTabs = Understood<{ Feature::InitialTab as u8 }>;
type WindowModes = Understood<{ Feature::WindowMode as u8 }>;
type Windows = Understood<{ Feature::Windows as u8 }>;
type PermissionRules = Understood<{ Feature::Permissions as u8 }>;
type Downloads = Understood<{ Feature::Downloads as u8 }>;
type Cookies = Understood<{ Feature::Cookies as u8 }>;
type RestrictedTabs = Understood<{ Feature::RestrictedTabs as u8 }>;
type Notices = Understood<{ Feature::Notices as u8 }>;

/// A text frame from the relay to an extension. What needs a [`Feature`] holds the proof that the
/// extension has it.
#[derive(Debug, Clone, PartialEq)]
pub enum RelayMessage<P> {
    /// Run a CDP command and answer with a reply of the same id.
    Command {
        /// Names the reply.
        id: RequestId,
        /// What to run, and where.
        command: CdpCommand<P>,
    },
    /// Open a blank tab, control it, and answer with an [`InitialTab`].
    CreateInitialTab {
        /// Names the reply.
        id: RequestId,
        /// Nothing so far.
        params: Option<P>,
        /// The extension understands it.
        proof: InitialTabs,
    },
    /// Show that the relay lives, and keep the worker alive.
    Ping,
    /// Say where tabs that a client opens go.
    SetWindowMode(WindowMode<P>, WindowModes),
    /// Answer with a [`BrowserWindow`](crate::BrowserWindow).
    GetWindow {
        /// Names the reply.
        id: RequestId,
        /// Which window.
        query: WindowQuery<P>,
        /// The extension understands it.
        proof: Windows,
    },
    /// Move, resize, minimise or maximise a window.
    SetWindow {
        /// Names the reply.
        id: RequestId,
        /// Which window, and how.
        change: WindowChange<P>,
        /// The extension understands it.
        proof: Windows,
    },
    /// Bring a tab and its window to the front; only when the user has allowed that.
    ActivateTab {
        /// Names the reply.
        id: RequestId,
        /// Which tab.
        tab: TabQuery<P>,
        /// The extension understands it.
        proof: Windows,
    },
    /// Take a tab to a blank page, from one on which Chrome refuses all commands.
    BlankTab {
        /// Names the reply.
        id: RequestId,
        /// Which tab.
        tab: TabQuery<P>,
        /// The extension understands it.
        proof: RestrictedTabs,
    },
    /// Close a tab that shows a page on which Chrome refuses all commands.
    CloseTab {
        /// Names the reply.
        id: RequestId,
        /// Which tab.
        tab: TabQuery<P>,
        /// The extension understands it.
        proof: RestrictedTabs,
    },
    /// Say what sites may do.
    SetPermissions {
        /// Names the reply.
        id: RequestId,
        /// All the rules there are to be.
        permissions: Permissions<P>,
        /// The extension understands it.
        proof: PermissionRules,
    },
    /// Answer with a [`FoundDownload`](crate::FoundDownload).
    FindDownload {
        /// Names the reply.
        id: RequestId,
        /// Which download.
        query: DownloadQuery<P>,
        /// The extension understands it.
        proof: Downloads,
    },
    /// End a download.
    CancelDownload {
        /// Names the reply.
        id: RequestId,
        /// Which download.
        download: DownloadId<P>,
        /// The extension understands it.
        proof: Downloads,
    },
    /// Answer with [`CookieAnswers`](crate::CookieAnswers).
    CallCookies {
        /// Names the reply.
        id: RequestId,
        /// What to call.
        calls: CookieCalls<P>,
        /// The extension understands it.
        proof: Cookies,
    },
    /// Show the user something about this extension.
    SetNotice(Notice<P>, Notices),
    /// Something this version does not know, or whose parameters it cannot read. With an id, it waits
    /// for an answer.
    Unknown {
        /// Names the reply, if one is expected.
        id: Option<RequestId>,
        /// The method's name.
        method: String,
        /// Its parameters, untouched.
        params: Option<P>,
    },
}

wire_object! {
    /// A CDP command for one session of an extension.
    pub struct CdpCommand {
        /// `Domain.command`
        required "method" method: String,
        /// A tab, a child of one, or absent for the extension itself.
        optional "sessionId" session_id: Option<SessionId>,
        /// The command's parameters.
        optional "params" params: Option<P>,
        /// Who asked, for the log.
        optional "source" source: Option<String>,
    }
}

wire_object! {
    /// Parameters of `setWindowMode`.
    pub struct WindowMode {
        /// Whether new tabs go to a window of their own.
        required "separateWindow" separate_window: bool,
    }
}

wire_object! {
    /// Parameters of `setNotice`, which takes the place of the one before.
    pub struct Notice {
        /// A sentence for the user; absent when there is nothing to say any more.
        optional "text" text: Option<String>,
    }
}

wire_object! {
    /// The answer to `createInitialTab`; no `Target.attachedToTarget` is sent for this tab.
    pub struct InitialTab {
        /// Always true: a failure is an error reply.
        default "success" success: bool,
        /// The new tab.
        required "tabId" tab_id: TabId,
        /// Its session.
        required "sessionId" session_id: SessionId,
        /// Its page.
        required "targetInfo" target_info: TargetInfo<P>,
    }
}

impl<'de, P: Payload> Deserialize<'de> for RelayMessage<P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let frame = Frame::<P>::deserialize(deserializer)?;
        let method = frame.method.ok_or_else(|| de::Error::missing_field("method"))?;
        let (id, params) = match (method.as_str(), frame.id, frame.params) {
            (_, Some(id), Some(FrameParams::Command(command))) => {
                return Ok(Self::Command { id, command });
            }
            (_, None, Some(FrameParams::WindowMode(mode))) => {
                return Ok(Self::SetWindowMode(mode, Understood::BY_READER));
            }
            (PING, None, _) => return Ok(Self::Ping),
            (_, id, params) => (id, params),
        };
        let params =
            params.map(FrameParams::into_payload).transpose().map_err(de::Error::custom)?;
        let proven = Self::optional(&method, id, params.as_ref());
        Ok(proven.unwrap_or(Self::Unknown { id, method, params }))
    }
}

impl<P: Payload> RelayMessage<P> {
    /// A message that needs a feature. Whoever has read it understands it; parameters that cannot be
    /// read are those of a later version, and so is the message.
    fn optional(method: &str, id: Option<RequestId>, params: Option<&P>) -> Option<Self> {
        if method == SET_NOTICE {
            return Some(Self::SetNotice(params?.read().ok()?, Understood::BY_READER));
        }
        let id = id?;
        Some(match method {
            CREATE_INITIAL_TAB => {
                Self::CreateInitialTab { id, params: params.cloned(), proof: Understood::BY_READER }
            }
            GET_WINDOW => {
                Self::GetWindow { id, query: params?.read().ok()?, proof: Understood::BY_READER }
            }
            SET_WINDOW => {
                Self::SetWindow { id, change: params?.read().ok()?, proof: Understood::BY_READER }
            }
            ACTIVATE_TAB | BLANK_TAB | CLOSE_TAB => {
                let tab = params?.read().ok()?;
                match method {
                    ACTIVATE_TAB => Self::ActivateTab { id, tab, proof: Understood::BY_READER },
                    BLANK_TAB => Self::BlankTab { id, tab, proof: Understood::BY_READER },
                    _ => Self::CloseTab { id, tab, proof: Understood::BY_READER },
                }
            }
            SET_PERMISSIONS => Self::SetPermissions {
                id,
                permissions: params?.read().ok()?,
                proof: Understood::BY_READER,
            },
            FIND_DOWNLOAD => {
                Self::FindDownload { id, query: params?.read().ok()?, proof: Understood::BY_READER }
            }
            CANCEL_DOWNLOAD => Self::CancelDownload {
                id,
                download: params?.read().ok()?,
                proof: Understood::BY_READER,
            },
            CALL_COOKIES => {
                Self::CallCookies { id, calls: params?.read().ok()?, proof: Understood::BY_READER }
            }
            _ => return None,
        })
    }
}

impl<P> RelayMessage<P> {
    /// What an extension must have to understand it.
    #[must_use]
    pub const fn feature(&self) -> Option<Feature> {
        match self {
            Self::Command { .. } | Self::Ping | Self::Unknown { .. } => None,
            Self::CreateInitialTab { .. } => InitialTabs::FEATURE,
            Self::SetWindowMode(..) => WindowModes::FEATURE,
            Self::GetWindow { .. } | Self::SetWindow { .. } | Self::ActivateTab { .. } => {
                Windows::FEATURE
            }
            Self::BlankTab { .. } | Self::CloseTab { .. } => RestrictedTabs::FEATURE,
            Self::SetPermissions { .. } => PermissionRules::FEATURE,
            Self::FindDownload { .. } | Self::CancelDownload { .. } => Downloads::FEATURE,
            Self::CallCookies { .. } => Cookies::FEATURE,
            Self::SetNotice(..) => Notices::FEATURE,
        }
    }
}

impl<P: Serialize> Serialize for RelayMessage<P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (id, method, params) = match self {
            Self::Command { id, command } => {
                (Some(*id), FORWARD_CDP_COMMAND, Some(ParamsRef::Command(command)))
            }
            Self::CreateInitialTab { id, params, .. } => {
                (Some(*id), CREATE_INITIAL_TAB, params.as_ref().map(ParamsRef::Other))
            }
            Self::Ping => (None, PING, None),
            Self::SetWindowMode(mode, _) => {
                (None, SET_WINDOW_MODE, Some(ParamsRef::WindowMode(mode)))
            }
            Self::GetWindow { id, query, .. } => {
                (Some(*id), GET_WINDOW, Some(ParamsRef::WindowQuery(query)))
            }
            Self::SetWindow { id, change, .. } => {
                (Some(*id), SET_WINDOW, Some(ParamsRef::WindowChange(change)))
            }
            Self::ActivateTab { id, tab, .. } => {
                (Some(*id), ACTIVATE_TAB, Some(ParamsRef::TabQuery(tab)))
            }
            Self::BlankTab { id, tab, .. } => {
                (Some(*id), BLANK_TAB, Some(ParamsRef::TabQuery(tab)))
            }
            Self::CloseTab { id, tab, .. } => {
                (Some(*id), CLOSE_TAB, Some(ParamsRef::TabQuery(tab)))
            }
            Self::SetPermissions { id, permissions, .. } => {
                (Some(*id), SET_PERMISSIONS, Some(ParamsRef::Permissions(permissions)))
            }
            Self::FindDownload { id, query, .. } => {
                (Some(*id), FIND_DOWNLOAD, Some(ParamsRef::DownloadQuery(query)))
            }
            Self::CancelDownload { id, download, .. } => {
                (Some(*id), CANCEL_DOWNLOAD, Some(ParamsRef::DownloadId(download)))
            }
            Self::CallCookies { id, calls, .. } => {
                (Some(*id), CALL_COOKIES, Some(ParamsRef::CookieCalls(calls)))
            }
            Self::SetNotice(notice, _) => (None, SET_NOTICE, Some(ParamsRef::Notice(notice))),
            Self::Unknown { id, method, params } => {
                (*id, method.as_str(), params.as_ref().map(ParamsRef::Other))
            }
        };
        FrameRef::request(id, method, params).serialize(serializer)
    }
}
