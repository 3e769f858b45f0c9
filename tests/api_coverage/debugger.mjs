// Debugger: a client that holds itself up.

import assert from 'node:assert/strict';
import { until } from './bench.mjs';

/** A client of its own whose next action is held up. */
async function pausing(t) {
  const { context } = await t.another();
  const page = await context.newPage();
  t.after(() => page.close());
  await t.visit('widgets.html', page);
  const paused = () => new Promise((resolve) => context.debugger.once('pausedstatechanged', resolve));
  return { page, debug: context.debugger, paused };
}

export const cases = {
  'Debugger.requestPause': async (t) => {
    const { page, debug, paused } = await pausing(t);
    await debug.requestPause();
    const pausedNow = paused();
    const clicked = page.click('#press');
    await pausedNow;
    assert.ok(debug.pausedDetails());
    await debug.resume();
    await clicked;
  },
  'Debugger.pausedDetails': async (t) => {
    const { page, debug, paused } = await pausing(t);
    assert.equal(debug.pausedDetails(), null);
    await debug.requestPause();
    const pausedNow = paused();
    const clicked = page.click('#press');
    await pausedNow;
    assert.match(debug.pausedDetails().title, /click/i);
    await debug.resume();
    await clicked;
  },
  'Debugger.resume': async (t) => {
    const { page, debug, paused } = await pausing(t);
    await debug.requestPause();
    const pausedNow = paused();
    const clicked = page.click('#press');
    await pausedNow;
    await debug.resume();
    await clicked;
    assert.ok((await page.evaluate('seen')).includes('click press'));
  },
  'Debugger.next': async (t) => {
    const { page, debug, paused } = await pausing(t);
    await debug.requestPause();
    const first = paused();
    const clicked = page.click('#press');
    await first;
    await debug.next();
    await clicked;
    const hovered = page.hover('h1');
    await until('the page to be paused', () => debug.pausedDetails());
    assert.match(debug.pausedDetails().title, /hover/i);
    await debug.resume();
    await hovered;
  },
  'Debugger.runTo': async (t) => {
    const { page, debug, paused } = await pausing(t);
    await debug.requestPause();
    const first = paused();
    const clicked = page.click('#press');
    await first;
    await debug.runTo({ file: 'debugger.mjs' });
    await clicked;
    const focused = page.focus('#name');
    await until('the page to be paused', () => debug.pausedDetails());
    assert.match(debug.pausedDetails().title, /focus/i);
    await debug.resume();
    await focused;
  },
  'Debugger.on (pausedstatechanged)': async (t) => {
    const { page, debug, paused } = await pausing(t);
    await debug.requestPause();
    const on = paused();
    const clicked = page.click('#press');
    await on;
    const off = paused();
    await debug.resume();
    await off;
    assert.equal(debug.pausedDetails(), null);
    await clicked;
  },
};
