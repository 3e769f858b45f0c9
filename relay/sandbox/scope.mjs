import { createContext, runInContext } from 'node:vm';
import { cleanHtml } from './html.mjs';
import { screenshotWithLabels } from './labels.mjs';
import { waitForPageLoad } from './load.mjs';
import { pageMarkdown } from './markdown.mjs';
import { requireBuiltIn } from './require.mjs';
import { Snapshots } from './snapshot.mjs';

const GLOBALS = [
  'AbortController', 'AbortSignal', 'Blob', 'Buffer', 'File', 'FormData', 'Headers', 'Request', 'Response',
  'TextDecoder', 'TextEncoder', 'URL', 'URLSearchParams', 'atob', 'btoa', 'clearImmediate', 'clearInterval',
  'clearTimeout', 'crypto', 'fetch', 'performance', 'queueMicrotask', 'setImmediate', 'setInterval',
  'setTimeout', 'structuredClone',
];

/// The global object of the session's code. The process is the sandbox; this only keeps names apart.
export class Scope {
  #helpers;

  constructor({ browser, console, showImage, timeLeft }) {
    this.global = createContext({});
    for (const name of GLOBALS) if (name in globalThis) this.global[name] = globalThis[name];
    this.global.state = runInContext('({})', this.global);
    this.#helpers = { console: console.forCode(), require: requireBuiltIn, ...helpers(browser, showImage, timeLeft) };
  }

  /// Before each call: what an earlier one put in the place of a helper is gone.
  offer(browser) {
    for (const [name, value] of Object.entries({ ...this.#helpers, ...browser }))
      Object.defineProperty(this.global, name, { value, writable: true, enumerable: true, configurable: true });
  }
}

function helpers(browser, showImage, timeLeft) {
  const snapshots = new Snapshots();
  const cdpSessions = new WeakMap();
  /// Agents write `snapshot(page)` as well as `snapshot({ page })`.
  const read = (given) => {
    if (isPage(given)) return { page: given };
    if (isLocator(given)) return { page: given.page(), locator: given };
    return { ...given, page: given?.page ?? browser.page };
  };
  return {
    snapshot: (given) => snapshots.take(read(given)),
    screenshotWithLabels: (given) => screenshotWithLabels(read(given).page, showImage, timeLeft()),
    getLatestLogs: (given) => browser.logs.latest(read(given)),
    waitForPageLoad: (given) => waitForPageLoad(read(given), timeLeft()),
    getCleanHTML: (given) => cleanHtml(read(given)),
    getPageMarkdown: (given) => pageMarkdown(read(given).page),
    async getCDPSession(given) {
      const { page } = read(given);
      if (!cdpSessions.has(page)) cdpSessions.set(page, await cdpSession(page, () => cdpSessions.delete(page)));
      return cdpSessions.get(page);
    },
  };
}

/// Returns the CDP session of a page. A session that the code detaches is of no use to later code.
async function cdpSession(page, detached) {
  const session = await page.context().newCDPSession(page);
  const { detach } = session;
  session.detach = () => {
    detached();
    return detach.call(session);
  };
  return session;
}

function isPage(value) {
  return typeof value?.mainFrame === 'function';
}

function isLocator(value) {
  return typeof value?.page === 'function' && typeof value.boundingBox === 'function';
}
