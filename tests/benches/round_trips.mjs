// Measures everyday calls of Playwright over a CDP endpoint: `round_trips.mjs <cdp> <site>` prints
// the median of each in milliseconds, or null where a call does not work.
import { chromium } from 'playwright-core';

const [cdp, site] = process.argv.slice(2);
const browser = await chromium.connectOverCDP(cdp);
const context = browser.contexts()[0];
const page = await context.newPage();
page.setDefaultTimeout(10_000);
await page.goto(`${site}/form.html`);

const calls = {
  'evaluate 1+1': [300, () => page.evaluate('1+1')],
  'evaluate 1 MB': [20, () => page.evaluate(() => 'x'.repeat(1e6))],
  click: [20, () => page.locator('button').first().click({ noWaitAfter: true })],
  screenshot: [20, () => page.screenshot()],
  goto: [20, () => page.goto(`${site}/form.html`)],
  'new page and close': [10, async () => (await context.newPage()).close()],
};

const medians = {};
for (const [name, [times, call]] of Object.entries(calls)) {
  medians[name] = await median(times, call).catch((error) => {
    console.error(`${name}: ${error.message}`);
    return null;
  });
}
await page.close();
await browser.close();
console.log(JSON.stringify(medians));

async function median(times, call) {
  for (let warm = 0; warm < 3; warm++) await call();
  const durations = [];
  for (let n = 0; n < times; n++) {
    const start = performance.now();
    await call();
    durations.push(performance.now() - start);
  }
  return durations.sort((a, b) => a - b)[Math.floor(times / 2)];
}
