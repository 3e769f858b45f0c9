// Keyboard and Mouse.

import assert from 'node:assert/strict';
import { seen } from './actions.mjs';

async function focused(t) {
  const page = await t.visit();
  await page.$eval('#name', (input) => { input.value = ''; input.focus(); });
  return page;
}

const typed = (page) => page.inputValue('#name');

/** A page, and where its button is. */
async function aimed(t) {
  const page = await t.visit();
  const box = await page.locator('#press').boundingBox();
  return { page, x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

async function assertSeen(page, ...wanted) {
  const all = await seen(page);
  for (const one of wanted) assert.ok(all.includes(one), `"${one}" is not among ${all}`);
}

export const cases = {
  'Keyboard.type': async (t) => {
    const page = await focused(t);
    await page.keyboard.type('Hé 日');
    assert.equal(await typed(page), 'Hé 日');
  },
  'Keyboard.press': async (t) => {
    const page = await focused(t);
    await page.keyboard.type('abc');
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.press('x');
    assert.equal(await typed(page), 'x');
  },
  'Keyboard.press (copy and paste)': async (t) => {
    const page = await focused(t);
    await page.keyboard.type('twice');
    for (const key of ['A', 'C', 'V', 'V']) await page.keyboard.press(`ControlOrMeta+${key}`);
    assert.equal(await typed(page), 'twicetwice');
  },
  'Keyboard.down': async (t) => {
    const page = await focused(t);
    await page.keyboard.down('Shift');
    await page.keyboard.press('KeyB');
    await page.keyboard.up('Shift');
    assert.equal(await typed(page), 'B');
  },
  'Keyboard.up': async (t) => {
    const page = await focused(t);
    await page.keyboard.down('a');
    assert.ok(!(await seen(page)).includes('keyup name'));
    await page.keyboard.up('a');
    await assertSeen(page, 'keyup name');
  },
  'Keyboard.insertText': async (t) => {
    const page = await focused(t);
    await page.keyboard.insertText('insérted');
    assert.equal(await typed(page), 'insérted');
    assert.ok(!(await seen(page)).includes('keydown name'));
  },

  'Mouse.move': async (t) => {
    const { page, x, y } = await aimed(t);
    await page.mouse.move(x, y, { steps: 3 });
    await assertSeen(page, 'mousemove press');
  },
  'Mouse.down': async (t) => {
    const { page, x, y } = await aimed(t);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await assertSeen(page, 'mousedown press');
    assert.ok(!(await seen(page)).includes('mouseup press'));
    await page.mouse.up();
  },
  'Mouse.up': async (t) => {
    const { page, x, y } = await aimed(t);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.up();
    await assertSeen(page, 'mouseup press', 'click press');
  },
  'Mouse.click': async (t) => {
    const { page, x, y } = await aimed(t);
    await page.mouse.click(x, y);
    await assertSeen(page, 'click press');
  },
  'Mouse.dblclick': async (t) => {
    const { page, x, y } = await aimed(t);
    await page.mouse.dblclick(x, y);
    await assertSeen(page, 'dblclick press');
  },
  'Mouse.wheel': async (t) => {
    const { page, x, y } = await aimed(t);
    await page.mouse.move(x, y);
    await page.mouse.wheel(0, 400);
    await page.waitForFunction(() => scrollY > 300);
  },
};
