// node puppeteer.mjs <package> <endpoint> <site> [words of features]
import { run } from './features.mjs';
import { browsers } from './puppeteer/browsers.mjs';
import { pages } from './puppeteer/pages.mjs';
import { requests } from './puppeteer/requests.mjs';
import { together } from './puppeteer/together.mjs';

const [name, endpoint, site, ...wanted] = process.argv.slice(2);
const { default: puppeteer } = await import(name);

/// A connection; `another()` makes one more, all end with the feature.
async function connect() {
  const opened = [];
  const another = async (to = { browserURL: endpoint }) => {
    const browser = await puppeteer.connect({ ...to, defaultViewport: null });
    opened.push(browser);
    return browser;
  };
  const browser = await another();
  const visit = async (path) => {
    const page = await browser.newPage();
    await page.goto(site + path);
    return page;
  };
  return { endpoint, site, browser, another, visit, opened };
}

const disconnect = (given) => Promise.all((given?.opened ?? []).map((browser) => browser.disconnect()));

await run({ ...pages, ...browsers, ...requests, ...together }, { endpoint, wanted, connect, disconnect });
