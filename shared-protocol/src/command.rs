//! What the relay says to an extension.

use serde::de::{self, DeserializeOwned};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::downloads::{DownloadId, DownloadQuery};
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
const SET_PERMISSIONS: &str = "setPermissions";
const FIND_DOWNLOAD: &str = "findDownload";
const CANCEL_DOWNLOAD: &str = "cancelDownload";
const UPDATE_TAB_GROUP: &str = "updateTabGroup";

/// A text frame from the relay to an extension.
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
    },
    /// Show that the relay lives, and keep the worker alive.
    Ping,
    /// Say where tabs that a client opens go. Only for an extension that says it understands.
    SetWindowMode(WindowMode<P>),
    /// Answer with a [`BrowserWindow`](crate::BrowserWindow). Needs [`WINDOWS`](crate::WINDOWS).
    GetWindow {
        /// Names the reply.
        id: RequestId,
        /// Which window.
        query: WindowQuery<P>,
    },
    /// Move, resize, minimise or maximise a window. Needs [`WINDOWS`](crate::WINDOWS).
    SetWindow {
        /// Names the reply.
        id: RequestId,
        /// Which window, and how.
        change: WindowChange<P>,
    },
    /// Bring a tab and its window to the front; only when the user has allowed that. Needs
    /// [`WINDOWS`](crate::WINDOWS).
    ActivateTab {
        /// Names the reply.
        id: RequestId,
        /// Which tab.
        tab: TabQuery<P>,
    },
    /// Say what sites may do. Needs [`PERMISSIONS`](crate::PERMISSIONS).
    SetPermissions {
        /// Names the reply.
        id: RequestId,
        /// All the rules there are to be.
        permissions: Permissions<P>,
    },
    /// Answer with a [`FoundDownload`](crate::FoundDownload). Needs
    /// [`DOWNLOADS`](crate::DOWNLOADS).
    FindDownload {
        /// Names the reply.
        id: RequestId,
        /// Which download.
        query: DownloadQuery<P>,
    },
    /// End a download. Needs [`DOWNLOADS`](crate::DOWNLOADS).
    CancelDownload {
        /// Names the reply.
        id: RequestId,
        /// Which download.
        download: DownloadId<P>,
    },
    /// Control a recording of a tab. In releases since January 2026.
    Recording {
        /// Names the reply.
        id: RequestId,
        /// What to do.
        action: RecordingAction,
        /// Which tab, and how.
        params: Option<P>,
    },
    /// Name or colour the group around a client's tabs. In releases since 0.7.
    UpdateTabGroup {
        /// Names the reply.
        id: RequestId,
        /// Which group, and how it should look.
        params: Option<P>,
    },
    /// Something this version does not know. With an id, it waits for an answer.
    Unknown {
        /// Names the reply, if one is expected.
        id: Option<RequestId>,
        /// The method's name.
        method: String,
        /// Its parameters, untouched.
        params: Option<P>,
    },
}

/// What to do with a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum RecordingAction {
    Start,
    Stop,
    Query,
    Cancel,
}

impl RecordingAction {
    const ALL: [Self; 4] = [Self::Start, Self::Stop, Self::Query, Self::Cancel];

    const fn method(self) -> &'static str {
        match self {
            Self::Start => "startRecording",
            Self::Stop => "stopRecording",
            Self::Query => "isRecording",
            Self::Cancel => "cancelRecording",
        }
    }

    fn of_method(method: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.method() == method)
    }
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
            (_, None, Some(FrameParams::WindowMode(mode))) => return Ok(Self::SetWindowMode(mode)),
            (PING, None, _) => return Ok(Self::Ping),
            (_, id, params) => (id, params),
        };
        let params =
            params.map(FrameParams::into_payload).transpose().map_err(de::Error::custom)?;
        Ok(match (method.as_str(), id, RecordingAction::of_method(&method)) {
            (CREATE_INITIAL_TAB, Some(id), _) => Self::CreateInitialTab { id, params },
            (UPDATE_TAB_GROUP, Some(id), _) => Self::UpdateTabGroup { id, params },
            (GET_WINDOW, Some(id), _) => Self::GetWindow { id, query: typed(params)? },
            (SET_WINDOW, Some(id), _) => Self::SetWindow { id, change: typed(params)? },
            (ACTIVATE_TAB, Some(id), _) => Self::ActivateTab { id, tab: typed(params)? },
            (SET_PERMISSIONS, Some(id), _) => {
                Self::SetPermissions { id, permissions: typed(params)? }
            }
            (FIND_DOWNLOAD, Some(id), _) => Self::FindDownload { id, query: typed(params)? },
            (CANCEL_DOWNLOAD, Some(id), _) => Self::CancelDownload { id, download: typed(params)? },
            (_, Some(id), Some(action)) => Self::Recording { id, action, params },
            (_, id, _) => Self::Unknown { id, method, params },
        })
    }
}

/// Parameters of a message that is too rare to be worth a type in the frame.
fn typed<P: Payload, T: DeserializeOwned, E: de::Error>(params: Option<P>) -> Result<T, E> {
    let params = params.ok_or_else(|| E::missing_field("params"))?;
    params.read().map_err(E::custom)
}

impl<P: Serialize> Serialize for RelayMessage<P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (id, method, params) = match self {
            Self::Command { id, command } => {
                (Some(*id), FORWARD_CDP_COMMAND, Some(ParamsRef::Command(command)))
            }
            Self::CreateInitialTab { id, params } => {
                (Some(*id), CREATE_INITIAL_TAB, params.as_ref().map(ParamsRef::Other))
            }
            Self::Ping => (None, PING, None),
            Self::SetWindowMode(mode) => (None, SET_WINDOW_MODE, Some(ParamsRef::WindowMode(mode))),
            Self::GetWindow { id, query } => {
                (Some(*id), GET_WINDOW, Some(ParamsRef::WindowQuery(query)))
            }
            Self::SetWindow { id, change } => {
                (Some(*id), SET_WINDOW, Some(ParamsRef::WindowChange(change)))
            }
            Self::ActivateTab { id, tab } => {
                (Some(*id), ACTIVATE_TAB, Some(ParamsRef::TabQuery(tab)))
            }
            Self::SetPermissions { id, permissions } => {
                (Some(*id), SET_PERMISSIONS, Some(ParamsRef::Permissions(permissions)))
            }
            Self::FindDownload { id, query } => {
                (Some(*id), FIND_DOWNLOAD, Some(ParamsRef::DownloadQuery(query)))
            }
            Self::CancelDownload { id, download } => {
                (Some(*id), CANCEL_DOWNLOAD, Some(ParamsRef::DownloadId(download)))
            }
            Self::Recording { id, action, params } => {
                (Some(*id), action.method(), params.as_ref().map(ParamsRef::Other))
            }
            Self::UpdateTabGroup { id, params } => {
                (Some(*id), UPDATE_TAB_GROUP, params.as_ref().map(ParamsRef::Other))
            }
            Self::Unknown { id, method, params } => {
                (*id, method.as_str(), params.as_ref().map(ParamsRef::Other))
            }
        };
        FrameRef::request(id, method, params).serialize(serializer)
    }
}
