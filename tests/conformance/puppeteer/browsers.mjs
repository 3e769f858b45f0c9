// Features of the whole browser: contexts, cookies, permissions, windows, traces, closing.
import { refusal, relayOnly, same, truly, until } from '../features.mjs';
import { Raw, socketOf } from '../raw.mjs';

export const browsers = {
  'own context is refused, readably': relayOnly(async ({ browser }) => {
    truly(/context/i.test(await refusal(browser.createBrowserContext())));
    const [page] = await browser.pages();
    same(await page.evaluate(() => 1 + 1), 2);
    await (await browser.newPage()).close();
  }),

  cookies: async ({ visit, site, browser }) => {
    const page = await visit('/index.html');
    await page.setCookie({ name: 'flavour', value: 'plain', url: site });
    same(await page.evaluate(() => document.cookie), 'flavour=plain');
    same((await page.cookies()).map(({ name, value }) => [name, value]), [['flavour', 'plain']]);
    // Cookies of the browser came with version 24.
    if (browser.cookies) {
      truly((await browser.cookies()).some(({ name }) => name === 'flavour'));
      await browser.setCookie({ name: 'second', value: '2', domain: '127.0.0.1', path: '/' });
      truly((await page.evaluate(() => document.cookie)).includes('second=2'));
      await browser.deleteCookie({ name: 'second', value: '2', domain: '127.0.0.1', path: '/' });
    }
    await page.deleteCookie({ name: 'flavour' });
    same(await page.evaluate(() => document.cookie), '');
  },

  permissions: async ({ browser, visit, site }) => {
    const page = await visit('/index.html');
    const state = () => page.evaluate(() => navigator.permissions.query({ name: 'geolocation' }).then(({ state }) => state));
    const before = await state();
    const context = browser.defaultBrowserContext();
    await context.overridePermissions(site, ['geolocation']);
    same(await state(), 'granted');
    await context.clearPermissionOverrides();
    same(await state(), before);
  },

  'trace of a page': async ({ visit }) => {
    const page = await visit('/index.html');
    await page.tracing.start();
    await page.reload();
    const { traceEvents } = JSON.parse(Buffer.from(await page.tracing.stop()));
    truly(traceEvents.length > 0, 'the trace is empty');
  },

  pdf: async ({ visit }) => {
    const page = await visit('/index.html');
    same(Buffer.from(await page.pdf()).subarray(0, 4).toString(), '%PDF');
  },

  'window bounds': async ({ visit }) => {
    const page = await visit('/index.html');
    const session = await page.createCDPSession();
    const { windowId, bounds } = await session.send('Browser.getWindowForTarget');
    truly(bounds.width > 0 && bounds.height > 0);
    const root = await page.browser().target().createCDPSession();
    await root.send('Browser.setWindowBounds', { windowId, bounds: { width: 900, height: 700 } });
    const { bounds: after } = await root.send('Browser.getWindowBounds', { windowId });
    same([after.width, after.height], [900, 700]);
    await root.send('Browser.setWindowBounds', { windowId, bounds: { width: bounds.width, height: bounds.height } });
  },

  'crash of a page': async ({ browser, visit }) => {
    const page = await visit('/index.html');
    const bystander = await visit('/form.html');
    const crashed = new Promise((resolve) => page.once('error', resolve));
    const session = await page.createCDPSession();
    session.send('Page.crash').catch(() => {});
    truly(/crash/i.test((await crashed).message));
    same(await bystander.title(), 'a form');
    await page.close();
    await (await browser.newPage()).close();
  },

  'disconnect leaves the tabs': async ({ browser, another }) => {
    const other = await another();
    const page = await other.newPage();
    truly(page);
    await until('the tab', async () => (await browser.pages()).length === 2);
    await other.disconnect();
    same((await browser.pages()).length, 2);
  },

  'browser.close() ends only the client': relayOnly(async ({ another, endpoint, browser }) => {
    const other = await another();
    const gone = new Promise((resolve) => other.once('disconnected', resolve));
    await other.close();
    await gone;
    await until('the client to be gone', () => !(other.connected ?? other.isConnected()));
    const [page] = await browser.pages();
    same(await page.evaluate(() => 1 + 1), 2);
    const raw = await Raw.connect(await socketOf(endpoint));
    same((await raw.pages()).length, 1);
    raw.close();
  }),
};
