// Screencast: what people watch.

import assert from 'node:assert/strict';
import { until } from './bench.mjs';

/** Waits until a page looks as wanted, compared to how it looked. */
const changes = (t, page, before) => until('another picture', async () => (await t.picture(page)) !== before);
const returns = (t, page, before) => until('the picture as before', async () => (await t.picture(page)) === before);

async function plain(t) {
  const page = await t.fresh('widgets.html');
  return { page, before: await t.picture(page) };
}

export const cases = {
  'Screencast.start': async (t) => {
    const page = await t.fresh('animated.html');
    const frames = [];
    let last;
    // More than Chrome sends to one who does not acknowledge.
    const enough = new Promise((resolve) => { last = resolve; });
    await page.screencast.start({ onFrame: (frame) => { if (frames.push(frame) === 12) last(); } });
    await enough;
    await page.screencast.stop();
    assert.deepEqual([...frames[11].data.subarray(0, 2)], [0xff, 0xd8]);
  },
  'Screencast.stop': async (t) => {
    const page = await t.fresh('animated.html');
    let frames = 0;
    let first;
    const one = new Promise((resolve) => { first = resolve; });
    await page.screencast.start({ onFrame: () => { frames += 1; first(); } });
    await one;
    await page.screencast.stop();
    const stopped = frames;
    await page.evaluate(() => new Promise((resolve) => { setTimeout(resolve, 200); }));
    assert.equal(frames, stopped);
  },
  'Screencast.showOverlay': async (t) => {
    const { page, before } = await plain(t);
    const overlay = await page.screencast.showOverlay('<h1>an overlay</h1>');
    await changes(t, page, before);
    await overlay.dispose();
    await returns(t, page, before);
  },
  'Screencast.hideOverlays': async (t) => {
    const { page, before } = await plain(t);
    await page.screencast.showOverlay('<h1>an overlay</h1>');
    await changes(t, page, before);
    await page.screencast.hideOverlays();
    await returns(t, page, before);
  },
  'Screencast.showOverlays': async (t) => {
    const { page, before } = await plain(t);
    await page.screencast.showOverlay('<h1>an overlay</h1>');
    await page.screencast.hideOverlays();
    await returns(t, page, before);
    await page.screencast.showOverlays();
    await changes(t, page, before);
  },
  'Screencast.showChapter': async (t) => {
    const { page, before } = await plain(t);
    const shown = page.screencast.showChapter('a chapter', { duration: 1500 });
    await changes(t, page, before);
    await shown;
  },
  'Screencast.showActions': async (t) => {
    const { page, before } = await plain(t);
    await page.screencast.showActions({ duration: 1500 });
    const clicked = page.locator('h1').click();
    await changes(t, page, before);
    await clicked;
  },
  'Screencast.hideActions': async (t) => {
    const { page, before } = await plain(t);
    await page.screencast.showActions({ duration: 1500 });
    await page.screencast.hideActions();
    await page.locator('h1').click();
    assert.equal(await t.picture(page), before);
  },
};
