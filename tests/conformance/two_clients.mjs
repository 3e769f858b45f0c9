// Features of two clients on one tab, neither of which may notice the other. Playwright and Puppeteer
// share them; an adapter says how each of them does what they name differently:
//
//   pagesOf(browser)          the pages that a client has, or a promise of them
//   leave(browser)            ends a client's connection, and nothing else
//   textOf(handle)            the text of an element
//   routeOf(url)              what `another` takes to connect to this address
//   change(page)              adds an init script that sets `window.left`, a viewport and dark colours
//   lateFrame                 how long a late client may take to see a frame, if not as long as usual
import { relayOnly, same, truly, until } from './features.mjs';
import { killable } from './raw.mjs';

export function twoClients({ pagesOf, leave, textOf, routeOf, change, lateFrame }) {
  const pageOf = (browser, url) => until('the page at the other client', async () =>
    (await pagesOf(browser)).find((page) => page.url() === url));

  /// The same page, as two clients have it.
  async function onePage({ visit, another }, path, route) {
    const a = await visit(`${path}?${Math.random()}`);
    const other = await another(route);
    return { a, b: await pageOf(other, a.url()), other };
  }

  /// Connects another client, which looks at the page and leaves.
  async function comeAndGo({ another }, page) {
    const other = await another();
    const found = await pageOf(other, page.url());
    truly(await found.evaluate(() => document.title));
    await found.$('button');
    await leave(other);
  }

  const features = {
    'two clients: pending evaluate, handles': async (given) => {
      const page = await given.visit('/form.html');
      const pending = page.evaluate(() => new Promise((resolve) => (window.finish = resolve)));
      const handle = await page.$('button');
      const object = await page.evaluateHandle(() => ({ answer: 42 }));
      await comeAndGo(given, page);
      same(await textOf(handle), 'greet');
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
      const b = await pageOf(await given.another(), first.url());
      const late = await until('the frame at the late client', () => foreign(b), lateFrame);
      same(await late.evaluate(() => document.title), 'a page');
      same(await frame.evaluate(() => document.title), 'a page');
    },

    'two clients: the one with a handler answers the dialog': relayOnly(async (given) => {
      const { a } = await onePage(given, '/index.html');
      a.on('dialog', (dialog) => dialog.accept('from a'));
      same(await a.evaluate(() => prompt('who?')), 'from a');
    }),

    'killed client: scripts, bindings and looks go': async (given) => {
      const way = await killable(given.endpoint);
      const { a, b } = await onePage(given, '/index.html', routeOf(way.url));
      const look = () => ({
        script: window.left,
        binding: typeof window.calls,
        width: innerWidth,
        dark: matchMedia('(prefers-color-scheme: dark)').matches,
      });
      const before = await a.evaluate(look);
      await change(b);
      await b.exposeFunction('calls', () => 'b');
      await b.reload();
      same(await b.evaluate(look), { script: 'by b', binding: 'function', width: 333, dark: true });
      way.kill();
      await until('the looks to go', async () => {
        await a.reload();
        return JSON.stringify(await a.evaluate(look)) === JSON.stringify(before);
      });
    },
  };

  return { features, onePage };
}
