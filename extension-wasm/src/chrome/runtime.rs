//! <https://developer.chrome.com/docs/extensions/reference/api/runtime>, and what the browser says
//! about itself.

use serde::Deserialize;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// The extension's version, from its manifest.
pub(crate) fn version() -> Option<String> {
    #[derive(Deserialize)]
    struct Manifest {
        version: String,
    }
    let manifest = sys::manifest().ok()?;
    serde_wasm_bindgen::from_value::<Manifest>(manifest).ok().map(|manifest| manifest.version)
}

/// The browser's own name among those it gives for the sake of old web sites.
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

/// A random id for a fresh installation.
pub(crate) fn random_uuid() -> Option<String> {
    sys::random_uuid().ok()
}

fn brands() -> Result<JsValue, JsValue> {
    let data = js_sys::Reflect::get(&sys::navigator(), &"userAgentData".into())?;
    js_sys::Reflect::get(&data, &"brands".into())
}

mod sys {
    use super::{JsValue, wasm_bindgen};

    #[wasm_bindgen]
    extern "C" {
        #[wasm_bindgen(catch, js_namespace = ["chrome", "runtime"], js_name = getManifest)]
        pub(super) fn manifest() -> Result<JsValue, JsValue>;
        #[wasm_bindgen(catch, js_namespace = crypto, js_name = randomUUID)]
        pub(super) fn random_uuid() -> Result<String, JsValue>;
        #[wasm_bindgen(thread_local_v2, js_name = navigator)]
        static NAVIGATOR: JsValue;
    }

    pub(super) fn navigator() -> JsValue {
        NAVIGATOR.with(JsValue::clone)
    }
}
