// The events of Page: one case per event.

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';

/** Waits for an event while something is done that causes it. */
async function event(subject, name, cause) {
  const waiting = subject.waitForEvent(name);
  await cause();
  return waiting;
}

const run = (page, script) => page.evaluate(`void setTimeout(() => { ${script} })`);

export const cases = {
  'Page.on (close)': async (t) => {
    const page = await t.fresh();
    assert.equal(await event(page, 'close', () => page.close()), page);
  },
  'Page.on (console)': async (t) => {
    const message = await event(t.page, 'console', () => run(t.page, 'console.warn("beware", 1)'));
    assert.deepEqual([message.type(), message.text()], ['warning', 'beware 1']);
  },
  'Page.on (crash)': async (t) => {
    const page = await t.fresh('widgets.html');
    const session = await t.context.newCDPSession(page);
    await event(page, 'crash', () => {
      // The command is not answered: the renderer is gone.
      session.send('Page.crash').catch(() => {});
    });
    await assert.rejects(page.evaluate(() => 1), /crash/i);
  },
  'Page.on (dialog)': async (t) => {
    await t.visit();
    const dialog = await event(t.page, 'dialog', () => run(t.page, 'window.answer = confirm("sure?")'));
    await dialog.accept();
    await t.page.waitForFunction('window.answer === true');
  },
  'Page.on (dialog: nobody listens)': async (t) => {
    await t.visit();
    assert.equal(await t.page.evaluate(() => confirm('sure?')), false);
  },
  'Page.on (dialogclosed)': async (t) => {
    await t.visit();
    t.page.once('dialog', (dialog) => dialog.dismiss());
    const dialog = await event(t.page, 'dialogclosed', () => run(t.page, 'alert("gone soon")'));
    assert.equal(dialog.message(), 'gone soon');
  },
  'Page.on (domcontentloaded)': async (t) => {
    assert.equal(await event(t.page, 'domcontentloaded', () => t.visit()), t.page);
  },
  'Page.on (load)': async (t) => {
    assert.equal(await event(t.page, 'load', () => t.visit()), t.page);
  },
  'Page.on (download)': async (t) => {
    await t.visit();
    const download = await event(t.page, 'download', () => run(t.page, 'location.href = "/download"'));
    assert.equal(download.suggestedFilename(), 'report.txt');
  },
  'Page.on (filechooser)': async (t) => {
    await t.visit();
    await writeFile(t.file('chosen.txt'), 'chosen');
    const chooser = await event(t.page, 'filechooser', () => t.page.click('#file'));
    await chooser.setFiles(t.file('chosen.txt'));
    assert.equal(await t.page.$eval('#file', (input) => input.files[0].name), 'chosen.txt');
  },
  'Page.on (frameattached)': async (t) => {
    const frame = await event(t.page, 'frameattached', () => t.visit('widgets-framed.html'));
    assert.equal(frame.parentFrame(), t.page.mainFrame());
  },
  'Page.on (framenavigated)': async (t) => {
    const frame = await event(t.page, 'framenavigated', () => t.visit());
    assert.equal(frame, t.page.mainFrame());
  },
  'Page.on (framedetached)': async (t) => {
    const frame = await t.foreignFrame();
    const gone = await event(t.page, 'framedetached', () => run(t.page, 'document.querySelector("iframe").remove()'));
    assert.equal(gone, frame);
  },
  'Page.on (pageerror)': async (t) => {
    await t.visit();
    const error = await event(t.page, 'pageerror', () => run(t.page, 'throw new TypeError("wrong")'));
    assert.deepEqual([error.name, error.message], ['TypeError', 'wrong']);
  },
  'Page.on (pageerror: in a frame of another site)': async (t) => {
    const frame = await t.foreignFrame();
    const error = await event(t.page, 'pageerror', () => run(frame, 'throw new Error("over there")'));
    assert.equal(error.message, 'over there');
  },
  'Page.on (popup)': async (t) => {
    await t.visit('popups.html');
    const popup = await event(t.page, 'popup', () => t.page.click('#open'));
    await popup.waitForURL('**/index.html');
    assert.equal(await popup.title(), 'a page');
  },
  'Page.on (popup: a link)': async (t) => {
    await t.visit('popups.html');
    const popup = await event(t.page, 'popup', () => t.page.click('#blank'));
    await popup.waitForURL('**/index.html');
  },
  'Page.on (popup: empty)': async (t) => {
    await t.visit('popups.html');
    const popup = await event(t.page, 'popup', () => t.page.click('#empty'));
    assert.equal(popup.url(), 'about:blank');
    assert.equal(await popup.evaluate(() => opener.document.title), 'a page that opens others');
  },
  'Page.on (popup: a window)': async (t) => {
    await t.visit('popups.html');
    const popup = await event(t.page, 'popup', () => t.page.click('#window'));
    await popup.waitForURL('**/index.html');
    assert.equal(await popup.evaluate(() => innerWidth), 300);
  },
  'Page.on (request)': async (t) => {
    const request = await event(t.page, 'request', () => t.visit());
    assert.equal(request.url(), `${t.site}/widgets.html`);
  },
  'Page.on (response)': async (t) => {
    const response = await event(t.page, 'response', () => t.visit());
    assert.equal(response.status(), 200);
  },
  'Page.on (requestfinished)': async (t) => {
    const request = await event(t.page, 'requestfinished', () => t.visit());
    assert.equal(request.failure(), null);
  },
  'Page.on (requestfailed)': async (t) => {
    await t.visit();
    const request = await event(t.page, 'requestfailed', () => run(t.page, 'fetch("http://127.0.0.1:1/")'));
    assert.match(request.failure().errorText, /ERR_/);
  },
  'Page.on (request: from a frame of another site)': async (t) => {
    const frame = await t.foreignFrame();
    const request = await event(t.page, 'request', () => run(frame, 'fetch("/echo")'));
    assert.equal(request.url(), `${t.elsewhere}/echo`);
    assert.equal(request.frame(), frame);
  },
  'Page.on (websocket)': async (t) => {
    await t.visit();
    const socket = await event(t.page, 'websocket', () => run(t.page, 'new WebSocket("/socket")'));
    assert.match(socket.url(), /^ws:.*\/socket$/);
  },
  'Page.on (worker)': async (t) => {
    const worker = await event(t.page, 'worker', () => t.visit('talking-worker.html'));
    assert.equal(worker.url(), `${t.site}/talking-worker.js`);
  },
  'Page.on (worker: in a frame of another site)': async (t) => {
    const frame = await t.foreignFrame();
    const worker = await event(t.page, 'worker', () => run(frame, 'window.worker = new Worker("/talking-worker.js")'));
    assert.equal(worker.url(), `${t.elsewhere}/talking-worker.js`);
    assert.equal(await worker.evaluate(() => self.answer), 42);
  },
};
