// node remote-interface.mjs <package> <endpoint> <site> [words of features]
import { heard, run, same, truly, until } from './features.mjs';
import { socketOf } from './raw.mjs';

const [name, endpoint, site, ...wanted] = process.argv.slice(2);
const { default: CDP } = await import(name);
const { hostname: host, port } = new URL(endpoint);
const at = { host, port: Number(port) };

/// A connection that ends with the feature, whatever comes of it.
async function connect() {
  const opened = [];
  const open = async (options = {}) => {
    const client = await CDP({ ...at, ...options });
    opened.push(client);
    return client;
  };
  return { open, opened };
}
const disconnect = (given) => Promise.all((given?.opened ?? []).map((client) => client.close()));

async function drive(client) {
  const { Page, Runtime, Network, DOM } = client;
  await Promise.all([Page.enable(), Runtime.enable(), Network.enable(), DOM.enable()]);
  const requests = [];
  Network.requestWillBeSent(({ request }) => requests.push(request.url));
  // A tab that has just been opened may still be loading.
  await Page.setLifecycleEventsEnabled({ enabled: true });
  const steps = heard(client, 'Page.lifecycleEvent');
  const { loaderId } = await Page.navigate({ url: `${site}/index.html` });
  await until('its load', () => steps.some((step) => step.loaderId === loaderId && step.name === 'load'));
  same((await Runtime.evaluate({ expression: 'document.title' })).result.value, 'a page');
  truly(requests.includes(`${site}/index.html`), 'the request was not heard of');
  const { root } = await DOM.getDocument();
  truly((await DOM.querySelector({ nodeId: root.nodeId, selector: 'button' })).nodeId > 0);
  truly((await Page.captureScreenshot()).data.length > 100);
}

const features = {
  'page endpoint of the first tab': async ({ open }) => drive(await open()),

  'page endpoint of a chosen tab': async ({ open }) => {
    const { id } = await CDP.New({ ...at, url: `${site}/form.html` });
    const client = await open({ target: id });
    same((await client.Target.getTargetInfo()).targetInfo.targetId, id);
    await drive(client);
    await CDP.Close({ ...at, id });
  },

  'page endpoint with its own protocol': async ({ open }) => drive(await open({ local: true })),

  'page endpoint: frame in another process': async ({ open }) => {
    const client = await open();
    const attached = [];
    client.on('Target.attachedToTarget', (event) => attached.push(event));
    await client.Target.setAutoAttach({ autoAttach: true, waitForDebuggerOnStart: false, flatten: true });
    await client.Page.enable();
    await client.Page.navigate({ url: `${site}/frames.html` });
    const { sessionId } = await until('the frame', () => attached.find(({ targetInfo }) => targetInfo.type === 'iframe'));
    const title = () => client.send('Runtime.evaluate', { expression: 'document.title' }, sessionId);
    await until('the frame to load', async () => (await title()).result.value === 'a page');
  },

  'browser endpoint': async ({ open }) => {
    const client = await open({ target: await socketOf(endpoint) });
    truly((await client.Browser.getVersion()).product.includes('/'));
    const { targetInfos } = await client.Target.getTargets();
    const { targetId } = targetInfos.find(({ type }) => type === 'page');
    const { sessionId } = await client.Target.attachToTarget({ targetId, flatten: true });
    same((await client.Runtime.evaluate({ expression: '6 * 7' }, sessionId)).result.value, 42);
  },

  'List and Version': async () => {
    const version = await CDP.Version(at);
    const fields = ['Browser', 'Protocol-Version', 'User-Agent', 'V8-Version', 'WebKit-Version', 'webSocketDebuggerUrl'];
    for (const field of fields) truly(version[field], `${field} is missing`);
    truly(version.webSocketDebuggerUrl.startsWith(`ws://${host}:${port}/`));
    const pages = (await CDP.List(at)).filter(({ type }) => type === 'page');
    truly(pages.length >= 1);
    for (const { id, url, webSocketDebuggerUrl } of pages) truly(id && url && webSocketDebuggerUrl.endsWith(id));
  },

  Protocol: async () => {
    const { domains } = await CDP.Protocol(at);
    const names = domains.map(({ domain }) => domain);
    for (const domain of ['Browser', 'Page', 'Runtime', 'Target']) truly(names.includes(domain), `${domain} is missing`);
  },

  'New, Activate and Close': async () => {
    const { id, type, url } = await CDP.New({ ...at, url: `${site}/index.html` });
    same([type, new URL(url).protocol], ['page', url === 'about:blank' ? 'about:' : 'http:']);
    await CDP.Activate({ ...at, id });
    await CDP.Close({ ...at, id });
    await until('the tab to go', async () => !(await CDP.List(at)).some((tab) => tab.id === id));
    truly(await CDP.Close({ ...at, id: 'F'.repeat(32) }).then(() => false, () => true), 'an unknown tab was closed');
  },
};

await run(features, { endpoint, wanted, connect, disconnect });
