// One session's code runs in this process. The relay talks to it over two private pipes: requests
// come in on 3, answers go out on 4, one JSON object per line.
import { removeUnsafeApis } from './harden.mjs';
import { describe } from './errors.mjs';
import { receive, send } from './pipe.mjs';
import { Session } from './session.mjs';

let session;

const requests = {
  start(request) {
    removeUnsafeApis(request);
    session = new Session(request);
    send({ type: 'ready', version: session.playwrightVersion, pid: process.pid });
  },
  async execute({ id, code, timeout }) {
    send({ type: 'received', id, connects: !session.isConnected });
    const begun = () => send({ type: 'begun', id });
    const said = (text) => send({ type: 'said', id, text });
    send({ type: 'done', id, ...(await session.execute(code, timeout, { begun, said })) });
  },
  async cancel() {
    await session.cancel();
  },
  ping({ id }) {
    send({ type: 'alive', id });
  },
};

// An error that happens outside of a call is told with the next answer, and ends nothing.
for (const event of ['uncaughtException', 'unhandledRejection'])
  process.on(event, (error) => session?.failedInBackground(error));

receive(async (request) => {
  try {
    await requests[request.type](request);
  } catch (error) {
    send({ type: 'broken', message: describe(error) });
  }
});
