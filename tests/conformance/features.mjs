// The part that all clients share: features with names, each run with a limit, and their results.
// A script prints one line with a JSON object, `{ feature: "ok" | "<what went wrong>" }`. Lines
// before it that start with `? ` are questions to the stage, answered by one line on stdin each.
import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';
import { tidyUp } from './raw.mjs';

/// Generous, since a busy machine is no fault of the relay: only what hangs takes so long.
const LIMIT = 120_000;

/// Set when there is no relay between the clients and the browser.
const direct = process.env.CONFORMANCE_DIRECT === '1';

/// Marks a feature that a browser of one's own does not have, or has otherwise.
export const relayOnly = (feature) => Object.assign(feature, { relayOnly: true });

/// Runs the features whose names contain one of the wanted words, one after the other. `connect`
/// makes what each of them is given, with a connection of its own; `disconnect` ends it, and `end`
/// what all of them used.
export async function run(features, { endpoint, wanted, connect, disconnect, end = async () => {} }) {
  const results = {};
  let escaped;
  process.on('unhandledRejection', (error) => (escaped ??= error));
  process.on('uncaughtException', (error) => (escaped ??= error));
  const tidy = await tidyUp(endpoint);
  for (const [name, feature] of Object.entries(features)) {
    if (direct && feature.relayOnly) continue;
    if (wanted.length && !wanted.some((word) => name.includes(word))) continue;
    const start = Date.now();
    escaped = undefined;
    let given;
    try {
      given = await within(LIMIT, connect(), 'connecting');
      await within(LIMIT, feature(given), 'the feature');
      results[name] = escaped ? brief(escaped) : 'ok';
    } catch (error) {
      results[name] = brief(error);
    }
    await within(LIMIT, disconnect(given), 'leaving').catch((error) => {
      if (results[name] === 'ok') results[name] = brief(error);
    });
    await within(LIMIT, tidy(), 'tidying up').catch((error) => {
      if (results[name] === 'ok') results[name] = brief(error);
    });
    console.error(`${results[name] === 'ok' ? 'ok  ' : 'FAIL'} ${name} (${Date.now() - start} ms)` +
      (results[name] === 'ok' ? '' : `: ${results[name]}`));
  }
  await within(3_000, end(), 'the end').catch(() => {});
  console.log(JSON.stringify(results));
  process.exit(0);
}

/// Returns an error as one line without anything that differs from run to run.
export function brief(error) {
  const text = String(error?.message ?? error).replace(/\u001b\[\d+m/g, '').replace(/\s+/g, ' ');
  return text.replace(/127\.0\.0\.1:\d+|localhost:\d+/g, '<site>').replace(/[0-9A-F]{32}/g, '<id>').slice(0, 200).trim();
}

export async function within(limit, promise, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${limit / 1000} s`)), limit);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/// Looks until something is true, for what no event tells of.
export async function until(what, look, limit = LIMIT / 2) {
  const end = Date.now() + limit;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    if (Date.now() > end) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/// Collects what something tells of one kind.
export function heard(emitter, event) {
  const events = [];
  emitter.on(event, (params) => events.push(params));
  return events;
}

/// Returns the site's answer to a page.
export const get = (page, path) =>
  page.evaluate((path) => fetch(path, { cache: 'no-store' }).then((answer) => answer.text()), path);

export const same = assert.deepEqual;
export const truly = assert.ok;

/// Returns the error with which something is refused.
export async function refusal(promise) {
  const outcome = await promise.then((value) => ({ value }), (error) => ({ error }));
  truly('error' in outcome, 'nothing was refused');
  return String(outcome.error.message);
}

let answers;
/// Asks the stage: `{ worker: expression }` evaluates in the extension's worker, `{ endWorker: true }`
/// ends it.
export async function ask(question) {
  answers ??= createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  console.log(`? ${JSON.stringify(question)}`);
  const { value, done } = await answers.next();
  truly(!done, 'nobody answers: this feature needs a stage');
  const answer = JSON.parse(value);
  truly(!answer.error, answer.error);
  return answer.value;
}
