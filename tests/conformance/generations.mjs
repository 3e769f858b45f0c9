// The features that an extension and a relay of whatever age must provide together, for a Playwright
// client: node generations.mjs <endpoint> <site> [words of scenarios]
import { chromium } from 'playwright-core';
import { ask, brief, same, truly, until, within } from './features.mjs';

const LIMIT = 60_000;
const [endpoint, site, ...wanted] = process.argv.slice(2);

const opened = [];
let clients = 0;

/// Released relays take several clients only under different names.
async function connect(to = `${endpoint.replace('http', 'ws')}/cdp/client-${++clients}`) {
  const browser = await chromium.connectOverCDP(to, { timeout: 20_000 });
  opened.push(browser);
  const context = browser.contexts()[0];
  context.setDefaultTimeout(15_000);
  return { browser, context };
}

const status = async () => (await fetch(`${endpoint}/extension/status`)).json();

/// Clicks the icon on the tab that the browser began with. Some releases open another in front.
const toggle = () => ask({
  worker: `(async () => {
    const tabs = await chrome.tabs.query({});
    const first = tabs.sort((a, b) => a.id - b.id)[0];
    await chrome.tabs.update(first.id, { active: true });
    return (await toggleExtensionForActiveTab()).isConnected;
  })()`,
});

const pagesAt = ({ context }, path) => context.pages().filter((page) => page.url() === site + path);

/// The page that a client finds there, once it is told of it.
const pageAt = (client, path) =>
  until(`a page at ${path}`, async () => pagesAt(client, path)[0]);

const scenarios = {
  'a first tab for who finds none': async () => {
    await until('the extension', async () => (await status()).connected, 30_000);
    const { context } = await connect();
    const page = await until('a page', async () => context.pages()[0]);
    same(await page.evaluate(() => 6 * 7), 42);
    await page.close();
  },

  connect: async () => {
    const { browser, context } = await connect(endpoint);
    truly(browser.isConnected() && context, 'there is no context');
    truly(browser.version().length > 0, 'the browser has no version');
  },

  'see a toggled tab, evaluate': async () => {
    const before = (await status()).activeTargets;
    truly(await toggle(), 'the extension did not take the tab');
    await until('the relay to know it', async () => (await status()).activeTargets > before);
    const { context } = await connect();
    const values = await Promise.all(context.pages().map((page) => page.evaluate(() => 6 * 7)));
    truly(values.length > before, 'the tab is not there');
    same([...new Set(values)], [42]);
  },

  navigate: async () => {
    const { context } = await connect();
    const page = await until('a page', async () => context.pages()[0]);
    await page.goto(`${site}/form.html`);
    same(await page.title(), 'a form');
    await page.getByPlaceholder('name').fill('world');
    await page.locator('button').click();
    same(await page.locator('button').textContent(), 'hello world');
    await page.goto(`${site}/index.html`);
    same(await page.title(), 'a page');
  },

  newPage: async () => {
    const { context } = await connect();
    const page = await context.newPage();
    await page.goto(`${site}/form.html`);
    same(await page.title(), 'a form');
    await page.close();
  },

  'iframe of another site': async () => {
    const { context } = await connect();
    const page = await context.newPage();
    await page.goto(`${site}/frames.html`);
    const frame = await until('the frame', async () =>
      page.frames().find((other) => other.url().includes('//localhost')));
    same(await frame.evaluate(() => location.hostname), 'localhost');
    same(await frame.title(), 'a page');
    await page.close();
  },

  close: async () => {
    const before = (await status()).activeTargets;
    const { context } = await connect();
    const page = await context.newPage();
    const closed = page.waitForEvent('close');
    await page.close();
    await closed;
    truly(!context.pages().includes(page), 'a closed page is still there');
    await until('the relay to know it', async () => (await status()).activeTargets === before);
  },

  'two clients': async () => {
    const [one, two] = [await connect(), await connect()];
    const page = await one.context.newPage();
    await page.goto(`${site}/form.html?two`);
    const other = await pageAt(two, '/form.html?two');
    same(await other.evaluate(() => (document.title = 'of the other')), 'of the other');
    same(await page.title(), 'of the other');
    await two.browser.close();
    same(await page.evaluate(() => 6 * 7), 42);
    await page.close();
  },

  'relay restart': async () => {
    const first = await connect();
    const page = await until('a page', async () => first.context.pages()[0]);
    await page.goto(`${site}/index.html?kept`);
    await ask({ restartRelay: true });
    await until('the extension with its tabs', async () => (await status()).activeTargets > 0, 40_000);
    const again = await pageAt(await connect(), '/index.html?kept');
    same(await again.evaluate(() => 6 * 7), 42);
  },
};

let escaped;
process.on('unhandledRejection', (error) => (escaped ??= error));
process.on('uncaughtException', (error) => (escaped ??= error));

const results = {};
for (const [name, scenario] of Object.entries(scenarios)) {
  if (wanted.length && !wanted.some((word) => name.includes(word))) continue;
  const start = Date.now();
  escaped = undefined;
  const failure = await within(LIMIT, scenario(), 'it').then(() => escaped, (error) => error);
  const outcome = failure ? brief(failure) : 'ok';
  results[name] = outcome;
  await within(10_000, Promise.all(opened.splice(0).map((it) => it.close())), 'leaving').catch(() => {});
  console.error(`${name} (${Date.now() - start} ms): ${outcome}`);
}
console.log(JSON.stringify(results));
process.exit(0);
