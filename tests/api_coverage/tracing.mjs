// Tracing and Coverage.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { unzip } from './zip.mjs';

/** Checks what a trace tells of. */
async function assertTold(path, ...wanted) {
  const told = (await unzip(path)).get('trace.trace');
  for (const one of wanted) assert.match(told, one);
}

async function started(t, options = {}) {
  await t.context.tracing.start(options);
  t.after(() => t.context.tracing.stop().catch(() => {}));
}

async function recorded(t, name) {
  const path = t.file(name);
  await t.context.tracing.startHar(path);
  await t.visit();
  await t.context.tracing.stopHar();
  return path;
}

export const cases = {
  'Tracing.start': async (t) => {
    await started(t, { screenshots: true, snapshots: true });
    await t.visit();
    await t.page.click('#press');
    const path = t.file('trace.zip');
    await t.context.tracing.stop({ path });
    await assertTold(path, /"type":"frame-snapshot"/, /"type":"screencast-frame"/, /"method":"click"/);
    const pictures = [...(await unzip(path)).keys()].filter((name) => name.endsWith('.jpeg'));
    assert.ok(pictures.length > 0);
  },
  'Tracing.stop': async (t) => {
    await started(t);
    await t.visit();
    await t.context.tracing.stop({ path: t.file('plain.zip') });
    await assertTold(t.file('plain.zip'), /"method":"goto"/);
    await assert.rejects(t.context.tracing.startChunk(), /start tracing/i);
  },
  'Tracing.startChunk': async (t) => {
    await started(t);
    await t.context.tracing.stopChunk();
    await t.context.tracing.startChunk({ title: 'second' });
    await t.visit();
    await t.context.tracing.stopChunk({ path: t.file('second.zip') });
    await assertTold(t.file('second.zip'), /"title":"second"/, /"method":"goto"/);
  },
  'Tracing.stopChunk': async (t) => {
    await started(t, { snapshots: true });
    await t.visit();
    await t.context.tracing.stopChunk({ path: t.file('chunk.zip') });
    const files = await unzip(t.file('chunk.zip'));
    assert.match(files.get('trace.network'), /widgets\.html/);
  },
  'Tracing.group': async (t) => {
    await started(t);
    await t.context.tracing.group('together');
    await t.visit();
    await t.context.tracing.groupEnd();
    await t.context.tracing.stop({ path: t.file('group.zip') });
    await assertTold(t.file('group.zip'), /"together"/);
  },
  'Tracing.groupEnd': async (t) => {
    await started(t);
    await t.context.tracing.group('brief');
    await t.context.tracing.groupEnd();
    await t.visit();
    await t.context.tracing.stop({ path: t.file('ended.zip') });
    const events = (await unzip(t.file('ended.zip'))).get('trace.trace').trim().split('\n').map(JSON.parse);
    const visited = events.find(({ method }) => method === 'goto');
    assert.equal(visited.parentId, undefined);
  },
  'Tracing.startHar': async (t) => {
    const { log } = JSON.parse(await readFile(await recorded(t, 'walk.har'), 'utf8'));
    const entry = log.entries.find(({ request }) => request.url.endsWith('/widgets.html'));
    assert.match(entry.response.content.text, /<h1/);
  },
  'Tracing.stopHar': async (t) => {
    const files = await unzip(await recorded(t, 'walk.har.zip'));
    assert.match(files.get('har.har'), /widgets\.html/);
    await assert.rejects(t.context.tracing.stopHar(), /not been started/);
  },

  'Coverage.startJSCoverage': async (t) => {
    const page = await t.fresh();
    await page.coverage.startJSCoverage();
    await t.visit('popups.html', page);
    await t.visit('widgets.html', page);
    const entries = await page.coverage.stopJSCoverage();
    assert.ok(entries.some(({ url }) => url.endsWith('/widgets.html')));
  },
  'Coverage.stopJSCoverage': async (t) => {
    const page = await t.fresh();
    await page.coverage.startJSCoverage({ reportAnonymousScripts: true });
    await page.evaluate('1 + 1 //# sourceURL=summed.js');
    assert.ok((await page.coverage.stopJSCoverage()).length > 0);
  },
  'Coverage.startCSSCoverage': async (t) => {
    const page = await t.fresh();
    await page.coverage.startCSSCoverage();
    await t.visit('widgets.html', page);
    const [entry] = await page.coverage.stopCSSCoverage();
    assert.match(entry.text, /#source/);
  },
  'Coverage.stopCSSCoverage': async (t) => {
    const page = await t.fresh();
    await page.coverage.startCSSCoverage();
    await t.visit('widgets.html', page);
    const [{ ranges }] = await page.coverage.stopCSSCoverage();
    assert.ok(ranges.length > 0);
  },
};
