// node playwright-mcp.mjs <package> <endpoint> <site> [words of features]
import { run, truly } from './features.mjs';
import { server } from './mcp.mjs';

const [name, endpoint, site, ...wanted] = process.argv.slice(2);
const mcp = await server(name, 'playwright-mcp', ['--cdp-endpoint', endpoint]);
const { call } = mcp;

/// Returns a tool's name for the element whose line has these words.
const ref = (snapshot, words) => snapshot.split('\n').find((line) => line.includes(words)).match(/ref=(\w+)/)[1];
const open = (path) => call('browser_navigate', { url: site + path });

const features = {
  'browser_tabs shows the open tab': async () =>
    truly((await call('browser_tabs', { action: 'list' })).includes('about:blank')),

  'browser_navigate, snapshot, type, click': async () => {
    await open('/form.html');
    const snapshot = await call('browser_snapshot');
    truly(snapshot.includes('button "greet"'), snapshot);
    await call('browser_type', { element: 'the name', target: ref(snapshot, 'textbox'), text: 'world' });
    await call('browser_click', { element: 'the button', target: ref(snapshot, 'greet') });
    truly((await call('browser_snapshot')).includes('button "hello world"'));
  },

  browser_evaluate: async () => {
    await open('/index.html');
    truly((await call('browser_evaluate', { function: '() => document.title' })).includes('a page'));
  },

  browser_console_messages: async () => {
    await open('/index.html');
    await call('browser_evaluate', { function: '() => console.log("heard by the tool")' });
    truly((await call('browser_console_messages', { level: 'info' })).includes('heard by the tool'));
  },

  browser_network_requests: async () => {
    await open('/index.html');
    truly((await call('browser_network_requests', { static: true })).includes('/index.html'));
  },

  browser_take_screenshot: async () => {
    await open('/index.html');
    truly((await call('browser_take_screenshot')).includes('image'));
  },

  'browser_tabs: new and close': async () => {
    const opened = await call('browser_tabs', { action: 'new', url: `${site}/form.html` });
    truly(opened.includes('a form'), opened);
    truly(!(await call('browser_tabs', { action: 'close' })).includes('a form'));
  },
};

await run(features, { endpoint, wanted, connect: async () => ({}), disconnect: async () => {}, end: mcp.end });
