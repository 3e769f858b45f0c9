// What Node's permission model leaves open: signals to other processes, other users, priorities, files
// that Node, V8 or SQLite open by themselves, local sockets, and the relay's own port.
import { ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import { createRequire, isBuiltin, syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import os from 'node:os';
import v8 from 'node:v8';

/// What a handle gives in place of a socket; it must not throw.
const REFUSED = -os.constants.errno.EACCES;

const require = createRequire(import.meta.url);

/// Code may put something else in its place later.
const { apply } = Reflect;

export function closeDoors(relayPort) {
  for (const [owner, names] of closed())
    for (const name of names.filter((name) => name in owner)) replace(owner, name, refuse(name));
  replace(process, 'report', undefined);
  noLocalSockets();
  noWayBackTo(relayPort);
  whatMayNotBeSeenIsNotThere();
  syncBuiltinESMExports();
}

function closed() {
  // A handle that has not spawned signals whatever its memory held before.
  const processHandle = Object.getPrototypeOf(new ChildProcess()._handle);
  const list = [
    [process, ['kill', '_kill', '_debugProcess', '_debugEnd', '_linkedBinding', 'binding', 'dlopen']],
    [process, ['setuid', 'setgid', 'seteuid', 'setegid', 'setgroups', 'initgroups']],
    [os, ['setPriority']],
    [processHandle, ['kill', 'spawn']],
    [v8, ['setFlagsFromString']],
    [require('node:wasi'), ['WASI']],
    // In versions without CVE-2025-55130's mending, links lead out of the allowed folders.
    [fs, ['link', 'linkSync', 'symlink', 'symlinkSync']],
    [fs.promises, ['link', 'symlink']],
  ];
  if (isBuiltin('node:sqlite')) {
    const sqlite = require('node:sqlite');
    list.push([sqlite.DatabaseSync.prototype, ['open']], [sqlite, ['DatabaseSync', 'backup']]);
  }
  return list;
}

/// Some of them start programs for whoever asks.
function noLocalSockets() {
  const pipe = prototypeOfHandle({ path: true });
  for (const name of ['bind', 'connect', 'listen']) replace(pipe, name, () => REFUSED);
}

/// Who connects there is taken for a program of the user's, or for the extension. Workers have a port
/// of their own.
function noWayBackTo(relayPort) {
  const tcp = prototypeOfHandle({ host: 'nowhere', lookup() {}, port: 1 });
  const guarded = (place) => (original) =>
    function (...given) {
      // The system takes the lower half, whatever the number.
      given[place] >>>= 0;
      return (given[place] & 0xffff) === relayPort ? REFUSED : apply(original, this, given);
    };
  for (const name of ['connect', 'connect6']) replace(tcp, name, guarded(2)(tcp[name]));
  for (const name of ['bind', 'bind6']) replace(tcp, name, guarded(1)(tcp[name]));
}

/// Node makes the handle before it looks where to go.
function prototypeOfHandle(options) {
  const socket = new net.Socket();
  try {
    socket.connect(options);
  } catch {
    // A path that is none is refused only after that.
  }
  const prototype = Object.getPrototypeOf(socket._handle);
  socket.destroy();
  return prototype;
}

function replace(owner, name, value) {
  Object.defineProperty(owner, name, { value, writable: false, configurable: false });
}

function refuse(name) {
  // Also for what is made with `new`.
  return function () {
    throw new Error(`${name} is not available here`);
  };
}

/// Playwright asks for files of the system, and does not expect the question to be refused.
function whatMayNotBeSeenIsNotThere() {
  const { existsSync } = fs;
  fs.existsSync = (path) => {
    try {
      return existsSync(path);
    } catch {
      return false;
    }
  };
}
