// node agent-browser.mjs <package> <endpoint> <site> [words of features]
//
// A program that keeps the connection in a process of its own, which its first command starts and
// `close` ends. Each feature has one, by the name of its session.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ask, refusal, relayOnly, run, same, truly, until } from './features.mjs';
import { Raw, socketOf } from './raw.mjs';

const [name, endpoint, site, ...wanted] = process.argv.slice(2);
const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
const program = join(dirname(manifest), JSON.parse(readFileSync(manifest)).bin[name]);
const home = mkdtempSync(join(tmpdir(), 'agent-browser-'));

/// The environment without the user's own settings, and without a browser that the client could
/// start.
const env = {
  PATH: process.env.PATH,
  HOME: home,
  AGENT_BROWSER_SOCKET_DIR: home,
  AGENT_BROWSER_EXECUTABLE_PATH: join(home, 'no-browser'),
  // Should this script be killed, what it started goes by itself.
  AGENT_BROWSER_IDLE_TIMEOUT_MS: '60000',
};

const agents = [];
function newAgent() {
  const session = `s${agents.length + 1}`;
  const given = { session, agent: (...words) => command(session, words) };
  agents.push(given);
  return given;
}

async function connect() {
  const given = newAgent();
  await given.agent('connect', endpoint);
  return given;
}

async function disconnect(given) {
  if (given) await leave(given);
}

/// Ends the session's process, and waits until it has gone.
async function leave({ agent, session }) {
  const process = processOf(session);
  if (!process) return;
  await agent('close');
  await until('its end', () => !lives(process));
}

/// The process that holds a session, which its own end forgets.
function processOf(session) {
  const file = join(home, `${session}.pid`);
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : undefined;
}

function lives(id) {
  try {
    return process.kill(id, 0);
  } catch {
    return false;
  }
}

/// Runs one command; gives its data, or throws its error.
function command(session, words) {
  const child = spawn(process.execPath, [program, '--json', '--session', session, ...words],
    { env, cwd: home, stdio: ['ignore', 'pipe', 'pipe'] });
  let told = '';
  let complaint = '';
  child.stdout.on('data', (data) => (told += data));
  child.stderr.on('data', (data) => (complaint += data));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => {
      try {
        const { success, data, error } = JSON.parse(told.trim().split('\n').at(-1));
        if (success) resolve(data);
        else reject(new Error(`${words[0]}: ${error}`));
      } catch {
        reject(new Error(`${words[0]}: ${told}${complaint}`));
      }
    });
  });
}

/// Returns the name by which the snapshot calls the element of this role and name.
async function ref(agent, role, name) {
  const { refs } = await agent('snapshot', '-i');
  const found = Object.entries(refs).find(([, it]) => it.role === role && it.name === name);
  truly(found, `no ${role} ${name}: ${JSON.stringify(refs)}`);
  return `@${found[0]}`;
}

const tabs = async (agent) => (await agent('tab', 'list')).tabs;

