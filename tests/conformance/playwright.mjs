// node playwright.mjs <package> <endpoint> <site> [words of features]
import { run } from './features.mjs';
import { contexts } from './playwright/contexts.mjs';
import { pages } from './playwright/pages.mjs';
import { frames } from './playwright/frames.mjs';
import { requests } from './playwright/requests.mjs';
import { together } from './playwright/together.mjs';
import { trouble } from './playwright/trouble.mjs';

const [name, endpoint, site, ...wanted] = process.argv.slice(2);
const { chromium } = await import(name).then((module) => module.default ?? module);

/// A connection with its default context; `another()` makes one more, all end with the feature.
async function connect() {
  const opened = [];
  const another = async (to = endpoint) => {
    const browser = await chromium.connectOverCDP(to);
    opened.push(browser);
    return browser;
  };
  const browser = await another();
  const context = browser.contexts()[0];
  const visit = async (path, within = context) => {
    const page = await within.newPage();
    await page.goto(site + path);
    return page;
  };
  return { endpoint, site, browser, context, another, visit, opened };
}

const disconnect = (given) => Promise.all((given?.opened ?? []).map((browser) => browser.close()));

const features = { ...pages, ...frames, ...contexts, ...requests, ...together, ...trouble };
await run(features, { endpoint, wanted, connect, disconnect });
