import { createRequire } from 'node:module';

/// Built-ins that do no more than the sandbox allows anyway.
const BUILT_INS = new Set([
  'assert', 'buffer', 'crypto', 'events', 'fs', 'fs/promises', 'http', 'https', 'path', 'querystring',
  'stream', 'stream/promises', 'string_decoder', 'timers', 'timers/promises', 'url', 'util', 'zlib',
]);

const nodeRequire = createRequire(import.meta.url);

export function requireBuiltIn(name) {
  const bare = String(name).replace(/^node:/, '');
  if (BUILT_INS.has(bare)) return nodeRequire(`node:${bare}`);
  throw new Error(`cannot load '${name}': only these modules are available: ${[...BUILT_INS].join(', ')}`);
}
