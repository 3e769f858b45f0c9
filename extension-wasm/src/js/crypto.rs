//! <https://developer.mozilla.org/docs/Web/API/SubtleCrypto>: signatures and random bytes.

use js_sys::{Array, Object, Promise, Reflect, Uint8Array};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;

/// A key for HMAC-SHA256, which the page cannot read again.
pub(crate) struct HmacKey(JsValue);

impl HmacKey {
    pub(crate) async fn new(bytes: &[u8]) -> Result<Self, JsValue> {
        let algorithm = Object::new();
        Reflect::set(&algorithm, &"name".into(), &"HMAC".into())?;
        Reflect::set(&algorithm, &"hash".into(), &"SHA-256".into())?;
        let uses = Array::of2(&"sign".into(), &"verify".into());
        let bytes = Uint8Array::from(bytes);
        let key = sys::import_key("raw", &bytes, &algorithm, false, &uses)?;
        JsFuture::from(key).await.map(Self)
    }

    pub(crate) async fn sign(&self, what: &[u8]) -> Result<[u8; 32], JsValue> {
        bytes_of(sys::sign("HMAC", &self.0, &Uint8Array::from(what))?).await
    }

    /// Compares in constant time.
    pub(crate) async fn verify(&self, signature: &[u8], what: &[u8]) -> Result<bool, JsValue> {
        let (signature, what) = (Uint8Array::from(signature), Uint8Array::from(what));
        let verified = JsFuture::from(sys::verify("HMAC", &self.0, &signature, &what)?).await?;
        Ok(verified.is_truthy())
    }
}

pub(crate) async fn sha256(what: &[u8]) -> Result<[u8; 32], JsValue> {
    bytes_of(sys::digest("SHA-256", &Uint8Array::from(what))?).await
}

pub(crate) fn random() -> Result<[u8; 32], JsValue> {
    let bytes = Uint8Array::new_with_length(32);
    sys::random_values(&bytes)?;
    let mut random = [0; 32];
    bytes.copy_to(&mut random);
    Ok(random)
}

async fn bytes_of(buffer: Promise) -> Result<[u8; 32], JsValue> {
    let buffer = Uint8Array::new(&JsFuture::from(buffer).await?);
    if buffer.length() != 32 {
        return Err("a signature of the wrong length".into());
    }
    let mut bytes = [0; 32];
    buffer.copy_to(&mut bytes);
    Ok(bytes)
}

mod sys {
    use js_sys::{Array, Object, Promise, Uint8Array};
    use wasm_bindgen::JsValue;
    use wasm_bindgen::prelude::wasm_bindgen;

    #[wasm_bindgen]
    extern "C" {
        #[wasm_bindgen(catch, js_namespace = ["crypto", "subtle"], js_name = importKey)]
        pub(super) fn import_key(
            format: &str,
            key: &Uint8Array,
            algorithm: &Object,
            extractable: bool,
            uses: &Array,
        ) -> Result<Promise, JsValue>;
        #[wasm_bindgen(catch, js_namespace = ["crypto", "subtle"])]
        pub(super) fn sign(
            algorithm: &str,
            key: &JsValue,
            what: &Uint8Array,
        ) -> Result<Promise, JsValue>;
        #[wasm_bindgen(catch, js_namespace = ["crypto", "subtle"])]
        pub(super) fn verify(
            algorithm: &str,
            key: &JsValue,
            signature: &Uint8Array,
            what: &Uint8Array,
        ) -> Result<Promise, JsValue>;
        #[wasm_bindgen(catch, js_namespace = ["crypto", "subtle"])]
        pub(super) fn digest(algorithm: &str, what: &Uint8Array) -> Result<Promise, JsValue>;
        #[wasm_bindgen(catch, js_namespace = crypto, js_name = getRandomValues)]
        pub(super) fn random_values(bytes: &Uint8Array) -> Result<JsValue, JsValue>;
    }
}
