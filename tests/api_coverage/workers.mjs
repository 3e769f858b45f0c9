// Worker: dedicated ones and service workers.

import assert from 'node:assert/strict';
import { withServiceWorker } from './context.mjs';

async function dedicated(t) {
  const worker = t.page.waitForEvent('worker');
  await t.visit('talking-worker.html');
  return worker;
}

async function service(t) {
  const worker = t.context.waitForEvent('serviceworker');
  await withServiceWorker(t);
  return worker;
}

export const cases = {
  'Worker.url': async (t) => assert.equal((await dedicated(t)).url(), `${t.site}/talking-worker.js`),
  'Worker.evaluate': async (t) => {
    assert.equal(await (await dedicated(t)).evaluate((more) => self.answer + more, 1), 43);
  },
  'Worker.evaluate (in a service worker)': async (t) => {
    assert.equal(await (await service(t)).evaluate(() => self.answer), 43);
  },
  'Worker.evaluate (in a worker of a worker)': async (t) => {
    const outer = await dedicated(t);
    const inner = t.page.waitForEvent('worker');
    await outer.evaluate(() => { self.inner = new Worker('/talking-worker.js?inner'); });
    assert.equal(await (await inner).evaluate(() => location.search), '?inner');
  },
  'Worker.evaluateHandle': async (t) => {
    const handle = await (await dedicated(t)).evaluateHandle(() => ({ here: self.answer }));
    assert.deepEqual(await handle.jsonValue(), { here: 42 });
  },
  'Worker.waitForEvent': async (t) => {
    const worker = await dedicated(t);
    const closed = worker.waitForEvent('close');
    await t.page.evaluate('worker.terminate()');
    assert.equal(await closed, worker);
  },
  'Worker.on (close)': async (t) => {
    const worker = await dedicated(t);
    const closed = new Promise((resolve) => worker.once('close', resolve));
    await t.visit('index.html');
    await closed;
    assert.equal(t.page.workers().length, 0);
  },
  'Worker.on (console)': async (t) => {
    const worker = await dedicated(t);
    const heard = new Promise((resolve) => {
      worker.on('console', (message) => message.text() === 'again' && resolve(message));
    });
    await worker.evaluate(() => console.log('again'));
    assert.equal((await heard).worker(), worker);
  },
};
