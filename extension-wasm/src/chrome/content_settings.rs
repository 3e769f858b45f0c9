//! <https://developer.chrome.com/docs/extensions/reference/api/contentSettings>

use js_sys::{Function, Promise, Reflect};
use serde::Serialize;
use shared_protocol::{PermissionName, PermissionRule, PermissionSetting};
use wasm_bindgen::{JsCast, JsValue};

use super::{argument, promptly};
use crate::js::error::ChromeError;

const API: &str = "contentSettings";

/// Clears the settings of these names, then sets the rules.
pub(crate) fn replace<P>(
    clear: &[PermissionName],
    rules: &[PermissionRule<P>],
) -> impl Future<Output = Result<(), ChromeError>> + use<P> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Details {
        primary_pattern: String,
        setting: PermissionSetting,
    }
    #[derive(Serialize)]
    struct Everything {}
    let clearing = clear.iter().map(|name| call(*name, "clear", &argument(&Everything {})));
    let setting = rules.iter().map(|rule| {
        let primary_pattern = match &rule.origin {
            Some(origin) => format!("{origin}/*"),
            None => "<all_urls>".to_owned(),
        };
        call(rule.name, "set", &argument(&Details { primary_pattern, setting: rule.setting }))
    });
    // Every call is made before the future is polled, so that no other change comes in between.
    let calls: Vec<_> = clearing.chain(setting).collect();
    async {
        for call in calls {
            promptly(API, call).await?;
        }
        Ok(())
    }
}

fn call(name: PermissionName, function: &str, details: &JsValue) -> Result<Promise, JsValue> {
    let setting = match name {
        PermissionName::Geolocation => "location",
        PermissionName::Notifications => "notifications",
        PermissionName::Camera => "camera",
        PermissionName::Microphone => "microphone",
        PermissionName::Clipboard => "clipboard",
    };
    // An older Chrome may not have all of them.
    let setting = Reflect::get(&sys::CONTENT_SETTINGS.with(Clone::clone), &setting.into())?;
    let function: Function = Reflect::get(&setting, &function.into())?.dyn_into()?;
    function.call1(&setting, details)?.dyn_into()
}

mod sys {
    use wasm_bindgen::JsValue;
    use wasm_bindgen::prelude::wasm_bindgen;

    #[wasm_bindgen]
    extern "C" {
        #[wasm_bindgen(thread_local_v2, js_namespace = chrome, js_name = contentSettings)]
        pub(super) static CONTENT_SETTINGS: JsValue;
    }
}
