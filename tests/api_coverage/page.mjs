// Page: what it shows, where it goes and what it waits for.

import assert from 'node:assert/strict';
import { actionsOn } from './actions.mjs';
import { until } from './bench.mjs';
import { documentsOn } from './frame.mjs';
import { lookupsOn, queriesOn } from './queries.mjs';

const widgets = (t) => t.visit();
const acting = async (t) => {
  const page = await t.visit();
  return { frame: page, act: (method, selector, ...args) => page[method](selector, ...args) };
};

export const cases = {
  ...actionsOn('Page', acting),
  ...queriesOn('Page', widgets),
  ...lookupsOn('Page', widgets),
  ...documentsOn('Page', widgets),

  'Page.goto (an address that nobody answers)': async (t) => {
    t.spoil();
    await assert.rejects(t.page.goto('http://127.0.0.1:1/'), /ERR_/);
  },
  'Page.goto (another site)': async (t) => {
    await t.visit();
    await t.page.goto(`${t.elsewhere}/index.html`);
    assert.equal(await t.page.evaluate(() => location.hostname), 'localhost');
  },
  'Page.goto (a redirect)': async (t) => {
    const response = await t.page.goto(`${t.site}/redirect`);
    assert.equal(response.url(), `${t.site}/echo`);
    assert.equal(response.request().redirectedFrom().url(), `${t.site}/redirect`);
  },
  'Page.goto (until commit)': async (t) => {
    const response = await t.page.goto(`${t.site}/index.html`, { waitUntil: 'commit' });
    assert.equal(response.status(), 200);
  },
  'Page.reload': async (t) => {
    await t.visit();
    await t.page.evaluate(() => { window.mark = 1; });
    assert.equal((await t.page.reload()).status(), 200);
    assert.equal(await t.page.evaluate(() => window.mark), undefined);
  },
  'Page.goBack': async (t) => {
    await travel(t);
    await t.page.goBack();
    assert.equal(await t.page.title(), 'widgets');
  },
  'Page.goBack (within a page)': async (t) => {
    await t.visit();
    await t.page.evaluate(() => history.pushState({}, '', '/pushed'));
    await t.page.goBack();
    assert.equal(t.page.url(), `${t.site}/widgets.html`);
  },
  'Page.goForward': async (t) => {
    await travel(t);
    await t.page.goBack();
    await t.page.goForward();
    assert.equal(await t.page.title(), 'a page');
  },
  'Page.context': async (t) => assert.equal(t.page.context(), t.context),
  'Page.opener': async (t) => {
    assert.equal(await t.page.opener(), null);
    const popup = await popupOf(t);
    assert.equal(await popup.opener(), t.page);
  },
  'Page.mainFrame': async (t) => {
    await t.visit();
    assert.equal(t.page.mainFrame().url(), t.page.url());
  },
  'Page.frame': async (t) => {
    const frame = await t.foreignFrame();
    assert.equal(t.page.frame('framed'), frame);
  },
  'Page.frames': async (t) => {
    const frame = await t.foreignFrame();
    assert.equal(t.page.frames().indexOf(frame), 1);
  },
  'Page.frameLocator': async (t) => {
    await t.foreignFrame();
    assert.equal(await t.page.frameLocator('[name=framed]').locator('h1').innerText(), 'Widgets');
  },
  'Page.getByRef': async (t) => {
    await t.visit();
    const [, ref] = (await t.page.ariaSnapshot({ mode: 'ai' })).match(/"Press me".*\[ref=(\w+)\]/);
    assert.equal(await t.page.getByRef(ref).getAttribute('id'), 'press');
  },
  'Page.ariaSnapshot': async (t) => {
    await t.visit();
    assert.match(await t.page.ariaSnapshot(), /- heading "Widgets" \[level=1\]/);
  },
  'Page.ariaSnapshot (with frames of other sites)': async (t) => {
    await t.foreignFrame();
    assert.match(await t.page.ariaSnapshot({ mode: 'ai' }), /iframe[^]*heading "Widgets"/);
  },
  'Page.ariaSnapshotJSON': async (t) => {
    await t.visit();
    assert.match(JSON.stringify(await t.page.ariaSnapshotJSON()), /heading.*Widgets/);
  },
  'Page.hideHighlight': async (t) => {
    await t.visit();
    await t.page.locator('h1').highlight();
    await t.page.hideHighlight();
    await t.page.waitForFunction(() => !document.querySelector('x-pw-glass'));
  },
  'Page.pickLocator': async (t) => {
    const { page } = await alone(t);
    const picking = page.pickLocator();
    await page.waitForSelector('x-pw-glass', { state: 'attached' });
    await page.mouse.move(5, 5);
    await page.locator('#press').click({ trial: true });
    await until('the pick', async () => {
      await page.locator('#press').click({ force: true });
      return Promise.race([picking, new Promise((resolve) => setTimeout(resolve, 50))]);
    });
    assert.match((await picking).toString(), /press/);
  },
  'Page.cancelPickLocator': async (t) => {
    const { page } = await alone(t);
    const picking = assert.rejects(page.pickLocator(), /cancelled/);
    await page.waitForSelector('x-pw-glass', { state: 'attached' });
    await page.cancelPickLocator();
    await picking;
  },
  'Page.addLocatorHandler': async (t) => {
    const page = await t.visit();
    await cover(page);
    await page.addLocatorHandler(page.locator('#cover'), async (cover) => {
      await cover.evaluate((node) => node.remove());
    });
    t.spoil();
    await page.click('#press');
    assert.ok((await page.evaluate('seen')).includes('click press'));
  },
  'Page.removeLocatorHandler': async (t) => {
    const page = await t.visit();
    await cover(page);
    const covered = page.locator('#cover');
    let called = false;
    await page.addLocatorHandler(covered, () => { called = true; });
    await page.removeLocatorHandler(covered);
    await assert.rejects(page.click('#press', { timeout: 500 }), /Timeout/);
    assert.equal(called, false);
  },
  'Page.setDefaultTimeout': async (t) => {
    t.page.setDefaultTimeout(50);
    t.spoil();
    await assert.rejects(t.page.click('#nowhere'), /Timeout 50ms/);
  },
  'Page.setDefaultNavigationTimeout': async (t) => {
    t.page.setDefaultNavigationTimeout(60);
    t.spoil();
    await assert.rejects(t.page.goto(`${t.site}/silent`), /Timeout 60ms/);
  },
  'Page.waitForEvent': async (t) => {
    const console = t.page.waitForEvent('console', (message) => message.text() === 'second');
    await t.page.evaluate(() => ['first', 'second'].forEach((text) => globalThis.console.log(text)));
    assert.equal((await console).text(), 'second');
  },
  'Page.waitForRequest': async (t) => {
    await t.visit();
    const request = t.page.waitForRequest('**/echo');
    await t.page.evaluate(() => void fetch('/echo', { method: 'PUT', body: 'x' }));
    assert.equal((await request).method(), 'PUT');
  },
  'Page.waitForResponse': async (t) => {
    await t.visit();
    const response = t.page.waitForResponse((response) => response.url().endsWith('/echo'));
    await t.page.evaluate(() => void fetch('/echo', { method: 'POST', body: 'posted' }));
    assert.equal((await (await response).json()).body, 'posted');
  },
  'Page.requests': async (t) => {
    await t.visit();
    await t.page.evaluate(() => fetch('/echo?listed'));
    const urls = (await t.page.requests()).map((request) => request.url());
    assert.ok(urls.includes(`${t.site}/echo?listed`), urls.join());
  },
  'Page.workers': async (t) => {
    const worker = t.page.waitForEvent('worker');
    await t.visit('talking-worker.html');
    await worker;
    assert.deepEqual(t.page.workers().map((worker) => worker.url()), [`${t.site}/talking-worker.js`]);
  },
  'Page.consoleMessages': async (t) => {
    const page = await t.fresh('widgets.html');
    await page.evaluate(() => console.info('kept'));
    assert.deepEqual((await page.consoleMessages()).map((message) => message.text()), ['kept']);
  },
  'Page.clearConsoleMessages': async (t) => {
    const page = await t.fresh('widgets.html');
    await page.evaluate(() => console.info('kept'));
    await page.clearConsoleMessages();
    assert.equal((await page.consoleMessages()).length, 0);
  },
  'Page.pageErrors': async (t) => {
    assert.deepEqual((await (await broken(t)).pageErrors()).map((error) => error.message), ['oh']);
  },
  'Page.clearPageErrors': async (t) => {
    const page = await broken(t);
    await page.clearPageErrors();
    assert.deepEqual(await page.pageErrors(), []);
  },
};

/** Goes from one page to the next. Playwright does not hear of a page that Chrome kept aside. */
async function travel(t) {
  for (const path of ['widgets.html', 'index.html']) {
    await t.visit(path);
    await t.page.evaluate(() => addEventListener('unload', () => {}));
  }
}

async function popupOf(t) {
  await t.visit('popups.html');
  const popup = t.page.waitForEvent('popup');
  await t.page.click('#open');
  return popup;
}

/** A page of a client that leaves afterwards, since the picker stays with its client. */
async function alone(t) {
  const { context } = await t.another();
  const page = await context.newPage();
  t.after(() => page.close());
  await t.visit('widgets.html', page);
  return { page };
}

async function broken(t) {
  const page = await t.fresh('widgets.html');
  const error = page.waitForEvent('pageerror');
  await page.evaluate(() => { setTimeout(() => { throw new Error('oh'); }); });
  await error;
  return page;
}

const cover = (page) => page.evaluate(() => {
  const cover = document.createElement('div');
  cover.id = 'cover';
  cover.style = 'position: fixed; inset: 0; background: pink';
  document.body.append(cover);
});
