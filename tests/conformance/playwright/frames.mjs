// Frames in other processes, and workers.
import { same, truly, until } from '../features.mjs';

export const frames = {
  'frame in another process': async ({ visit }) => {
    const page = await visit('/frames.html');
    const frame = await until('the frame', () => page.frames().find((frame) => frame.url().includes('localhost')));
    same(await frame.evaluate(() => document.title), 'a page');
    await frame.getByRole('button').click();
    same(await page.frameLocator('iframe').getByRole('button').textContent(), 'clicked');
    truly(frame.parentFrame() === page.mainFrame());
    await page.evaluate(() => document.querySelector('iframe').remove());
    await until('the frame to go', () => frame.isDetached());
  },

  'worker: evaluate and end': async ({ visit }) => {
    const page = await visit('/workers.html');
    const [worker] = await Promise.all([page.waitForEvent('worker'), page.evaluate(() => start() && said())]);
    same(await worker.evaluate(() => self.depth), 1);
    const ended = worker.waitForEvent?.('close') ?? new Promise((resolve) => worker.once('close', resolve));
    await page.evaluate(() => worker.terminate());
    await ended;
    same(page.workers(), []);
  },

  'worker in a worker': async ({ visit }) => {
    const page = await visit('/workers.html');
    await Promise.all([page.waitForEvent('worker'), page.evaluate(() => start() && said())]);
    const [nested] = await Promise.all([
      page.waitForEvent('worker'), page.evaluate(() => worker.postMessage('nest'))]);
    same(await nested.evaluate(() => self.depth), 2);
    same(page.workers().length, 2);
  },
};
