//! Windows in the words of CDP, and the messages that extensions get about them.

use serde::{Deserialize, Serialize};
use shared_protocol::{
    BrowserWindow, Extra, Feature, RequestId, TabQuery, TargetId, Understood, WindowChange,
    WindowQuery, WindowState,
};

use crate::cdp::payload::{Payload, RelayMessage};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Bounds {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) left: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) width: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) height: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) window_state: Option<WindowState>,
}

/// Shows that the extension can be asked about windows.
pub(super) type Proof = Understood<{ Feature::Windows as u8 }>;

pub(super) enum WindowMessage {
    OfPage(TargetId),
    OfWindow(i64),
    Change(WindowChange<Payload>),
    Activate(TargetId),
}

impl WindowMessage {
    pub(super) fn with(self, id: RequestId, proof: Proof) -> RelayMessage {
        let extra = Extra::default();
        match self {
            Self::OfPage(page) => {
                let query = WindowQuery { target_id: Some(page), window_id: None, extra };
                RelayMessage::GetWindow { id, query, proof }
            }
            Self::OfWindow(window) => {
                let query = WindowQuery { target_id: None, window_id: Some(window), extra };
                RelayMessage::GetWindow { id, query, proof }
            }
            Self::Change(change) => RelayMessage::SetWindow { id, change, proof },
            Self::Activate(target_id) => {
                RelayMessage::ActivateTab { id, tab: TabQuery { target_id, extra }, proof }
            }
        }
    }
}

impl Bounds {
    pub(super) fn of(window: &BrowserWindow<Payload>) -> Self {
        Self {
            left: Some(window.left),
            top: Some(window.top),
            width: Some(window.width),
            height: Some(window.height),
            window_state: Some(window.state),
        }
    }
}

/// Returns the outer size for a wanted content size: adds the difference that there is between the two.
pub(super) fn resized(
    window: &BrowserWindow<Payload>,
    width: Option<i64>,
    height: Option<i64>,
) -> WindowChange<Payload> {
    let outer = |outer: i64, inner: Option<i64>, wanted: Option<i64>| {
        Some(outer.saturating_add(wanted?).saturating_sub(inner.unwrap_or(outer)))
    };
    WindowChange {
        window_id: window.window_id,
        left: None,
        top: None,
        width: outer(window.width, window.content_width, width),
        height: outer(window.height, window.content_height, height),
        state: None,
        extra: Extra::default(),
    }
}
