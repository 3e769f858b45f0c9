//! Shapes of CDP's `Target` domain.

use serde::{Deserialize, Serialize};
use shared_protocol::TargetId;

use crate::cdp::payload::TargetInfo;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OneTarget {
    pub(crate) target_id: TargetId,
}

/// Parameters of the events that carry nothing but a target.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InfoEvent {
    pub(crate) target_info: TargetInfo,
}

impl InfoEvent {
    pub(crate) fn of(target_info: TargetInfo) -> Self {
        Self { target_info }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TargetDestroyed {
    pub(crate) target_id: TargetId,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TargetCrashed {
    pub(crate) target_id: TargetId,
    pub(crate) status: &'static str,
    pub(crate) error_code: i32,
}
