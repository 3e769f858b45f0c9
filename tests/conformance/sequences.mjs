// node sequences.mjs <package> <endpoint> <site> [words of features]
//
// What clients that are not from npm send, in their order.
import { relayOnly, run, same, truly, until } from './features.mjs';
import { Raw, socketOf } from './raw.mjs';

const [, endpoint, site, ...wanted] = process.argv.slice(2);

async function connect() {
  const raw = await Raw.connect(await socketOf(endpoint));
  return { raw };
}
const disconnect = async (given) => given?.raw.close();

const isPage = ({ params }) => params.targetInfo.type === 'page';
const FLAT = { autoAttach: true, waitForDebuggerOnStart: false, flatten: true };

/// Loads a page in a session that has `Page` on.
async function load(raw, session) {
  // A tab that has just been opened may still be loading.
  await raw.send('Page.setLifecycleEventsEnabled', { enabled: true }, session);
  const { loaderId } = await raw.send('Page.navigate', { url: `${site}/index.html` }, session);
  await raw.next('Page.lifecycleEvent', ({ params }) => params.loaderId === loaderId && params.name === 'load');
  same(await raw.evaluate('document.title', session), 'a page');
}

async function chromedp(raw) {
  await raw.send('Target.setDiscoverTargets', { discover: true });
  const { params } = await raw.next('Target.targetCreated', isPage);
  const session = await raw.attach(params.targetInfo.targetId);
  for (const domain of ['Runtime', 'Log', 'Network', 'Inspector', 'Page', 'DOM', 'CSS']) {
    await raw.send(`${domain}.enable`, {}, session);
  }
  await raw.send('Target.setDiscoverTargets', { discover: true }, session);
  await raw.send('Target.setAutoAttach', FLAT, session);
  await load(raw, session);
  return session;
}

/// Clicks a link in a tab of its own: Chrome asks before a tab downloads a second time.
async function download(raw, link) {
  const { targetId } = await raw.send('Target.createTarget', { url: 'about:blank' });
  const session = await raw.attach(targetId);
  await raw.send('Page.enable', {}, session);
  await load(raw, session);
  await raw.evaluate(`Object.assign(document.createElement('a'), ${JSON.stringify(link)}).click()`, session);
  return () => raw.send('Target.closeTarget', { targetId });
}

