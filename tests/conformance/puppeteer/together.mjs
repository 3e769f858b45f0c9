// Two clients on one tab: what Puppeteer names in its own way.
import { twoClients } from '../two_clients.mjs';

const { features, onePage } = twoClients({
  pagesOf: (browser) => browser.pages(),
  leave: (browser) => browser.disconnect(),
  textOf: (handle) => handle.evaluate((element) => element.textContent),
  routeOf: (url) => ({ browserWSEndpoint: url }),
  async change(page) {
    await page.evaluateOnNewDocument(() => (window.left = 'by b'));
    await page.setViewport({ width: 333, height: 444 });
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
  },
});

export { onePage };

export const together = {
  ...features,

  'two clients: one closes what the other opened': async (given) => {
    const { a, b } = await onePage(given, '/index.html');
    const gone = new Promise((resolve) => a.once('close', resolve));
    await b.close();
    await gone;
  },
};
