// Playwright's own waits end before the call does: a wrong selector then costs an error that says
// so, and not the session's state.

const STEP = 250;

export class Patience {
  #context;
  #deadline;
  #timer;

  constructor(context, timeout) {
    this.#context = context;
    // Room for the answer: a second, or a fifth of a short call.
    this.#deadline = performance.now() + timeout - Math.min(1_000, timeout / 5);
    this.#tighten();
    this.#timer = setInterval(() => this.#tighten(), STEP);
  }

  /// How long what waits by itself may wait, in milliseconds.
  get left() {
    return Math.max(Math.floor(this.#deadline - performance.now()), 1);
  }

  end() {
    clearInterval(this.#timer);
  }

  #tighten() {
    this.#context.setDefaultTimeout(this.left);
  }
}
