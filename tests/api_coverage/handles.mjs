// JSHandle and ElementHandle.

import assert from 'node:assert/strict';
import { actionsOn, casesFrom, elementActionsOn } from './actions.mjs';
import { lookupsOn } from './queries.mjs';

const acting = async (t) => {
  const page = await t.visit();
  const act = async (method, selector, ...args) => (await page.$(selector))[method](...args);
  return { frame: page, act };
};
const body = async (t) => (await t.visit()).$('body');
const list = async (t) => (await t.visit()).$('ul');
const point = async (t) => (await t.visit()).evaluateHandle(() => ({ id: '', title: 'a point', nodeType: 1 }));

/** What an ElementHandle can do because it is a JSHandle; the element is a list without an id. */
const INHERITED = {
  evaluate: async (handle) => {
    assert.equal(await handle.evaluate((value, more) => value.nodeType + more, 5), 6);
  },
  evaluateHandle: async (handle) => {
    const inner = await handle.evaluateHandle((value) => [value.id, value.nodeType]);
    assert.deepEqual(await inner.jsonValue(), ['', 1]);
  },
  getProperty: async (handle) => {
    assert.equal(await (await handle.getProperty('nodeType')).jsonValue(), 1);
  },
  getProperties: async (handle) => {
    await handle.evaluate((value) => { value.own = 'yes'; });
    assert.equal(await (await handle.getProperties()).get('own').jsonValue(), 'yes');
  },
  dispose: async (handle) => {
    await handle.dispose();
    await assert.rejects(handle.evaluate(() => 1));
  },
};

export const cases = {
  ...actionsOn('ElementHandle', acting),
  ...elementActionsOn('ElementHandle', acting),
  ...lookupsOn('ElementHandle', body),
  ...casesFrom(INHERITED, 'ElementHandle', list),
  ...casesFrom(INHERITED, 'JSHandle', point),

  'ElementHandle.asElement': async (t) => {
    const handle = await body(t);
    assert.equal(handle.asElement(), handle);
  },
  'ElementHandle.ownerFrame': async (t) => {
    const frame = await t.foreignFrame();
    assert.equal(await (await frame.$('h1')).ownerFrame(), frame);
  },
  'ElementHandle.contentFrame': async (t) => {
    const frame = await t.foreignFrame();
    assert.equal(await (await t.page.$('iframe')).contentFrame(), frame);
  },
  'ElementHandle.waitForElementState': async (t) => {
    const button = await (await t.visit()).$('#off');
    const waiting = button.waitForElementState('enabled');
    await button.evaluate((node) => setTimeout(() => { node.disabled = false; }, 50));
    await waiting;
    assert.ok(await button.isEnabled());
  },

  'ElementHandle.jsonValue': async (t) => assert.equal(await (await list(t)).jsonValue(), 'ref: <Node>'),
  'ElementHandle.toString': async (t) => assert.match((await list(t)).toString(), /^JSHandle@(node|<ul>)/),

  'JSHandle.jsonValue': async (t) => {
    assert.deepEqual(await (await point(t)).jsonValue(), { id: '', title: 'a point', nodeType: 1 });
  },
  'JSHandle.asElement': async (t) => assert.equal((await point(t)).asElement(), null),
  'JSHandle.toString': async (t) => {
    const handle = await (await t.visit()).evaluateHandle(() => [1, 2]);
    assert.match(handle.toString(), /Array|1,2/);
  },
};
