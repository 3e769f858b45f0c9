// Playwright's own waits end before the call does: a wrong selector then costs an error that says
// so, and not the session's state.

const STEP = 250;

export class CallDeadline {
  #limit;
  #deadline;
  #timer;

  constructor(context, timeout) {
    this.#limit = Limit.of(context);
    // Room for the answer: a second, or a fifth of a short call.
    this.#deadline = performance.now() + timeout - Math.min(1_000, timeout / 5);
    this.#tighten();
    this.#timer = setInterval(() => this.#tighten(), STEP);
  }

  /// Returns the milliseconds for which an operation without a limit of its own may wait.
  get left() {
    return Math.max(Math.floor(this.#deadline - performance.now()), 1);
  }

  end() {
    clearInterval(this.#timer);
    this.#limit.set(Infinity);
  }

  #tighten() {
    this.#limit.set(this.left);
  }
}

/// The time for which operations in a context may wait: as long as the code chose, but no longer than
/// the call lasts; Playwright's default between calls.
class Limit {
  static #limits = new WeakMap();
  #apply;
  #chosen = undefined;
  #most = Infinity;

  static of(context) {
    if (!this.#limits.has(context)) this.#limits.set(context, new Limit(context));
    return this.#limits.get(context);
  }

  constructor(context) {
    const { setDefaultTimeout } = context;
    this.#apply = (timeout) => setDefaultTimeout.call(context, timeout);
    context.setDefaultTimeout = (timeout) => {
      this.#chosen = timeout;
      this.set(this.#most);
    };
  }

  set(most) {
    this.#most = most;
    // Playwright takes 0 for no limit.
    const least = Math.min(this.#chosen || Infinity, most);
    this.#apply(least === Infinity ? this.#chosen : least);
  }
}
