//! <https://developer.chrome.com/docs/extensions/reference/api/debugger>

use std::time::Duration;

use shared_protocol::{TabId, TargetInfo};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::{JsFuture, spawn_local};

use super::{answer, argument, eventually, promptly};
use crate::js::error::ChromeError;
use crate::js::payload::JsPayload;
use crate::js::time;
use extension_core::Debuggee;

const PROTOCOL_VERSION: &str = "1.3";

const SEND_COMMAND: &str = "debugger.sendCommand";

/// The time after which a page counts as unresponsive.
const UNRESPONSIVE_AFTER: Duration = Duration::from_secs(2);

/// Attaches the debugger. If Chrome succeeds after the deadline, the tab is detached again.
pub(crate) async fn attach(tab_id: TabId) -> Result<(), ChromeError> {
    const API: &str = "debugger.attach";
    let target = argument(&Debuggee { tab_id, session_id: None });
    let call = sys::attach(&target, PROTOCOL_VERSION).map_err(|e| ChromeError::new(API, &e))?;
    let attached = promptly(API, Ok(call.clone())).await;
    if attached == Err(ChromeError::timed_out(API)) {
        spawn_local(async move {
            if JsFuture::from(call).await.is_ok() {
                // The caller has gone on already.
                drop(detach(tab_id).await);
            }
        });
    }
    attached.map(drop)
}

pub(crate) async fn detach(tab_id: TabId) -> Result<(), ChromeError> {
    let target = argument(&Debuggee { tab_id, session_id: None });
    promptly("debugger.detach", sys::detach(&target)).await.map(drop)
}

/// Runs a client's command. Only the client knows how long it may take.
pub(crate) fn send_command(
    debuggee: &Debuggee,
    method: &str,
    params: Option<&JsPayload>,
) -> impl Future<Output = Result<JsPayload, ChromeError>> + use<> {
    // The call is made before the future is polled, so that commands leave in the order they came.
    let call = sys::send_command(&argument(debuggee), method, &given(params));
    async { eventually(SEND_COMMAND, call).await.map(JsPayload) }
}

/// Enables the Page domain. A page with a dialog, or a discarded tab, answers only later;
/// `on_unresponsive` is called when that takes long.
pub(crate) async fn enable_page(
    tab_id: TabId,
    on_unresponsive: impl AsyncFnOnce(),
) -> Result<(), ChromeError> {
    let target = argument(&Debuggee { tab_id, session_id: None });
    let call = sys::send_command(&target, "Page.enable", &given(None))
        .map_err(|thrown| ChromeError::new(SEND_COMMAND, &thrown))?;
    if time::within(UNRESPONSIVE_AFTER, call.clone()).await.is_none() {
        on_unresponsive().await;
    }
    eventually(SEND_COMMAND, Ok(call)).await.map(drop)
}

pub(crate) async fn target_info(tab_id: TabId) -> Result<TargetInfo<JsPayload>, ChromeError> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Answer {
        target_info: TargetInfo<JsPayload>,
    }
    let target = argument(&Debuggee { tab_id, session_id: None });
    // The browser itself answers this, even if the page is busy.
    let call = sys::send_command(&target, "Target.getTargetInfo", &given(None));
    let value = promptly(SEND_COMMAND, call).await?;
    answer::<Answer>(SEND_COMMAND, value).map(|answer| answer.target_info)
}

/// Returns an object. Chrome refuses `null` and `undefined` where it expects an object.
fn given(params: Option<&JsPayload>) -> JsValue {
    match params {
        Some(JsPayload(params)) if params.is_object() => params.clone(),
        Some(_) | None => js_sys::Object::new().into(),
    }
}

mod sys {
    use js_sys::Promise;
    use wasm_bindgen::JsValue;
    use wasm_bindgen::prelude::wasm_bindgen;

    #[wasm_bindgen(js_namespace = ["chrome", "debugger"])]
    extern "C" {
        #[wasm_bindgen(catch)]
        pub(super) fn attach(target: &JsValue, version: &str) -> Result<Promise, JsValue>;
        #[wasm_bindgen(catch)]
        pub(super) fn detach(target: &JsValue) -> Result<Promise, JsValue>;
        #[wasm_bindgen(catch, js_name = sendCommand)]
        pub(super) fn send_command(
            target: &JsValue,
            method: &str,
            params: &JsValue,
        ) -> Result<Promise, JsValue>;
    }
}
