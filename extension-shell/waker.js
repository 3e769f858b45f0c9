// An invisible page that outlives the worker. Its port to the worker closes when the worker ends,
// and connecting again starts the next one at once: Chrome itself would wait for an event or alarm.
const connect = () => chrome.runtime.connect({ name: "waker" }).onDisconnect.addListener(connect);
connect();
