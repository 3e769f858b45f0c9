//! The machine, and what surrounds it: inputs go in, and its effects are performed.
//!
//! This is the only place that holds state of the worker. Files below carry out single effects; what they
//! learn goes back into [`step`].

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
    /// Callers of `toggleExtensionForActiveTab` whose tab has not settled yet.
    pub(crate) toggles: Vec<(TabId, Function)>,
}

/// Feeds the machine, performs what it returns, and answers those whose tab has settled.
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
