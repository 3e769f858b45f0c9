// Two clients on one page, seen through the clients' own methods.
import { get, heard, relayOnly, same, truly, until } from '../features.mjs';

const all = ({ a, b, c }) => [a, b, c];

export const pages = {
  'pending evaluates outlive another client': async (given) => {
    const names = ['a', 'b', 'c'];
    const pending = all(given).map((page, index) => page.evaluate((name) =>
      new Promise((resolve) => (window[`finish_${name}`] = () => resolve(name))), names[index]));
    await comeAndGo(given);
    for (const name of names) await given.a.evaluate((name) => window[`finish_${name}`](), name);
    same(await Promise.all(pending), names);
  },

  'handles outlive another client': async (given) => {
    const handles = await Promise.all(all(given).map((page) => page.$('button')));
    const objects = await Promise.all(all(given).map((page) => page.evaluateHandle(() => ({ answer: 42 }))));
    await comeAndGo(given);
    for (const handle of handles) same(await handle.evaluate((button) => button.textContent), 'greet');
    for (const object of objects) same(await object.evaluate(({ answer }) => answer), 42);
  },

  'handles outlive that others ask for the document': async ({ a, c, sessionsOf }) => {
    const handles = [await a.$('button'), await c.$('button')];
    const [, two, three] = await sessionsOf();
    for (const session of [two, three]) {
      await session.send('DOM.enable');
      await session.send('DOM.getDocument', { depth: -1 });
    }
    for (const handle of handles) {
      truly((await handle.boundingBox()).width > 0);
      await handle.click();
    }
    same(await a.locator('button').textContent(), 'hello ');
  },

  'each hears each console message once': async (given) => {
    const messages = all(given).map((page) => heard(page, 'console'));
    const words = () => messages.map((of) => of.map((message) => message.text()));
    for (const page of all(given)) await page.evaluate(() => console.log('hello'));
    await comeAndGo(given);
    await given.a.evaluate(() => console.log('last'));
    await until('the last word', () => words().every((of) => of.includes('last')));
    same(words(), Array(3).fill(['hello', 'hello', 'hello', 'last']));
  },

  'exposed functions of all, across a navigation': async (given) => {
    const { a, b, c, site } = given;
    await a.exposeFunction('fromA', () => 'a');
    await c.exposeFunction('fromC', () => 'c');
    await comeAndGo(given);
    same(await b.evaluate(() => Promise.all([fromA(), fromC()])), ['a', 'c']);
    await b.goto(`${site}/index.html`);
    same(await b.evaluate(() => Promise.all([fromA(), fromC()])), ['a', 'c']);
  },

  'exposed functions of two Playwright clients': relayOnly(async ({ a, b, site }) => {
    await a.exposeFunction('fromA', () => 'a');
    await b.exposeFunction('fromB', () => 'b');
    await a.goto(`${site}/index.html`);
    same(await a.evaluate(() => Promise.all([fromA(), fromB()])), ['a', 'b']);
  }),

  'init scripts go with their client': async ({ a, b, c, killB }) => {
    await a.addInitScript(() => (window.fromA = true));
    await b.addInitScript(() => (window.fromB = true));
    await c.evaluateOnNewDocument(() => (window.fromC = true));
    const seen = () => a.reload().then(() => a.evaluate(() => [window.fromA, window.fromB, window.fromC].map(Boolean)));
    same(await seen(), [true, true, true]);
    killB();
    await until("the second client's script to go", async () => String(await seen()) === 'true,false,true');
  },

  'routes of all on one page': async ({ a, b, c }) => {
    await a.route('**/from-a', (route) => route.fulfill({ body: 'a' }));
    await b.route('**/from-b', (route) => route.fulfill({ body: 'b' }));
    await c.setRequestInterception(true);
    c.on('request', (request) => (request.url().endsWith('/from-c') ? request.respond({ body: 'c' }) : request.continue()));
    for (const page of [a, b, c]) {
      same([await get(page, '/from-a'), await get(page, '/from-b'), await get(page, '/from-c')], ['a', 'b', 'c']);
    }
    same(await get(b, '/hello.txt'), 'hello');
  },

  'a request that both change has both changes': async ({ a, b, c }) => {
    const add = (name) => (route) => route.continue({ headers: { ...route.request().headers(), [name]: 'yes' } });
    await a.route('**/echo', add('x-a'));
    await b.route('**/echo', add('x-b'));
    const headers = JSON.parse(await get(c, '/echo')).headers;
    same([headers['x-a'], headers['x-b']], ['yes', 'yes']);
  },

  'the dialog goes to one, its end to all': relayOnly(async ({ a, b, c, sessionsOf }) => {
    const sessions = await sessionsOf();
    const ends = sessions.map((session) => heard(session, 'Page.javascriptDialogClosed'));
    await Promise.all(sessions.map((session) => session.send('Page.enable')));
    const noticed = [a, b, c].map((page) => heard(page, 'dialog'));
    a.on('dialog', (dialog) => dialog.accept('from a'));
    same(await a.evaluate(() => prompt('who?')), 'from a');
    c.on('dialog', (dialog) => dialog.accept('from c'));
    same(await c.evaluate(() => prompt('who?')), 'from c');
    same(noticed.map((dialogs) => dialogs.length), [1, 0, 1]);
    await until('all to hear of both ends', () => ends.every((closed) => closed.length === 2));
    same(await a.evaluate(() => 1 + 1), 2);
  }),

  'the file chooser goes to who asked': async ({ a, b, c }) => {
    const chosen = [];
    const session = await c.createCDPSession();
    await session.send('Page.enable');
    session.on('Page.fileChooserOpened', (event) => chosen.push(event));
    const [chooser] = await Promise.all([a.waitForEvent('filechooser'), a.locator('#files').click()]);
    await chooser.setFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a') });
    same(await b.evaluate(() => document.querySelector('#files').files[0].name), 'a.txt');
    same(chosen, []);
  },

  'all see a navigation once': async ({ a, b, c, site }) => {
    const counts = [0, 0, 0];
    const loads = [0, 0, 0];
    [a, b, c].forEach((page, index) => {
      const main = page.mainFrame();
      page.on('framenavigated', (frame) => (counts[index] += frame === main ? 1 : 0));
      page.on('load', () => loads[index]++);
    });
    await Promise.all([
      b.waitForURL('**/index.html'), c.waitForNavigation(), a.goto(`${site}/index.html`)]);
    await until('all to load', () => loads.every((count) => count >= 1));
    for (const page of [a, b, c]) same(await page.title(), 'a page');
    same([counts, loads], [[1, 1, 1], [1, 1, 1]]);
  },

  'a frame in another process, for all': async ({ a, b, c, site }) => {
    await a.goto(`${site}/frames.html`);
    for (const page of [a, b, c]) {
      const frame = await until('the frame', () => page.frames().find((frame) => frame.url().includes('localhost')));
      same(await frame.evaluate(() => document.title), 'a page');
    }
  },

  'a worker, for all': async ({ a, b, c, site }) => {
    await a.goto(`${site}/workers.html`);
    await a.evaluate(() => start() && said());
    for (const page of [a, b, c]) {
      const worker = await until('the worker', () => page.workers()[0]);
      same(await worker.evaluate(() => self.depth), 1);
    }
  },

  'all can type and click': async ({ a, b, c }) => {
    await a.fill('input', 'a');
    await b.locator('input').first().press('End');
    await b.keyboard.type('b');
    await c.type('input', 'c');
    await c.click('button');
    same(await a.locator('button').textContent(), 'hello abc');
  },

  'one closes the page, all are told': async ({ a, b, c }) => {
    const told = [new Promise((done) => b.once('close', done)), new Promise((done) => c.once('close', done))];
    await a.close();
    await Promise.all(told);
  },
};

/// A fourth client comes, uses the page, and leaves.
async function comeAndGo({ chromium, endpoint, a }) {
  const other = await chromium.connectOverCDP(endpoint);
  const page = await until('the page', () => other.contexts()[0].pages().find((page) => page.url() === a.url()));
  truly(await page.title());
  await page.$('h1');
  await other.close();
}
