// Requests on their way: routes, credentials, and what two clients make of the same request.
import { get, same, truly } from '../features.mjs';
import { killable } from '../raw.mjs';
import { onePage } from './together.mjs';

export const requests = {
  'route: fulfil, change, abort': async ({ visit }) => {
    const page = await visit('/index.html');
    await page.route('**/made-up', (route) => route.fulfill({ body: 'made up' }));
    await page.route('**/echo', (route) => route.continue({ headers: { ...route.request().headers(), 'x-added': 'yes' } }));
    await page.route('**/hello.txt', (route) => route.abort());
    same(await get(page, '/made-up'), 'made up');
    same(JSON.parse(await get(page, '/echo')).headers['x-added'], 'yes');
    truly(await get(page, '/hello.txt').then(() => false, () => true), 'an aborted request went through');
    await page.unroute('**/hello.txt');
    same(await get(page, '/hello.txt'), 'hello');
  },

  'route: one per client on one page': async (given) => {
    const { a, b } = await onePage(given, '/index.html');
    await a.route('**/from-a', (route) => route.fulfill({ body: 'a' }));
    await b.route('**/from-b', (route) => route.fulfill({ body: 'b' }));
    same([await get(a, '/from-a'), await get(a, '/from-b'), await get(b, '/from-a')], ['a', 'b', 'a']);
    same(await get(b, '/hello.txt'), 'hello');
    await b.unroute('**/from-b');
    same(await get(a, '/from-a'), 'a');
  },

  'route: a killed client lets go of requests': async (given) => {
    const way = await killable(given.endpoint);
    const { a, b } = await onePage(given, '/index.html', way.url);
    let hold;
    const held = new Promise((resolve) => (hold = resolve));
    await b.route('**/hello.txt', hold);
    const text = get(a, '/hello.txt');
    await held;
    way.kill();
    same(await text, 'hello');
  },

  'http credentials': async ({ context, site }) => {
    await context.setHTTPCredentials({ username: 'user', password: 'secret' });
    const page = await context.newPage();
    const answer = await page.goto(`${site}/private`);
    same([answer.status(), await page.textContent('body')], [200, 'come in']);
    await context.setHTTPCredentials(null);
  },

  'extra headers, response bodies, offline': async ({ context, visit }) => {
    const page = await visit('/index.html');
    await page.setExtraHTTPHeaders({ 'x-extra': 'yes' });
    same(JSON.parse(await get(page, '/echo')).headers['x-extra'], 'yes');
    const [request] = await Promise.all([page.waitForRequest('**/hello.txt'), get(page, '/hello.txt')]);
    const answer = await request.response();
    same([answer.status(), await answer.text()], [200, 'hello']);
    truly((await request.allHeaders())['user-agent']);
    await context.setOffline(true);
    truly(await get(page, '/hello.txt').then(() => false, () => true), 'the page is not offline');
    await context.setOffline(false);
    same(await get(page, '/hello.txt'), 'hello');
  },
};
