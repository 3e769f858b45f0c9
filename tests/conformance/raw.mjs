// A client that sends exactly what it is told, and sockets that die without a word.
import { once } from 'node:events';
import net from 'node:net';
import WebSocket from 'ws';

/// The address of the browser's socket.
export async function socketOf(endpoint) {
  const version = await fetch(`${endpoint}/json/version`);
  return (await version.json()).webSocketDebuggerUrl;
}

/// A CDP connection: `send(method, params, session)`, `events` as they came, `next(method)`.
export class Raw {
  static async connect(url) {
    const socket = new WebSocket(url, { perMessageDeflate: false, maxPayload: 256 << 20 });
    await once(socket, 'open');
    return new Raw(socket);
  }

  #last = 0;
  #calls = new Map();
  #waiters = new Set();
  events = [];

  constructor(socket) {
    this.socket = socket;
    socket.on('message', (text) => this.#read(JSON.parse(text)));
    socket.on('close', () => {
      for (const call of this.#calls.values()) call.reject(new Error('the socket closed'));
    });
    socket.on('error', () => {});
  }

  #read(message) {
    const call = this.#calls.get(message.id);
    if (call) {
      this.#calls.delete(message.id);
      if (message.error) call.reject(new Error(`${call.method}: ${message.error.message}`));
      else call.resolve(message.result);
      return;
    }
    this.events.push(message);
    for (const waiter of this.#waiters) waiter();
  }

  send(method, params = {}, sessionId) {
    const id = ++this.#last;
    this.socket.send(JSON.stringify({ id, method, params, sessionId }));
    return new Promise((resolve, reject) => this.#calls.set(id, { method, resolve, reject }));
  }

  /// The first event of that kind, past or to come, that is as wanted; `from` skips earlier ones.
  next(method, wanted = () => true, from = 0) {
    const find = () => this.events.slice(from).find((event) => event.method === method && wanted(event));
    return new Promise((resolve) => {
      const look = () => {
        const found = find();
        if (!found) return;
        this.#waiters.delete(look);
        resolve(found);
      };
      this.#waiters.add(look);
      look();
    });
  }

  /// Attaches to a target and gives the session.
  async attach(targetId) {
    return (await this.send('Target.attachToTarget', { targetId, flatten: true })).sessionId;
  }

  async pages() {
    const { targetInfos } = await this.send('Target.getTargets');
    return targetInfos.filter((target) => target.type === 'page' && !target.url.startsWith('chrome-extension:'));
  }

  /// Closes all other pages, and waits until they are gone.
  async closeAllBut(kept) {
    await this.send('Target.setDiscoverTargets', { discover: true });
    const others = (await this.pages()).filter(({ targetId }) => !kept.includes(targetId));
    await Promise.all(others.map(async ({ targetId }) => {
      // The target may be gone already.
      await this.send('Target.closeTarget', { targetId }).catch(() => {});
      await this.next('Target.targetDestroyed', ({ params }) => params.targetId === targetId);
    }));
  }

  async evaluate(expression, session) {
    const params = { expression, returnByValue: true, awaitPromise: true, userGesture: true };
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', params, session);
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  close() {
    this.socket.terminate();
  }
}

/// A way to the browser that can be cut: `kill()` is what happens when a client's machine loses its
/// power. It is cut of itself when the client has sent so many pieces; `cut` waits for that.
export async function killable(endpoint, pieces = Infinity) {
  const target = new URL(await socketOf(endpoint));
  const sockets = new Set();
  let cutOff;
  const cut = new Promise((resolve) => (cutOff = resolve));
  let sent = 0;
  const server = net.createServer((near) => {
    const far = net.connect(Number(target.port), target.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {});
    }
    near.once('data', (head) => {
      // The browser's guard wants its own name in the request.
      far.write(head.toString('latin1').replace(/^Host: .*$/im, `Host: ${target.host}`), 'latin1');
      near.pipe(far).pipe(near);
      near.on('data', () => {
        if (++sent >= pieces) kill();
      });
    });
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = Object.assign(new URL(target), { host: `127.0.0.1:${server.address().port}` });
  const kill = () => {
    for (const socket of sockets) socket.resetAndDestroy();
    server.close();
    cutOff();
  };
  return { url: url.href, kill, cut };
}

/// Remembers which pages are there; the function it gives closes all others and blanks those.
export async function tidyUp(endpoint) {
  const url = await socketOf(endpoint);
  const look = await Raw.connect(url);
  const kept = (await look.pages()).map((page) => page.targetId);
  look.close();
  return async () => {
    const raw = await Raw.connect(url);
    try {
      await raw.closeAllBut(kept);
      for (const { targetId, url: address } of await raw.pages()) {
        if (address !== 'about:blank') await blank(raw, targetId);
      }
    } finally {
      raw.close();
    }
  };
}

async function blank(raw, targetId) {
  const session = await raw.attach(targetId);
  await raw.send('Page.enable', {}, session);
  await raw.send('Page.navigate', { url: 'about:blank' }, session);
  await raw.next('Page.loadEventFired', ({ sessionId }) => sessionId === session);
}
