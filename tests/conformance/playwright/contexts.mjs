// Features of the whole browser: contexts, cookies, permissions, downloads, traces.
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { refusal, relayOnly, same, truly, until } from '../features.mjs';

export const contexts = {
  'own context is refused, readably': relayOnly(async ({ browser, context }) => {
    truly(/context/i.test(await refusal(browser.newContext())));
    same(await context.pages()[0].evaluate(() => 1 + 1), 2);
    await (await context.newPage()).close();
  }),

  'closing the client leaves the tabs': async ({ another, browser, context }) => {
    const other = await another();
    const page = await other.contexts()[0].newPage();
    const before = await until('the page', () => context.pages().length > 1 && context.pages().length);
    await other.close();
    same(await context.pages()[0].evaluate(() => 1 + 1), 2);
    same(context.pages().length, before);
    truly(page.isClosed() && browser.isConnected());
  },

  cookies: async ({ context, visit, site }) => {
    const page = await visit('/index.html');
    await context.addCookies([{ name: 'flavour', value: 'plain', url: site, sameSite: 'Lax' }]);
    same(await page.evaluate(() => document.cookie), 'flavour=plain');
    const [found] = (await context.cookies(site)).filter(({ name }) => name === 'flavour');
    same([found.value, found.sameSite, found.path], ['plain', 'Lax', '/']);
    const state = await context.storageState();
    truly(state.cookies.some(({ name }) => name === 'flavour'), 'the storage state lacks the cookie');
    await context.clearCookies({ name: 'flavour' });
    same(await page.evaluate(() => document.cookie), '');
    await page.evaluate(() => (document.cookie = 'other=1'));
    await context.clearCookies();
    same(await context.cookies(site), []);
  },

  'permissions, and back': async ({ context, visit, another, site }) => {
    const page = await visit('/index.html');
    const state = (name) => page.evaluate((name) => navigator.permissions.query({ name }).then(({ state }) => state), name);
    const before = await state('geolocation');
    await context.grantPermissions(['geolocation'], { origin: site });
    same(await state('geolocation'), 'granted');
    await context.clearPermissions();
    same(await state('geolocation'), before);
    const other = await another();
    await other.contexts()[0].grantPermissions(['geolocation'], { origin: site });
    same(await state('geolocation'), 'granted');
    await other.close();
    await until('the permission to go with its client', async () => (await state('geolocation')) === before);
  },

  'download: path and saveAs': async ({ visit }) => {
    const page = await visit('/form.html');
    const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#download').click()]);
    same(download.suggestedFilename(), 'hello.txt');
    same(await readFile(await download.path(), 'utf8'), 'hello');
    const copy = join(tmpdir(), `conformance-${process.pid}.txt`);
    await download.saveAs(copy);
    same(await readFile(copy, 'utf8'), 'hello');
    same(await download.failure(), null);
    await download.delete();
  },

  'download: cancel': async ({ visit }) => {
    const page = await visit('/form.html');
    const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#endless').click()]);
    await download.cancel();
    same(await download.failure(), 'canceled');
  },

  'trace of a page': async ({ browser, visit }) => trace(browser, await visit('/index.html')),

  'trace of the browser': async ({ browser, visit }) => {
    await visit('/index.html');
    await trace(browser, undefined);
  },

  pdf: async ({ visit }) => {
    const page = await visit('/index.html');
    same((await page.pdf()).subarray(0, 4).toString(), '%PDF');
  },
};

async function trace(browser, page) {
  await browser.startTracing(page);
  await page?.reload();
  const { traceEvents } = JSON.parse(await browser.stopTracing());
  truly(traceEvents.length > 0, 'the trace is empty');
}
