// CDPSession.

import assert from 'node:assert/strict';

async function session(t, page) {
  const session = await t.context.newCDPSession(page ?? (await t.visit()));
  t.after(() => session.detach().catch(() => {}));
  return session;
}

export const cases = {
  'CDPSession.send': async (t) => {
    const { root } = await (await session(t)).send('DOM.getDocument');
    assert.equal(root.nodeName, '#document');
  },
  'CDPSession.send (an error)': async (t) => {
    await assert.rejects((await session(t)).send('No.such'), /'No\.such' wasn't found/);
  },
  'CDPSession.send (touch)': async (t) => {
    const page = await t.visit();
    const touch = await session(t, page);
    const { x, y } = await page.locator('#press').boundingBox();
    await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x: x + 3, y: y + 3 }] });
    await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
    await page.waitForFunction("seen.includes('touchstart press')");
  },
  'CDPSession.detach': async (t) => {
    const page = await t.visit();
    const gone = await t.context.newCDPSession(page);
    await gone.detach();
    await assert.rejects(gone.send('DOM.getDocument'), /closed/);
    assert.equal(await page.title(), 'widgets');
  },
  'CDPSession.on (event)': async (t) => {
    const page = await t.visit();
    const network = await session(t, page);
    await network.send('Network.enable');
    const sent = new Promise((resolve) => network.once('Network.requestWillBeSent', resolve));
    await page.evaluate(() => fetch('/echo'));
    assert.equal((await sent).request.url, `${t.site}/echo`);
  },
  'CDPSession.on (event: any)': async (t) => {
    const page = await t.visit();
    const runtime = await session(t, page);
    const heard = new Promise((resolve) => {
      runtime.on('event', ({ method }) => method === 'Runtime.consoleAPICalled' && resolve(method));
    });
    await runtime.send('Runtime.enable');
    await page.evaluate(() => console.log('x'));
    assert.equal(await heard, 'Runtime.consoleAPICalled');
  },
  'CDPSession.on (close)': async (t) => {
    const page = await t.fresh();
    const detached = await session(t, page);
    const closed = new Promise((resolve) => detached.once('close', resolve));
    await page.close();
    assert.equal(await closed, detached);
  },
  'CDPSession.on (events that were not asked for)': async (t) => {
    const page = await t.visit();
    const quiet = await session(t, page);
    const heard = [];
    quiet.on('event', ({ method }) => heard.push(method));
    await page.reload();
    await quiet.send('Runtime.evaluate', { expression: '1' });
    assert.deepEqual(heard, []);
  },
};
