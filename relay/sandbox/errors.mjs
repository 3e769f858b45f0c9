import { FILE } from './compile.mjs';
import { shown } from './inspect.mjs';

const COLOURS = /\u001b\[[0-9;]*m/g;

/// The number of lines that are kept of Playwright's call log: its first and its last ones.
const FIRST = 6;
const LAST = 2;

/// The number of causes that are told of one error.
const BEHIND = 5;

/// The useful part of whatever was thrown, which may be anything.
export function describe(error) {
  try {
    if (typeof error?.message !== 'string') return `thrown: ${shown(error)}`;
    return `${summary(error)}${behind(error)}${where(error)}${hint(error)}`;
  } catch {
    return 'thrown: something that cannot be shown';
  }
}

function summary(error) {
  const message = shortened(error.message.replace(COLOURS, '').trim());
  const name = error.name && error.name !== 'Error' && !message.startsWith(error.name) ? `${error.name}: ` : '';
  return `${name || 'Error: '}${message}`;
}

/// The messages of an error and of those behind it.
function told(error) {
  return `${error.message}${behind(error)}`;
}

/// `fetch failed` says nothing, and what caused it does.
function behind(error) {
  const told = [];
  const causes = ({ errors, cause }) => [...(Array.isArray(errors) ? errors : []), cause];
  const waiting = causes(error);
  while (waiting.length > 0 && told.length < BEHIND) {
    const next = waiting.shift();
    if (next === undefined || next === null) continue;
    const isError = typeof next.message === 'string';
    told.push(`\n  because: ${isError ? summary(next) : shown(next)}`);
    if (isError) waiting.push(...causes(next));
  }
  return told.join('');
}

function shortened(message) {
  const lines = message.split('\n');
  const log = lines.findIndex((line) => line.trim() === 'Call log:') + 1;
  const spare = lines.length - log - FIRST - LAST;
  if (log === 0 || spare <= 1) return message;
  lines.splice(log + FIRST, spare, `  (${spare} more lines)`);
  return lines.join('\n');
}

function where(error) {
  const line = String(error.stack).match(new RegExp(`${FILE}:(\\d+)`))?.[1];
  return line ? `\n(line ${line})` : '';
}

function hint(error) {
  const [, address] = told(error).match(/connect EACCES (\S+)/) ?? [];
  if (address)
    return `\nhint: agents' code may not connect to ${address} by itself, though \`page.goto\` may: the user opens more ports with \`--agents-network=web,PORT\` (or \`all\`) of \`playwriter serve\` and \`playwriter ensure\``;
  if (error.code === 'ERR_VM_DYNAMIC_IMPORT_CALLBACK_MISSING') return '\nhint: use require()';
  if (error.code !== 'ERR_ACCESS_DENIED') return '';
  const resource = error.resource ? ` (${error.resource})` : '';
  return `\nhint: code has the session's folder (the working directory) only${resource}; no processes, no threads`;
}
