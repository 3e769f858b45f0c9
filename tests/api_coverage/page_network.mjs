// Page and Route: requests that a client takes into its hands.

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';

/** The page at the widgets, with a route for what it asks of `/echo` until the case is over. */
async function routed(t, handler, options) {
  const page = await t.visit();
  t.after(() => page.unrouteAll());
  await page.route('**/echo', handler, options);
  return page;
}

/** What `/echo` gives a page. */
export const echo = (page, init) =>
  page.evaluate(async (init) => (await fetch('/echo', init)).json(), init);

export const cases = {
  'Page.route': async (t) => {
    const page = await t.fresh();
    await page.route('**/made-up.html', (route) => route.fulfill({ contentType: 'text/html', body: '<title>made up</title>' }));
    await t.visit('made-up.html', page);
    assert.equal(await page.title(), 'made up');
  },
  'Page.route (a number of times)': async (t) => {
    const page = await routed(t, (route) => route.fulfill({ json: { mine: true } }), { times: 1 });
    assert.deepEqual(await echo(page), { mine: true });
    assert.equal((await echo(page)).method, 'GET');
  },
  'Page.route (in a frame of another site)': async (t) => {
    const page = await t.fresh();
    await page.route('**/echo', (route) => route.fulfill({ json: { mine: true } }));
    assert.deepEqual(await echo(await t.foreignFrame(page)), { mine: true });
  },
  'Page.unroute': async (t) => {
    const page = await routed(t, (route) => route.abort());
    await page.unroute('**/echo');
    assert.equal((await echo(page)).method, 'GET');
  },
  'Page.unrouteAll': async (t) => {
    const page = await routed(t, (route) => route.abort());
    await page.unrouteAll({ behavior: 'wait' });
    assert.equal((await echo(page)).method, 'GET');
  },
  'Page.routeFromHAR': async (t) => {
    const page = await t.fresh('widgets.html');
    await writeFile(t.file('made.har'), JSON.stringify(archive(`${t.site}/archived`)));
    await page.routeFromHAR(t.file('made.har'), { notFound: 'fallback' });
    assert.equal(await page.evaluate(async () => (await fetch('/archived')).text()), 'from the archive');
  },
  'Page.routeFromHAR (recording)': async (t) => {
    const { context } = await t.another();
    const page = await context.newPage();
    t.after(() => page.close());
    await page.routeFromHAR(t.file('seen.har'), { update: true, updateContent: 'embed' });
    await t.visit('widgets.html', page);
    // A recording is written when its context is closed, which here is to leave.
    await context.close();
    assert.match(await readFile(t.file('seen.har'), 'utf8'), /widgets\.html/);
  },

  'Route.request': async (t) => {
    const page = await routed(t, (route) => route.fulfill({ json: route.request().method() }));
    assert.equal(await echo(page, { method: 'PATCH' }), 'PATCH');
  },
  'Route.fulfill': async (t) => {
    const page = await routed(t, (route) => route.fulfill({ status: 418, headers: { 'x-made': 'up' }, body: 'tea' }));
    const answer = await page.evaluate(async () => {
      const response = await fetch('/echo');
      return [response.status, response.headers.get('x-made'), await response.text()];
    });
    assert.deepEqual(answer, [418, 'up', 'tea']);
  },
  'Route.fulfill (from a file)': async (t) => {
    await writeFile(t.file('body.json'), '{"from":"file"}');
    const page = await routed(t, (route) => route.fulfill({ path: t.file('body.json') }));
    assert.deepEqual(await echo(page), { from: 'file' });
  },
  'Route.abort': async (t) => {
    const page = await routed(t, (route) => route.abort('connectionrefused'));
    const failed = page.waitForEvent('requestfailed');
    assert.equal(await page.evaluate(() => fetch('/echo').catch(() => 'failed')), 'failed');
    assert.equal((await failed).failure().errorText, 'net::ERR_CONNECTION_REFUSED');
  },
  'Route.continue': async (t) => {
    const page = await routed(t, (route) => {
      const headers = { ...route.request().headers(), 'x-more': 'yes' };
      return route.continue({ method: 'POST', postData: 'changed', headers });
    });
    const { method, headers, body } = await echo(page);
    assert.deepEqual([method, headers['x-more'], body], ['POST', 'yes', 'changed']);
  },
  'Route.continue (to another address)': async (t) => {
    const page = await routed(t, (route) => route.continue({ url: `${t.site}/index.html` }));
    assert.match(await page.evaluate(async () => (await fetch('/echo')).text()), /hello/);
  },
  'Route.fallback': async (t) => {
    const page = await routed(t, (route) => route.fulfill({ json: route.request().headers()['x-first'] }));
    await page.route('**/echo', (route) => route.fallback({ headers: { 'x-first': 'was here' } }));
    assert.equal(await echo(page), 'was here');
  },
  'Route.fetch': async (t) => {
    const page = await routed(t, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), more: true } });
    });
    const answer = await echo(page);
    assert.deepEqual([answer.method, answer.more], ['GET', true]);
  },
};

/** A HAR with one response. */
const archive = (url) => ({
  log: {
    version: '1.2',
    creator: { name: 'walk', version: '1' },
    entries: [{
      startedDateTime: '2024-01-01T00:00:00.000Z',
      time: 1,
      request: { method: 'GET', url, httpVersion: 'HTTP/1.1', cookies: [], headers: [], queryString: [], headersSize: -1, bodySize: 0 },
      response: {
        status: 200, statusText: 'OK', httpVersion: 'HTTP/1.1', cookies: [], headers: [], redirectURL: '',
        content: { size: 16, mimeType: 'text/plain', text: 'from the archive' }, headersSize: -1, bodySize: -1,
      },
      cache: {},
      timings: { send: 0, wait: 1, receive: 0 },
    }],
  },
});
