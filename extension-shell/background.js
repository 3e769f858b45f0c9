// The loader. Chrome drops events that have no listener in the worker's first turn, and the WASM is
// ready much later. So the listeners are here, and their events wait in a queue. Everything else is
// Rust: see extension-wasm.
import init, * as worker from "./pkg/extension_wasm.js";

let waiting = [];
const deliver = (name, args) => {
  try {
    worker[name](...args);
  } catch (error) {
    console.error(name, error);
  }
};
const to = (name) => (...args) => (waiting ? waiting.push([name, args]) : deliver(name, args));

chrome.action.onClicked.addListener(to("on_icon_clicked"));
chrome.alarms.onAlarm.addListener(to("on_alarm"));
chrome.debugger.onDetach.addListener(to("on_debugger_detach"));
chrome.debugger.onEvent.addListener(to("on_debugger_event"));
chrome.downloads.onChanged.addListener(to("on_download_changed"));
chrome.storage.local.onChanged.addListener(to("on_settings_changed"));
chrome.tabGroups.onRemoved.addListener(to("on_group_removed"));
chrome.tabs.onAttached.addListener(to("on_tab_attached"));
chrome.tabs.onRemoved.addListener(to("on_tab_removed"));
chrome.tabs.onReplaced.addListener(to("on_tab_replaced"));
chrome.tabs.onUpdated.addListener(to("on_tab_updated"));
chrome.webNavigation.onCreatedNavigationTarget.addListener(to("on_popup"));
chrome.windows.onRemoved.addListener(to("on_window_removed"));
// These events only have to start the worker.
chrome.runtime.onConnect.addListener(() => {});
chrome.runtime.onInstalled.addListener(() => {});
chrome.runtime.onStartup.addListener(() => {});

const ready = init().then(() => {
  worker.start();
  const heard = waiting;
  waiting = null;
  for (const [name, args] of heard) deliver(name, args);
});
ready.catch((error) => {
  waiting = null;
  console.error("the worker could not start", error);
});

// For tests, and for people who debug in the service worker's console. Tabs are in a map by id.
const mapped = ({ tabs, ...state }) => ({
  ...state,
  tabs: new Map(tabs.map(({ tabId, ...tab }) => [tabId, tab])),
});
globalThis.toggleExtensionForActiveTab = () =>
  ready.then(worker.toggle_active_tab).then(({ state, ...tab }) => ({ ...tab, state: mapped(state) }));
globalThis.disconnectEverything = () => ready.then(worker.disconnect_everything);
globalThis.getExtensionState = () => ready.then(worker.extension_state).then(mapped);
globalThis.pairWithCode = (code) => ready.then(() => worker.pair_with_code(code));
