// The surroundings of a case: one page that is reused while all goes well, and a list of everything
// that must be undone when the case is over.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

/** Undoing may not hold up the walk. */
const UNDOING = 2000;

export class Bench {
  /** The browser over the endpoint, its default context, and the reused page. */
  browser;
  context;
  page;
  #kept = [];
  #undo = [];
  #stale = false;
  #reading = false;
  /** How long an action may take, in milliseconds. */
  #patience;
  /** What the reused page shows, if nobody has changed it. */
  #untouched;

  constructor(cdp, site) {
    this.cdp = cdp;
    this.site = site;
    /** The same pages, as another site. */
    this.elsewhere = site.replace('127.0.0.1', 'localhost');
  }

  /** Makes sure of a connection and a page; called before every case, with its time limit. */
  async prepare(limit) {
    waiting = undefined;
    this.folder ??= await mkdtemp(join(tmpdir(), 'walk-'));
    if (!this.browser?.isConnected()) {
      this.browser = await chromium.connectOverCDP(this.cdp);
      this.context = this.browser.contexts()[0];
      this.#kept = this.context.pages();
      this.page = undefined;
    }
    // The action itself must report a hang before the limit of the case does.
    this.#patience = 0.7 * limit;
    this.context.setDefaultTimeout(this.#patience);
    if (!this.page || this.page.isClosed()) this.page = await this.context.newPage();
  }

  /** Undoes what the case did; called after every case. */
  async tidy(failed) {
    for (const undo of this.#undo.splice(0).reverse()) await bounded(undo);
    const keep = new Set(this.#kept);
    if (!failed && !this.#stale) keep.add(this.page);
    else this.page = undefined;
    if (!this.page) this.#untouched = undefined;
    this.#stale = false;
    this.#reading = false;
    for (const page of this.context.pages()) {
      if (!keep.has(page)) await bounded(() => page.close());
    }
  }

  async end() {
    await bounded(() => this.page?.close());
    await bounded(() => this.browser?.close());
    await rm(this.folder, { recursive: true });
  }

  /** Has something undone when the case is over. */
  after(undo) {
    this.#undo.push(undo);
  }

  /** Says that the reused page is of no use to the next case. */
  spoil() {
    this.#stale = true;
  }

  /** Says that the case changes nothing: what the last such case saw will do. */
  onlyReads() {
    this.#reading = true;
  }

  /** Goes to a page of the site. */
  async visit(path = 'widgets.html', page = this.page) {
    const reused = page === this.page;
    if (reused && this.#reading && this.#untouched === path) return page;
    await page.goto(`${this.site}/${path}`);
    if (reused) this.#untouched = this.#reading ? path : undefined;
    return page;
  }

  /** A page of the case's own. */
  async fresh(path) {
    const page = await this.context.newPage();
    if (path !== undefined) await this.visit(path, page);
    return page;
  }

  /** The frame of another site in a page; it is loaded again, not made again, if it is there. */
  async foreignFrame(page = this.page) {
    const framed = 'widgets-framed.html';
    const find = () => page.frame({ url: (url) => url.hostname === 'localhost' });
    if (page !== this.page || !page.url().endsWith(framed) || !find()) {
      await this.visit(framed, page);
    } else if (!this.#reading || this.#untouched !== framed) {
      await find().goto(`${this.elsewhere}/widgets.html`);
      this.#untouched = this.#reading ? framed : undefined;
    }
    return find();
  }

  /** A connection of the case's own, for what can only be undone by leaving. */
  async another() {
    const browser = await chromium.connectOverCDP(this.cdp);
    browser.contexts()[0].setDefaultTimeout(this.#patience);
    this.spoil();
    this.after(() => browser.close());
    return { browser, context: browser.contexts()[0] };
  }

  /** What a page looks like, with all that Playwright's own screenshots leave out. */
  async picture(page = this.page) {
    const session = await page.context().newCDPSession(page);
    const { data } = await session.send('Page.captureScreenshot');
    await session.detach();
    return data;
  }

  /** The path of a file that goes with the walk. */
  file(name) {
    return join(this.folder, name);
  }
}

/** Does something that may fail or hang without harm to what comes next. */
async function bounded(action) {
  try {
    await limited(action(), UNDOING);
  } catch (error) {
    console.error(`while tidying up: ${error.message}`);
  }
}

/** What a case waits for, for the error of a case that takes too long. */
let waiting;

/** Looks until something is so, for things that nobody tells of. */
export async function until(what, look) {
  waiting = what;
  while (!(await look())) await new Promise((resolve) => setTimeout(resolve, 20));
  waiting = undefined;
}

/** Rejects when a promise takes too long. */
export async function limited(promise, milliseconds) {
  let timer;
  const late = new Promise((_, reject) => {
    const trouble = () => `took more than ${milliseconds} ms` +
      (waiting ? `, waiting for ${waiting}` : '');
    timer = setTimeout(() => reject(new Error(trouble())), milliseconds);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
