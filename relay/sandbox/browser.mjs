import { inspect } from 'node:util';
import { Logs } from './logs.mjs';

const CONNECT_LIMIT = 15_000;

/// The number of new pages of which an agent is told after a call.
const MOST_OPENED = 10;

/// The connection to the user's browser, and the page that the session is at.
export class Browser {
  #chromium;
  #endpoint;
  #key;
  #connections = 0;
  #logs = new Logs();
  #lastUrl;
  #opened = [];
  browser = null;
  context = null;
  page = null;

  constructor(chromium, endpoint, key) {
    this.#chromium = chromium;
    this.#endpoint = endpoint;
    this.#key = key;
  }

  get logs() {
    return this.#logs;
  }

  get isConnected() {
    return this.browser?.isConnected() ?? false;
  }

  /// Connects if need be and sees to it that there is a page; gives what the agent should know.
  async ready() {
    const notes = [];
    if (!this.isConnected) {
      const isBack = this.browser !== null;
      await this.#connect();
      if (isBack)
        notes.push('the browser was away and is back: `page`, `context` and `browser` are new, objects of the old ones in `state` no longer work');
    }
    const wasClosed = this.page?.isClosed() && this.page.context() === this.context;
    if (!this.page || this.page.isClosed() || this.page.context() !== this.context) {
      this.page = await this.#anyPage();
      if (wasClosed) notes.push(closedNote(this.page));
    }
    this.#lastUrl = this.page.url();
    this.#opened = [];
    return notes;
  }

  /// After a call: tells the agent of the end of its page, and of pages that its pages opened.
  async changes() {
    const notes = [];
    if (!this.isConnected) return notes;
    const pages = this.context.pages();
    if (this.page?.isClosed() && this.page.context() === this.context && pages.length > 0) {
      this.page = await this.#anyPage();
      notes.push(closedNote(this.page));
    }
    for (const page of this.#opened.splice(0)) {
      const opener = await page.opener().catch(() => null);
      if (!opener || page.isClosed() || page === this.page) continue;
      const at = `context.pages()[${pages.indexOf(page)}]`;
      notes.push(`a new page was opened: ${page.url()} is ${at}; to work with it, assign \`page = ${at}\``);
    }
    return notes;
  }

  /// Code that assigns to `page` chooses the page of the calls that follow.
  follow(scope) {
    const page = Object.getOwnPropertyDescriptor(scope, 'page')?.value;
    if (page !== this.page && this.context?.pages().includes(page)) this.page = page;
  }

  /// Lets go of the browser, until the next call.
  async disconnect() {
    await this.browser?.close().catch(() => {});
  }

  async #connect() {
    // The relay lets no two clients have one name, and the last connection may not have ended yet.
    this.#connections += 1;
    const endpoint = new URL(this.#endpoint);
    endpoint.pathname += `-${this.#connections}`;
    this.browser = await this.#chromium.connectOverCDP(endpoint.href, {
      headers: { Authorization: `Bearer ${this.#key}` },
      timeout: CONNECT_LIMIT,
    });
    this.context = this.browser.contexts()[0];
    for (const page of this.context.pages()) this.#logs.follow(page);
    this.context.on('page', (page) => {
      this.#logs.follow(page);
      if (this.#opened.length < MOST_OPENED) this.#opened.push(page);
    });
    shortenInspection(this.browser);
  }

  async #anyPage() {
    const pages = this.context.pages();
    return pages.find((page) => page.url() === this.#lastUrl) ?? pages[0] ?? (await this.context.newPage());
  }
}

function closedNote(page) {
  return `the page was closed; \`page\` is now ${page.url()}: go on there, choose another of context.pages(), or assign \`page = await context.newPage()\``;
}

/// Playwright's objects are large and tell an agent nothing.
function shortenInspection(browser) {
  let owner = browser;
  while (owner && !Object.hasOwn(owner, '_wrapApiCall')) owner = Object.getPrototypeOf(owner);
  if (!owner || Object.hasOwn(owner, inspect.custom)) return;
  owner[inspect.custom] = function () {
    const url = typeof this.url === 'function' ? ` ${this.url()}` : '';
    return `<${this._type ?? 'Playwright object'}${url}>`;
  };
}
