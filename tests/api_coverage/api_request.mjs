// APIRequestContext and APIResponse: requests that Playwright makes itself, with the browser's
// cookies.

import assert from 'node:assert/strict';

/** What `/echo` heard. */
const heard = async (response) => (await response).json();

const answered = (t) => t.context.request.post(`${t.site}/echo`, { data: { a: 1 }, headers: { 'x-own': 'yes' } });

const sweep = (t) => t.after(() => t.context.clearCookies({ name: /served|hidden|crumb/ }));

export const cases = {
  'APIRequestContext.get': async (t) => {
    const { method, headers } = await heard(t.context.request.get(`${t.site}/echo`, { headers: { 'x-own': 'yes' } }));
    assert.deepEqual([method, headers['x-own']], ['GET', 'yes']);
  },
  'APIRequestContext.get (with cookies)': async (t) => {
    sweep(t);
    await t.visit();
    await t.context.addCookies([{ name: 'crumb', value: 'sent', url: t.site }]);
    const { headers } = await heard(t.context.request.get(`${t.site}/echo`));
    assert.match(headers.cookie, /crumb=sent/);
  },
  'APIRequestContext.get (cookies come back)': async (t) => {
    sweep(t);
    await t.visit();
    await t.context.request.get(`${t.site}/cookies`);
    assert.match(await t.page.evaluate(() => document.cookie), /served=yes/);
  },
  'APIRequestContext.post': async (t) => {
    const { method, body } = await heard(t.context.request.post(`${t.site}/echo`, { form: { a: 'b c' } }));
    assert.deepEqual([method, body], ['POST', 'a=b+c']);
  },
  'APIRequestContext.put': async (t) => {
    const { method, body } = await heard(t.context.request.put(`${t.site}/echo`, { data: 'put' }));
    assert.deepEqual([method, body], ['PUT', 'put']);
  },
  'APIRequestContext.patch': async (t) => {
    assert.equal((await heard(t.context.request.patch(`${t.site}/echo`))).method, 'PATCH');
  },
  'APIRequestContext.delete': async (t) => {
    assert.equal((await heard(t.context.request.delete(`${t.site}/echo`))).method, 'DELETE');
  },
  'APIRequestContext.head': async (t) => {
    const response = await t.context.request.head(`${t.site}/echo`);
    assert.deepEqual([response.status(), await response.text()], [200, '']);
  },
  'APIRequestContext.fetch': async (t) => {
    const request = (await t.visit().then(() => t.page.reload())).request();
    const response = await t.context.request.fetch(request);
    assert.match(await response.text(), /<title>widgets/);
  },
  'APIRequestContext.storageState': async (t) => {
    sweep(t);
    await t.visit('cookies');
    const { cookies } = await t.context.request.storageState();
    assert.ok(cookies.some(({ name }) => name === 'served'));
  },
  'APIRequestContext.cookies': async (t) => {
    sweep(t);
    await t.visit('cookies');
    const names = (await t.context.request.cookies(t.site)).map(({ name }) => name);
    assert.ok(names.includes('hidden'), names.join());
  },
  'APIRequestContext.addCookies': async (t) => {
    sweep(t);
    await t.visit();
    await t.context.request.addCookies([{ name: 'crumb', value: 'added', url: t.site }]);
    assert.match(await t.page.evaluate(() => document.cookie), /crumb=added/);
  },
  'APIRequestContext.clearCookies': async (t) => {
    sweep(t);
    await t.visit('cookies');
    await t.context.request.clearCookies({ name: 'served' });
    assert.doesNotMatch(await t.page.evaluate(() => document.cookie), /served/);
  },
  'APIRequestContext.dispose': async (t) => {
    const { context } = await t.another();
    await context.request.dispose({ reason: 'done' });
    await assert.rejects(context.request.get(`${t.site}/echo`), /done/);
  },

  'APIResponse.ok': async (t) => assert.equal((await answered(t)).ok(), true),
  'APIResponse.status': async (t) => {
    assert.equal((await t.context.request.get(`${t.site}/not-there`)).status(), 404);
  },
  'APIResponse.statusText': async (t) => assert.equal((await answered(t)).statusText(), 'OK'),
  'APIResponse.url': async (t) => {
    assert.equal((await t.context.request.get(`${t.site}/redirect`)).url(), `${t.site}/echo`);
  },
  'APIResponse.headers': async (t) => {
    assert.equal((await answered(t)).headers()['content-type'], 'application/json');
  },
  'APIResponse.headersArray': async (t) => {
    sweep(t);
    const headers = (await t.context.request.get(`${t.site}/cookies`)).headersArray();
    assert.equal(headers.filter(({ name }) => name.toLowerCase() === 'set-cookie').length, 2);
  },
  'APIResponse.body': async (t) => assert.ok((await (await answered(t)).body()).includes('POST')),
  'APIResponse.text': async (t) => assert.match(await (await answered(t)).text(), /x-own/),
  'APIResponse.json': async (t) => assert.equal((await (await answered(t)).json()).body, '{"a":1}'),
  'APIResponse.serverAddr': async (t) => {
    assert.equal((await (await answered(t)).serverAddr()).ipAddress, '127.0.0.1');
  },
  'APIResponse.securityDetails': async (t) => {
    assert.equal(await (await answered(t)).securityDetails(), null);
  },
  'APIResponse.timing': async (t) => assert.ok((await answered(t)).timing().responseEnd > 0),
  'APIResponse.dispose': async (t) => {
    const response = await answered(t);
    await response.dispose();
    await assert.rejects(response.body(), /disposed/);
  },
};
