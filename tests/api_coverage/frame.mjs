// Frame, in a frame of another site: one that has a process and a session of its own. What Page
// passes on to its main frame is walked here for both.

import assert from 'node:assert/strict';
import { actionsOn, casesFrom, seen } from './actions.mjs';
import { lookupsOn, queriesOn } from './queries.mjs';

const foreign = (t) => t.foreignFrame();
const acting = async (t) => {
  const frame = await t.foreignFrame();
  return { frame, act: (method, selector, ...args) => frame[method](selector, ...args) };
};

/** What Page and Frame both have; `enter(t)` gives one of them, at the widgets. */
const SHARED = {
  content: async (subject) => assert.match(await subject.content(), /<h1 id="heading"/),
  setContent: async (subject) => {
    await subject.setContent('<title>set</title><h2>set</h2>');
    assert.equal(await subject.title(), 'set');
  },
  title: async (subject) => assert.equal(await subject.title(), 'widgets'),
  url: async (subject) => assert.equal(new URL(subject.url()).pathname, '/widgets.html'),
  evaluate: async (subject) => {
    assert.deepEqual(await subject.evaluate((x) => Promise.resolve({ x, at: document.title }), 7), { x: 7, at: 'widgets' });
  },
  'evaluate (an error)': async (subject) => {
    await assert.rejects(subject.evaluate(() => { throw new Error('from the page'); }), /from the page/);
  },
  evaluateHandle: async (subject) => {
    const handle = await subject.evaluateHandle(() => ({ deep: { down: 1 } }));
    assert.deepEqual(await handle.jsonValue(), { deep: { down: 1 } });
  },
  addScriptTag: async (subject) => {
    await subject.addScriptTag({ content: 'window.added = 5' });
    assert.equal(await subject.evaluate('added'), 5);
  },
  addStyleTag: async (subject) => {
    await subject.addStyleTag({ content: 'h1 { color: rgb(1, 2, 3) }' });
    assert.equal(await subject.$eval('h1', (node) => getComputedStyle(node).color), 'rgb(1, 2, 3)');
  },
  dragAndDrop: async (subject) => {
    await subject.dragAndDrop('#source', '#target');
    assert.ok((await seen(subject)).includes('drop target'));
  },
  waitForFunction: async (subject) => {
    const waiting = subject.waitForFunction((wanted) => window.later === wanted, 3);
    await subject.evaluate(() => { setTimeout(() => { window.later = 3; }, 50); });
    assert.equal(await (await waiting).jsonValue(), true);
  },
  waitForTimeout: async (subject) => {
    const start = performance.now();
    await subject.waitForTimeout(60);
    assert.ok(performance.now() - start >= 55);
  },
  waitForLoadState: async (subject) => {
    const frame = subject.mainFrame?.() ?? subject;
    const gone = frame.page().waitForEvent('framenavigated', (navigated) => navigated === frame);
    await subject.evaluate(() => location.reload());
    await gone;
    await subject.waitForLoadState('networkidle');
    assert.equal(await subject.evaluate(() => document.readyState), 'complete');
  },
  waitForURL: async (subject) => {
    const waiting = subject.waitForURL('**/index.html');
    await subject.evaluate(() => { location.href = '/index.html'; });
    await waiting;
    assert.equal(await subject.title(), 'a page');
  },
  waitForNavigation: async (subject) => {
    const waiting = subject.waitForNavigation();
    await subject.evaluate(() => { location.href = '/index.html'; });
    assert.equal((await waiting).status(), 200);
  },
  goto: async (subject) => {
    const response = await subject.goto(new URL('/index.html', subject.url()).href);
    assert.equal(response.status(), 200);
    assert.equal(await subject.title(), 'a page');
  },
};

/** The cases that Page and Frame share. */
export const documentsOn = (name, enter) => casesFrom(SHARED, name, enter);

export const cases = {
  ...actionsOn('Frame', acting),
  ...queriesOn('Frame', foreign),
  ...lookupsOn('Frame', foreign),
  ...documentsOn('Frame', foreign),
  'Frame.frameLocator': async (t) => {
    await t.foreignFrame();
    const heading = t.page.mainFrame().frameLocator('iframe').locator('h1');
    assert.equal(await heading.innerText(), 'Widgets');
  },
  'Frame.page': async (t) => assert.equal((await t.foreignFrame()).page(), t.page),
  'Frame.name': async (t) => assert.equal((await t.foreignFrame()).name(), 'framed'),
  'Frame.parentFrame': async (t) => {
    assert.equal((await t.foreignFrame()).parentFrame(), t.page.mainFrame());
    assert.equal(t.page.mainFrame().parentFrame(), null);
  },
  'Frame.childFrames': async (t) => {
    const frame = await t.foreignFrame();
    assert.equal(t.page.mainFrame().childFrames().indexOf(frame), 0);
  },
  'Frame.frameElement': async (t) => {
    const element = await (await t.foreignFrame()).frameElement();
    assert.equal(await element.getAttribute('name'), 'framed');
  },
  'Frame.isDetached': async (t) => {
    const frame = await t.foreignFrame();
    assert.equal(frame.isDetached(), false);
    const detached = t.page.waitForEvent('framedetached');
    await t.page.evaluate(() => document.querySelector('iframe').remove());
    await detached;
    assert.equal(frame.isDetached(), true);
  },
  'Frame.evaluate (in a frame of the same site)': async (t) => {
    await t.visit();
    await t.page.evaluate(() => {
      const frame = document.createElement('iframe');
      frame.src = '/index.html';
      document.body.prepend(frame);
    });
    const frame = await (await t.page.waitForSelector('iframe')).contentFrame();
    await frame.waitForURL('**/index.html');
    assert.equal(await frame.evaluate(() => document.title), 'a page');
  },
};
