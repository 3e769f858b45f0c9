// Two clients on one tab, neither of which may notice the other.
import { relayOnly, same, truly, until } from '../features.mjs';
import { killable } from '../raw.mjs';

/// The same page, as two clients have it.
export async function onePage({ visit, another }, path, way) {
  const a = await visit(`${path}?${Math.random()}`);
  const other = await another(way);
  const find = () => other.contexts()[0].pages().find((page) => page.url() === a.url());
  const b = await until('the page at the other client', find);
  return { a, b, other };
}

export const together = {
  'two clients: pending evaluate, handles': async (given) => {
    const page = await given.visit('/form.html');
    const pending = page.evaluate(() => new Promise((resolve) => (window.finish = resolve)));
    const handle = await page.$('button');
    const object = await page.evaluateHandle(() => ({ answer: 42 }));
    await comeAndGo(given, page);
    same(await handle.textContent(), 'greet');
    same(await object.evaluate(({ answer }) => answer), 42);
    await page.evaluate(() => window.finish('finished'));
    same(await pending, 'finished');
  },

  'two clients: exposed function': async (given) => {
    const page = await given.visit('/index.html');
    await page.exposeFunction('double', (value) => value * 2);
    await comeAndGo(given, page);
    same(await page.evaluate(() => window.double(4)), 8);
    await page.goto(`${given.site}/form.html`);
    same(await page.evaluate(() => window.double(5)), 10);
  },

  'two clients: each hears the console once': async (given) => {
    const { a, b } = await onePage(given, '/index.html');
    const heard = { a: [], b: [] };
    a.on('console', (message) => heard.a.push(message.text()));
    b.on('console', (message) => heard.b.push(message.text()));
    for (const word of ['one', 'two', 'three']) await b.evaluate((word) => console.log(word), word);
    await until('the console', () => heard.a.length >= 3 && heard.b.length >= 3);
    await a.evaluate(() => 1);
    same(heard, { a: ['one', 'two', 'three'], b: ['one', 'two', 'three'] });
  },

  'two clients: the late one sees the frame': async (given) => {
    const first = await given.visit('/frames.html');
    const foreign = (page) => page.frames().find((frame) => frame.url().includes('localhost'));
    const frame = await until('the frame', () => foreign(first));
    const { b } = await onePage({ ...given, visit: () => first }, '');
    const late = await until('the frame at the late client', () => foreign(b), 10_000);
    same(await late.evaluate(() => document.title), 'a page');
    same(await frame.evaluate(() => document.title), 'a page');
  },

  'two clients: one closes what the other opened': async (given) => {
    const { a, b, other } = await onePage(given, '/index.html');
    const gone = a.waitForEvent('close');
    await b.close();
    await gone;
    const [seen, opened] = await Promise.all([given.context.waitForEvent('page'), other.contexts()[0].newPage()]);
    await seen.close();
    await until('the page to go', () => opened.isClosed());
  },

  'two clients: the one with a handler answers the dialog': relayOnly(async (given) => {
    const { a } = await onePage(given, '/index.html');
    a.on('dialog', (dialog) => dialog.accept('from a'));
    same(await a.evaluate(() => prompt('who?')), 'from a');
  }),

  'killed client: scripts, bindings and looks go': async (given) => {
    const way = await killable(given.endpoint);
    const { a, b } = await onePage(given, '/index.html', way.url);
    const look = () => ({
      script: window.left,
      binding: typeof window.calls,
      width: innerWidth,
      dark: matchMedia('(prefers-color-scheme: dark)').matches,
    });
    const before = await a.evaluate(look);
    await b.addInitScript(() => (window.left = 'by b'));
    await b.exposeFunction('calls', () => 'b');
    await b.setViewportSize({ width: 333, height: 444 });
    await b.emulateMedia({ colorScheme: 'dark' });
    await b.reload();
    same(await b.evaluate(look), { script: 'by b', binding: 'function', width: 333, dark: true });
    way.kill();
    await until('the looks to go', async () => {
      await a.reload();
      return JSON.stringify(await a.evaluate(look)) === JSON.stringify(before);
    });
  },

  'screencast for two clients': async (given) => {
    const { a, b, other } = await onePage(given, '/animated.html');
    const sessions = [await given.context.newCDPSession(a), await other.contexts()[0].newCDPSession(b)];
    const frames = await Promise.all(sessions.map(async (session) => {
      // Chrome sends no more than a few that nobody has answered.
      session.on('Page.screencastFrame', ({ sessionId }) =>
        session.send('Page.screencastFrameAck', { sessionId }).catch(() => {}));
      const frame = new Promise((resolve) => session.once('Page.screencastFrame', resolve));
      await session.send('Page.startScreencast', { format: 'jpeg' });
      return (await frame).data.slice(0, 4);
    }));
    same(frames, ['/9j/', '/9j/']);
    await sessions[0].send('Page.stopScreencast');
    const more = new Promise((resolve) => sessions[1].once('Page.screencastFrame', resolve));
    await more;
  },
};

/// Another client comes, looks at the page, and leaves.
async function comeAndGo({ another }, page) {
  const other = await another();
  const find = () => other.contexts()[0].pages().find((found) => found.url() === page.url());
  const same = await until('the page at the other client', find);
  truly(await same.evaluate(() => document.title));
  await same.$('button');
  await other.close();
}