const features = {
  'connect over http, use the open tab': async ({ agent }) => {
    same((await tabs(agent)).map(({ url }) => url), ['about:blank']);
    await agent('open', `${site}/index.html`);
    same((await agent('get', 'title')).title, 'a page');
  },

  'connect over ws, by port, and by an option': async () => {
    const port = new URL(endpoint).port;
    for (const address of [await socketOf(endpoint), port]) {
      const other = newAgent();
      await other.agent('connect', address);
      same((await tabs(other.agent)).length, 1);
      await leave(other);
    }
    const other = newAgent();
    same((await other.agent('--cdp', port, 'get', 'url')).url, 'about:blank');
    await leave(other);
  },

  'open, and get title, url and text': async ({ agent }) => {
    await agent('open', `${site}/form.html`);
    same((await agent('get', 'title')).title, 'a form');
    same((await agent('get', 'url')).url, `${site}/form.html`);
    same((await agent('get', 'text', 'button')).text, 'greet');
  },

  'snapshot, fill and click by ref': async ({ agent }) => {
    await agent('open', `${site}/form.html`);
    await agent('fill', await ref(agent, 'textbox', 'name'), 'world');
    await agent('click', await ref(agent, 'button', 'greet'));
    truly((await agent('snapshot')).snapshot.includes('button "hello world"'));
  },

  'type and press keys': async ({ agent }) => {
    await agent('open', `${site}/form.html`);
    await agent('focus', 'input');
    await agent('keyboard', 'type', 'abc');
    await agent('press', 'Backspace');
    same((await agent('get', 'value', 'input')).value, 'ab');
  },

  'evaluate, and hear the console': async ({ agent }) => {
    await agent('open', `${site}/index.html`);
    same((await agent('eval', 'Promise.resolve(6 * 7)')).result, 42);
    await agent('eval', 'console.log("heard by the tool")');
    const { messages } = await agent('console');
    truly(JSON.stringify(messages).includes('heard by the tool'));
  },

  'back, forward, reload': async ({ agent }) => {
    await agent('open', `${site}/index.html`);
    await agent('open', `${site}/form.html`);
    await agent('back');
    same((await agent('get', 'title')).title, 'a page');
    await agent('forward');
    same((await agent('get', 'title')).title, 'a form');
    await agent('eval', 'window.marked = true');
    await agent('reload');
    same((await agent('eval', 'window.marked ?? "new"')).result, 'new');
  },

  'screenshot and pdf': async ({ agent, session }) => {
    await agent('open', `${site}/index.html`);
    for (const [kind, start] of [['screenshot', '\x89PNG'], ['pdf', '%PDF']]) {
      const file = join(home, `${session}.${kind}`);
      await agent(kind, file);
      truly(readFileSync(file, 'latin1').startsWith(start), kind);
    }
  },

  'tabs: new, list, switch, close': async ({ agent }) => {
    const [{ tabId: first }] = await tabs(agent);
    const { tabId: second } = await agent('tab', 'new', `${site}/index.html`);
    await until('its page', async () => (await agent('get', 'title')).title === 'a page');
    same((await tabs(agent)).map(({ tabId, active }) => [tabId, active]), [[first, false], [second, true]]);
    await agent('tab', first);
    same((await agent('get', 'url')).url, 'about:blank');
    await agent('tab', 'close', second);
    same((await tabs(agent)).map(({ tabId }) => tabId), [first]);
  },

  'a popup is one of its tabs': async ({ agent }) => {
    await agent('open', `${site}/index.html`);
    await agent('eval', 'document.body.innerHTML = `<a target=_blank href=/form.html>further</a>`');
    await agent('click', 'a');
    await until('the popup', async () => (await tabs(agent)).some(({ title }) => title === 'a form'));
  },

  'cookies: set and get': async ({ agent }) => {
    await agent('open', `${site}/index.html`);
    await agent('cookies', 'set', 'told', '1');
    same((await agent('eval', 'document.cookie')).result, 'told=1');
    truly((await agent('cookies', 'get')).cookies.some(({ name }) => name === 'told'));
    await agent('eval', 'void (document.cookie = "told=; max-age=0")');
  },

  'clearing the cookies of the whole profile is refused, readably': relayOnly(async ({ agent }) => {
    truly((await refusal(agent('cookies', 'clear'))).includes('serve --cookies=profile'));
  }),

  'an alert does not hold it up': async ({ agent }) => {
    await agent('open', `${site}/index.html`);
    await agent('eval', 'setTimeout(() => { alert("hello"); window.gone = true })');
    await until('the end of the alert', async () => (await agent('eval', 'window.gone === true')).result);
  },

  'route: fulfil and abort': async ({ agent }) => {
    await agent('open', `${site}/index.html`);
    await agent('network', 'route', '**/hello.txt', '--body', '"from the tool"');
    const text = 'fetch("/hello.txt").then((answer) => answer.text(), () => "failed")';
    truly((await agent('eval', text)).result.includes('from the tool'));
    await agent('network', 'unroute');
    await agent('network', 'route', '**/hello.txt', '--abort');
    same((await agent('eval', text)).result, 'failed');
  },

  'viewport and colours': async ({ agent }) => {
    await agent('open', `${site}/index.html`);
    await agent('set', 'viewport', '500', '400');
    await agent('set', 'media', 'dark');
    const look = '`${innerWidth} ${matchMedia("(prefers-color-scheme: dark)").matches}`';
    same((await agent('eval', look)).result, '500 true');
  },

  'upload and download': async ({ agent, session }) => {
    await agent('open', `${site}/form.html`);
    await agent('upload', '#files', manifest);
    same((await agent('eval', 'document.querySelector("#files").files[0].name')).result, 'package.json');
    const file = join(home, `${session}.txt`);
    await agent('download', '#download', file);
    truly(statSync(file).size > 0);
  },

  'two sessions side by side': async ({ agent }) => {
    const other = await connect();
    const [{ tabId: own }] = await tabs(agent);
    await agent('open', `${site}/index.html`);
    const { targetId } = await other.agent('tab', 'new', `${site}/form.html`);
    await until('its page', async () => (await other.agent('get', 'title')).title === 'a form');
    // The client switches to any new tab, even with a browser of its own.
    await agent('tab', own);
    same((await agent('get', 'title')).title, 'a page');
    await leave(other);
    truly((await tabs(agent)).some((tab) => tab.targetId === targetId), 'its tab stays');
  },

  'closing ends its own process and leaves the tabs': relayOnly(async (given) => {
    const { agent, session } = given;
    const before = await ask({ worker: COUNT });
    await agent('open', `${site}/index.html`);
    const process = processOf(session);
    truly(lives(process));
    await leave(given);
    truly(!lives(process));
    same(await ask({ worker: COUNT }), before);
    const raw = await Raw.connect(await socketOf(endpoint));
    same((await raw.pages()).map(({ url }) => url), [`${site}/index.html`]);
    raw.close();
  }),
};

/// The tabs that the user has, in all windows.
const COUNT = 'chrome.tabs.query({}).then((tabs) => tabs.length)';

/// A client that failed on its way may have left its process.
const end = () => Promise.all(agents.map(leave));

await run(features, { endpoint, wanted, connect, disconnect, end });
