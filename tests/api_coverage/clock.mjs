// Clock. It cannot be taken out of a context again, so each case comes as a client of its own.

import assert from 'node:assert/strict';

const START = new Date('2024-02-02T10:00:00Z');

async function ticking(t, set = (clock) => clock.install({ time: START })) {
  const { context } = await t.another();
  const page = await context.newPage();
  t.after(() => page.close());
  await set(page.clock);
  await t.visit('widgets.html', page);
  return page;
}

const minutes = (page) => page.evaluate((start) => Math.floor((Date.now() - start) / 60_000), +START);

/** Counts in the page what happens every minute. */
const count = (page) => page.evaluate(() => {
  window.fired = 0;
  setInterval(() => { window.fired += 1; }, 60_000);
});

export const cases = {
  'Clock.install': async (t) => {
    const page = await ticking(t);
    assert.equal(await page.evaluate(() => new Date().getUTCFullYear()), 2024);
  },
  'Clock.fastForward': async (t) => {
    const page = await ticking(t);
    await count(page);
    await page.clock.fastForward('05:00');
    assert.equal(await minutes(page), 5);
    assert.equal(await page.evaluate('fired'), 1);
  },
  'Clock.runFor': async (t) => {
    const page = await ticking(t);
    await count(page);
    await page.clock.runFor(5 * 60_000);
    assert.equal(await page.evaluate('fired'), 5);
  },
  'Clock.pauseAt': async (t) => {
    const page = await ticking(t);
    await page.clock.pauseAt(new Date(+START + 10 * 60_000));
    const times = await page.evaluate(async () => {
      const before = Date.now();
      await fetch('/echo');
      return [before, Date.now()];
    });
    assert.deepEqual(times, [+START + 10 * 60_000, +START + 10 * 60_000]);
  },
  'Clock.resume': async (t) => {
    const page = await ticking(t);
    await page.clock.pauseAt(new Date(+START + 60_000));
    await page.clock.resume();
    await page.waitForFunction((from) => Date.now() > from, +START + 60_000);
  },
  'Clock.setFixedTime': async (t) => {
    const page = await ticking(t, (clock) => clock.setFixedTime(START));
    assert.equal(await page.evaluate(() => Date.now()), +START);
  },
  'Clock.setSystemTime': async (t) => {
    const page = await ticking(t, (clock) => clock.setSystemTime(START));
    assert.equal(await minutes(page), 0);
  },
};
