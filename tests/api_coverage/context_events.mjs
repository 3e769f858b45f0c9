// The events of BrowserContext and Browser.

import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';
import { withServiceWorker } from './context.mjs';

async function event(t, name, cause) {
  const waiting = t.context.waitForEvent(name);
  await cause();
  return waiting;
}

const run = (page, script) => page.evaluate(`void setTimeout(() => { ${script} })`);

export const cases = {
  'BrowserContext.on (close)': async (t) => {
    const { context } = await t.another();
    const closed = context.waitForEvent('close');
    await context.close();
    assert.equal(await closed, context);
  },
  'BrowserContext.on (console)': async (t) => {
    const message = await event(t, 'console', () => run(t.page, 'console.log("heard")'));
    assert.deepEqual([message.text(), message.page()], ['heard', t.page]);
  },
  'BrowserContext.on (dialog)': async (t) => {
    await t.visit();
    const dialog = await event(t, 'dialog', () => run(t.page, 'window.said = prompt("what?")'));
    await dialog.accept('this');
    await t.page.waitForFunction('window.said === "this"');
  },
  'BrowserContext.on (dialogclosed)': async (t) => {
    await t.visit();
    t.context.once('dialog', (dialog) => dialog.accept());
    const dialog = await event(t, 'dialogclosed', () => run(t.page, 'alert("brief")'));
    assert.equal(dialog.message(), 'brief');
  },
  'BrowserContext.on (download)': async (t) => {
    await t.visit();
    const download = await event(t, 'download', () => run(t.page, 'location.href = "/download"'));
    assert.equal(download.url(), `${t.site}/download`);
  },
  'BrowserContext.on (frameattached)': async (t) => {
    const frame = await event(t, 'frameattached', () => t.visit('widgets-framed.html'));
    assert.equal(frame.page(), t.page);
  },
  'BrowserContext.on (framenavigated)': async (t) => {
    const frame = await event(t, 'framenavigated', () => t.visit());
    assert.equal(frame, t.page.mainFrame());
  },
  'BrowserContext.on (framedetached)': async (t) => {
    const frame = await t.foreignFrame();
    const gone = await event(t, 'framedetached', () => run(t.page, 'document.querySelector("iframe").remove()'));
    assert.equal(gone, frame);
  },
  'BrowserContext.on (page)': async (t) => {
    await t.visit('popups.html');
    const page = await event(t, 'page', () => t.page.click('#open'));
    await page.waitForURL('**/index.html');
  },
  'BrowserContext.on (page: opened by another client)': async (t) => {
    const { context } = await t.another();
    const waiting = t.context.waitForEvent('page');
    await context.newPage();
    assert.equal(await (await waiting).evaluate(() => 1 + 1), 2);
  },
  'BrowserContext.on (pageclose)': async (t) => {
    const page = await t.fresh();
    assert.equal(await event(t, 'pageclose', () => page.close()), page);
  },
  'BrowserContext.on (pageload)': async (t) => {
    assert.equal(await event(t, 'pageload', () => t.visit()), t.page);
  },
  'BrowserContext.on (request)': async (t) => {
    const request = await event(t, 'request', () => t.visit());
    assert.equal(request.url(), `${t.site}/widgets.html`);
  },
  'BrowserContext.on (response)': async (t) => {
    const response = await event(t, 'response', () => t.visit());
    assert.equal(response.ok(), true);
  },
  'BrowserContext.on (requestfinished)': async (t) => {
    const request = await event(t, 'requestfinished', () => t.visit());
    assert.equal((await request.response()).status(), 200);
  },
  'BrowserContext.on (requestfailed)': async (t) => {
    await t.visit();
    const request = await event(t, 'requestfailed', () => run(t.page, 'fetch("http://127.0.0.1:1/")'));
    assert.match(request.failure().errorText, /ERR_/);
  },
  'BrowserContext.on (serviceworker)': async (t) => {
    const worker = await event(t, 'serviceworker', () => withServiceWorker(t));
    assert.equal(worker.url(), `${t.site}/served/service-worker.js`);
  },
  'BrowserContext.on (weberror)': async (t) => {
    await t.visit();
    const error = await event(t, 'weberror', () => run(t.page, 'throw new Error("loud")'));
    assert.equal(error.error().message, 'loud');
  },
  'Browser.on (disconnected)': async (t) => {
    const browser = await chromium.connectOverCDP(t.cdp);
    const gone = new Promise((resolve) => browser.once('disconnected', resolve));
    await browser.close();
    assert.equal(await gone, browser);
  },
};
