// Requests on their way: interception, credentials, and what two clients make of them.
import { get, same, truly } from '../features.mjs';
import { killable } from '../raw.mjs';
import { onePage } from './together.mjs';

async function intercept(page, path, handle) {
  const listener = (request) => (request.url().endsWith(path) ? handle(request) : request.continue());
  page.on('request', listener);
  await page.setRequestInterception(true);
  return async () => {
    page.off('request', listener);
    await page.setRequestInterception(false);
  };
}

export const requests = {
  'interception: respond and continue': async ({ visit }) => {
    const page = await visit('/index.html');
    const stop = await intercept(page, '/made-up', (request) => request.respond({ body: 'made up' }));
    same([await get(page, '/made-up'), await get(page, '/hello.txt')], ['made up', 'hello']);
    await stop();
    same(await get(page, '/hello.txt'), 'hello');
  },

  'interception: one per client on one page': async (given) => {
    const { a, b } = await onePage(given, '/index.html');
    await intercept(a, '/from-a', (request) => request.respond({ body: 'a' }));
    const stop = await intercept(b, '/from-b', (request) => request.respond({ body: 'b' }));
    same([await get(a, '/from-a'), await get(a, '/from-b'), await get(b, '/from-a')], ['a', 'b', 'a']);
    same(await get(b, '/hello.txt'), 'hello');
    await stop();
    same(await get(a, '/from-a'), 'a');
  },

  'interception: a killed client lets go of requests': async (given) => {
    const way = await killable(given.endpoint);
    const { a, b } = await onePage(given, '/index.html', { browserWSEndpoint: way.url });
    let hold;
    const held = new Promise((resolve) => (hold = resolve));
    await intercept(b, '/hello.txt', hold);
    const text = get(a, '/hello.txt');
    await held;
    way.kill();
    same(await text, 'hello');
  },

  'http credentials': async ({ browser, site }) => {
    const page = await browser.newPage();
    await page.authenticate({ username: 'user', password: 'secret' });
    const answer = await page.goto(`${site}/private`);
    same([answer.status(), await page.$eval('body', (body) => body.textContent)], [200, 'come in']);
  },

  'extra headers, response bodies, offline': async ({ visit }) => {
    const page = await visit('/index.html');
    await page.setExtraHTTPHeaders({ 'x-extra': 'yes' });
    same(JSON.parse(await get(page, '/echo')).headers['x-extra'], 'yes');
    const [response] = await Promise.all([
      page.waitForResponse((response) => response.url().endsWith('/hello.txt')), get(page, '/hello.txt')]);
    same(await response.text(), 'hello');
    await page.setOfflineMode(true);
    truly(await get(page, '/hello.txt').then(() => false, () => true), 'the page is not offline');
    await page.setOfflineMode(false);
    same(await get(page, '/hello.txt'), 'hello');
  },
};
