import { inspect } from 'node:util';

/// The number of lines that are kept for each page.
const KEPT = 500;

/// The longest line, in characters.
const LONGEST = 2_000;

/// The time that a page may take to answer before its lines are shown as they are, in milliseconds.
const CATCH_UP = 500;

/// The lines that pages wrote to their consoles since the session connected.
export class Logs {
  #lines = new WeakMap();

  follow(page) {
    if (this.#lines.has(page)) return;
    const lines = [];
    const add = (line) => {
      lines.push(cut(line));
      if (lines.length > KEPT) lines.shift();
    };
    this.#lines.set(page, lines);
    page.on('console', (message) => add(`[${message.type()}] ${message.text()}`));
    page.on('pageerror', (error) => add(`[pageerror] ${error.message ?? error}`));
  }

  /// The last lines, oldest first; `search` is a text or a regular expression.
  async latest({ page, count = 50, search }) {
    await caughtUp(page);
    const lines = this.#lines.get(page) ?? [];
    const found = lines.filter(matches(search));
    return listed(found.slice(Math.max(0, found.length - count)));
  }
}

/// An array of lines that is shown, and becomes a string, as they were said.
function listed(lines) {
  const text = () => lines.join('\n');
  const show = () => (lines.length > 0 ? text() : '[]');
  Object.defineProperty(lines, 'toString', { value: text });
  return Object.defineProperty(lines, inspect.custom, { value: show });
}

function cut(line) {
  if (line.length <= LONGEST) return line;
  return `${line.slice(0, LONGEST)}… [${line.length - LONGEST} more characters]`;
}

/// Waits for a page's answer, before which its earlier lines come; a page that is blocked is not
/// waited for.
async function caughtUp(page) {
  const limit = new Promise((resolve) => setTimeout(resolve, CATCH_UP));
  await Promise.race([page.evaluate('0').catch(() => {}), limit]);
}

export function matches(search) {
  if (search === undefined || search === null) return () => true;
  if (typeof search === 'string') {
    const wanted = search.toLowerCase();
    return (line) => line.toLowerCase().includes(wanted);
  }
  // A sticky or global expression would remember where it was.
  const wanted = new RegExp(search.source, search.flags.replace(/[gy]/g, ''));
  return (line) => wanted.test(line);
}
