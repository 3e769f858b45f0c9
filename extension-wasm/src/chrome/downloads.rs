//! <https://developer.chrome.com/docs/extensions/reference/api/downloads>

use serde::{Deserialize, Serialize};
use shared_protocol::{Extra, FoundDownload};

use super::{answer, argument, promptly};
use crate::js::error::ChromeError;
use crate::js::payload::JsPayload;

/// The fields of a download that the relay may know.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Item {
    id: Option<i64>,
    filename: Option<String>,
    state: Option<String>,
    error: Option<String>,
    #[serde(rename = "startTime")]
    start_time: Option<String>,
}

impl Item {
    /// Returns the start in milliseconds since 1970, or NaN if Chrome does not say.
    fn began(&self) -> f64 {
        self.start_time.as_deref().map_or(f64::NAN, js_sys::Date::parse)
    }
}

/// Finds the newest download from `url`, before or after redirects, that is not in `known` and
/// began no more than `max_age` milliseconds ago.
pub(crate) async fn find(
    url: &str,
    known: &[i64],
    max_age: Option<u64>,
) -> Result<FoundDownload<JsPayload>, ChromeError> {
    let mut items = search(&Query { url: Some(url), ..Query::default() }).await?;
    items.extend(search(&Query { final_url: Some(url), ..Query::default() }).await?);
    items.retain(|item| item.id.is_some_and(|id| !known.contains(&id)));
    if let Some(max_age) = max_age {
        let earliest = js_sys::Date::now() - max_age as f64;
        items.retain(|item| item.began() >= earliest);
    }
    // Ids grow, so the newest has the greatest.
    let Item { id, filename, state, error, .. } =
        items.into_iter().max_by_key(|item| item.id).unwrap_or_default();
    let path = filename.filter(|path| !path.is_empty());
    Ok(FoundDownload { id, path, state, error, extra: Extra::default() })
}

/// Cancels a download, and deletes its file if `remove` is set. Chrome reports no error for a
/// download that has ended or that it does not know.
pub(crate) async fn cancel(id: i64, remove: bool) -> Result<(), ChromeError> {
    promptly("downloads.cancel", sys::cancel(id as f64)).await?;
    if remove {
        // Chrome refuses if there is no file, which is fine.
        drop(promptly("downloads.removeFile", sys::remove_file(id as f64)).await);
        promptly("downloads.erase", sys::erase(&argument(&Named { id }))).await?;
    }
    Ok(())
}

#[derive(Serialize)]
struct Named {
    id: i64,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Query<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    final_url: Option<&'a str>,
}

async fn search(query: &Query<'_>) -> Result<Vec<Item>, ChromeError> {
    const API: &str = "downloads.search";
    promptly(API, sys::search(&argument(query))).await.and_then(|items| answer(API, items))
}

mod sys {
    use js_sys::Promise;
    use wasm_bindgen::JsValue;
    use wasm_bindgen::prelude::wasm_bindgen;

    #[wasm_bindgen(js_namespace = ["chrome", "downloads"])]
    extern "C" {
        #[wasm_bindgen(catch)]
        pub(super) fn cancel(id: f64) -> Result<Promise, JsValue>;
        #[wasm_bindgen(catch)]
        pub(super) fn erase(query: &JsValue) -> Result<Promise, JsValue>;
        #[wasm_bindgen(catch, js_name = removeFile)]
        pub(super) fn remove_file(id: f64) -> Result<Promise, JsValue>;
        #[wasm_bindgen(catch)]
        pub(super) fn search(query: &JsValue) -> Result<Promise, JsValue>;
    }
}
