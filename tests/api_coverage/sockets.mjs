// WebSocket and WebSocketRoute.

import assert from 'node:assert/strict';

/** A socket of the page's, open, as the page and as Playwright have it. */
async function opened(t) {
  await t.visit();
  const waiting = t.page.waitForEvent('websocket');
  await t.page.evaluate(() => new Promise((resolve) => {
    window.socket = new WebSocket('/socket');
    window.socket.onopen = () => resolve();
  }));
  return waiting;
}

const say = (t, text) => t.page.evaluate((text) => window.socket.send(text), text);

/** What a page hears on a socket that `handle` is given to route. */
async function routed(t, handle, protocols = []) {
  const page = await t.fresh();
  let route;
  await page.routeWebSocket('**/socket', (socket) => {
    route = socket;
    return handle(socket);
  });
  await t.visit('widgets.html', page);
  await page.evaluate((protocols) => new Promise((resolve) => {
    window.heard = [];
    window.socket = new WebSocket('/socket', protocols);
    window.socket.onmessage = ({ data }) => window.heard.push(data);
    window.socket.onclose = ({ code, reason }) => window.heard.push(`${code} ${reason}`);
    window.socket.onopen = () => resolve();
  }), protocols);
  const hears = async (wanted) => page.waitForFunction((wanted) => window.heard.includes(wanted), wanted);
  const says = (text) => page.evaluate((text) => window.socket.send(text), text);
  return { page, route, hears, says };
}

export const cases = {
  'WebSocket.url': async (t) => assert.match((await opened(t)).url(), /\/socket$/),
  'WebSocket.isClosed': async (t) => {
    const socket = await opened(t);
    assert.equal(socket.isClosed(), false);
    const closed = socket.waitForEvent('close');
    await t.page.evaluate(() => window.socket.close());
    await closed;
    assert.equal(socket.isClosed(), true);
  },
  'WebSocket.waitForEvent': async (t) => {
    const socket = await opened(t);
    const frame = socket.waitForEvent('framereceived', ({ payload }) => payload === 'second');
    await say(t, 'first');
    await say(t, 'second');
    assert.equal((await frame).payload, 'second');
  },
  'WebSocket.on (close)': async (t) => {
    const socket = await opened(t);
    const closed = socket.waitForEvent('close');
    await t.page.evaluate(() => window.socket.close());
    assert.equal(await closed, socket);
  },
  'WebSocket.on (framesent)': async (t) => {
    const frame = (await opened(t)).waitForEvent('framesent');
    await say(t, 'out');
    assert.equal((await frame).payload, 'out');
  },
  'WebSocket.on (framereceived)': async (t) => {
    const frame = (await opened(t)).waitForEvent('framereceived');
    await t.page.evaluate(() => window.socket.send(new Uint8Array([1, 2, 3])));
    assert.deepEqual([...(await frame).payload], [1, 2, 3]);
  },
  'WebSocket.on (socketerror)': async (t) => {
    await t.visit();
    const error = new Promise((resolve) => {
      t.page.once('websocket', (socket) => socket.once('socketerror', resolve));
    });
    await t.page.evaluate(() => { new WebSocket('/index.html'); });
    assert.match(await error, /handshake/);
  },

  'Page.routeWebSocket': async (t) => {
    const { hears, says } = await routed(t, (socket) => socket.onMessage((text) => socket.send(`${text}?`)));
    await says('well');
    await hears('well?');
  },
  'WebSocketRoute.url': async (t) => {
    const { route } = await routed(t, () => {});
    assert.match(route.url(), /^ws:.*\/socket$/);
  },
  'WebSocketRoute.protocols': async (t) => {
    const { route } = await routed(t, () => {}, ['chat', 'talk']);
    assert.deepEqual(route.protocols(), ['chat', 'talk']);
  },
  'WebSocketRoute.send': async (t) => {
    const { route, hears } = await routed(t, () => {});
    route.send('from nowhere');
    await hears('from nowhere');
  },
  'WebSocketRoute.onMessage': async (t) => {
    let message;
    const said = new Promise((resolve) => { message = resolve; });
    const { says } = await routed(t, (socket) => socket.onMessage(message));
    await says('a word');
    assert.equal(await said, 'a word');
  },
  'WebSocketRoute.onClose': async (t) => {
    let close;
    const closed = new Promise((resolve) => { close = resolve; });
    const { page } = await routed(t, (socket) => socket.onClose((code) => close(code)));
    await page.evaluate(() => window.socket.close(3001));
    assert.equal(await closed, 3001);
  },
  'WebSocketRoute.close': async (t) => {
    const { route, hears } = await routed(t, () => {});
    await route.close({ code: 3002, reason: 'enough' });
    await hears('3002 enough');
  },
  'WebSocketRoute.connectToServer': async (t) => {
    const { hears, says } = await routed(t, (socket) => {
      const server = socket.connectToServer();
      socket.onMessage((text) => server.send(`(${text})`));
    });
    await says('through');
    await hears('(through)');
  },
};
