// The surface to cover: the public methods of Playwright's classes, from their prototypes, and the
// events, from its type declarations. A method or event without a case is reported.

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';
import { limited } from './bench.mjs';

/** How long it may take to get hold of an object. */
const LIMIT = 10_000;

/** From class to how one gets hold of an object of it. */
const SPECIMENS = {
  Browser: (t) => t.browser,
  BrowserContext: (t) => t.context,
  Page: (t) => t.page,
  Frame: (t) => t.page.mainFrame(),
  Locator: (t) => t.page.locator('body'),
  FrameLocator: (t) => t.page.frameLocator('iframe'),
  JSHandle: (t) => t.page.evaluateHandle(() => 1),
  ElementHandle: (t) => t.page.$('body'),
  Keyboard: (t) => t.page.keyboard,
  Mouse: (t) => t.page.mouse,
  Touchscreen: (t) => t.page.touchscreen,
  Clock: (t) => t.page.clock,
  Coverage: (t) => t.page.coverage,
  Screencast: (t) => t.page.screencast,
  WebStorage: (t) => t.page.localStorage,
  WebMCP: (t) => t.page.webmcp,
  Tracing: (t) => t.context.tracing,
  Credentials: (t) => t.context.credentials,
  Debugger: (t) => t.context.debugger,
  APIRequestContext: (t) => t.context.request,
  APIResponse: (t) => t.context.request.get(`${t.site}/echo`),
  CDPSession: (t) => t.context.newCDPSession(t.page),
  Request: async (t) => (await t.page.reload()).request(),
  Response: (t) => t.page.reload(),
  Route: async (t) => {
    t.spoil();
    const { promise, resolve } = deferred();
    await t.page.route('**/echo', resolve);
    await t.page.evaluate(() => { fetch('/echo'); });
    return promise;
  },
  WebSocketRoute: async (t) => {
    t.spoil();
    const { promise, resolve } = deferred();
    await t.page.routeWebSocket('**/socket', resolve);
    await t.page.reload();
    await t.page.evaluate(() => { new WebSocket('/socket'); });
    return promise;
  },
  WebSocket: (t) => told(t, 'websocket', 'new WebSocket("/elsewhere")'),
  Worker: (t) => told(t, 'worker', 'new Worker("/talking-worker.js")'),
  Dialog: async (t) => {
    const dialog = await told(t, 'dialog', 'alert(1)');
    await dialog.accept();
    return dialog;
  },
  Download: (t) => told(t, 'download', 'location.href = "/download"'),
  FileChooser: async (t) => {
    const chooser = t.page.waitForEvent('filechooser');
    await t.page.click('#file');
    return chooser;
  },
  ConsoleMessage: (t) => told(t, 'console', 'console.log(1)'),
  WebError: async (t) => {
    const error = t.context.waitForEvent('weberror');
    await t.page.evaluate(() => { setTimeout(() => { throw new Error('x'); }); });
    return error;
  },
};

/** What has no case, and why. A whole class is named without a method. */
const NOT_WALKABLE = new Set([
  // These need a touch screen, which is an option of a new context, and the default context has none
  // on direct CDP either. Touch itself is covered by `CDPSession.send (touch)`.
  'Page.tap', 'Frame.tap', 'Locator.tap', 'ElementHandle.tap', 'Touchscreen',
  // The method waits for a person.
  'Page.pause',
  // Videos are an option of a new context.
  'Page.video',
  // The feature is off unless a browser is started with `--enable-features=WebMCP`.
  'WebMCP',
  // These open a server of Playwright's own, for Playwright's own clients.
  'Browser.bind', 'Browser.unbind',
  // Deprecated: it is an empty list, and the event never comes.
  'BrowserContext.backgroundPages', 'BrowserContext.on (backgroundpage)',
  // The only context that this endpoint has is there from the beginning.
  'Browser.on (context)',
]);

/** The methods and events without a case, each with a sentence that says so. */
export async function unwalked(bench, cases) {
  // `Page.on (popup: a link)` is about `Page.on (popup)`, `Page.goto (a redirect)` about `Page.goto`.
  const walked = new Set(cases.flatMap((name) => [name.replace(/:.*\)$/, ')'), name.replace(/ \(.*$/, '')]));
  const declared = await events();
  const missing = {};
  for (const [name, find] of Object.entries(SPECIMENS)) {
    if (NOT_WALKABLE.has(name)) continue;
    const all = (declared.get(name) ?? []).map((event) => `${name}.on (${event})`);
    try {
      await limited(bench.prepare(LIMIT), 10_000);
      await bench.visit();
      all.push(...methods(await limited(find(bench), LIMIT)).map((method) => `${name}.${method}`));
    } catch (error) {
      missing[`${name} (its methods)`] = `cannot be listed: ${error.message.split('\n')[0]}`;
    }
    await bench.tidy(false);
    for (const one of all) {
      if (!walked.has(one) && !NOT_WALKABLE.has(one)) missing[one] = 'no case walks this';
    }
  }
  return missing;
}

/** The public methods of an object, without those that every object of Playwright's has. */
function methods(object) {
  const common = new Set(['constructor', 'toJSON', ...inherited(EVENTFUL)]);
  return inherited(Object.getPrototypeOf(object)).filter((name) => !name.startsWith('_') && !common.has(name));
}

/** What is declared on every kind of object: listening, which the events stand for. */
const EVENTFUL = Object.getPrototypeOf(Object.getPrototypeOf(chromium));

function inherited(prototype) {
  const names = new Set();
  for (let at = prototype; at && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const name of Object.getOwnPropertyNames(at)) names.add(name);
  }
  return [...names];
}

/** From class to the events it is declared to have. */
async function events() {
  const types = createRequire(import.meta.url).resolve('playwright-core').replace(/index\.js$/, 'types/types.d.ts');
  const declared = new Map();
  const text = await readFile(types, 'utf8');
  for (const [, name, body] of text.matchAll(/^export interface (\w+)[^{]*\{\n([^]*?)^\}/gm)) {
    const all = [...body.matchAll(/^ {2}on\(event: '(\w+)'/gm)].map(([, event]) => event);
    if (all.length) declared.set(name, [...new Set(all)]);
  }
  return declared;
}

function deferred() {
  let resolve;
  const promise = new Promise((fulfil) => { resolve = fulfil; });
  return { promise, resolve };
}

/** What a page tells of when it runs a script. */
async function told(t, event, script) {
  const waiting = t.page.waitForEvent(event);
  await t.page.evaluate(`void setTimeout(() => { ${script} })`);
  return waiting;
}
