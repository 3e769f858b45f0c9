// The objects that a page hands its client: Dialog, Download, FileChooser, ConsoleMessage, WebError.

import assert from 'node:assert/strict';
import { access, readFile, writeFile } from 'node:fs/promises';

const run = (page, script) => page.evaluate(`void setTimeout(() => { ${script} })`);

async function caused(t, event, script) {
  await t.visit();
  const waiting = t.page.waitForEvent(event);
  await run(t.page, script);
  return waiting;
}

/** A dialog that is answered at the latest when the case is over. */
async function dialog(t, script) {
  const dialog = await caused(t, 'dialog', `window.said = ${script}`);
  t.spoil();
  return dialog;
}

const download = (t, path = '/download') => caused(t, 'download', `location.href = '${path}'`);

async function chooser(t) {
  await t.visit();
  const waiting = t.page.waitForEvent('filechooser');
  await t.page.click('#file');
  return waiting;
}

const message = (t) => caused(t, 'console', 'console.error("text", { a: 1 })');

async function webError(t) {
  const waiting = t.context.waitForEvent('weberror');
  await t.visit();
  await run(t.page, 'throw new RangeError("too far")');
  return waiting;
}

const said = (t, value) => t.page.waitForFunction((value) => window.said === value, value);

export const cases = {
  'Dialog.accept': async (t) => {
    await (await dialog(t, 'confirm("?")')).accept();
    await said(t, true);
  },
  'Dialog.accept (with a text)': async (t) => {
    await (await dialog(t, 'prompt("?", "old")')).accept('new');
    await said(t, 'new');
  },
  'Dialog.dismiss': async (t) => {
    await (await dialog(t, 'confirm("?")')).dismiss();
    await said(t, false);
  },
  'Dialog.dismiss (a prompt)': async (t) => {
    await (await dialog(t, 'prompt("?")')).dismiss();
    await said(t, null);
  },
  'Dialog.accept (in a frame of another site)': async (t) => {
    const frame = await t.foreignFrame();
    const waiting = t.page.waitForEvent('dialog');
    await run(frame, 'window.said = confirm("?")');
    await (await waiting).accept();
    await frame.waitForFunction('window.said === true');
  },
  'Dialog.message': async (t) => assert.equal((await dialog(t, 'alert("hear!")')).message(), 'hear!'),
  'Dialog.type': async (t) => assert.equal((await dialog(t, 'prompt("?")')).type(), 'prompt'),
  'Dialog.defaultValue': async (t) => {
    assert.equal((await dialog(t, 'prompt("?", "perhaps")')).defaultValue(), 'perhaps');
  },
  'Dialog.page': async (t) => assert.equal((await dialog(t, 'alert(1)')).page(), t.page),

  'Download.url': async (t) => assert.equal((await download(t)).url(), `${t.site}/download`),
  'Download.suggestedFilename': async (t) => {
    assert.equal((await download(t)).suggestedFilename(), 'report.txt');
  },
  'Download.page': async (t) => assert.equal((await download(t)).page(), t.page),
  'Download.path': async (t) => {
    assert.equal(await readFile(await (await download(t)).path(), 'utf8'), 'a report');
  },
  'Download.path (of a blob)': async (t) => {
    const blob = await caused(t, 'download', `
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob(['from a blob']));
      link.download = 'blob.txt';
      link.click();
    `);
    assert.equal(blob.suggestedFilename(), 'blob.txt');
    assert.equal(await readFile(await blob.path(), 'utf8'), 'from a blob');
  },
  'Download.saveAs': async (t) => {
    await (await download(t)).saveAs(t.file('saved.txt'));
    assert.equal(await readFile(t.file('saved.txt'), 'utf8'), 'a report');
  },
  'Download.createReadStream': async (t) => {
    const chunks = await (await (await download(t)).createReadStream()).toArray();
    assert.equal(Buffer.concat(chunks).toString(), 'a report');
  },
  'Download.failure': async (t) => assert.equal(await (await download(t)).failure(), null),
  'Download.failure (after cancelling)': async (t) => {
    const endless = await download(t, '/endless');
    await endless.cancel();
    assert.equal(await endless.failure(), 'canceled');
  },
  'Download.cancel': async (t) => {
    const endless = await download(t, '/endless');
    await endless.cancel();
    await assert.rejects(endless.path(), /canceled/);
  },
  'Download.delete': async (t) => {
    const done = await download(t);
    const path = await done.path();
    await done.delete();
    await assert.rejects(access(path), /ENOENT/);
  },

  'FileChooser.element': async (t) => {
    assert.equal(await (await chooser(t)).element().getAttribute('id'), 'file');
  },
  'FileChooser.isMultiple': async (t) => assert.equal((await chooser(t)).isMultiple(), true),
  'FileChooser.page': async (t) => assert.equal((await chooser(t)).page(), t.page),
  'FileChooser.setFiles': async (t) => {
    const files = ['one.txt', 'two.txt'].map((name) => t.file(name));
    await Promise.all(files.map((file) => writeFile(file, 'x')));
    await (await chooser(t)).setFiles(files);
    const names = await t.page.$eval('#file', (input) => [...input.files].map(({ name }) => name));
    assert.deepEqual(names, ['one.txt', 'two.txt']);
  },

  'ConsoleMessage.type': async (t) => assert.equal((await message(t)).type(), 'error'),
  'ConsoleMessage.text': async (t) => assert.match((await message(t)).text(), /^text (Object|\{a: 1\})$/),
  'ConsoleMessage.args': async (t) => {
    const [, object] = (await message(t)).args();
    assert.deepEqual(await object.jsonValue(), { a: 1 });
  },
  'ConsoleMessage.location': async (t) => {
    const sourced = await caused(t, 'console', 'eval("console.log(1)\\n//# sourceURL=named.js")');
    assert.equal(sourced.location().url, 'named.js');
  },
  'ConsoleMessage.page': async (t) => assert.equal((await message(t)).page(), t.page),
  'ConsoleMessage.timestamp': async (t) => {
    const age = Date.now() - (await message(t)).timestamp();
    assert.ok(age >= -1000 && age < 10_000, `${age}`);
  },
  'ConsoleMessage.worker': async (t) => {
    const spoken = t.page.waitForEvent('console', (heard) => heard.text() === 'the worker speaks');
    await t.visit('talking-worker.html');
    assert.equal((await spoken).worker().url(), `${t.site}/talking-worker.js`);
  },

  'WebError.error': async (t) => assert.equal((await webError(t)).error().name, 'RangeError'),
  'WebError.page': async (t) => assert.equal((await webError(t)).page(), t.page),
  'WebError.location': async (t) => {
    const { line, lineNumber } = (await webError(t)).location();
    assert.equal(typeof (line ?? lineNumber), 'number');
  },
};
