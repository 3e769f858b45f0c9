// Connecting, pages, popups and CDP sessions.
import { same, truly } from '../features.mjs';
import { socketOf } from '../raw.mjs';

const seesTheTab = async (browser) => {
  const [page] = browser.contexts()[0].pages();
  truly(page, 'the tab that was open is not there');
  same(await page.evaluate(() => 6 * 7), 42);
  same(page.url(), 'about:blank');
};

export const pages = {
  'connect over http, use the open tab': async ({ another, endpoint }) =>
    seesTheTab(await another(endpoint)),

  'connect over ws, use the open tab': async ({ another, endpoint }) =>
    seesTheTab(await another(await socketOf(endpoint))),

  'new page: goto, click, fill, screenshot, close': async ({ visit, context }) => {
    const page = await visit('/form.html');
    same(await page.title(), 'a form');
    await page.getByPlaceholder('name').fill('world');
    await page.locator('button').click();
    same(await page.locator('button').textContent(), 'hello world');
    const picture = await page.screenshot();
    same(picture.subarray(1, 4).toString(), 'PNG');
    await page.goBack();
    same(page.url(), 'about:blank');
    await page.close();
    truly(!context.pages().includes(page), 'a closed page is still there');
  },

  '20 new pages, one after the other': async ({ context }) => {
    const before = context.pages().length;
    for (let round = 0; round < 20; round++) {
      const page = await context.newPage();
      same(await page.evaluate((value) => value + 1, round), round + 1);
      await page.close();
    }
    same(context.pages().length, before);
  },

  '10 new pages at once': async ({ context, site }) => {
    const opened = await Promise.all(Array.from({ length: 10 }, () => context.newPage()));
    const titles = await Promise.all(opened.map(async (page, index) => {
      await page.goto(`${site}/index.html?${index}`);
      return page.evaluate(() => location.search);
    }));
    same(titles, opened.map((_, index) => `?${index}`));
    await Promise.all(opened.map((page) => page.close()));
  },

  'CDP sessions of page and browser': async ({ browser, context, visit }) => {
    const page = await visit('/index.html');
    const session = await context.newCDPSession(page);
    const other = await context.newCDPSession(page);
    const { result } = await session.send('Runtime.evaluate', { expression: 'document.title' });
    same(result.value, 'a page');
    const contexts = [];
    other.on('Runtime.executionContextCreated', (event) => contexts.push(event));
    await other.send('Runtime.enable');
    truly(contexts.length >= 1, 'a new session is not told of contexts');
    await session.detach();
    same(await page.evaluate(() => document.title), 'a page');
    await other.send('Runtime.evaluate', { expression: '1' });
    await other.detach();
    const root = await browser.newBrowserCDPSession();
    truly((await root.send('Browser.getVersion')).product.includes('/'));
    truly((await root.send('Target.getTargets')).targetInfos.some(({ type }) => type === 'page'));
    await root.detach();
    await page.reload();
    same(await page.evaluate(() => document.title), 'a page');
  },

  'service worker of the context': async ({ context, visit, site }) => {
    const came = context.waitForEvent('serviceworker');
    const page = await visit('/service.html');
    await page.evaluate(() => ready);
    const worker = await came;
    same(worker.url(), `${site}/service-worker.js`);
    same(await worker.evaluate(() => self.greeting), 'hello from the service worker');
    truly(context.serviceWorkers().includes(worker));
    await page.evaluate(() => navigator.serviceWorker.getRegistration().then((found) => found.unregister()));
  },

  ...popups(),
};

function popups() {
  const kinds = {
    'a url': () => void window.open('/index.html'),
    "''": () => void window.open(''),
    'about:blank': () => void window.open('about:blank'),
    noopener: () => void window.open('/index.html', '_blank', 'noopener'),
    'window features': () => void window.open('/index.html', '_blank', 'width=300,height=300'),
    'target=_blank': () => document.querySelector('#blank').click(),
  };
  const feature = (kind, open) => async ({ visit, context }) => {
    const page = await visit('/popups.html');
    const [popup, found] = await Promise.all([
      page.waitForEvent('popup'), context.waitForEvent('page'), page.evaluate(open)]);
    truly(popup === found, 'the page and the popup are not the same');
    await popup.waitForLoadState();
    const blank = kind === "''" || kind === 'about:blank';
    same(new URL(popup.url()).pathname, blank ? 'blank' : '/index.html');
    same(await popup.evaluate(() => document.title), blank ? '' : 'a page');
    // Links and `noopener` have no opener in the page, but Playwright knows it.
    same(await popup.evaluate(() => window.opener !== null), kind !== 'noopener' && kind !== 'target=_blank');
    truly((await popup.opener()) === page, 'the opener is another page');
    await popup.close();
    same(await page.evaluate(() => document.title), 'a page that opens others');
  };
  return Object.fromEntries(Object.entries(kinds).map(([kind, open]) => [`popup: ${kind}`, feature(kind, open)]));
}
