// Children that wait until everyone is ready for them.
import { same, truly } from '../features.mjs';
import { Raw, socketOf } from '../raw.mjs';

const WAIT = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true };

/// A raw client that wants workers of the page to wait.
async function patient(endpoint, page) {
  const raw = await Raw.connect(await socketOf(endpoint));
  const { targetId } = (await raw.pages()).find(({ url }) => url === page.url());
  const session = await raw.attach(targetId);
  await raw.send('Target.setAutoAttach', WAIT, session);
  return raw;
}

const isWorker = ({ params }) => params.targetInfo.type === 'worker';
const soon = (promise) => Promise.race([
  promise.then(() => 'started'), new Promise((resolve) => setTimeout(resolve, 500, 'waits'))]);

export const waiting = {
  'a worker waits for the slowest client': async ({ endpoint, a, site }) => {
    await a.goto(`${site}/workers.html`);
    const raw = await patient(endpoint, a);
    const started = a.evaluate(() => start() && said());
    const { params } = await raw.next('Target.attachedToTarget', isWorker);
    same(params.waitingForDebugger, true);
    same(await soon(started), 'waits');
    await raw.send('Runtime.enable', {}, params.sessionId);
    await raw.send('Runtime.runIfWaitingForDebugger', {}, params.sessionId);
    same(await started, 'started');
    same(await raw.evaluate('self.depth', params.sessionId), 1);
    raw.close();
  },

  'a worker does not wait for a client that is gone': async ({ endpoint, a, site }) => {
    await a.goto(`${site}/workers.html`);
    const raw = await patient(endpoint, a);
    const started = a.evaluate(() => start() && said());
    truly(await raw.next('Target.attachedToTarget', isWorker));
    raw.close();
    same(await started, 'started');
  },
};
