// Browser, and how one connects to it.

import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

function assertTrace(buffer) {
  const { traceEvents } = JSON.parse(buffer.toString());
  assert.ok(traceEvents.length > 10, `${traceEvents.length} events`);
}

export const cases = {
  'BrowserType.connectOverCDP': async (t) => {
    const { browser, context } = await t.another();
    assert.equal(browser.contexts()[0], context);
    assert.ok(context.pages().some((page) => page.url() === t.page.url()));
  },
  'BrowserType.connectOverCDP (by WebSocket)': async (t) => {
    const { webSocketDebuggerUrl } = await (await fetch(`${t.cdp}/json/version`)).json();
    const browser = await chromium.connectOverCDP(webSocketDebuggerUrl);
    t.after(() => browser.close());
    assert.ok(browser.contexts()[0].pages().length > 0);
  },
  'BrowserType.connectOverCDP (a page that is there)': async (t) => {
    await t.visit();
    const { context } = await t.another();
    const same = context.pages().find((page) => page.url().endsWith('/widgets.html'));
    assert.equal(await same.innerText('h1'), 'Widgets');
  },
  'Browser.browserType': async (t) => assert.equal(t.browser.browserType(), chromium),
  'Browser.contexts': async (t) => assert.equal(t.browser.contexts().indexOf(t.context), 0),
  'Browser.version': async (t) => assert.match(t.browser.version(), /^\d+\.\d+\.\d+\.\d+$/),
  'Browser.isConnected': async (t) => {
    const { browser } = await t.another();
    assert.equal(browser.isConnected(), true);
    await browser.close();
    assert.equal(browser.isConnected(), false);
  },
  'Browser.close': async (t) => {
    const { browser } = await t.another();
    await browser.close();
    assert.equal(browser.isConnected(), false);
    assert.equal(await t.page.evaluate(() => 1), 1);
  },
  'Browser.newContext': async (t) => {
    const context = await t.browser.newContext();
    t.after(() => context.close());
    const page = await context.newPage();
    await t.visit('widgets.html', page);
    assert.equal(await page.title(), 'widgets');
  },
  'Browser.newPage': async (t) => {
    const page = await t.browser.newPage({ viewport: { width: 333, height: 222 } });
    t.after(() => page.close());
    assert.equal(await page.evaluate(() => innerWidth), 333);
  },
  'Browser.newBrowserCDPSession': async (t) => {
    const session = await t.browser.newBrowserCDPSession();
    assert.match((await session.send('Browser.getVersion')).product, /^(Headless)?Chrome\//);
    await session.detach();
  },
  'Browser.startTracing': async (t) => {
    await t.browser.startTracing(t.page, { screenshots: false });
    await t.visit();
    assertTrace(await t.browser.stopTracing());
  },
  'Browser.stopTracing': async (t) => {
    // Without a page, the browser itself is asked.
    await t.browser.startTracing(undefined, { categories: ['devtools.timeline', 'loading'] });
    await t.visit();
    assertTrace(await t.browser.stopTracing());
  },
};
