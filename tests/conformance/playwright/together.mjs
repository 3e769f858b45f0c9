// Two clients on one tab: what Playwright names in its own way, and what only Playwright has.
import { same, until } from '../features.mjs';
import { twoClients } from '../two_clients.mjs';

const { features, onePage } = twoClients({
  pagesOf: (browser) => browser.contexts()[0].pages(),
  leave: (browser) => browser.close(),
  textOf: (handle) => handle.textContent(),
  routeOf: (url) => url,
  async change(page) {
    await page.addInitScript(() => (window.left = 'by b'));
    await page.setViewportSize({ width: 333, height: 444 });
    await page.emulateMedia({ colorScheme: 'dark' });
  },
  lateFrame: 10_000,
});

export { onePage };

export const together = {
  ...features,

  'two clients: one closes what the other opened': async (given) => {
    const { a, b, other } = await onePage(given, '/index.html');
    const gone = a.waitForEvent('close');
    await b.close();
    await gone;
    const [seen, opened] = await Promise.all([given.context.waitForEvent('page'), other.contexts()[0].newPage()]);
    await seen.close();
    await until('the page to go', () => opened.isClosed());
  },

  'screencast for two clients': async (given) => {
    const { a, b, other } = await onePage(given, '/animated.html');
    const sessions = [await given.context.newCDPSession(a), await other.contexts()[0].newCDPSession(b)];
    const frames = await Promise.all(sessions.map(async (session) => {
      // Chrome sends no more than a few that nobody has answered.
      session.on('Page.screencastFrame', ({ sessionId }) =>
        session.send('Page.screencastFrameAck', { sessionId }).catch(() => {}));
      const frame = new Promise((resolve) => session.once('Page.screencastFrame', resolve));
      await session.send('Page.startScreencast', { format: 'jpeg' });
      return (await frame).data.slice(0, 4);
    }));
    same(frames, ['/9j/', '/9j/']);
    await sessions[0].send('Page.stopScreencast');
    const more = new Promise((resolve) => sessions[1].once('Page.screencastFrame', resolve));
    await more;
  },
};
