// Dialogs, crashes, pages that cannot be driven, and an extension that starts again.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ask, refusal, relayOnly, same, truly, until } from '../features.mjs';
import { Raw, socketOf } from '../raw.mjs';

export const trouble = {
  'dialogs: alert, confirm, prompt': async ({ visit }) => {
    const page = await visit('/index.html');
    const seen = [];
    page.on('dialog', async (dialog) => {
      seen.push(`${dialog.type()} ${dialog.message()}`);
      await dialog.accept(dialog.type() === 'prompt' ? 'me' : undefined);
    });
    same(await page.evaluate(() => [alert('a'), confirm('b'), prompt('c')]), [undefined, true, 'me']);
    same(seen, ['alert a', 'confirm b', 'prompt c']);
  },

  'beforeunload: close at once': async ({ visit }) => {
    const page = await visit('/leaving.html');
    await page.getByRole('button').click();
    await page.close();
    truly(page.isClosed());
  },

  'beforeunload: ask first': async ({ visit }) => {
    const page = await visit('/leaving.html');
    await page.getByRole('button').click();
    const [dialog] = await Promise.all([
      page.waitForEvent('dialog'), page.close({ runBeforeUnload: true })]);
    same(dialog.type(), 'beforeunload');
    const closed = page.waitForEvent('close');
    await dialog.accept();
    await closed;
  },

  'a tab with an open alert does not hold up connecting': relayOnly(async ({ endpoint, another, site }) => {
    const raw = await Raw.connect(await socketOf(endpoint));
    const { targetId } = await raw.send('Target.createTarget', { url: `${site}/index.html` });
    const session = await raw.attach(targetId);
    await raw.send('Page.enable', {}, session);
    raw.evaluate('alert("stop")', session).catch(() => {});
    await raw.next('Page.javascriptDialogOpening');
    await quickly(another);
    raw.close();
  }),

  'a discarded tab does not hold up connecting': relayOnly(async ({ visit, another }) => {
    const page = await visit('/index.html?discarded');
    truly(page);
    await ask({ worker: `${tab('discarded')}.then((id) => chrome.tabs.discard(id)).then(() => true)` });
    await quickly(another);
  }),

  'a certificate warning is no trap': relayOnly(async ({ visit, context, site }) => {
    const page = await visit('/index.html');
    const bystander = await visit('/form.html');
    const words = await refusal(page.goto(`https://127.0.0.1:${await ask({ tls: true })}/`));
    truly(words.includes('net::ERR_CERT_AUTHORITY_INVALID'), words);
    await until('the warning', () => page.url() === 'chrome-error://chromewebdata/');
    await context.setExtraHTTPHeaders({ 'x-set': 'meanwhile' });
    await context.setOffline(true);
    await context.setOffline(false);
    await context.exposeFunction('meanwhile', () => 'exposed');
    same(await bystander.evaluate(() => meanwhile()), 'exposed');
    await page.goto(`${site}/echo`);
    same(JSON.parse(await page.textContent('body')).headers['x-set'], 'meanwhile');
    same(await page.evaluate(() => meanwhile()), 'exposed');
    await page.goto(`https://127.0.0.1:${await ask({ tls: true })}/`).catch(() => {});
    await page.close();
  }),

  'popup: closes at once': relayOnly(async ({ visit }) => {
    const page = await visit('/popups.html');
    const [popup] = await Promise.all([
      page.waitForEvent('popup'), page.evaluate(() => window.open('/index.html').close())]);
    if (!popup.isClosed()) await popup.waitForEvent('close');
    same(await page.evaluate(() => 1 + 1), 2);
  }),

  'popup: a dialog at once': relayOnly(async ({ visit }) => {
    const page = await visit('/popups.html');
    const [popup] = await Promise.all([
      page.waitForEvent('popup'), page.evaluate(() => void window.open('/asking.html'))]);
    popup.on('dialog', (dialog) => dialog.dismiss());
    same(await page.evaluate(() => 1 + 1), 2);
    await until('the dialog to be answered', async () => (await popup.title()) === 'answered null');
  }),

  'a folder for a tab behind another is refused, readably': relayOnly(async ({ visit }) => {
    const page = await visit('/index.html');
    await page.setContent('<input type="file" webkitdirectory>');
    const folder = await mkdtemp(join(tmpdir(), 'conformance-'));
    await writeFile(join(folder, 'file.txt'), 'text');
    const words = await refusal((await page.$('input')).setInputFiles(folder));
    await rm(folder, { recursive: true });
    truly(words.includes('only for a tab that is shown'), words);
    same(await page.evaluate(() => document.querySelector('input').files.length), 0);
  }),

  'crash of a page': async ({ context, visit }) => {
    const page = await visit('/index.html');
    const bystander = await visit('/form.html');
    const session = await context.newCDPSession(page);
    const crashed = page.waitForEvent('crash');
    session.send('Page.crash').catch(() => {});
    await crashed;
    same(await bystander.evaluate(() => document.title), 'a form');
    await page.close();
    await (await context.newPage()).close();
  },

  'a data: address is refused with a way out': relayOnly(async ({ visit }) => {
    const page = await visit('/index.html');
    truly((await refusal(page.goto('data:text/html,<title>hello</title>'))).includes('page.setContent()'));
    await page.setContent('<title>hello</title>');
    same(await page.title(), 'hello');
  }),

  'to a chrome:// page and back': relayOnly(async ({ visit, context, site }) => {
    await visit('/index.html?travels');
    const go = (from, to) => ask({ worker:
      `${tab(from)}.then((id) => chrome.tabs.update(id, { url: '${to}' })).then(() => true)` });
    await go('travels', 'chrome://version');
    await until('chrome to be there', () => ask({ worker: `${tab('chrome://version')}.then(Boolean)` }));
    await go('chrome://version', `${site}/form.html?back`);
    const page = await until('the page to be back', () => context.pages().find((page) => page.url().endsWith('?back')));
    same(await page.evaluate(() => document.title), 'a form');
    await page.goto(`${site}/index.html`);
    same(await page.title(), 'a page');
  }),

  'the extension starts again under a client': relayOnly(async ({ visit, site }) => {
    const page = await visit('/index.html');
    await ask({ endWorker: true });
    same(await page.evaluate(() => document.title), 'a page');
    await page.goto(`${site}/form.html`);
    same(await page.title(), 'a form');
  }),
};

/// Returns an expression for the extension's worker: the id of the tab whose address contains a text.
const tab = (part) => `chrome.debugger.getTargets().then((all) => all.find(({ url }) => url.includes('${part}'))?.tabId)`;

async function quickly(another) {
  const start = Date.now();
  const browser = await another();
  // The relay gives a tab that is asked ten seconds to answer.
  truly(Date.now() - start < 8_000, 'a tab was waited for');
  same(await browser.contexts()[0].pages()[0].evaluate(() => 1 + 1), 2);
}
