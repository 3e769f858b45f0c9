// Events from before a client came are told to that client, and to no other again.
import { heard, same, truly, until } from '../features.mjs';

const enable = async (session, ...domains) => {
  for (const domain of domains) await session.send(`${domain}.enable`);
};
const evaluate = (session, expression) =>
  session.send('Runtime.evaluate', { expression, returnByValue: true }).then(({ result }) => result.value);

/// Each of the three turns the domains on after the other; all are told of one thing, once.
async function toldOnce(sessions, domains, event, isIt) {
  const told = sessions.map((session) => heard(session, event));
  for (const [index, session] of sessions.entries()) {
    await enable(session, ...domains);
    await until(`${event} at client ${index}`, () => told[index].some(isIt));
  }
  // Other events come before the answers.
  for (const session of sessions) await evaluate(session, '1');
  same(told.map((events) => events.filter(isIt).length), [1, 1, 1]);
}

export const replayed = {
  'contexts are told to who asks, and only then': async ({ sessionsOf }) => {
    const [one, two, three] = await sessionsOf();
    const contexts = [one, two, three].map((session) => heard(session, 'Runtime.executionContextCreated'));
    const cleared = heard(one, 'Runtime.executionContextsCleared');
    await one.send('Runtime.enable');
    const first = contexts[0].length;
    truly(first > 0, 'the first is not told');
    await two.send('Runtime.enable');
    await three.send('Runtime.enable');
    same(contexts.map((events) => events.length), [first, first, first]);
    same(cleared, []);
  },

  'scripts are told to each': async ({ sessionsOf }) => {
    const [one, two] = await sessionsOf();
    const scripts = [one, two].map((session) => heard(session, 'Debugger.scriptParsed'));
    await one.send('Debugger.enable');
    await evaluate(one, '1 //# sourceURL=named-by-the-test.js');
    await two.send('Debugger.enable');
    const named = (events) => events.some(({ url }) => url === 'named-by-the-test.js');
    await until('the script at both', () => scripts.every(named));
  },

  'style sheets are told to each': async ({ sessionsOf, a }) => {
    await a.setContent('<style>h1 { color: red }</style>');
    await toldOnce(await sessionsOf(), ['DOM', 'CSS'], 'CSS.styleSheetAdded', ({ header }) => header.origin === 'regular');
  },

  'log entries are told to each': async ({ sessionsOf, a }) => {
    await a.evaluate(() => fetch('/nothing-there').then((answer) => answer.text()));
    await toldOnce(await sessionsOf(), ['Log'], 'Log.entryAdded', ({ entry }) => entry.url?.endsWith('/nothing-there'));
  },

  'issues are told to each': async ({ sessionsOf, a }) => {
    await a.evaluate(() => (document.cookie = 'issue=1; SameSite=None'));
    await toldOnce(await sessionsOf(), ['Audits'], 'Audits.issueAdded', ({ issue }) => issue.code === 'CookieIssue');
  },

  'what was before a navigation is not told': async ({ sessionsOf, a, site }) => {
    const [one, two] = await sessionsOf();
    await enable(one, 'Debugger');
    await evaluate(one, '1 //# sourceURL=of-the-page-before.js');
    await a.goto(`${site}/index.html`);
    const scripts = heard(two, 'Debugger.scriptParsed');
    await enable(two, 'Debugger');
    same(scripts.filter(({ url }) => url === 'of-the-page-before.js'), []);
  },

  'lifecycle is told to who asks': async ({ sessionsOf }) => {
    const [one, two, three] = await sessionsOf();
    const told = [one, two, three].map((session) => heard(session, 'Page.lifecycleEvent'));
    for (const session of [one, two, three]) await enable(session, 'Page');
    await two.send('Page.setLifecycleEventsEnabled', { enabled: true });
    await three.send('Page.setLifecycleEventsEnabled', { enabled: true });
    await until('the load at both', () => [1, 2].every((index) => told[index].some(({ name }) => name === 'load')));
    same(told[0], []);
  },

  'a world of one name for all': async ({ sessionsOf }) => {
    const sessions = await sessionsOf();
    const { frameTree } = await sessions[0].send('Page.getFrameTree');
    for (const session of sessions) {
      const created = heard(session, 'Runtime.executionContextCreated');
      await enable(session, 'Runtime');
      const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld',
        { frameId: frameTree.frame.id, worldName: 'a name that all use' });
      await until('the world', () => created.some(({ context }) => context.id === contextId));
      const { result } = await session.send('Runtime.evaluate', { contextId, expression: '6 * 7' });
      same(result.value, 42);
    }
  },

  'a worker that was there before': async ({ puppeteer, endpoint, a, site }) => {
    await a.goto(`${site}/workers.html`);
    await a.evaluate(() => start() && said());
    // Playwright does not show such workers, with or without a relay.
    const newcomer = await puppeteer.connect({ browserURL: endpoint, defaultViewport: null });
    const here = async () => (await newcomer.pages()).find((page) => page.url() === a.url());
    const page = await until('the page', here);
    const worker = await until('the worker', () => page.workers()[0]);
    same(await worker.evaluate(() => self.depth), 1);
    await newcomer.disconnect();
  },
};
