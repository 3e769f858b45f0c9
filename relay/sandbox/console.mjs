import { LIMIT, formatted } from './inspect.mjs';

const LEVELS = ['debug', 'error', 'info', 'log', 'trace', 'warn'];

/// The output of code between two answers.
export class Console {
  #lines = [];
  #length = 0;
  #lost = 0;
  #indent = '';
  #counts = new Map();
  #starts = new Map();
  #passOn = null;
  #passed = 0;

  add(level, text) {
    const line = `[${level}] ${text}`;
    this.#tell(line);
    // A little more than is ever shown, so that the cut can be told.
    if (this.#length > LIMIT) this.#lost += line.length;
    else this.#lines.push(line);
    this.#length += line.length;
  }

  /// Passes on each line as it comes, or none. Nobody sees more of them than an answer carries.
  passOn(passOn) {
    this.#passOn = passOn;
    this.#passed = 0;
  }

  #tell(line) {
    const room = LIMIT - this.#passed;
    if (!this.#passOn || room <= 0) return;
    this.#passed += line.length + 1;
    this.#passOn(line.slice(0, room));
  }

  /// The `console` of the code.
  forCode() {
    const say = (level) => (...values) => this.add(level, this.#indent + formatted(values));
    const console = Object.fromEntries(LEVELS.map((level) => [level, say(level)]));
    const group = (...values) => {
      if (values.length > 0) console.log(...values);
      this.#indent += '  ';
    };
    return Object.assign(console, this.#counters(console), {
      assert: (holds, ...values) => void (holds || console.error('assertion failed:', ...values)),
      clear: () => void this.take(),
      dir: (value) => console.log(value),
      dirxml: console.log,
      group,
      groupCollapsed: group,
      groupEnd: () => void (this.#indent = this.#indent.slice(2)),
      table: (value) => console.log(value),
    });
  }

  /// A call ends all that it indented.
  endGroups() {
    this.#indent = '';
  }

  /// Returns the output since the last call, and the number of lines that were not kept.
  take() {
    const said = { text: this.#lines.join('\n'), lost: this.#lost };
    this.#lines = [];
    this.#length = 0;
    this.#lost = 0;
    return said;
  }

  #counters(console) {
    const took = (name) => `${name}: ${(performance.now() - this.#starts.get(name)).toFixed(1)} ms`;
    const timeLog = (name = 'default', ...values) => {
      if (this.#starts.has(name)) console.log(took(name), ...values);
    };
    return {
      count: (name = 'default') => {
        this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
        console.log(`${name}: ${this.#counts.get(name)}`);
      },
      countReset: (name = 'default') => void this.#counts.delete(name),
      time: (name = 'default') => void this.#starts.set(name, performance.now()),
      timeLog,
      timeEnd: (name = 'default') => {
        timeLog(name);
        this.#starts.delete(name);
      },
    };
  }
}
