// The actions on an element that Page, Frame, Locator and ElementHandle all have, written once.
// `enter(t)` says where a case runs: it gives the frame with the widgets, and `act(method, selector,
// ...args)`, which is how the class in question calls a method on an element.

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';

/** What all four do, as cases `Class.method`. */
export const actionsOn = (name, enter) => ({
  ...casesFrom(ACTIONS, name, enter),
  ...readingsFrom(READINGS, name, enter),
});

/** What only Locator and ElementHandle do. */
export const elementActionsOn = (name, enter) => casesFrom(ELEMENT_ACTIONS, name, enter);

/** Turns a table from method to walk into cases of a class. */
export function casesFrom(table, name, enter) {
  const cases = Object.entries(table).map(([method, walk]) => [
    `${name}.${method}`,
    async (t) => walk(await enter(t), t),
  ]);
  return Object.fromEntries(cases);
}

/** As [casesFrom], of a table whose walks change nothing. */
export const readingsFrom = (table, name, enter) =>
  casesFrom(table, name, (t) => {
    t.onlyReads();
    return enter(t);
  });

/** What the page saw happen. */
export const seen = (frame) => frame.evaluate('seen');

async function saw(frame, what) {
  const all = await seen(frame);
  assert.ok(all.includes(what), `"${what}" is not among ${all}`);
}

const value = (frame, selector) =>
  frame.evaluate((selector) => document.querySelector(selector).value, selector);

const ACTIONS = {
  click: async ({ frame, act }) => {
    await act('click', '#press');
    await saw(frame, 'click press');
  },
  'click (right button)': async ({ frame, act }) => {
    await act('click', '#press', { button: 'right' });
    await saw(frame, 'contextmenu press');
  },
  dblclick: async ({ frame, act }) => {
    await act('dblclick', '#press');
    await saw(frame, 'dblclick press');
  },
  hover: async ({ frame, act }) => {
    await act('hover', '#press');
    await saw(frame, 'mouseover press');
  },
  focus: async ({ frame, act }) => {
    await act('focus', '#name');
    assert.equal(await frame.evaluate(() => document.activeElement.id), 'name');
  },
  fill: async ({ frame, act }) => {
    await act('fill', '#name', 'Bob');
    assert.equal(await value(frame, '#name'), 'Bob');
    await saw(frame, 'input name');
  },
  type: async ({ frame, act }) => {
    await frame.evaluate(() => { document.querySelector('#name').value = ''; });
    await act('type', '#name', 'Eve');
    assert.equal(await value(frame, '#name'), 'Eve');
    await saw(frame, 'keydown name');
  },
  press: async ({ frame, act }) => {
    await act('press', '#name', 'End');
    await act('press', '#name', 'Backspace');
    assert.equal(await value(frame, '#name'), 'An');
  },
  check: async ({ frame, act }) => {
    await act('check', '#agree');
    assert.equal(await frame.evaluate(() => document.querySelector('#agree').checked), true);
    await saw(frame, 'change agree');
  },
  uncheck: async ({ frame, act }) => {
    await act('uncheck', '#agreed');
    assert.equal(await frame.evaluate(() => document.querySelector('#agreed').checked), false);
  },
  setChecked: async ({ frame, act }) => {
    await act('setChecked', '#agree', true);
    assert.equal(await frame.evaluate(() => document.querySelector('#agree').checked), true);
    await act('setChecked', '#agree', false);
    assert.equal(await frame.evaluate(() => document.querySelector('#agree').checked), false);
  },
  selectOption: async ({ frame, act }) => {
    assert.deepEqual(await act('selectOption', '#colour', 'blue'), ['blue']);
    assert.equal(await value(frame, '#colour'), 'blue');
  },
  setInputFiles: async ({ frame, act }) => {
    await act('setInputFiles', '#file', { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('abc') });
    assert.equal(await frame.evaluate(() => document.querySelector('#file').files[0].text()), 'abc');
  },
  'setInputFiles (from disk)': async ({ frame, act }, t) => {
    await writeFile(t.file('b.txt'), 'from disk');
    await act('setInputFiles', '#file', t.file('b.txt'));
    assert.equal(await frame.evaluate(() => document.querySelector('#file').files[0].text()), 'from disk');
  },
  dispatchEvent: async ({ frame, act }) => {
    await act('dispatchEvent', '#press', 'click');
    await saw(frame, '!click press');
  },
};

const READINGS = {
  getAttribute: async ({ act }) => {
    assert.equal(await act('getAttribute', '#heading', 'data-kind'), 'big');
  },
  inputValue: async ({ act }) => {
    assert.equal(await act('inputValue', '#name'), 'Ann');
  },
  textContent: async ({ act }) => {
    assert.equal(await act('textContent', '#unseen'), 'unseen');
  },
  innerText: async ({ act }) => {
    assert.equal(await act('innerText', '#heading'), 'Widgets');
  },
  innerHTML: async ({ act }) => {
    assert.match(await act('innerHTML', 'ul'), /^<li>one<\/li>/);
  },
  isChecked: async ({ act }) => {
    assert.deepEqual([await act('isChecked', '#agree'), await act('isChecked', '#agreed')], [false, true]);
  },
  isDisabled: async ({ act }) => {
    assert.deepEqual([await act('isDisabled', '#off'), await act('isDisabled', '#press')], [true, false]);
  },
  isEnabled: async ({ act }) => {
    assert.deepEqual([await act('isEnabled', '#off'), await act('isEnabled', '#press')], [false, true]);
  },
  isEditable: async ({ act }) => {
    assert.deepEqual([await act('isEditable', '#fixed'), await act('isEditable', '#name')], [false, true]);
  },
  isHidden: async ({ act }) => {
    assert.deepEqual([await act('isHidden', '#unseen'), await act('isHidden', '#name')], [true, false]);
  },
  isVisible: async ({ act }) => {
    assert.deepEqual([await act('isVisible', '#unseen'), await act('isVisible', '#name')], [false, true]);
  },
};

const ELEMENT_ACTIONS = {
  boundingBox: async ({ act }) => {
    const box = await act('boundingBox', '#source');
    assert.deepEqual([Math.round(box.width), Math.round(box.height)], [60, 40]);
  },
  screenshot: async ({ act }) => {
    const png = await act('screenshot', '#source');
    // If the element begins between two pixels, both are in the picture.
    assert.deepEqual([png.readUInt32BE(16) >> 1, png.readUInt32BE(20) >> 1], [30, 20]);
  },
  scrollIntoViewIfNeeded: async ({ frame, act }) => {
    await act('scrollIntoViewIfNeeded', '#far');
    assert.ok(await frame.evaluate(() => scrollY > 1000));
  },
  selectText: async ({ frame, act }) => {
    await act('selectText', '#heading');
    assert.equal(await frame.evaluate(() => getSelection().toString().trim()), 'Widgets');
  },
};
