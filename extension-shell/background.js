// The loader. Chrome drops events that have no listener in the worker's first turn, long before
// the WASM is ready; so the listeners are here, and what they hear waits in a queue. All else is
// Rust: see extension-wasm.
import init, * as worker from "./pkg/extension_wasm.js";

let waiting = [];
const to = (name) => (...args) => {
  if (waiting) waiting.push([name, args]);
  else worker[name](...args);
};

chrome.action.onClicked.addListener(to("on_icon_clicked"));
chrome.alarms.onAlarm.addListener(to("on_alarm"));
chrome.debugger.onDetach.addListener(to("on_debugger_detach"));
chrome.debugger.onEvent.addListener(to("on_debugger_event"));
chrome.storage.onChanged.addListener(to("on_storage_changed"));
chrome.tabs.onUpdated.addListener(to("on_tab_updated"));
// The worker only has to be awake for these two; starting it does the rest.
chrome.runtime.onInstalled.addListener(() => {});
chrome.runtime.onStartup.addListener(() => {});

const ready = init().then(() => {
  worker.start();
  for (const [name, args] of waiting) worker[name](...args);
  waiting = null;
});

// For tests, and for people who debug in the service worker's console.
globalThis.toggleExtensionForActiveTab = () => ready.then(worker.toggle_active_tab);
globalThis.disconnectEverything = () => ready.then(worker.disconnect_everything);
globalThis.getExtensionState = () => ready.then(worker.extension_state);