const features = {
  'chromedp: connect and navigate': async ({ raw }) => void (await chromedp(raw)),

  'chromedp: a new target, and its end': async ({ raw }) => {
    await raw.send('Target.setDiscoverTargets', { discover: true });
    const { targetId } = await raw.send('Target.createTarget', { url: 'about:blank' });
    await raw.next('Target.targetCreated', ({ params }) => params.targetInfo.targetId === targetId);
    const session = await raw.attach(targetId);
    await raw.send('Page.enable', {}, session);
    await load(raw, session);
    await raw.send('Target.detachFromTarget', { sessionId: session });
    await raw.send('Target.closeTarget', { targetId });
    await raw.next('Target.targetDestroyed', ({ params }) => params.targetId === targetId);
  },

  'chromedp: Browser.close ends only the client': relayOnly(async ({ raw }) => {
    await chromedp(raw);
    const closed = new Promise((resolve) => raw.socket.once('close', resolve));
    same(await raw.send('Browser.close'), {});
    await closed;
    const other = await Raw.connect(await socketOf(endpoint));
    same((await other.pages()).length, 1);
    other.close();
  }),

  'browser-use: attached by hand and by itself': async ({ raw }) => {
    const filter = [{ type: 'page' }, { type: 'iframe' }];
    await raw.send('Target.setDiscoverTargets', { discover: true, filter });
    const [{ targetId }] = await raw.pages();
    const byHand = await raw.attach(targetId);
    await raw.send('Target.setAutoAttach', FLAT);
    const all = () => raw.events.filter(({ method, params }) =>
      method === 'Target.attachedToTarget' && params.targetInfo.targetId === targetId).map(({ params }) => params.sessionId);
    const byItself = await until('the second session', () => all().find((session) => session !== byHand));
    for (const session of [byHand, byItself]) {
      for (const domain of ['Page', 'Runtime', 'Network', 'DOM']) await raw.send(`${domain}.enable`, {}, session);
    }
    await load(raw, byHand);
    await load(raw, byItself);
    await raw.send('Target.detachFromTarget', { sessionId: byHand });
    same(await raw.evaluate('6 * 7', byItself), 42);
  },

  'agent-browser: the bare browser path': relayOnly(async () => {
    const raw = await Raw.connect(`${endpoint.replace('http', 'ws')}/devtools/browser`);
    await raw.send('Target.setDiscoverTargets', { discover: true });
    const [{ targetId }] = await raw.pages();
    const session = await raw.attach(targetId);
    for (const domain of ['Page', 'Runtime', 'Network']) await raw.send(`${domain}.enable`, {}, session);
    await raw.send('Target.setAutoAttach', { ...FLAT, waitForDebuggerOnStart: true }, session);
    await raw.send('Runtime.runIfWaitingForDebugger', {}, session);
    await load(raw, session);
    truly((await raw.send('Browser.getVersion')).userAgent);
    raw.close();
  }),

  'stagehand: waiting targets, then discovery': async ({ raw }) => {
    await raw.send('Target.setAutoAttach', { ...FLAT, waitForDebuggerOnStart: true });
    await raw.send('Target.setDiscoverTargets', { discover: true });
    const { params } = await raw.next('Target.attachedToTarget', isPage);
    await raw.send('Page.enable', {}, params.sessionId);
    await raw.send('Runtime.runIfWaitingForDebugger', {}, params.sessionId);
    await load(raw, params.sessionId);
    const { targetId } = await raw.send('Target.createTarget', { url: `${site}/form.html` });
    const { params: opened } = await raw.next('Target.attachedToTarget', (event) => event.params.targetInfo.targetId === targetId);
    await raw.send('Page.enable', {}, opened.sessionId);
    await raw.send('Runtime.runIfWaitingForDebugger', {}, opened.sessionId);
    await until('the page', async () => (await raw.evaluate('document.title', opened.sessionId)) === 'a form');
  },

  // Chrome forgets that a page is to close when a new one takes its place in the same moment.
  'targets that are closed while they go elsewhere': relayOnly(async ({ raw }) => {
    await raw.send('Target.setDiscoverTargets', { discover: true });
    for (let gap = 0; gap < 20; gap++) {
      const { targetId } = await raw.send('Target.createTarget', { url: 'about:blank' });
      const session = await raw.attach(targetId);
      raw.send('Page.navigate', { url: `${site}/frames.html` }, session).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, gap));
      await raw.send('Target.closeTarget', { targetId });
      await raw.next('Target.targetDestroyed', ({ params }) => params.targetId === targetId);
    }
  }),

  'cookies of the default context, by its id': async ({ raw }) => {
    const session = await chromedp(raw);
    const { targetInfo: { browserContextId } } = await raw.send('Target.getTargetInfo', { targetId: (await raw.pages())[0].targetId });
    truly(browserContextId, 'the page has no context');
    const cookie = { name: 'raw', value: '1', url: site };
    await raw.send('Storage.setCookies', { cookies: [cookie], browserContextId });
    same(await raw.evaluate('document.cookie', session), 'raw=1');
    const { cookies } = await raw.send('Storage.getCookies', { browserContextId });
    same(cookies.filter(({ name }) => name === 'raw').length, 1);
    await raw.send('Network.deleteCookies', { name: 'raw', url: site }, session);
    same(await raw.evaluate('document.cookie', session), '');
  },

  'downloads can be denied': async ({ raw }) => {
    await raw.send('Browser.setDownloadBehavior', { behavior: 'deny', eventsEnabled: true });
    for (const link of [{ href: '/endless' }, { href: '/page.pdf', download: 'over at once.pdf' }]) {
      const before = raw.events.length;
      const close = await download(raw, link);
      const { params } = await raw.next('Browser.downloadProgress', ({ params }) => params.state !== 'inProgress', before);
      same(params.state, 'canceled');
      await close();
    }
  },
};

await run(features, { endpoint, wanted, connect, disconnect });
