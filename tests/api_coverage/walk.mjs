// Walks Playwright's public methods over a CDP endpoint and prints how each fared:
//
//   node walk.mjs <cdp-url> <site-url> [part of a case's name]
//
// The result is one JSON object. `outcomes` has "ok" for each case, or the first line of what went
// wrong; `retried` has what went wrong at the first try of each case that was tried again.

import { Bench, limited } from './bench.mjs';
import { unwalked } from './surface.mjs';
import { cases } from './cases.mjs';

/** A case that takes longer hangs; the second try is for machines with much else to do. */
const LIMITS = [5000, 10_000];

const [cdp, site, wanted = ''] = process.argv.slice(2);
// Playwright's own promises may fail after the case that they belong to.
process.on('unhandledRejection', (error) => console.error(`unhandled: ${error?.message}`));

const bench = new Bench(cdp, site);
const outcomes = {};
const retried = {};
for (const [name, walk] of Object.entries(cases)) {
  if (!name.includes(wanted)) continue;
  const [first, second] = LIMITS;
  outcomes[name] = await attempt(name, walk, first);
  if (outcomes[name] === 'ok') continue;
  retried[name] = outcomes[name];
  outcomes[name] = await attempt(name, walk, second);
}
if (!wanted) Object.assign(outcomes, await unwalked(bench, Object.keys(cases)));
await bench.end();
console.log(JSON.stringify({ outcomes, retried }, null, 1));
process.exit(0);

async function attempt(name, walk, limit) {
  const start = performance.now();
  let outcome = 'ok';
  try {
    await limited(bench.prepare(limit), 10_000);
    await limited(walk(bench), limit);
  } catch (error) {
    outcome = gist(error);
  }
  const spent = Math.round(performance.now() - start);
  await bench.tidy(outcome !== 'ok');
  if (process.env.WALK_VERBOSE) console.error(`${spent} ms\t${name}\t${outcome}`);
  return outcome;
}

function gist(error) {
  const lines = String(error?.message ?? error).split('\n').filter((line) => line.trim());
  return (lines.slice(0, 2).join(' | ') || 'failed').slice(0, 300);
}
