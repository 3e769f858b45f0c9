//! The machine, and the loop around it: inputs go in, and effects are performed.
//!
//! All state of the worker is here. Files below carry out single effects, and pass the outcome to
//! [`step`].

mod attach;
mod perform;
mod start;
mod windows;

use std::cell::RefCell;

use js_sys::Function;
use shared_protocol::TabId;
use wasm_bindgen::JsValue;

use crate::js::payload::JsPayload;
use crate::relay::socket::RelaySocket;
use extension_core::{Input, Worker};
pub(crate) use start::start;

thread_local! {
    pub(crate) static SHELL: RefCell<Shell> = RefCell::default();
}

#[derive(Default)]
pub(crate) struct Shell {
    pub(crate) worker: Worker<JsPayload>,
    socket: Option<RelaySocket>,
    /// The callers of `toggleExtensionForActiveTab` whose tab has not settled yet.
    pub(crate) toggles: Vec<(TabId, Function)>,
}

/// Passes an input to the machine, performs the effects, and resolves the toggles whose tab has
/// settled.
pub(crate) fn step(input: Input<JsPayload>) {
    let effects = SHELL.with_borrow_mut(|shell| shell.worker.handle(input));
    for effect in effects {
        perform::perform(effect);
    }
    let settled: Vec<(TabId, Function)> = SHELL.with_borrow_mut(|shell| {
        let Shell { worker, toggles, .. } = shell;
        toggles.extract_if(.., |(tab, _)| worker.is_settled(*tab)).collect()
    });
    for (_, resolve) in settled {
        // A promise's own resolve function does not throw.
        drop(resolve.call0(&JsValue::UNDEFINED));
    }
}
