// Page: what a client changes about it, and what it makes of it.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';

const matches = (page, query) => page.evaluate((query) => matchMedia(query).matches, query);

export const cases = {
  'Page.addInitScript': async (t) => {
    const page = await t.fresh();
    await page.addInitScript((value) => { window.early = value; }, 9);
    await t.visit('widgets.html', page);
    assert.equal(await page.evaluate('early'), 9);
  },
  'Page.addInitScript (in a frame of another site)': async (t) => {
    const page = await t.fresh();
    await page.addInitScript('window.early = document.readyState');
    const frame = await t.foreignFrame(page);
    assert.equal(await frame.evaluate('early'), 'loading');
  },
  'Page.addInitScript (disposed)': async (t) => {
    const page = await t.fresh();
    const script = await page.addInitScript('window.early = 1');
    await script.dispose();
    await t.visit('widgets.html', page);
    assert.equal(await page.evaluate(() => window.early), undefined);
  },
  'Page.exposeFunction': async (t) => {
    const page = await t.fresh('widgets.html');
    await page.exposeFunction('add', (a, b) => a + b);
    assert.equal(await page.evaluate(() => add(2, 3)), 5);
    await page.reload();
    assert.equal(await page.evaluate(() => add(4, 5)), 9);
  },
  'Page.exposeFunction (in a frame of another site)': async (t) => {
    const page = await t.fresh();
    await page.exposeFunction('add', (a, b) => a + b);
    const frame = await t.foreignFrame(page);
    assert.equal(await frame.evaluate(() => add(2, 3)), 5);
  },
  'Page.exposeFunction (throws)': async (t) => {
    const page = await t.fresh('widgets.html');
    await page.exposeFunction('fail', () => { throw new Error('on purpose'); });
    assert.equal(await page.evaluate(() => fail().catch((error) => error.message)), 'on purpose');
  },
  'Page.exposeBinding': async (t) => {
    const page = await t.fresh('widgets.html');
    await page.exposeBinding('whoAmI', ({ page, frame }) => `${page.url()} ${frame === page.mainFrame()}`);
    assert.equal(await page.evaluate(() => whoAmI()), `${t.site}/widgets.html true`);
  },
  'Page.setExtraHTTPHeaders': async (t) => {
    const page = await t.fresh();
    await page.setExtraHTTPHeaders({ 'x-walk': 'yes' });
    const response = await page.goto(`${t.site}/echo`);
    assert.equal((await response.json()).headers['x-walk'], 'yes');
  },
  'Page.emulateMedia (colour scheme)': async (t) => {
    const page = await t.fresh();
    for (const colorScheme of ['dark', 'light']) {
      await page.emulateMedia({ colorScheme });
      assert.ok(await matches(page, `(prefers-color-scheme: ${colorScheme})`));
    }
  },
  'Page.emulateMedia': async (t) => {
    const page = await t.fresh();
    await page.emulateMedia({ media: 'print', reducedMotion: 'reduce', forcedColors: 'active', contrast: 'more' });
    for (const query of ['print', '(prefers-reduced-motion: reduce)', '(forced-colors: active)', '(prefers-contrast: more)']) {
      assert.ok(await matches(page, query), query);
    }
  },
  'Page.setViewportSize': async (t) => {
    const page = await t.fresh();
    await page.setViewportSize({ width: 432, height: 321 });
    assert.deepEqual(await page.evaluate(() => [innerWidth, innerHeight]), [432, 321]);
  },
  'Page.viewportSize': async (t) => {
    const page = await t.fresh();
    assert.equal(page.viewportSize(), null);
    await page.setViewportSize({ width: 432, height: 321 });
    assert.deepEqual(page.viewportSize(), { width: 432, height: 321 });
  },
  'Page.screenshot': async (t) => {
    const page = await t.fresh('widgets.html');
    await page.setViewportSize({ width: 400, height: 300 });
    const png = await page.screenshot();
    assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [400, 300]);
  },
  'Page.screenshot (the full page, as JPEG, to a file)': async (t) => {
    const page = await t.visit();
    const path = t.file('full.jpeg');
    await page.screenshot({ fullPage: true, path });
    assert.deepEqual([...(await readFile(path)).subarray(0, 3)], [0xff, 0xd8, 0xff]);
  },
  'Page.screenshot (a clip)': async (t) => {
    const page = await t.visit();
    const png = await page.screenshot({ clip: { x: 10, y: 10, width: 50, height: 20 } });
    assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [50, 20]);
  },
  'Page.pdf': async (t) => {
    const page = await t.visit();
    assert.equal((await page.pdf({ format: 'A4' })).subarray(0, 5).toString(), '%PDF-');
  },
  'Page.bringToFront': async (t) => {
    const page = await t.fresh('widgets.html');
    await page.bringToFront();
    assert.equal(await page.evaluate(() => document.visibilityState), 'visible');
  },
  'Page.requestGC': async (t) => {
    const page = await t.visit();
    await page.evaluate(() => { window.weak = new WeakRef({}); });
    await page.requestGC();
    assert.equal(await page.evaluate(() => window.weak.deref()), undefined);
  },
  'Page.isClosed': async (t) => {
    const page = await t.fresh();
    assert.equal(page.isClosed(), false);
    await page.close();
    assert.equal(page.isClosed(), true);
  },
  'Page.close': async (t) => {
    const page = await t.fresh('widgets.html');
    const before = t.context.pages().length;
    await page.close();
    assert.equal(t.context.pages().length, before - 1);
    await assert.rejects(page.evaluate(() => 1), /closed/);
  },
  'Page.close (a page that would ask first)': async (t) => {
    const page = await reluctant(t);
    await page.close();
    assert.ok(page.isClosed());
  },
  'Page.close (asking first)': async (t) => {
    const page = await reluctant(t);
    const dialog = page.waitForEvent('dialog');
    const closed = page.waitForEvent('close');
    await page.close({ runBeforeUnload: true });
    assert.equal((await dialog).type(), 'beforeunload');
    await (await dialog).accept();
    await closed;
  },
};

/** A page that does not want to be left. */
async function reluctant(t) {
  const page = await t.fresh('widgets.html');
  await page.evaluate(() => addEventListener('beforeunload', (event) => event.preventDefault()));
  // Chrome asks only for a page that somebody used.
  await page.click('#press');
  return page;
}
