// WebStorage and Credentials: what a page keeps.

import assert from 'node:assert/strict';

/** The page's storage, with one item in it, and how the page itself sees it. */
async function stored(t) {
  const page = await t.visit();
  t.after(() => page.evaluate(() => { localStorage.clear(); sessionStorage.clear(); }));
  await page.evaluate(() => { localStorage.setItem('a', '1'); sessionStorage.setItem('b', '2'); });
  return page;
}

/** A client of its own with a virtual authenticator, which cannot be taken out again. */
async function authenticated(t) {
  const { context } = await t.another();
  const page = await context.newPage();
  t.after(() => page.close());
  await context.credentials.install();
  await page.goto(`${t.elsewhere}/widgets.html`);
  return { page, credentials: context.credentials };
}

const signIn = (page) => page.evaluate(async () => {
  const challenge = new Uint8Array(32);
  return navigator.credentials
    .get({ publicKey: { challenge, rpId: 'localhost', userVerification: 'discouraged', timeout: 1000 } })
    .then(({ id }) => id, (error) => error.name);
});

export const cases = {
  'WebStorage.items': async (t) => {
    const page = await stored(t);
    assert.deepEqual(await page.localStorage.items(), [{ name: 'a', value: '1' }]);
    assert.deepEqual(await page.sessionStorage.items(), [{ name: 'b', value: '2' }]);
  },
  'WebStorage.getItem': async (t) => {
    const page = await stored(t);
    assert.equal(await page.localStorage.getItem('a'), '1');
    assert.equal(await page.localStorage.getItem('b'), null);
  },
  'WebStorage.setItem': async (t) => {
    const page = await stored(t);
    await page.sessionStorage.setItem('c', '3');
    assert.equal(await page.evaluate(() => sessionStorage.getItem('c')), '3');
  },
  'WebStorage.removeItem': async (t) => {
    const page = await stored(t);
    await page.localStorage.removeItem('a');
    assert.equal(await page.evaluate(() => localStorage.length), 0);
  },
  'WebStorage.clear': async (t) => {
    const page = await stored(t);
    await page.localStorage.clear();
    assert.deepEqual(await page.evaluate(() => [localStorage.length, sessionStorage.length]), [0, 1]);
  },

  'Credentials.install': async (t) => {
    const { page } = await authenticated(t);
    assert.equal(await signIn(page), 'NotAllowedError');
  },
  'Credentials.create': async (t) => {
    const { page, credentials } = await authenticated(t);
    const { id } = await credentials.create('localhost');
    assert.equal(await signIn(page), id);
  },
  'Credentials.get': async (t) => {
    const { credentials } = await authenticated(t);
    const { id } = await credentials.create('localhost');
    assert.deepEqual((await credentials.get({ rpId: 'localhost' })).map((one) => one.id), [id]);
  },
  'Credentials.delete': async (t) => {
    const { page, credentials } = await authenticated(t);
    const { id } = await credentials.create('localhost');
    await credentials.delete(id);
    assert.equal(await signIn(page), 'NotAllowedError');
  },
};
