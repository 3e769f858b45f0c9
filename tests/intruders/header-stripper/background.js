// A page whose address ends in `#attack=<what>` tells what to try; what came of it is put into the same place.
const TELLING = ['origin', 'sec-fetch-site', 'sec-fetch-mode', 'sec-fetch-dest', 'sec-fetch-storage-access', 'user-agent'];

async function changeHeaders(port, origin) {
  const requestHeaders = TELLING.map((header) => ({ header, operation: 'remove' }));
  if (origin) requestHeaders[0] = { header: 'origin', operation: 'set', value: origin };
  const condition = { urlFilter: `|*://127.0.0.1:${port}/`, resourceTypes: ['xmlhttprequest', 'websocket', 'other'] };
  const rule = { id: 1, action: { type: 'modifyHeaders', requestHeaders }, condition };
  await chrome.declarativeNetRequest.updateSessionRules({ removeRuleIds: [1], addRules: [rule] });
}

const asked = (url, how) => fetch(url, how).then((answer) => answer.status, () => 0);

const opened = (url) => new Promise((resolve) => {
  const socket = new WebSocket(url);
  socket.onopen = () => { socket.close(); resolve(true); };
  socket.onerror = () => resolve(false);
});

async function attack({ port, questions, changes, sockets, origin }) {
  await changeHeaders(port, origin);
  const told = {};
  for (const path of questions) told[path] = await asked(`http://127.0.0.1:${port}${path}`);
  for (const path of changes) {
    told[path] = await asked(`http://127.0.0.1:${port}${path}`, { method: 'POST', body: new Blob(['{}'], { type: 'application/json' }) });
  }
  for (const path of sockets) told[path] = await opened(`ws://127.0.0.1:${port}${path}`);
  return told;
}

chrome.tabs.onUpdated.addListener(async (id, { status }, { url }) => {
  const [page, what] = url?.split('#attack=') ?? [];
  if (!what || status !== 'complete') return;
  const told = await attack(JSON.parse(decodeURIComponent(what))).catch((error) => ({ error: String(error) }));
  await chrome.tabs.update(id, { url: `${page}#told=${encodeURIComponent(JSON.stringify(told))}` });
});
