// Connecting, pages, popups, frames, workers and CDP sessions.
import { ask, refusal, relayOnly, same, truly, until } from '../features.mjs';
import { socketOf } from '../raw.mjs';

const seesTheTab = async (browser) => {
  const [page] = await browser.pages();
  truly(page, 'the tab that was open is not there');
  same(await page.evaluate(() => 6 * 7), 42);
  same(page.url(), 'about:blank');
};

export const pages = {
  'connect over http, use the open tab': async ({ another, endpoint }) =>
    seesTheTab(await another({ browserURL: endpoint })),

  'connect over ws, use the open tab': async ({ another, endpoint }) =>
    seesTheTab(await another({ browserWSEndpoint: await socketOf(endpoint) })),

  'new page: goto, click, type, screenshot, close': async ({ browser, visit }) => {
    const page = await visit('/form.html');
    same(await page.title(), 'a form');
    await page.type('input', 'world');
    await page.click('button');
    same(await page.$eval('button', (button) => button.textContent), 'hello world');
    const picture = Buffer.from(await page.screenshot());
    same(picture.subarray(1, 4).toString(), 'PNG');
    await page.close();
    truly(!(await browser.pages()).includes(page), 'a closed page is still there');
  },

  '20 new pages, one after the other': async ({ browser }) => {
    const before = (await browser.pages()).length;
    for (let round = 0; round < 20; round++) {
      const page = await browser.newPage();
      same(await page.evaluate((value) => value + 1, round), round + 1);
      await page.close();
    }
    same((await browser.pages()).length, before);
  },

  '10 new pages at once': async ({ browser, site }) => {
    const opened = await Promise.all(Array.from({ length: 10 }, () => browser.newPage()));
    const titles = await Promise.all(opened.map(async (page, index) => {
      await page.goto(`${site}/index.html?${index}`);
      return page.evaluate(() => location.search);
    }));
    same(titles, opened.map((_, index) => `?${index}`));
    await Promise.all(opened.map((page) => page.close()));
  },

  'CDP sessions of page and browser': async ({ browser, visit }) => {
    const page = await visit('/index.html');
    const session = await page.createCDPSession();
    const { result } = await session.send('Runtime.evaluate', { expression: 'document.title' });
    same(result.value, 'a page');
    await session.detach();
    same(await page.title(), 'a page');
    const root = await browser.target().createCDPSession();
    truly((await root.send('Browser.getVersion')).product.includes('/'));
    await root.detach();
    await page.reload();
    same(await page.title(), 'a page');
  },

  popup: async ({ visit }) => {
    const page = await visit('/popups.html');
    const [popup] = await Promise.all([
      new Promise((resolve) => page.once('popup', resolve)), page.click('#open')]);
    await until('the popup to load', () => popup.title().then((title) => title === 'a page', () => false));
    truly(popup.target().opener() === page.target(), 'the opener is another page');
    await popup.close();
    same(await page.title(), 'a page that opens others');
  },

  'frame in another process': async ({ visit }) => {
    const page = await visit('/frames.html');
    const frame = await until('the frame', () => page.frames().find((frame) => frame.url().includes('localhost')));
    same(await frame.evaluate(() => document.title), 'a page');
    await frame.$eval('button', (button) => button.click());
    same(await frame.$eval('button', (button) => button.textContent), 'clicked');
    await page.evaluate(() => document.querySelector('iframe').remove());
    await until('the frame to go', () => frame.detached);
  },

  'worker: evaluate and end': async ({ visit }) => {
    const page = await visit('/workers.html');
    const [worker] = await Promise.all([
      new Promise((resolve) => page.once('workercreated', resolve)), page.evaluate(() => start() && said())]);
    same(await worker.evaluate(() => self.depth), 1);
    const ended = new Promise((resolve) => page.once('workerdestroyed', resolve));
    await page.evaluate(() => worker.terminate());
    await ended;
    same(page.workers(), []);
  },

  'service worker': async ({ browser, visit, site }) => {
    const page = await visit('/service.html');
    const target = await browser.waitForTarget((target) => target.type() === 'service_worker', { timeout: 10_000 });
    await page.evaluate(() => ready.then(() => true));
    same(target.url(), `${site}/service-worker.js`);
    const worker = await target.worker();
    same(await worker.evaluate(() => self.greeting), 'hello from the service worker');
    await page.evaluate(() => navigator.serviceWorker.getRegistration().then((found) => found.unregister()));
  },

  'a certificate warning is no trap': relayOnly(async ({ visit, site }) => {
    const page = await visit('/index.html');
    const words = await refusal(page.goto(`https://127.0.0.1:${await ask({ tls: true })}/`));
    truly(words.includes('net::ERR_CERT_AUTHORITY_INVALID'), words);
    await until('the warning', () => page.url() === 'chrome-error://chromewebdata/');
    const bystander = await visit('/form.html');
    same(await bystander.title(), 'a form');
    await page.goto(`${site}/index.html`);
    same(await page.title(), 'a page');
    await page.goto(`https://127.0.0.1:${await ask({ tls: true })}/`).catch(() => {});
    await page.close();
  }),

  dialogs: async ({ visit }) => {
    const page = await visit('/index.html');
    page.on('dialog', (dialog) => dialog.accept('me'));
    same(await page.evaluate(() => [confirm('b'), prompt('c')]), [true, 'me']);
  },

  'beforeunload: close at once, and ask first': async ({ visit }) => {
    const page = await visit('/leaving.html');
    await page.click('button');
    await page.close();
    const polite = await visit('/leaving.html');
    await polite.click('button');
    const dialog = new Promise((resolve) => polite.once('dialog', resolve));
    const closed = new Promise((resolve) => polite.once('close', resolve));
    await polite.close({ runBeforeUnload: true });
    same((await dialog).type(), 'beforeunload');
    await (await dialog).accept();
    await closed;
  },
};
