// An invisible page that outlives the worker. Its port to the worker closes when the worker ends.
// Connecting again starts the next worker at once; Chrome itself would wait for an event or an alarm.
const connect = () => {
  const connected = Date.now();
  chrome.runtime.connect({ name: "waker" }).onDisconnect.addListener(() => {
    // A worker that cannot start must not be started over and over.
    setTimeout(connect, Date.now() - connected < 1000 ? 1000 : 0);
  });
};
connect();
