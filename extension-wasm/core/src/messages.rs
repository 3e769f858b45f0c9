//! Builds the events about targets that the relay receives.

use serde::Serialize;
use shared_protocol::{
    AttachedToTarget, CdpEvent, DetachedFromTarget, ExtensionMessage, Extra, Payload, SessionId,
    TargetInfo,
};

use crate::interface::Effect;

pub(crate) const BLANK: &str = "about:blank";

pub(crate) fn lacks_url<P>(info: &TargetInfo<P>) -> bool {
    info.url.is_empty() || info.url == ":"
}

/// Gives a target without a URL a blank one. Playwright waits for ever for a page that is announced
/// without a URL.
pub(crate) fn with_url<P>(mut info: TargetInfo<P>) -> TargetInfo<P> {
    if lacks_url(&info) {
        info.url = BLANK.to_owned();
    }
    info
}

pub(crate) fn attached_event<P: Payload>(
    session_id: SessionId,
    target_info: TargetInfo<P>,
) -> Effect<P> {
    let attached = AttachedToTarget {
        session_id,
        target_info: TargetInfo { attached: true, ..target_info },
        waiting_for_debugger: false,
        extra: Extra::default(),
    };
    Effect::Send(ExtensionMessage::Event(event("Target.attachedToTarget", &attached)))
}

pub(crate) fn event<P: Payload>(method: &str, params: &impl Serialize) -> CdpEvent<P> {
    CdpEvent {
        session_id: None,
        method: method.to_owned(),
        params: P::write(params).ok(),
        extra: Extra::default(),
    }
}

pub(crate) fn detached<P>(session_id: SessionId, info: TargetInfo<P>) -> DetachedFromTarget<P> {
    DetachedFromTarget { session_id, target_id: Some(info.target_id), extra: Extra::default() }
}
