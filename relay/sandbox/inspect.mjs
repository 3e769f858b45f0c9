import { formatWithOptions, inspect, types } from 'node:util';

/// The most characters of console output, and of a result, that an answer carries.
export const LIMIT = 10_000;

const INSPECT = { breakLength: 100, compact: 3, maxArrayLength: 200, maxStringLength: LIMIT };

/// The depth to which a value is shown, unless it is so large that showing it would take the call's
/// time.
const DEEPEST = 5;

/// The number of parts, and of characters of texts, that are shown before the depth is reduced.
const PARTS = 50_000;
const TEXT = 1_000_000;

/// A value as text.
export function shown(value) {
  return inspect(value, { ...INSPECT, depth: depthFor([value]) });
}

/// Values as `console.log` writes them.
export function formatted(values) {
  return formatWithOptions({ ...INSPECT, depth: depthFor(values) }, ...values);
}

/// Level by level, so that it is cheap to find out that something is too large.
function depthFor(values) {
  let level = values;
  let [parts, text] = [0, 0];
  for (let depth = 0; depth < DEEPEST; depth += 1) {
    const next = [];
    for (const part of inside(level)) {
      parts += 1;
      text += typeof part === 'string' ? Math.min(part.length, LIMIT) : 0;
      if (parts > PARTS || text > TEXT) return Math.max(0, depth - 1);
      if (typeof part === 'object' && part !== null) next.push(part);
    }
    level = next;
  }
  return DEEPEST;
}

function* inside(values) {
  for (const value of values) yield* partsOf(value);
}

function first(iterator) {
  const values = [];
  for (let next = iterator.next(); !next.done && values.length < INSPECT.maxArrayLength; next = iterator.next()) {
    values.push(next.value);
  }
  return values;
}

/// Returns the parts inside of a value that would be shown. Nothing of the value is called.
function partsOf(value) {
  const isOpaque = typeof value !== 'object' || value === null || types.isProxy(value) || inspect.custom in value;
  if (isOpaque || ArrayBuffer.isView(value)) return [];
  if (types.isMap(value)) return first(Map.prototype.entries.call(value)).flat();
  if (types.isSet(value)) return first(Set.prototype.values.call(value));
  const names = Array.isArray(value)
    ? Array.from({ length: Math.min(value.length, INSPECT.maxArrayLength) }, (_, at) => at)
    : Object.keys(value).slice(0, INSPECT.maxArrayLength);
  return names.map((name) => Object.getOwnPropertyDescriptor(value, name)?.value);
}
