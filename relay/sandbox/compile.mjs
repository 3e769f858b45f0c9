import { Script } from 'node:vm';

/// The name of the agent's code in stacks.
export const FILE = 'code.js';

/// The number of characters that may be parsed in search of the beginning of the last statement.
const PARSED = 4_000_000;

/// The text that may stand behind a statement.
const TRIVIA = /(?:[\s;]|\/\/[^\n]*(?:\n|$)|\/\*(?:[^*]|\*(?!\/))*\*\/)*/y;

/// Declarations. As expressions, they would no longer declare anything.
const DECLARATION = /^(?:\s|\/\/[^\n]*\n|\/\*(?:[^*]|\*(?!\/))*\*\/)*(?:async\s+function|function|class)\b/;

/// Code that cannot be run, with the place that it points to.
export class SyntaxProblem extends Error {}

/// An expression gives its value, and so does one at the end of statements.
export function compile(code) {
  let asStatements;
  let problem;
  try {
    asStatements = script(`(async () => {\n${code}\n})()`);
  } catch (error) {
    problem = error;
  }
  const bare = withoutTrivia(code);
  const withValue = attempt(`(async () => (\n${bare}\n))()`) ?? (asStatements && withLastValue(bare));
  if (withValue || asStatements) return withValue ?? asStatements;
  throw new SyntaxProblem(place(problem, code));
}

/// Without the blanks, semicolons and comments at the end. What looks like them may be part of a text,
/// and then what is left cannot be parsed.
function withoutTrivia(code) {
  let parsed = 0;
  let end = 0;
  for (const { index } of code.matchAll(/[\s;]+|\//g)) {
    if (index < end && end < code.length) continue;
    TRIVIA.lastIndex = index;
    TRIVIA.test(code);
    end = TRIVIA.lastIndex;
    if (end < code.length) continue;
    parsed += 2 * index;
    if (parsed > PARSED) return withoutBlanks(code);
    const bare = code.slice(0, index);
    if (isExpression(bare) || areStatements(bare)) return bare;
  }
  return code;
}

function withoutBlanks(code) {
  let end = code.length;
  while (end > 0 && /[\s;]/.test(code[end - 1])) end -= 1;
  const bare = code.slice(0, end);
  return areStatements(bare) ? bare : code;
}

/// Takes the rest of the code as the last statement if both the part before it and the rest can stand
/// alone.
function withLastValue(code) {
  let parsed = 0;
  for (const { index, 0: end } of [...code.matchAll(/[;\n}]/g)].reverse()) {
    const [before, last] = [code.slice(0, index + 1), code.slice(index + 1)];
    parsed += last.length;
    if (parsed > PARSED) return null;
    if (DECLARATION.test(last) || !isExpression(last)) continue;
    parsed += 3 * code.length;
    if (areStatements(before) && isBoundary(end, before, last))
      return attempt(`(async () => {\n${before}return (${last}\n)})()`);
  }
  return null;
}

/// Returns `true` if a statement ends there, and no text or comment goes on.
function isBoundary(end, before, last) {
  if (areStatements(`${before} @@ ${last}`)) return false;
  if (end === '\n') return !/^\s*[([`+\-*/.,?:&|^%<>=]/.test(last);
  // A name can follow a block on its line, but no object and no function.
  return end === ';' || areStatements(`${before} name`);
}

function isExpression(text) {
  return attempt(`(async () => (\n${text}\n))`) !== null;
}

function areStatements(text) {
  return attempt(`(async () => {\n${text}\n})`) !== null;
}

function attempt(text) {
  try {
    return script(text);
  } catch {
    return null;
  }
}

function script(text) {
  return new Script(text, { filename: FILE, lineOffset: -1 });
}

/// `code.js:2`, the line and a caret come before the message in the stack of a syntax error.
function place({ message, stack }, code) {
  const [where, ...lines] = stack.split('\n');
  const line = Number(where.match(/:(\d+)$/)?.[1]);
  const last = code.split('\n').length;
  // The text behind the code is not the agent's.
  if (line > last) return `SyntaxError: Unexpected end of input (line ${last}): a bracket, brace or quote has no partner`;
  const shown = lines.slice(0, lines.indexOf('') < 0 ? 2 : lines.indexOf(''));
  const text = shown.map((it) => it.slice(0, 200)).join('\n');
  return `SyntaxError: ${message}${line ? ` (line ${line})` : ''}\n${text}`.trimEnd();
}
