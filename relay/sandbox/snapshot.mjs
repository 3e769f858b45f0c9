import { difference } from './diff.mjs';
import { matches } from './logs.mjs';

/// The most lines that a search shows with what is around them.
const FOUND = 100;

/// A link's address is cut to this.
const URL_LENGTH = 100;

/// The accessibility tree as text, in which `[ref=e5]` is what `page.locator('aria-ref=e5')` takes.
export class Snapshots {
  #last = new WeakMap();

  async take({ page, search, diff }) {
    const text = compact(await ariaTree(page));
    const before = this.#last.get(page);
    this.#last.set(page, text);
    if (diff && before !== undefined) return changed(before, text, search);
    return search === undefined ? text : found(text, search);
  }
}

/// Returns the tree as Playwright draws it for agents. Each version has its own way; the oldest knows
/// no refs.
export async function ariaTree(page) {
  if (typeof page.ariaSnapshot === 'function') return page.ariaSnapshot({ mode: 'ai' });
  if (typeof page._snapshotForAI === 'function') {
    const snapshot = await page._snapshotForAI();
    return typeof snapshot === 'string' ? snapshot : snapshot.full;
  }
  return page.locator('body').ariaSnapshot({ ref: true });
}

/// Without the boxes that mean nothing, which are most of a modern page.
export function compact(tree) {
  const lines = [];
  const dropped = [];
  for (const line of tree.split('\n')) {
    const depth = line.search(/\S/);
    if (depth < 0) continue;
    while (dropped.length > 0 && dropped.at(-1) >= depth) dropped.pop();
    const text = line.trim();
    if (/^- generic( \[ref=\w+\])?:$/.test(text)) dropped.push(depth);
    else lines.push(' '.repeat(depth - 2 * dropped.length) + shortUrl(withoutCursor(text)));
  }
  return lines.join('\n');
}

/// Removes the mark of a clickable element from a line, except for a box: there it tells that one can
/// click it.
function withoutCursor(line) {
  return line.startsWith('- generic ') ? line : line.replace(' [cursor=pointer]', '');
}

function shortUrl(line) {
  if (!line.startsWith('- /url:') || line.length <= URL_LENGTH) return line;
  return `${line.slice(0, URL_LENGTH)}…`;
}

function changed(before, after, search) {
  const lines = difference(before.split('\n'), after.split('\n'));
  if (lines.length === 0) return 'nothing changed since the last snapshot';
  const shown = lines.filter(matches(search));
  return shown.length > 0 ? shown.join('\n') : `nothing that matches ${search} changed since the last snapshot`;
}

/// The lines that match, below the lines that they are part of.
function found(text, search) {
  const isMatch = matches(search);
  const lines = text.split('\n');
  const shown = new Set();
  let count = 0;
  lines.forEach((line, at) => {
    if (!isMatch(line)) return;
    count += 1;
    if (count > FOUND) return;
    shown.add(at);
    let depth = line.search(/\S/);
    for (let above = at - 1; above >= 0 && depth > 0; above -= 1) {
      const its = lines[above].search(/\S/);
      if (its < depth) {
        shown.add(above);
        depth = its;
      }
    }
  });
  if (count === 0) return `nothing in the snapshot matches ${search}`;
  const result = lines.filter((_, at) => shown.has(at)).join('\n');
  return count > FOUND ? `${result}\n[${count - FOUND} more matches]` : result;
}
