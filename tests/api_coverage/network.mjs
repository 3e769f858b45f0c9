// Request and Response.

import assert from 'node:assert/strict';
import { withServiceWorker } from './context.mjs';

/** A request that the page made of `/echo`, when it is over. */
async function posted(t) {
  await t.visit();
  const finished = t.page.waitForEvent('requestfinished', (request) => request.url().endsWith('/echo'));
  await t.page.evaluate(() => fetch('/echo', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-own': 'yes' },
    body: '{"posted":1}',
  }).then((response) => response.text()));
  return finished;
}

const answered = async (t) => (await posted(t)).response();

/** The response to a request for something that the site does not have. */
async function missed(t) {
  await t.visit();
  const response = t.page.waitForResponse('**/not-there');
  await t.page.evaluate(() => fetch('/not-there'));
  return response;
}

/** The first response to be redirected, and what it was redirected to. */
const redirected = async (t) => t.page.goto(`${t.site}/redirect`);

export const cases = {
  'Request.url': async (t) => assert.equal((await posted(t)).url(), `${t.site}/echo`),
  'Request.method': async (t) => assert.equal((await posted(t)).method(), 'POST'),
  'Request.resourceType': async (t) => assert.equal((await posted(t)).resourceType(), 'fetch'),
  'Request.postData': async (t) => assert.equal((await posted(t)).postData(), '{"posted":1}'),
  'Request.postDataBuffer': async (t) => assert.equal((await posted(t)).postDataBuffer().length, 12),
  'Request.postDataJSON': async (t) => assert.deepEqual((await posted(t)).postDataJSON(), { posted: 1 }),
  'Request.headers': async (t) => assert.equal((await posted(t)).headers()['x-own'], 'yes'),
  'Request.allHeaders': async (t) => {
    const headers = await (await posted(t)).allHeaders();
    // Only the network stack knows of these headers.
    assert.equal(headers['content-length'], '12');
    assert.ok(headers['accept-encoding']);
  },
  'Request.headersArray': async (t) => {
    const names = (await (await posted(t)).headersArray()).map(({ name }) => name.toLowerCase());
    assert.ok(names.includes('x-own') && names.includes('host'), names.join());
  },
  'Request.headerValue': async (t) => assert.equal(await (await posted(t)).headerValue('X-Own'), 'yes'),
  'Request.response': async (t) => assert.equal((await (await posted(t)).response()).status(), 200),
  'Request.existingResponse': async (t) => {
    const request = await posted(t);
    assert.equal(request.existingResponse(), await request.response());
  },
  'Request.frame': async (t) => assert.equal((await posted(t)).frame(), t.page.mainFrame()),
  'Request.isNavigationRequest': async (t) => {
    assert.equal((await posted(t)).isNavigationRequest(), false);
    assert.equal((await redirected(t)).request().isNavigationRequest(), true);
  },
  'Request.redirectedFrom': async (t) => {
    const request = (await redirected(t)).request();
    assert.equal(request.redirectedFrom().url(), `${t.site}/redirect`);
  },
  'Request.redirectedTo': async (t) => {
    const request = (await redirected(t)).request();
    assert.equal(request.redirectedFrom().redirectedTo(), request);
  },
  'Request.failure': async (t) => {
    assert.equal((await posted(t)).failure(), null);
    const failed = t.page.waitForEvent('requestfailed');
    await t.page.evaluate(() => fetch('http://127.0.0.1:1/').catch(() => {}));
    assert.equal((await failed).failure().errorText, 'net::ERR_UNSAFE_PORT');
  },
  'Request.timing': async (t) => {
    const { startTime, requestStart, responseStart, responseEnd } = (await posted(t)).timing();
    assert.ok(startTime > 0 && requestStart >= 0 && responseStart >= requestStart);
    assert.ok(responseEnd >= responseStart);
  },
  'Request.sizes': async (t) => {
    const sizes = await (await posted(t)).sizes();
    assert.equal(sizes.requestBodySize, 12);
    assert.ok(sizes.responseBodySize > 0 && sizes.responseHeadersSize > 0);
  },
  'Request.serviceWorker': async (t) => {
    const page = await withServiceWorker(t);
    const asked = t.context.waitForEvent('request', (request) => request.url().endsWith('/echo'));
    await page.evaluate(async () => (await fetch('/passed-on')).text());
    assert.equal((await asked).serviceWorker().url(), `${t.site}/served/service-worker.js`);
  },

  'Response.url': async (t) => assert.equal((await answered(t)).url(), `${t.site}/echo`),
  'Response.ok': async (t) => {
    assert.equal((await answered(t)).ok(), true);
    assert.equal((await missed(t)).ok(), false);
  },
  'Response.status': async (t) => assert.equal((await missed(t)).status(), 404),
  'Response.statusText': async (t) => assert.equal((await answered(t)).statusText(), 'OK'),
  'Response.headers': async (t) => {
    assert.equal((await answered(t)).headers()['content-type'], 'application/json');
  },
  'Response.allHeaders': async (t) => {
    t.after(() => t.context.clearCookies({ name: /served|hidden/ }));
    const headers = await (await t.page.goto(`${t.site}/cookies`)).allHeaders();
    assert.match(headers['set-cookie'], /served=yes/);
  },
  'Response.headersArray': async (t) => {
    t.after(() => t.context.clearCookies({ name: /served|hidden/ }));
    const headers = await (await t.page.goto(`${t.site}/cookies`)).headersArray();
    assert.equal(headers.filter(({ name }) => name.toLowerCase() === 'set-cookie').length, 2);
  },
  'Response.headerValue': async (t) => {
    assert.equal(await (await answered(t)).headerValue('Content-Type'), 'application/json');
  },
  'Response.headerValues': async (t) => {
    t.after(() => t.context.clearCookies({ name: /served|hidden/ }));
    const response = await t.page.goto(`${t.site}/cookies`);
    assert.equal((await response.headerValues('set-cookie')).length, 2);
  },
  'Response.body': async (t) => assert.match((await (await answered(t)).body()).toString(), /posted/),
  'Response.text': async (t) => assert.match(await (await answered(t)).text(), /"method":"POST"/),
  'Response.json': async (t) => assert.equal((await (await answered(t)).json()).method, 'POST'),
  'Response.finished': async (t) => assert.equal(await (await answered(t)).finished(), null),
  'Response.request': async (t) => {
    const request = await posted(t);
    assert.equal((await request.response()).request(), request);
  },
  'Response.frame': async (t) => assert.equal((await answered(t)).frame(), t.page.mainFrame()),
  'Response.serverAddr': async (t) => {
    const { ipAddress, port } = await (await answered(t)).serverAddr();
    assert.deepEqual([ipAddress, `${port}`], ['127.0.0.1', new URL(t.site).port]);
  },
  'Response.securityDetails': async (t) => {
    // The site has no TLS, hence no issuer of a certificate.
    assert.equal((await (await answered(t)).securityDetails())?.issuer, undefined);
  },
  'Response.httpVersion': async (t) => assert.match(await (await answered(t)).httpVersion(), /1\.1/),
  'Response.fromServiceWorker': async (t) => {
    const page = await withServiceWorker(t);
    const response = page.waitForResponse('**/made-up');
    const text = await page.evaluate(async () => (await fetch('/made-up')).text());
    assert.equal(text, 'from the service worker');
    assert.equal((await response).fromServiceWorker(), true);
  },
};
