// Sessions of different clients on one target, command by command.
import { heard, refusal, same, truly, until } from '../features.mjs';
import { Raw, socketOf } from '../raw.mjs';

export const sessions = {
  'a domain that one turns off stays on for others': async ({ sessionsOf, a }) => {
    const [one, two, three] = await sessionsOf();
    for (const session of [one, two, three]) {
      await session.send('Runtime.enable');
      await session.send('Network.enable');
    }
    await two.send('Runtime.disable');
    await two.send('Network.disable');
    const logs = [one, two, three].map((session) => heard(session, 'Runtime.consoleAPICalled'));
    const requests = [one, two, three].map((session) => heard(session, 'Network.requestWillBeSent'));
    await a.evaluate(() => { console.log('x'); return fetch('/hello.txt').then((answer) => answer.text()); });
    await until('events', () => logs[2].length && requests[2].length && logs[0].length && requests[0].length);
    same([logs, requests].map((of) => of.map((events) => events.length)), [[1, 0, 1], [1, 0, 1]]);
    await one.send('DOM.enable');
    await two.send('DOM.enable');
    await two.send('DOM.disable');
    await one.send('DOM.getDocument');
  },

  'a script is removed by its owner only': async ({ sessionsOf, a }) => {
    const [one, two] = await sessionsOf();
    for (const session of [one, two]) await session.send('Page.enable');
    const source = 'window.owned = true';
    const { identifier } = await one.send('Page.addScriptToEvaluateOnNewDocument', { source });
    await two.send('Page.removeScriptToEvaluateOnNewDocument', { identifier }).catch(() => {});
    await a.reload();
    same(await a.evaluate(() => window.owned), true);
    await one.send('Page.removeScriptToEvaluateOnNewDocument', { identifier });
    await a.reload();
    same(await a.evaluate(() => window.owned), undefined);
  },

  'bindings call who made them': async ({ sessionsOf, a }) => {
    const [one, two] = await sessionsOf();
    for (const session of [one, two]) await session.send('Runtime.enable');
    const calls = [one, two].map((session) => heard(session, 'Runtime.bindingCalled'));
    await one.send('Runtime.addBinding', { name: 'mine' });
    await one.send('Runtime.addBinding', { name: 'ours' });
    await two.send('Runtime.addBinding', { name: 'ours' });
    await a.evaluate(() => { mine('1'); ours('2'); });
    const names = () => calls.map((events) => events.map(({ name }) => name).filter((name) => /^(mine|ours)$/.test(name)).join());
    await until('the calls', () => String(names()) === 'mine,ours,ours');
    await two.send('Runtime.removeBinding', { name: 'ours' });
    await a.evaluate(() => ours('3'));
    await until('the last call', () => String(names()) === 'mine,ours,ours,ours');
    same(names(), ['mine,ours,ours', 'ours']);
  },

  'objects of a group stay with their client': async ({ sessionsOf }) => {
    const [one, two] = await sessionsOf();
    const { result } = await one.send('Runtime.evaluate', { expression: '({ answer: 42 })', objectGroup: 'shared' });
    await two.send('Runtime.evaluate', { expression: '({})', objectGroup: 'shared' });
    await two.send('Runtime.releaseObjectGroup', { objectGroup: 'shared' });
    const call = { objectId: result.objectId, functionDeclaration: 'function () { return this.answer }' };
    same((await one.send('Runtime.callFunctionOn', call)).result.value, 42);
  },

  'screencast for all': async ({ sessionsOf, a, site }) => {
    await a.goto(`${site}/animated.html`);
    const all = await sessionsOf();
    const frame = (session) => new Promise((resolve) => session.once('Page.screencastFrame', resolve));
    for (const session of all) {
      session.on('Page.screencastFrame', ({ sessionId }) => void session.send('Page.screencastFrameAck', { sessionId }));
    }
    const first = all.map(frame);
    for (const session of all) await session.send('Page.startScreencast', { format: 'jpeg' });
    for (const { data } of await Promise.all(first)) same(data.slice(0, 4), '/9j/');
    await all[0].send('Page.stopScreencast');
    await Promise.all(all.slice(1).map(frame));
  },

  'a trace is of who started it': async ({ sessionsOf }) => {
    const [one, two, three] = await sessionsOf();
    const ends = [one, two, three].map((session) => heard(session, 'Tracing.tracingComplete'));
    const start = { transferMode: 'ReturnAsStream', traceConfig: { includedCategories: ['devtools.timeline'] } };
    await one.send('Tracing.start', start);
    for (const other of [two, three]) truly((await refusal(other.send('Tracing.start', start))).includes('already'));
    await one.send('Tracing.end');
    await until('the end', () => ends[0].length);
    same(ends.map((events) => events.length), [1, 0, 0]);
    await one.send('IO.close', { handle: ends[0][0].stream });
    await two.send('Tracing.start', start);
    await two.send('Tracing.end');
    await until('the second end', () => ends[1].length);
  },

  'children stay when one lets go of them': async ({ sessionsOf, a, site }) => {
    await a.goto(`${site}/frames.html`);
    const frame = await until('the frame', () => a.frames().find((frame) => frame.url().includes('localhost')));
    const [, two, three] = await sessionsOf();
    const attached = heard(two, 'Target.attachedToTarget');
    const detached = heard(three, 'Target.detachedFromTarget');
    const attach = { autoAttach: true, waitForDebuggerOnStart: false, flatten: true };
    await three.send('Target.setAutoAttach', attach);
    await two.send('Target.setAutoAttach', attach);
    await until('the frame at the second', () => attached.some(({ targetInfo }) => targetInfo.type === 'iframe'));
    await two.send('Target.setAutoAttach', { ...attach, autoAttach: false });
    same(await frame.evaluate(() => document.title), 'a page');
    same(detached, []);
  },

  'interception: only who holds a request may answer': async ({ sessionsOf, a }) => {
    const [one, two] = await sessionsOf();
    const paused = heard(one, 'Fetch.requestPaused');
    await one.send('Fetch.enable', { patterns: [{ urlPattern: '*hello.txt' }] });
    await two.send('Fetch.enable', { patterns: [{ urlPattern: '*other*' }] });
    const text = a.evaluate(() => fetch('/hello.txt', { cache: 'no-store' }).then((answer) => answer.text()));
    await until('the request', () => paused.length === 1);
    const [{ requestId }] = paused;
    truly(await refusal(two.send('Fetch.continueRequest', { requestId })));
    await two.send('Fetch.disable');
    await one.send('Fetch.continueRequest', { requestId });
    same(await text, 'hello');
  },

  'the same ids on several sessions of two sockets': async ({ endpoint, a }) => {
    const raws = [];
    for (let count = 0; count < 2; count++) raws.push(await Raw.connect(await socketOf(endpoint)));
    const { targetId } = (await raws[0].pages()).find(({ url }) => url === a.url());
    const asked = [];
    for (const [which, raw] of raws.entries()) {
      for (const session of [await raw.attach(targetId), await raw.attach(targetId)]) {
        for (let id = 7000; id < 7050; id++) asked.push({ which, raw, session, id });
      }
    }
    const expression = ({ which, session, id }) => JSON.stringify(`${which} ${session} ${id}`);
    for (const ask of asked) {
      const params = { expression: expression(ask) };
      ask.raw.socket.send(JSON.stringify({ id: ask.id, sessionId: ask.session, method: 'Runtime.evaluate', params }));
    }
    await until('all answers', () => raws.every(({ events }) => events.filter(({ id }) => id).length === 100));
    for (const ask of asked) {
      const answers = ask.raw.events.filter(({ id, sessionId }) => id === ask.id && sessionId === ask.session);
      same(answers.map(({ result }) => result.result.value), [JSON.parse(expression(ask))]);
    }
    for (const raw of raws) raw.close();
  },
};
