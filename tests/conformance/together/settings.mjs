// Settings that several clients make on one page.
import { get, heard, relayOnly, same, truly, until } from '../features.mjs';

/// A setting that can have one value only: the last one counts, the earlier comes back when its
/// client is gone, and what was without any when the first lets go too.
const inTurn = ({ method, first, second, look, seen, needs }) => relayOnly(async (given) => {
  const { sessionsOf, a, killB } = given;
  await needs?.(given);
  const [one, two] = await sessionsOf();
  const before = await a.evaluate(look);
  const sees = (value) => until(value, async () => (await a.evaluate(look)) === value);
  await one.send(method, first);
  await sees(seen[0]);
  await two.send(method, second);
  await sees(seen[1]);
  killB();
  await sees(seen[0]);
  await one.detach();
  await sees(before);
});

const line = { latency: 0, downloadThroughput: -1, uploadThroughput: -1 };
const place = { longitude: 10, accuracy: 1 };

export const settings = {
  'time zone: the last one counts': inTurn({
    method: 'Emulation.setTimezoneOverride',
    first: { timezoneId: 'Asia/Tokyo' },
    second: { timezoneId: 'Europe/Paris' },
    look: () => Intl.DateTimeFormat().resolvedOptions().timeZone,
    seen: ['Asia/Tokyo', 'Europe/Paris'],
  }),

  'agent: the last one counts': inTurn({
    method: 'Emulation.setUserAgentOverride',
    first: { userAgent: 'first' },
    second: { userAgent: 'second' },
    look: () => navigator.userAgent,
    seen: ['first', 'second'],
  }),

  'language: the last one counts': inTurn({
    method: 'Emulation.setLocaleOverride',
    first: { locale: 'ja-JP' },
    second: { locale: 'fr-FR' },
    look: () => Intl.DateTimeFormat().resolvedOptions().locale,
    seen: ['ja-JP', 'fr-FR'],
  }),

  'touch: the last one counts': inTurn({
    method: 'Emulation.setTouchEmulationEnabled',
    first: { enabled: true, maxTouchPoints: 3 },
    second: { enabled: true, maxTouchPoints: 5 },
    look: () => navigator.maxTouchPoints,
    seen: [3, 5],
  }),

  'network: the last one counts': inTurn({
    method: 'Network.emulateNetworkConditions',
    first: { ...line, offline: true },
    second: { ...line, offline: false },
    look: () => navigator.onLine,
    seen: [false, true],
  }),

  'position: the last one counts': inTurn({
    needs: ({ A, site }) => A.contexts()[0].grantPermissions(['geolocation'], { origin: site }),
    method: 'Emulation.setGeolocationOverride',
    first: { ...place, latitude: 1 },
    second: { ...place, latitude: 2 },
    look: () => new Promise((resolve) => {
      navigator.geolocation.getCurrentPosition(({ coords }) => resolve(coords.latitude), () => resolve('nowhere'));
      // A machine without a receiver looks for long.
      setTimeout(resolve, 500, 'nowhere');
    }),
    seen: [1, 2],
  }),

  'extra headers of all are sent': async ({ a, b, c, killB }) => {
    await a.setExtraHTTPHeaders({ 'x-a': 'a' });
    await b.setExtraHTTPHeaders({ 'x-b': 'b' });
    await c.setExtraHTTPHeaders({ 'x-c': 'c' });
    const sent = async () => {
      const headers = JSON.parse(await get(a, '/echo')).headers;
      return ['x-a', 'x-b', 'x-c'].map((name) => headers[name]).join();
    };
    same(await sent(), 'a,b,c');
    killB();
    await until("the second client's header to go", async () => (await sent()) === 'a,,c');
  },

  'viewport: the last one counts, the earlier comes back': relayOnly(async ({ a, b, c, killB }) => {
    const width = () => c.evaluate(() => innerWidth);
    const before = await width();
    await a.setViewportSize({ width: 500, height: 400 });
    same(await width(), 500);
    await b.setViewportSize({ width: 600, height: 400 });
    same(await width(), 600);
    killB();
    await until('the earlier width', async () => (await width()) === 500);
    truly(before !== 500);
  }),

  'colours: the last one counts, the earlier comes back': relayOnly(async ({ a, b, c, killB }) => {
    const dark = () => c.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches);
    await a.emulateMedia({ colorScheme: 'dark' });
    same(await dark(), true);
    await b.emulateMedia({ colorScheme: 'light' });
    same(await dark(), false);
    killB();
    await until('the earlier colours', dark);
  }),

  'the cache is off while one wants so': async ({ sessionsOf, a }) => {
    const [one, two, three] = await sessionsOf();
    for (const session of [one, two, three]) await session.send('Network.enable');
    await one.send('Network.setCacheDisabled', { cacheDisabled: true });
    await two.send('Network.setCacheDisabled', { cacheDisabled: false });
    const responses = heard(three, 'Network.responseReceived');
    for (let round = 0; round < 2; round++) await a.evaluate(() => fetch('/hello.txt').then((answer) => answer.text()));
    await until('the answers', () => responses.length === 2);
    same(responses.map(({ response }) => response.fromDiskCache), [false, false]);
  },

  'the page policy is off while one wants so': async ({ sessionsOf, a, site }) => {
    const [one, two] = await sessionsOf();
    for (const session of [one, two]) await session.send('Page.enable');
    await one.send('Page.setBypassCSP', { enabled: true });
    await two.send('Page.setBypassCSP', { enabled: false });
    await a.goto(`${site}/policy.html`);
    same(await a.evaluate(() => {
      const script = Object.assign(document.createElement('script'), { textContent: 'window.ran = true' });
      document.head.append(script);
      return window.ran;
    }), true);
  },

  'blocked addresses of all are blocked': async ({ sessionsOf, a, killB }) => {
    const sessions = await sessionsOf();
    for (const [index, session] of sessions.entries()) {
      await session.send('Network.enable');
      await session.send('Network.setBlockedURLs', { urls: [`*/echo?${index}`] });
    }
    const passed = () => a.evaluate(() => Promise.all([0, 1, 2, 3].map((index) =>
      fetch(`/echo?${index}`, { cache: 'no-store' }).then(() => index, () => '-'))).then(String));
    same(await passed(), '-,-,-,3');
    killB();
    await until("the second client's block to go", async () => (await passed()) === '-,1,-,3');
  },

  'service workers are passed by while one wants so': async ({ sessionsOf, a, c, site }) => {
    await a.goto(`${site}/service.html`);
    await a.evaluate(() => ready.then(() => navigator.serviceWorker.controller ??
      new Promise((resolve) => (navigator.serviceWorker.oncontrollerchange = resolve))).then(() => {}));
    const by = () => get(c, '/who-answers');
    same(await by(), 'the service worker');
    const [one, two] = await sessionsOf();
    for (const session of [one, two]) await session.send('Network.enable');
    await one.send('Network.setBypassServiceWorker', { bypass: true });
    await two.send('Network.setBypassServiceWorker', { bypass: false });
    truly((await by()) !== 'the service worker');
    await one.detach();
    await until('the service worker to be asked', async () => (await by()) === 'the service worker');
    await a.evaluate(() => navigator.serviceWorker.getRegistration().then((found) => found.unregister()));
  },

  'a drag is told to who wants it': async ({ sessionsOf, a }) => {
    await a.evaluate(() => (document.body.innerHTML = '<p draggable=true style="width: 200px; height: 100px">drag me</p>'));
    const [one, two, three] = await sessionsOf();
    const dragged = [one, two, three].map((session) => heard(session, 'Input.dragIntercepted'));
    await one.send('Input.setInterceptDrags', { enabled: true });
    await two.send('Input.setInterceptDrags', { enabled: false });
    const mouse = (type, x, y) => one.send('Input.dispatchMouseEvent', { type, x, y, button: 'left', buttons: 1, clickCount: 1 });
    await mouse('mousePressed', 50, 50);
    await mouse('mouseMoved', 60, 60);
    await mouse('mouseMoved', 90, 90);
    await until('the drag', () => dragged[0].length);
    same(dragged.map((events) => events.length), [1, 0, 0]);
    await mouse('mouseReleased', 90, 90);
  },

  'the page has the focus while one wants so': async ({ sessionsOf, a, c }) => {
    const [, two, three] = await sessionsOf();
    for (const session of [two, three]) await session.send('Emulation.setFocusEmulationEnabled', { enabled: false });
    same(await c.evaluate(() => document.hasFocus()), true);
    same(await a.evaluate(() => document.visibilityState), 'visible');
  },

  'fonts: the second is not refused': relayOnly(async ({ sessionsOf }) => {
    for (const session of await sessionsOf()) {
      await session.send('Page.setFontFamilies', { fontFamilies: { standard: 'serif' } });
    }
  }),
};
