// The queries with which Page, Frame, Locator and FrameLocator find elements, written once.
// `enter(t)` gives the object that runs the queries.

import assert from 'node:assert/strict';
import { casesFrom, readingsFrom } from './actions.mjs';

/** The cases of a class, as `Class.method`. */
export const queriesOn = (name, enter) => readingsFrom(QUERIES, name, enter);

async function finds(locator, id) {
  assert.equal(await locator.getAttribute('id'), id);
}

const QUERIES = {
  locator: async (subject) => finds(subject.locator('h1'), 'heading'),
  getByRole: async (subject) => finds(subject.getByRole('button', { name: 'Press me' }), 'press'),
  getByText: async (subject) => finds(subject.getByText('far away'), 'far'),
  getByLabel: async (subject) => finds(subject.getByLabel('Name'), 'name'),
  getByPlaceholder: async (subject) => finds(subject.getByPlaceholder('your name'), 'name'),
  getByTitle: async (subject) => finds(subject.getByTitle('a heading'), 'heading'),
  getByTestId: async (subject) => finds(subject.getByTestId('press'), 'press'),
  getByAltText: async (subject) => assert.equal(await subject.getByAltText('a dot').count(), 1),
};

/** How Page, Frame and ElementHandle look elements up at once; `enter(t)` gives one of them. */
export const lookupsOn = (name, enter) => ({
  ...readingsFrom(LOOKUPS, name, enter),
  [`${name}.waitForSelector`]: async (t) => {
    const subject = await enter(t);
    const waiting = subject.waitForSelector('h5');
    await subject.$eval('ul', (list) => setTimeout(() => { list.innerHTML = '<h5>late</h5>'; }, 50));
    assert.equal(await (await waiting).innerText(), 'late');
  },
});

const LOOKUPS = {
  $: async (subject) => {
    assert.equal(await (await subject.$('h1')).innerText(), 'Widgets');
    assert.equal(await subject.$('h6'), null);
  },
  $$: async (subject) => assert.equal((await subject.$$('li')).length, 3),
  $eval: async (subject) => {
    assert.equal(await subject.$eval('h1', (node, mark) => node.innerText + mark, '!'), 'Widgets!');
  },
  $$eval: async (subject) => {
    assert.deepEqual(await subject.$$eval('li', (all) => all.map((node) => node.innerText)), ['one', 'two', 'three']);
  },
};
