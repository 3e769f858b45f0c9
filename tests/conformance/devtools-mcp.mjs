// node devtools-mcp.mjs <package> <endpoint> <site> [words of features]
import { relayOnly, run, same, truly } from './features.mjs';
import { server } from './mcp.mjs';

const [name, endpoint, site, ...wanted] = process.argv.slice(2);
const mcp = await server(name, name, ['--browserUrl', endpoint, '--no-page-id-routing', '--no-performance-crux']);
const { call, attempt } = mcp;

/// Returns the uid that a tool shows for the element whose line has these words.
const uid = (snapshot, words) => snapshot.split('\n').find((line) => line.includes(words)).match(/uid=(\S+)/)[1];

const features = {
  'list_pages shows the open tab': async () => truly((await call('list_pages')).includes('about:blank')),

  'navigate_page, take_snapshot, fill, click': async () => {
    await call('new_page', { url: `${site}/form.html` });
    const snapshot = await call('take_snapshot');
    truly(snapshot.includes('button "greet"'));
    await call('fill', { uid: uid(snapshot, 'textbox'), value: 'world' });
    await call('click', { uid: uid(snapshot, 'greet') });
    truly((await call('take_snapshot')).includes('button "hello world"'));
    await call('navigate_page', { type: 'url', url: `${site}/index.html` });
    truly((await call('take_snapshot')).includes('"hello"'));
  },

  evaluate_script: async () => {
    await call('new_page', { url: `${site}/index.html` });
    truly((await call('evaluate_script', { function: '() => document.title' })).includes('"a page"'));
  },

  take_screenshot: async () => {
    await call('new_page', { url: `${site}/index.html` });
    truly((await call('take_screenshot')).includes('image'));
  },

  list_console_messages: async () => {
    await call('new_page', { url: `${site}/index.html` });
    await call('evaluate_script', { function: '() => console.log("heard by the tool")' });
    truly((await call('list_console_messages')).includes('heard by the tool'));
  },

  list_network_requests: async () => {
    await call('new_page', { url: `${site}/form.html` });
    await call('evaluate_script', { function: '() => fetch("/hello.txt").then((answer) => answer.text())' });
    const requests = await call('list_network_requests');
    truly(requests.includes('/form.html') && requests.includes('/hello.txt'), requests);
  },

  resize_page: async () => {
    await call('new_page', { url: `${site}/index.html` });
    await call('resize_page', { width: 800, height: 600 });
    const size = await call('evaluate_script', { function: '() => `${innerWidth}x${innerHeight}`' });
    truly(size.includes('800x600'), size);
  },

  'emulate a viewport and colours': async () => {
    await call('new_page', { url: `${site}/index.html` });
    await call('emulate', { viewport: '500x400x1', colorScheme: 'dark' });
    const look = await call('evaluate_script', {
      function: '() => `${innerWidth} ${matchMedia("(prefers-color-scheme: dark)").matches}`' });
    truly(look.includes('500 true'), look);
  },

  'performance trace': async () => {
    await call('new_page', { url: `${site}/index.html` });
    await call('performance_start_trace', { reload: true, autoStop: false });
    truly((await call('performance_stop_trace')).includes('trace'));
  },

  'evaluate_script answers dialogs': async () => {
    await call('new_page', { url: `${site}/index.html` });
    const said = await call('evaluate_script', { function: '() => confirm("so?")', dialogAction: 'dismiss' });
    truly(said.includes('false'), said);
  },

  close_page: async () => {
    const opened = await call('new_page', { url: `${site}/index.html` });
    const pageId = Number(opened.match(/(\d+): .*\[selected\]/)[1]);
    const left = await call('close_page', { pageId });
    truly(!left.includes('/index.html'), left);
  },

  'own context is refused, readably': relayOnly(async () => {
    const { isError, text } = await attempt('new_page', { url: `${site}/index.html`, isolatedContext: 'own' });
    truly(isError && /context/i.test(text), text);
    same(/about:blank/.test(await call('list_pages')), true);
  }),
};

await run(features, { endpoint, wanted, connect: async () => ({}), disconnect: async () => {}, end: mcp.end });
