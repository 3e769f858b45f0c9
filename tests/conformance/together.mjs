// node together.mjs <playwright package> <endpoint> <site> [words of features]
//
// Two Playwright clients and a Puppeteer client on one tab: none may lose a pending evaluate, a
// handle, an event or a binding to another.
import puppeteer from 'puppeteer-25';
import { run, until } from './features.mjs';
import { killable } from './raw.mjs';
import { pages } from './together/pages.mjs';
import { replayed } from './together/replayed.mjs';
import { sessions } from './together/sessions.mjs';
import { settings } from './together/settings.mjs';
import { waiting } from './together/waiting.mjs';

const [name, endpoint, site, ...wanted] = process.argv.slice(2);
const { chromium } = await import(name).then((module) => module.default ?? module);

/// `a` and `b` are the page as two Playwright clients have it, `c` as Puppeteer has it; `sessionsOf`
/// gives CDP sessions on it, one of each; `killB` ends the second without a word.
async function connect() {
  const way = await killable(endpoint);
  const A = await chromium.connectOverCDP(endpoint);
  const a = await A.contexts()[0].newPage();
  await a.goto(`${site}/form.html?${Math.random()}`);
  const B = await chromium.connectOverCDP(way.url);
  const C = await puppeteer.connect({ browserURL: endpoint, defaultViewport: null });
  const here = (page) => page.url() === a.url();
  const b = await until('the page at the second client', () => B.contexts()[0].pages().find(here));
  const c = await until('the page at Puppeteer', async () => (await C.pages()).find(here));
  const sessionsOf = () => Promise.all([
    A.contexts()[0].newCDPSession(a), B.contexts()[0].newCDPSession(b), c.createCDPSession()]);
  return { chromium, puppeteer, endpoint, site, A, B, C, a, b, c, sessionsOf, killB: way.kill };
}

const disconnect = (given) => Promise.all([given?.A.close(), given?.B.close(), given?.C.disconnect()]);

await run({ ...pages, ...sessions, ...replayed, ...settings, ...waiting }, { endpoint, wanted, connect, disconnect });
