import { createRequire } from 'node:module';
import { Browser } from './browser.mjs';
import { Console } from './console.mjs';
import { compile, SyntaxProblem } from './compile.mjs';
import { describe } from './errors.mjs';
import { Output } from './output.mjs';
import { CallDeadline } from './call_deadline.mjs';
import { Scope } from './scope.mjs';

/// The state that lasts from call to call: the scope with its `state`, and the connection to the
/// browser.
export class Session {
  #browser;
  #console = new Console();
  #output = null;
  #deadline = null;
  #scope;

  constructor({ endpoint, key, playwright }) {
    const require = createRequire(import.meta.url);
    this.playwrightVersion = require(`${playwright}/package.json`).version;
    this.#browser = new Browser(require(playwright).chromium, endpoint, key);
    this.#scope = new Scope({
      browser: this.#browser,
      console: this.#console,
      showImage: (bytes) => this.#output?.image(bytes),
      timeLeft: () => this.#deadline?.left ?? Infinity,
    });
  }

  /// Returns `true` if the next call has a browser without connecting first.
  get isConnected() {
    return this.#browser.isConnected;
  }

  /// Runs code and gives what there is to show: `{ failed, text, images }`. What it says is passed on
  /// at once, too, for it may not come to an end.
  async execute(code, timeout, { begun, said }) {
    const output = new Output();
    this.#output = output;
    let failed = false;
    this.#console.passOn(said);
    try {
      const script = compile(code);
      for (const note of await this.#browser.ready()) output.note(note);
      const { browser, context, page } = this.#browser;
      this.#scope.offer({ browser, context, page });
      begun();
      this.#deadline = new CallDeadline(this.#browser.context, timeout);
      output.value(await script.runInContext(this.#scope.global));
    } catch (error) {
      failed = true;
      output.error(error instanceof SyntaxProblem ? error.message : describe(error));
    } finally {
      this.#deadline?.end();
      this.#deadline = null;
      this.#console.passOn(null);
      this.#browser.follow(this.#scope.global);
      for (const note of await this.#browser.changes()) output.note(note);
      this.#output = null;
      this.#console.endGroups();
    }
    return { failed, ...output.with(this.#console.take()) };
  }

  /// Ends what runs, if it waits for the browser or ever will: all that Playwright does for it fails.
  async cancel() {
    await this.#browser.disconnect();
  }

  failedInBackground(error) {
    this.#console.add('uncaught', describe(error));
  }
}
