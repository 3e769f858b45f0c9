//! Starts a worker: reads the settings, and the state that an earlier worker left.

use shared_protocol::{ExtensionHello, Feature};
use wasm_bindgen_futures::spawn_local;

use super::step;
use crate::chrome::{alarms, debugger, offscreen, runtime, storage};
use crate::js::error::{ChromeError, log_failure};
use crate::js::payload::JsPayload;
use extension_core::{Input, Snapshot};

/// The alarm on which the worker looks for the relay, if Chrome has ended it.
const WAKE_UP: &str = "look-for-relay";

/// The page that starts the next worker as soon as one has ended.
const WAKER: &str = "waker.html";

/// Reads the settings, takes over from an earlier worker and looks for the relay.
pub(crate) fn start() {
    spawn_local(async { log_failure(offscreen::keep_open(WAKER).await) });
    spawn_local(async { log_failure(alarms::create(WAKE_UP).await) });
    spawn_local(async {
        let local = local().await.unwrap_or_default();
        let hello = ExtensionHello {
            browser: runtime::browser_name(),
            browser_version: runtime::browser_version().await,
            install_id: local.install_id.clone(),
            version: runtime::version(),
            capabilities: Some(Feature::capabilities()),
            ..ExtensionHello::default()
        };
        let snapshot = still_attached(storage::read_snapshot().await.unwrap_or_default()).await;
        let (hello, snapshot) = (Box::new(hello), Box::new(snapshot));
        step(Input::Started { settings: local.settings(), hello, snapshot });
    });
}

/// Reads the stored settings. A new installation gets its id here.
async fn local() -> Result<storage::Local, ChromeError> {
    let mut local = storage::read_local().await?;
    if local.install_id.is_none() {
        local.install_id = runtime::random_uuid();
        storage::write_install_id(local.install_id.as_deref().unwrap_or_default()).await?;
    }
    Ok(local)
}

/// Moves the tabs that have lost our debugger to the lost ones. Only our own debugger answers us.
async fn still_attached(mut snapshot: Snapshot<JsPayload>) -> Snapshot<JsPayload> {
    for mut tab in std::mem::take(&mut snapshot.tabs) {
        match debugger::target_info(tab.tab_id).await {
            Ok(info) => {
                tab.target_info = info;
                snapshot.tabs.push(tab);
            }
            Err(_) => snapshot.lost.push(tab.tab_id),
        }
    }
    snapshot
}
