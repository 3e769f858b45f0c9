// BrowserContext: the default one, which is the user's profile.

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { echo } from './page_network.mjs';

const crumbs = async (t) => (await t.context.cookies(t.site)).map(({ name }) => name).sort();

/** Two cookies for the site, which is open, and gone afterwards. */
async function withCookies(t) {
  await t.visit();
  t.after(() => t.context.clearCookies({ name: /crumb/ }));
  await t.context.addCookies([
    { name: 'crumb-1', value: 'a', url: t.site },
    { name: 'crumb-2', value: 'b', url: t.site, httpOnly: true, sameSite: 'Lax' },
  ]);
}

const permission = (page, name) =>
  page.evaluate(async (name) => (await navigator.permissions.query({ name })).state, name);

export const cases = {
  'BrowserContext.browser': async (t) => assert.equal(t.context.browser(), t.browser),
  'BrowserContext.pages': async (t) => {
    const page = await t.fresh();
    assert.ok(t.context.pages().includes(page));
  },
  'BrowserContext.newPage': async (t) => {
    const page = await t.context.newPage();
    assert.equal(await page.evaluate(() => location.href), 'about:blank');
  },
  'BrowserContext.newPage (several at once)': async (t) => {
    const pages = await Promise.all([1, 2, 3].map(() => t.context.newPage()));
    const sums = await Promise.all(pages.map((page, index) => page.evaluate((n) => n + 1, index)));
    assert.deepEqual(sums, [1, 2, 3]);
  },
  'BrowserContext.isClosed': async (t) => {
    const { context } = await t.another();
    assert.equal(context.isClosed(), false);
    await context.close();
    assert.equal(context.isClosed(), true);
  },
  'BrowserContext.close': async (t) => {
    const { browser, context } = await t.another();
    const gone = new Promise((resolve) => browser.once('disconnected', resolve));
    await context.close();
    await gone;
    assert.equal(await t.page.evaluate(() => 1), 1);
  },
  'BrowserContext.addCookies': async (t) => {
    await withCookies(t);
    const visible = await t.page.evaluate(() => document.cookie);
    assert.match(visible, /crumb-1=a/);
    assert.doesNotMatch(visible, /crumb-2/);
    assert.match((await echo(t.page)).headers.cookie, /crumb-2=b/);
  },
  'BrowserContext.cookies': async (t) => {
    await withCookies(t);
    const cookie = (await t.context.cookies(t.site)).find(({ name }) => name === 'crumb-2');
    assert.deepEqual(
      [cookie.value, cookie.domain, cookie.path, cookie.httpOnly, cookie.sameSite],
      ['b', '127.0.0.1', '/', true, 'Lax'],
    );
  },
  'BrowserContext.cookies (of all addresses)': async (t) => {
    await withCookies(t);
    const names = (await t.context.cookies()).map(({ name }) => name);
    assert.ok(names.includes('crumb-1') && names.includes('crumb-2'), names.join());
  },
  'BrowserContext.cookies (that a server set)': async (t) => {
    t.after(() => t.context.clearCookies({ name: /served|hidden/ }));
    await t.visit('cookies');
    assert.deepEqual(await crumbs(t), ['hidden', 'served']);
  },
  'BrowserContext.clearCookies': async (t) => {
    await withCookies(t);
    await t.context.clearCookies();
    assert.deepEqual(await crumbs(t), []);
    assert.equal(await t.page.evaluate(() => document.cookie), '');
  },
  'BrowserContext.clearCookies (some)': async (t) => {
    await withCookies(t);
    await t.context.clearCookies({ name: 'crumb-1' });
    assert.ok(!(await crumbs(t)).includes('crumb-1'));
    assert.ok((await crumbs(t)).includes('crumb-2'));
  },
  'BrowserContext.storageState': async (t) => {
    await withCookies(t);
    await t.page.evaluate(() => localStorage.setItem('kept', 'here'));
    t.after(() => t.page.evaluate(() => localStorage.clear()));
    const state = await t.context.storageState({ path: t.file('state.json') });
    assert.ok(state.cookies.some(({ name, value }) => name === 'crumb-1' && value === 'a'));
    const { localStorage: items } = state.origins.find(({ origin }) => origin === t.site);
    assert.deepEqual(items, [{ name: 'kept', value: 'here' }]);
    assert.deepEqual(JSON.parse(await readFile(t.file('state.json'), 'utf8')), state);
  },
  'BrowserContext.setStorageState': async (t) => {
    const page = await t.fresh();
    t.after(() => t.context.clearCookies());
    await t.context.setStorageState({
      cookies: [{ name: 'crumb', value: 'set', domain: '127.0.0.1', path: '/', expires: -1, httpOnly: false, secure: false, sameSite: 'Lax' }],
      origins: [{ origin: t.site, localStorage: [{ name: 'set', value: 'too' }] }],
    });
    await t.visit('widgets.html', page);
    t.after(() => page.evaluate(() => localStorage.clear()));
    assert.equal(await page.evaluate(() => document.cookie + localStorage.getItem('set')), 'crumb=settoo');
  },
  'BrowserContext.grantPermissions': async (t) => {
    await t.visit();
    t.after(() => t.context.clearPermissions());
    await t.context.grantPermissions(['geolocation', 'notifications'], { origin: t.site });
    assert.equal(await permission(t.page, 'geolocation'), 'granted');
    assert.equal(await permission(t.page, 'notifications'), 'granted');
  },
  'BrowserContext.clearPermissions': async (t) => {
    await t.visit();
    const before = await permission(t.page, 'geolocation');
    await t.context.grantPermissions(['geolocation']);
    assert.equal(await permission(t.page, 'geolocation'), 'granted');
    await t.context.clearPermissions();
    assert.equal(await permission(t.page, 'geolocation'), before);
    assert.notEqual(before, 'granted');
  },
  'BrowserContext.setGeolocation': async (t) => {
    await t.visit();
    t.after(() => t.context.clearPermissions());
    t.after(() => t.context.setGeolocation(null));
    await t.context.grantPermissions(['geolocation'], { origin: t.site });
    await t.context.setGeolocation({ latitude: 12.5, longitude: 34.5 });
    const latitude = await t.page.evaluate(() => new Promise((resolve, reject) => {
      navigator.geolocation.getCurrentPosition(({ coords }) => resolve(coords.latitude), (error) => reject(error.message));
    }));
    assert.equal(latitude, 12.5);
  },
  'BrowserContext.setOffline': async (t) => {
    await t.visit();
    t.after(() => t.context.setOffline(false));
    await t.context.setOffline(true);
    const state = () => t.page.evaluate(() => fetch('/echo').then(() => 'reached', () => 'failed'));
    assert.equal(await state(), 'failed');
    assert.equal(await t.page.evaluate(() => navigator.onLine), false);
    await t.context.setOffline(false);
    assert.equal(await state(), 'reached');
  },
  'BrowserContext.setExtraHTTPHeaders': async (t) => {
    await t.visit();
    t.after(() => t.context.setExtraHTTPHeaders({}));
    await t.context.setExtraHTTPHeaders({ 'x-context': 'yes' });
    assert.equal((await echo(t.page)).headers['x-context'], 'yes');
    assert.equal((await echo(await t.fresh('widgets.html'))).headers['x-context'], 'yes');
  },
  'BrowserContext.setHTTPCredentials': async (t) => {
    t.after(() => t.context.setHTTPCredentials(null));
    await t.context.setHTTPCredentials({ username: 'user', password: 'secret' });
    const response = await t.page.goto(`${t.site}/private`);
    assert.deepEqual([response.status(), await response.text()], [200, 'come in']);
  },
  'BrowserContext.setDefaultTimeout': async (t) => {
    const { context } = await t.another();
    const page = await context.newPage();
    t.after(() => page.close());
    context.setDefaultTimeout(70);
    await assert.rejects(page.click('#nowhere'), /Timeout 70ms/);
  },
  'BrowserContext.setDefaultNavigationTimeout': async (t) => {
    const { context } = await t.another();
    const page = await context.newPage();
    t.after(() => page.close());
    context.setDefaultNavigationTimeout(80);
    await assert.rejects(page.goto(`${t.site}/silent`), /Timeout 80ms/);
  },
  'BrowserContext.addInitScript': async (t) => {
    const script = await t.context.addInitScript(() => { window.everywhere = 1; });
    t.after(() => script.dispose());
    assert.equal(await (await t.fresh('widgets.html')).evaluate('everywhere'), 1);
    await t.visit();
    assert.equal(await t.page.evaluate('everywhere'), 1);
  },
  'BrowserContext.addInitScript (from a file)': async (t) => {
    await writeFile(t.file('init.js'), 'window.fromFile = 2');
    const script = await t.context.addInitScript({ path: t.file('init.js') });
    t.after(() => script.dispose());
    assert.equal(await (await t.fresh('widgets.html')).evaluate('fromFile'), 2);
  },
  'BrowserContext.exposeFunction': async (t) => {
    const exposed = await t.context.exposeFunction('double', (x) => x * 2);
    t.after(() => exposed.dispose());
    assert.equal(await (await t.fresh('widgets.html')).evaluate(() => double(21)), 42);
  },
  'BrowserContext.exposeBinding': async (t) => {
    const exposed = await t.context.exposeBinding('where', ({ page }) => page.url());
    t.after(() => exposed.dispose());
    assert.equal(await (await t.fresh('widgets.html')).evaluate(() => where()), `${t.site}/widgets.html`);
  },
  'BrowserContext.route': async (t) => {
    await t.visit();
    t.after(() => t.context.unrouteAll());
    await t.context.route('**/echo', (route) => route.fulfill({ json: 'mine' }));
    assert.equal(await echo(t.page), 'mine');
    assert.equal(await echo(await t.fresh('widgets.html')), 'mine');
  },
  'BrowserContext.unroute': async (t) => {
    await t.visit();
    t.after(() => t.context.unrouteAll());
    const handler = (route) => route.abort();
    await t.context.route('**/echo', handler);
    await t.context.unroute('**/echo', handler);
    assert.equal((await echo(t.page)).method, 'GET');
  },
  'BrowserContext.unrouteAll': async (t) => {
    await t.visit();
    await t.context.route('**/echo', (route) => route.abort());
    await t.context.unrouteAll({ behavior: 'ignoreErrors' });
    assert.equal((await echo(t.page)).method, 'GET');
  },
  'BrowserContext.routeFromHAR': async (t) => {
    await writeFile(t.file('empty.har'), JSON.stringify({ log: { version: '1.2', creator: { name: 'walk', version: '1' }, entries: [] } }));
    await t.visit();
    t.after(() => t.context.unrouteAll());
    await t.context.routeFromHAR(t.file('empty.har'), { url: '**/echo', notFound: 'abort' });
    assert.equal(await t.page.evaluate(() => fetch('/echo').catch(() => 'aborted')), 'aborted');
  },
  'BrowserContext.routeWebSocket': async (t) => {
    const { context } = await t.another();
    const page = await context.newPage();
    t.after(() => page.close());
    await context.routeWebSocket('**/nowhere', (socket) => socket.onMessage((text) => socket.send(`${text}!`)));
    await t.visit('widgets.html', page);
    const answer = await page.evaluate(() => new Promise((resolve) => {
      const socket = new WebSocket('/nowhere');
      socket.onopen = () => socket.send('hi');
      socket.onmessage = ({ data }) => resolve(data);
    }));
    assert.equal(answer, 'hi!');
  },
  'BrowserContext.waitForEvent': async (t) => {
    const waiting = t.context.waitForEvent('page');
    const page = await t.fresh();
    assert.equal(await waiting, page);
  },
  'BrowserContext.serviceWorkers': async (t) => {
    const worker = t.context.waitForEvent('serviceworker');
    await withServiceWorker(t);
    assert.ok(t.context.serviceWorkers().includes(await worker));
  },
  'BrowserContext.newCDPSession': async (t) => {
    const session = await t.context.newCDPSession(await t.visit());
    const { result } = await session.send('Runtime.evaluate', { expression: 'document.title' });
    assert.equal(result.value, 'widgets');
    await session.detach();
  },
  'BrowserContext.newCDPSession (of a frame of another site)': async (t) => {
    const session = await t.context.newCDPSession(await t.foreignFrame());
    const { result } = await session.send('Runtime.evaluate', { expression: 'location.hostname' });
    assert.equal(result.value, 'localhost');
    await session.detach();
  },
};

/** Goes to the page with a service worker, which is unregistered afterwards. */
export async function withServiceWorker(t) {
  const page = await t.fresh('served/');
  t.after(() => page.evaluate(async () => (await active).unregister()));
  await page.evaluate(() => active.then(() => {}));
  return page;
}
