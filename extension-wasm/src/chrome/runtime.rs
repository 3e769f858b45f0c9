//! <https://developer.chrome.com/docs/extensions/reference/api/runtime>, and what the browser says
//! about itself.

use serde::Deserialize;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast as _, JsValue};

use super::promptly;

/// Returns the extension's version, from its manifest.
pub(crate) fn version() -> Option<String> {
    #[derive(Deserialize)]
    struct Manifest {
        version: String,
    }
    let manifest = sys::manifest().ok()?;
    serde_wasm_bindgen::from_value::<Manifest>(manifest).ok().map(|manifest| manifest.version)
}

/// Returns the browser's own name. Browsers also list other names, for the sake of old web sites.
pub(crate) fn browser_name() -> Option<String> {
    #[derive(Deserialize)]
    struct Brand {
        brand: String,
    }
    let brands: Vec<Brand> = serde_wasm_bindgen::from_value(brands().ok()?).ok()?;
    let names: Vec<String> = brands.into_iter().map(|brand| brand.brand).collect();
    let own = |name: &&String| !name.contains("Not") && name.as_str() != "Chromium";
    names.iter().find(own).or_else(|| names.iter().find(|name| !name.contains("Not"))).cloned()
}

/// Returns the browser's full version. Without asking for it, only the first number is known.
pub(crate) async fn browser_version() -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Values {
        full_version_list: Vec<Version>,
    }
    #[derive(Deserialize)]
    struct Version {
        brand: String,
        version: String,
    }
    let data = user_agent_data().ok()?;
    let ask = js_sys::Reflect::get(&data, &"getHighEntropyValues".into()).ok()?;
    let hints = js_sys::Array::of1(&"fullVersionList".into());
    let asked = ask.dyn_into::<js_sys::Function>().ok()?.call1(&data, &hints).ok()?;
    let values = promptly("getHighEntropyValues", asked.dyn_into()).await.ok()?;
    let values: Values = serde_wasm_bindgen::from_value(values).ok()?;
    let versions = values.full_version_list.into_iter();
    versions.filter(|it| it.brand == "Chromium").map(|it| it.version).next()
}

/// Returns the URL of a file in the extension's folder.
pub(crate) fn url(path: &str) -> Result<String, JsValue> {
    sys::url(path)
}

/// Returns a random id for a new installation.
pub(crate) fn random_uuid() -> Option<String> {
    sys::random_uuid().ok()
}

fn brands() -> Result<JsValue, JsValue> {
    js_sys::Reflect::get(&user_agent_data()?, &"brands".into())
}

fn user_agent_data() -> Result<JsValue, JsValue> {
    js_sys::Reflect::get(&sys::navigator(), &"userAgentData".into())
}

mod sys {
    use super::{JsValue, wasm_bindgen};

    #[wasm_bindgen]
    extern "C" {
        #[wasm_bindgen(catch, js_namespace = ["chrome", "runtime"], js_name = getManifest)]
        pub(super) fn manifest() -> Result<JsValue, JsValue>;
        #[wasm_bindgen(catch, js_namespace = ["chrome", "runtime"], js_name = getURL)]
        pub(super) fn url(path: &str) -> Result<String, JsValue>;
        #[wasm_bindgen(catch, js_namespace = crypto, js_name = randomUUID)]
        pub(super) fn random_uuid() -> Result<String, JsValue>;
        #[wasm_bindgen(thread_local_v2, js_name = navigator)]
        static NAVIGATOR: JsValue;
    }

    pub(super) fn navigator() -> JsValue {
        NAVIGATOR.with(JsValue::clone)
    }
}
