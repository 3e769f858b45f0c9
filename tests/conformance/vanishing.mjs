// node vanishing.mjs <playwright package> <endpoint> <site> [words of features]
//
// Clients that vanish at any moment: what they leave behind must be as if they had never come.
import puppeteer from 'puppeteer-25';
import { run, same, truly, until, within } from './features.mjs';
import { killable, Raw, socketOf } from './raw.mjs';

const [name, endpoint, site, ...wanted] = process.argv.slice(2);
const { chromium } = await import(name).then((module) => module.default ?? module);

/// The tab that is open all the time.
const tab = await (async () => {
  const raw = await Raw.connect(await socketOf(endpoint));
  const [{ targetId }] = await raw.pages();
  raw.close();
  return targetId;
})();

/// The same moments in every run.
function moments(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/// Makes a page believe that it is elsewhere.
async function disguise(session) {
  await session.send('Emulation.setUserAgentOverride', { userAgent: 'left behind' });
  await session.send('Emulation.setTimezoneOverride', { timezoneId: 'Pacific/Chatham' });
  await session.send('Emulation.setLocaleOverride', { locale: 'is-IS' });
}

const kinds = {
  playwright: async (url) => {
    const browser = await chromium.connectOverCDP(url);
    const [context] = browser.contexts();
    const [open] = context.pages();
    await open.addInitScript(() => (window.left = true));
    await open.setViewportSize({ width: 333, height: 222 });
    await open.emulateMedia({ media: 'print', colorScheme: 'dark', reducedMotion: 'reduce' });
    await open.setExtraHTTPHeaders({ 'x-left': 'behind' });
    await disguise(await context.newCDPSession(open));
    await open.route('**', () => {});
    const page = await context.newPage();
    page.goto(`${site}/workers.html`).catch(() => {});
    await page.close();
    await browser.close();
  },
  puppeteer: async (url) => {
    const browser = await puppeteer.connect({ browserWSEndpoint: url, protocolTimeout: 30_000 });
    const [open] = await browser.pages();
    await open.evaluateOnNewDocument(() => (window.left = true));
    await open.emulateMediaType('print');
    await open.setExtraHTTPHeaders({ 'x-left': 'behind' });
    await disguise(await open.createCDPSession());
    await open.setRequestInterception(true);
    const page = await browser.newPage();
    page.goto(`${site}/frames.html`).catch(() => {});
    await page.close();
    await browser.disconnect();
  },
};

/// About as many pieces as these clients send.
const ALL = 120;

/// Starts a client and ends it when it has sent so much, whatever it does then.
async function cutShort(kind, pieces) {
  const way = await killable(endpoint, pieces);
  const work = kinds[kind](way.url).catch(() => {});
  // Some clients wait for ever for answers to commands from before they were cut off.
  await within(60_000, Promise.race([work, way.cut]), `a ${kind} client that was not cut off`);
  way.kill();
}

const look = `(() => {
  const echo = new XMLHttpRequest();
  echo.open('GET', '/echo', false);
  echo.send();
  return {
    left: window.left,
    width: innerWidth,
    touch: navigator.maxTouchPoints,
    media: ['print', '(prefers-color-scheme: dark)', '(prefers-reduced-motion)'].map((it) => matchMedia(it).matches),
    agent: navigator.userAgent,
    where: Intl.DateTimeFormat().resolvedOptions(),
    headers: Object.keys(JSON.parse(echo.responseText).headers),
  };
})()`;

/// Returns the state that a later client finds in the tab that was open all the time.
async function state() {
  const raw = await Raw.connect(await socketOf(endpoint));
  try {
    const session = await raw.attach(tab);
    await raw.send('Page.enable', {}, session);
    const loaded = raw.next('Page.loadEventFired');
    await raw.send('Page.navigate', { url: `${site}/index.html` }, session);
    await within(20_000, loaded, 'loading a page');
    return JSON.stringify(await raw.evaluate(look, session));
  } finally {
    raw.close();
  }
}

async function closeOthers() {
  const raw = await Raw.connect(await socketOf(endpoint));
  await raw.closeAllBut([tab]);
  raw.close();
}

const vanish = (kind, seed) => async () => {
  const before = await state();
  const moment = moments(seed);
  for (let round = 0; round < 4; round++) {
    await Promise.all([cutShort(kind, moment(ALL)), cutShort(kind, moment(ALL))]);
  }
  await until('the tab to be as before', async () => (await state().catch(() => '')) === before);
  await closeOthers();
  const browser = await chromium.connectOverCDP(endpoint);
  const [page] = browser.contexts()[0].pages();
  same(await page.evaluate(() => 6 * 7), 42);
  const opened = await browser.contexts()[0].newPage();
  await opened.goto(`${site}/frames.html`);
  const frame = await until('the frame', () => opened.frames().find((frame) => frame.url().includes('localhost')));
  truly(await frame.evaluate(() => document.readyState));
  await opened.close();
  await browser.close();
};

const features = {
  'Playwright clients cut off at random moments': vanish('playwright', 1),
  'Puppeteer clients cut off at random moments': vanish('puppeteer', 2),

  'a hundred sockets that say nothing': async () => {
    const url = await socketOf(endpoint);
    const raws = await Promise.all(Array.from({ length: 100 }, () => Raw.connect(url)));
    for (const raw of raws) raw.close();
    truly(await state());
  },
};

await run(features, { endpoint, wanted, connect: async () => ({}), disconnect: async () => {} });
