// Removes the rights that Node's permission model leaves open: signals to other processes, other
// users, priorities, files that Node, V8 or SQLite open by themselves, local sockets, descriptors of
// Node's own, and ports. The system's boundary around this process removes the same rights for native
// code; the errors here can say more.
import { ChildProcess } from 'node:child_process';
import crypto from 'node:crypto';
import dgram from 'node:dgram';
import fs from 'node:fs';
import { createRequire, isBuiltin, syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import os from 'node:os';
import tty from 'node:tty';
import { fileURLToPath } from 'node:url';
import v8 from 'node:v8';

/// The result of a handle in place of a socket; it must not throw.
const REFUSED = -os.constants.errno.EACCES;

/// Descriptors above these are Node's own, or the relay's: its loop can be told to run native code.
const STANDARD = 2;

/// The number of descriptors that the relay lets a sandbox have.
const DESCRIPTORS = 256;

/// The addresses at which clouds keep their credentials, beside all link-local addresses.
const METADATA = ['100.100.100.200', '168.63.129.16', '192.0.0.192', 'fd00:ec2::254'];

const require = createRequire(import.meta.url);

/// Code may put something else in its place later.
const { apply, construct } = Reflect;

/// One of Node's handles for files, through which others could be made.
const file = await fs.promises.open(fileURLToPath(import.meta.url));

export function removeUnsafeApis({ ports, datagrams }) {
  for (const [owner, names] of unsafeApis())
    for (const name of names.filter((name) => name in owner)) replace(owner, name, refuse(name));
  blockFileModes();
  replace(process, 'report', undefined);
  blockLocalSockets();
  blockPortsExcept(ports);
  if (!datagrams) blockDatagrams();
  hideNodeDescriptors();
  hideUnreadableFiles();
  syncBuiltinESMExports();
}

function unsafeApis() {
  // A handle that has not spawned signals whatever its memory held before.
  const processHandle = Object.getPrototypeOf(new ChildProcess()._handle);
  const list = [
    [process, ['kill', '_kill', '_debugProcess', '_debugEnd', '_linkedBinding', 'binding', 'dlopen', 'execve']],
    [process, ['setuid', 'setgid', 'seteuid', 'setegid', 'setgroups', 'initgroups']],
    [os, ['setPriority']],
    [processHandle, ['kill', 'spawn']],
    [v8, ['setFlagsFromString']],
    [crypto, ['setEngine']],
    [tty, ['ReadStream', 'WriteStream']],
    [require('node:wasi'), ['WASI']],
    // In versions without the fix of CVE-2025-55130, links lead out of the allowed folders.
    [fs, ['link', 'linkSync', 'symlink', 'symlinkSync']],
    [fs.promises, ['link', 'symlink']],
  ];
  if (isBuiltin('node:sqlite')) {
    const sqlite = require('node:sqlite');
    list.push([sqlite.DatabaseSync.prototype, ['open']], [sqlite, ['DatabaseSync', 'backup']]);
  }
  return list;
}

/// Blocks changes of modes, owners and times by path, which reach files that cannot be opened. The
/// system refuses them as well, in few words.
function blockFileModes() {
  const names = ['chmod', 'lchmod', 'chown', 'lchown', 'utimes', 'lutimes'];
  const refused = (name) => () => {
    throw new Error(`${name} is not available here: modes, owners and times of files stay as they are`);
  };
  for (const name of [...names, ...names.map((name) => `${name}Sync`)]) if (name in fs) put(fs, name, refused(name));
  for (const name of names) if (name in fs.promises) put(fs.promises, name, refused(name));
}

/// Blocks local sockets. Behind some of them are programs that start others on request.
function blockLocalSockets() {
  const pipe = prototypeOfHandle({ path: true });
  for (const name of ['bind', 'connect', 'listen']) replace(pipe, name, () => REFUSED);
  replace(pipe, 'open', onlyStandardDescriptors(pipe.open));
}

/// Servers that code may connect to; none of them is a relay, where it would be taken for a program of
/// the user's, or for the extension. Sandboxes have a port of their own.
function blockPortsExcept(ports) {
  const tcp = prototypeOfHandle({ host: 'nowhere', lookup() {}, port: 1 });
  const isOpen = (port) => ports.some(([first, last]) => first <= port && port <= last);
  const guarded = (original) =>
    function (request, address, port, ...rest) {
      // The system takes the lower half, whatever the number.
      port >>>= 0;
      const isAllowed = isOpen(port & 0xffff) && !isOfTheMachine(String(address));
      return isAllowed ? apply(original, this, [request, `${address}`, port, ...rest]) : REFUSED;
    };
  for (const name of ['connect', 'connect6']) replace(tcp, name, guarded(tcp[name]));
  for (const name of ['bind', 'bind6', 'listen']) replace(tcp, name, () => REFUSED);
  replace(tcp, 'open', onlyStandardDescriptors(tcp.open));
}

/// Addresses that lead to the machine's own network and to what a cloud tells its machines.
function isOfTheMachine(address) {
  const plain = address.toLowerCase().split('%')[0].replace(/^(0*:)*:?ffff:(?=\d+\.)/, '');
  const mapped = plain.match(/^(?:0*:)*:?ffff:([0-9a-f]{1,4}):[0-9a-f]{1,4}$/);
  return (
    plain.startsWith('169.254.') || /^fe[89ab][0-9a-f]:/.test(plain) || METADATA.includes(plain) ||
    (mapped !== null && parseInt(mapped[1], 16) === 0xa9fe)
  );
}

function blockDatagrams() {
  const udp = prototypeOfDatagrams();
  for (const name of ['bind', 'bind6', 'connect', 'connect6', 'send', 'send6']) replace(udp, name, () => REFUSED);
}

/// Hides descriptors that were open before code came: a message to Node's loop makes it call any
/// address.
function hideNodeDescriptors() {
  const own = new Set();
  for (let fd = STANDARD + 1; fd < DESCRIPTORS; fd += 1) if (isOpen(fd)) own.add(fd);
  // Its own descriptor is closed when it is.
  own.delete(file.fd);
  const check = (fd) => {
    if (own.has(fd)) throw new Error('this descriptor is not available here');
  };
  const guarded = (original) => {
    const guard = function (fd, ...rest) {
      check(fd);
      return apply(original, this, [fd, ...rest]);
    };
    // `promisify` reads these symbols.
    for (const symbol of Object.getOwnPropertySymbols(original)) guard[symbol] = original[symbol];
    return guard;
  };
  /// A stream's options name the descriptor; they are read once.
  const guardedStream = (original) => {
    const guard = function (path, options) {
      const given = [path, typeof options === 'object' && options !== null ? { ...options } : options];
      check(given[1]?.fd);
      return new.target ? construct(original, given, new.target) : apply(original, this, given);
    };
    guard.prototype = original.prototype;
    return guard;
  };
  const names = [
    'read', 'readv', 'write', 'writev', 'close', 'ftruncate', 'fsync', 'fdatasync', 'fchmod', 'fchown', 'futimes',
    'readFile', 'writeFile', 'appendFile',
  ];
  for (const name of [...names, ...names.map((name) => `${name}Sync`)]) put(fs, name, guarded(fs[name]));
  const streams = ['createReadStream', 'createWriteStream', 'ReadStream', 'WriteStream', 'FileReadStream', 'FileWriteStream'];
  for (const name of streams.filter((name) => name in fs)) put(fs, name, guardedStream(fs[name]));
  const datagrams = prototypeOfDatagrams();
  replace(datagrams, 'open', onlyStandardDescriptors(datagrams.open));
  hideFileHandles();
}

/// Behind what `fs.promises.open` gives is an object that can be made of any descriptor.
function hideFileHandles() {
  for (const symbol of Object.getOwnPropertySymbols(file)) {
    const handle = file[symbol];
    if (typeof handle?.fd === 'number') replace(Object.getPrototypeOf(handle), 'constructor', undefined);
  }
  void file.close();
}

function isOpen(fd) {
  try {
    fs.fstatSync(fd);
    return true;
  } catch {
    return false;
  }
}

function onlyStandardDescriptors(original) {
  return function (fd, ...rest) {
    fd >>>= 0;
    return fd > STANDARD ? REFUSED : apply(original, this, [fd, ...rest]);
  };
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

function prototypeOfDatagrams() {
  const socket = dgram.createSocket('udp4');
  const state = Object.getOwnPropertySymbols(socket).map((symbol) => socket[symbol]);
  const { handle } = state.find((value) => value?.handle);
  const prototype = Object.getPrototypeOf(handle);
  socket.close();
  return prototype;
}

function replace(owner, name, value) {
  Object.defineProperty(owner, name, { value, writable: false, configurable: false });
}

/// Does the same as `replace`, for functions that Playwright wraps with its own.
function put(owner, name, value) {
  Object.defineProperty(owner, name, { value, writable: true, configurable: true, enumerable: true });
}

function refuse(name) {
  // The function also works as a constructor.
  return function () {
    throw new Error(`${name} is not available here`);
  };
}

/// Playwright asks for files of the system, and does not expect the question to be refused.
function hideUnreadableFiles() {
  const { existsSync } = fs;
  fs.existsSync = (path) => {
    try {
      return existsSync(path);
    } catch {
      return false;
    }
  };
}
