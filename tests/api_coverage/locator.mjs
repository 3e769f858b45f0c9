// Locator and FrameLocator.

import assert from 'node:assert/strict';
import { actionsOn, elementActionsOn, seen } from './actions.mjs';
import { until } from './bench.mjs';
import { queriesOn } from './queries.mjs';

const acting = async (t) => {
  const page = await t.visit();
  return { frame: page, act: (method, selector, ...args) => page.locator(selector)[method](...args) };
};
const body = async (t) => (await t.visit()).locator('body');
const framed = async (t) => {
  t.onlyReads();
  await t.foreignFrame();
  return t.page.frameLocator('iframe');
};
const items = async (t) => {
  t.onlyReads();
  return (await t.visit()).locator('li');
};

export const cases = {
  ...actionsOn('Locator', acting),
  ...elementActionsOn('Locator', acting),
  ...queriesOn('Locator', body),
  ...queriesOn('FrameLocator', framed),

  'Locator.page': async (t) => assert.equal((await body(t)).page(), t.page),
  'Locator.count': async (t) => assert.equal(await (await items(t)).count(), 3),
  'Locator.first': async (t) => assert.equal(await (await items(t)).first().innerText(), 'one'),
  'Locator.last': async (t) => assert.equal(await (await items(t)).last().innerText(), 'three'),
  'Locator.nth': async (t) => assert.equal(await (await items(t)).nth(1).innerText(), 'two'),
  'Locator.all': async (t) => {
    const all = await (await items(t)).all();
    assert.equal(await all[2].innerText(), 'three');
  },
  'Locator.allInnerTexts': async (t) => {
    assert.deepEqual(await (await items(t)).allInnerTexts(), ['one', 'two', 'three']);
  },
  'Locator.allTextContents': async (t) => {
    assert.deepEqual(await (await items(t)).allTextContents(), ['one', 'two', 'three']);
  },
  'Locator.filter': async (t) => {
    assert.equal(await (await items(t)).filter({ hasText: 'tw' }).innerText(), 'two');
  },
  'Locator.visible': async (t) => {
    const page = await t.visit();
    assert.equal(await page.locator('#unseen').count(), 1);
    assert.equal(await page.locator('#unseen').visible().count(), 0);
  },
  'Locator.within': async (t) => {
    const page = await t.visit();
    assert.equal(await page.locator('li').within(page.locator('ul')).count(), 3);
    assert.equal(await page.locator('li').within(page.locator('h1')).count(), 0);
  },
  'Locator.and': async (t) => {
    const page = await t.visit();
    assert.equal(await page.locator('button').and(page.getByText('Off')).getAttribute('id'), 'off');
  },
  'Locator.or': async (t) => {
    const page = await t.visit();
    assert.equal(await page.locator('h1').or(page.locator('li')).count(), 4);
  },
  'Locator.describe': async (t) => {
    const described = (await body(t)).describe('the whole');
    assert.equal(described.description(), 'the whole');
    assert.equal(await described.count(), 1);
  },
  'Locator.description': async (t) => assert.equal((await body(t)).description(), null),
  'Locator.toString': async (t) => assert.equal((await body(t)).toString(), "locator('body')"),
  'Locator.normalize': async (t) => {
    const normal = await (await t.visit()).locator('#press').normalize();
    assert.match(normal.toString(), /getByTestId\('press'\)/);
    assert.equal(await normal.innerText(), 'Press me');
  },
  'Locator.evaluate': async (t) => {
    assert.equal(await (await body(t)).evaluate((node, more) => node.tagName + more, '!'), 'BODY!');
  },
  'Locator.evaluateAll': async (t) => {
    assert.equal(await (await items(t)).evaluateAll((all) => all.length), 3);
  },
  'Locator.evaluateHandle': async (t) => {
    const handle = await (await body(t)).evaluateHandle((node) => node.querySelector('h1'));
    assert.equal(await handle.evaluate((node) => node.id), 'heading');
  },
  'Locator.elementHandle': async (t) => {
    assert.equal(await (await (await t.visit()).locator('h1').elementHandle()).innerText(), 'Widgets');
  },
  'Locator.elementHandles': async (t) => {
    assert.equal((await (await items(t)).elementHandles()).length, 3);
  },
  'Locator.contentFrame': async (t) => {
    await t.foreignFrame();
    assert.equal(await t.page.locator('iframe').contentFrame().locator('h1').innerText(), 'Widgets');
  },
  'Locator.frameLocator': async (t) => {
    await t.foreignFrame();
    assert.equal(await t.page.locator('html').frameLocator('iframe').locator('h1').innerText(), 'Widgets');
  },
  'Locator.clear': async (t) => {
    const name = (await t.visit()).locator('#name');
    await name.clear();
    assert.equal(await name.inputValue(), '');
  },
  'Locator.blur': async (t) => {
    const page = await t.visit();
    await page.focus('#name');
    await page.locator('#name').blur();
    assert.equal(await page.evaluate(() => document.activeElement.tagName), 'BODY');
  },
  'Locator.pressSequentially': async (t) => {
    const name = (await t.visit()).locator('#name');
    await name.clear();
    await name.pressSequentially('Zoe', { delay: 5 });
    assert.equal(await name.inputValue(), 'Zoe');
  },
  'Locator.dragTo': async (t) => {
    const page = await t.visit();
    await page.locator('#source').dragTo(page.locator('#target'));
    assert.ok((await seen(page)).includes('drop target'));
  },
  'Locator.drop': async (t) => {
    const page = await t.visit();
    await page.evaluate(() => addEventListener('drop', (event) => {
      window.dropped = event.dataTransfer.files[0].name;
    }));
    const file = { name: 'dropped.txt', mimeType: 'text/plain', buffer: Buffer.from('x') };
    await page.locator('#target').drop({ files: [file] });
    assert.equal(await page.evaluate('dropped'), 'dropped.txt');
  },
  'Locator.highlight': async (t) => {
    const heading = (await t.visit()).locator('h1');
    const plain = await t.picture();
    await heading.highlight();
    await until('another picture', async () => (await t.picture()) !== plain);
  },
  'Locator.hideHighlight': async (t) => {
    const heading = (await t.visit()).locator('h1');
    const plain = await t.picture();
    await heading.highlight();
    await until('another picture', async () => (await t.picture()) !== plain);
    await heading.hideHighlight();
    await until('the plain picture', async () => (await t.picture()) === plain);
  },
  'Locator.ariaSnapshot': async (t) => {
    assert.match(await (await t.visit()).locator('ul').ariaSnapshot(), /- list:\n\s+- listitem: one/);
  },
  'Locator.ariaSnapshotJSON': async (t) => {
    const snapshot = JSON.stringify(await (await t.visit()).locator('ul').ariaSnapshotJSON());
    assert.match(snapshot, /listitem.*three/);
  },
  'Locator.waitFor': async (t) => {
    const page = await t.visit();
    const waiting = page.locator('#unseen').waitFor({ state: 'visible' });
    await page.evaluate(() => setTimeout(() => { document.querySelector('#unseen').hidden = false; }, 50));
    await waiting;
    assert.ok(await page.locator('#unseen').isVisible());
  },
  'Locator.waitForFunction': async (t) => {
    const page = await t.visit();
    const waiting = page.locator('h1').waitForFunction((node) => node.title === 'changed');
    await page.evaluate(() => setTimeout(() => { document.querySelector('h1').title = 'changed'; }, 50));
    await waiting;
    assert.equal(await page.getAttribute('h1', 'title'), 'changed');
  },

  'FrameLocator.owner': async (t) => {
    assert.equal(await (await framed(t)).owner().getAttribute('name'), 'framed');
  },
  'FrameLocator.frameLocator': async (t) => {
    const frame = await t.foreignFrame();
    await frame.evaluate(() => {
      const inner = document.createElement('iframe');
      inner.src = `http://127.0.0.1:${location.port}/index.html`;
      document.body.prepend(inner);
    });
    const inner = t.page.frameLocator('iframe').frameLocator('iframe');
    assert.equal(await inner.locator('h1').innerText(), 'hello');
  },
  'FrameLocator.first': async (t) => {
    assert.equal(await (await framed(t)).first().locator('h1').innerText(), 'Widgets');
  },
  'FrameLocator.last': async (t) => {
    assert.equal(await (await framed(t)).last().locator('h1').innerText(), 'Widgets');
  },
  'FrameLocator.nth': async (t) => {
    assert.equal(await (await framed(t)).nth(0).locator('h1').innerText(), 'Widgets');
  },
  'FrameLocator.locator (acts in the frame)': async (t) => {
    const frame = await t.foreignFrame();
    await t.page.frameLocator('iframe').locator('#press').click();
    assert.ok((await seen(frame)).includes('click press'));
  },
};
