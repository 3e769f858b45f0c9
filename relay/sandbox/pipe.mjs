import { writeSync } from 'node:fs';
import { Socket } from 'node:net';

const IN = 3;
const OUT = 4;

/// The function is kept, because these descriptors are closed for code (`harden.mjs`).
const write = writeSync;

/// Calls back with each request, and ends the process when there will be no more.
export function receive(handle) {
  let waiting = '';
  const pipe = new Socket({ fd: IN, readable: true, writable: false });
  pipe.setEncoding('utf8');
  pipe.on('data', (text) => {
    const lines = (waiting + text).split('\n');
    waiting = lines.pop();
    for (const line of lines) handle(JSON.parse(line));
  });
  pipe.on('close', () => process.exit());
}

/// Synchronous, so that an answer is out before anything can block the loop.
export function send(message) {
  let bytes = Buffer.from(`${JSON.stringify(message, wellFormed)}\n`);
  while (bytes.length > 0) bytes = bytes.subarray(write(OUT, bytes));
}

/// Half a character, as a cut leaves it, has no place in JSON that others read.
function wellFormed(_key, value) {
  return typeof value === 'string' ? value.toWellFormed() : value;
}
