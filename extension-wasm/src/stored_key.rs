//! The key of this extension. It is stored in a file in the extension's folder or, if the user has
//! pasted a code, in the extension's storage.

use gloo_net::http::RequestBuilder;
use shared_protocol::pairing::{FILE, GivenKey, PairingCode};
use wasm_bindgen::JsValue;
use web_sys::RequestCache;

use crate::chrome::{runtime, storage};
use crate::js::error::log_failure;
use crate::js::pairing_json;
use crate::relay::handshake;
use extension_core::{PairingFileRead, StoredKey};

/// Reads the key again, since the file may have been replaced.
pub(crate) async fn read() -> StoredKey {
    // Only the storage knows whether there ever was a key.
    let Ok(local) = storage::read_local().await else { return StoredKey::Unreadable };
    let file = read_file().await;
    let stored = StoredKey::choose(&file, local.given_key(), local.paired);
    if stored == StoredKey::Unpaired && local.paired {
        log_failure(storage::forget_pairing().await);
    }
    stored
}

async fn read_file() -> PairingFileRead {
    let Ok(url) = runtime::url(FILE) else { return PairingFileRead::Missing };
    let request = RequestBuilder::new(&url).cache(RequestCache::NoStore);
    let Ok(answer) = request.send().await else { return PairingFileRead::Missing };
    let Ok(text) = answer.text().await else { return PairingFileRead::Missing };
    pairing_json::pairing_file(&text.into())
}

/// Gets a key with a code that the user has pasted, and stores it.
pub(crate) async fn get_with(code: &str, port: u16) -> Result<(), JsValue> {
    let code: PairingCode = code.parse().map_err(|error| js_error(&error))?;
    let key = handshake::key_for(&code, port)
        .await
        .map_err(|why| why.as_string().map_or(why, |words| js_sys::Error::new(&words).into()))?;
    let given = GivenKey { kid: key.kid, key: key.key };
    storage::write_given_key(&pairing_json::pairing_text(&given, port)).await?;
    Ok(())
}

fn js_error(error: &impl ToString) -> JsValue {
    js_sys::Error::new(&error.to_string()).into()
}
