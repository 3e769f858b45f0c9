//! Attaches the debugger to a tab.

use std::time::Duration;

use shared_protocol::{TabId, TargetInfo};
use wasm_bindgen_futures::spawn_local;

use super::step;
use crate::chrome::{debugger, scripting, tabs};
use crate::js::error::{ChromeError, log_failure};
use crate::js::payload::JsPayload;
use crate::js::time;
use extension_core::{Input, Unresponsive, is_restricted_page};

/// Chrome's error for a page that has a frame of another extension.
const FOREIGN_FRAME: &str = "chrome-extension:// URL of different extension";

/// Chrome's error for a tab that has a debugger, which may be ours.
const ALREADY_ATTACHED: &str = "already attached";

/// Attaches the debugger and reads the target info. A tab that fails is detached again.
pub(super) async fn attach(tab: TabId) -> Result<TargetInfo<JsPayload>, ChromeError> {
    match debugger::attach(tab).await {
        Err(error) if error.message.contains(FOREIGN_FRAME) => {
            // On a page of the other extension itself, the script may fail, too.
            scripting::run_file(tab, "remove-foreign-frames.js").await.map_err(|_| error)?;
            debugger::attach(tab).await?;
        }
        Err(error) if error.message.contains(ALREADY_ATTACHED) => {
            // An earlier worker may have attached it. Only our own debugger answers us.
            let info = debugger::target_info(tab).await;
            info.map_err(|why| if is_restricted_page(&why.message) { why } else { error })?;
        }
        outcome => outcome?,
    }
    let on_unresponsive = async || {
        let reason = match tabs::get(tab).await {
            Ok(tab) if tab.discarded => Unresponsive::Discarded,
            Ok(tab) if tab.pending_url.is_some() => Unresponsive::Loading,
            _ => Unresponsive::Blocked,
        };
        step(Input::TabUnresponsive { tab, reason });
    };
    let described = async {
        debugger::enable_page(tab, on_unresponsive).await?;
        debugger::target_info(tab).await
    };
    let described = described.await;
    if described.is_err() {
        log_failure(debugger::detach(tab).await);
    }
    described
}

pub(super) fn check_tab(tab: TabId, wait: Duration) {
    spawn_local(async move {
        if !wait.is_zero() {
            time::sleep(wait).await;
        }
        let exists = tabs::get(tab).await.is_ok();
        step(Input::TabChecked { tab, exists });
    });
}
