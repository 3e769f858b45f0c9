/// Beyond this many comparisons, all lines in between count as changed.
const LIMIT = 4_000_000;

/// The lines that left (`-`) and that came (`+`), in the order of the text.
export function difference(before, after) {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const room = Math.min(before.length, after.length) - start;
  while (end < room && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return changes(before.slice(start, before.length - end), after.slice(start, after.length - end));
}

function changes(before, after) {
  if (before.length * after.length > LIMIT)
    return [...before.map((line) => `- ${line}`), ...after.map((line) => `+ ${line}`)];
  const common = commonLengths(before, after);
  const lines = [];
  let [old, now] = [0, 0];
  while (old < before.length || now < after.length) {
    if (before[old] === after[now] && old < before.length && now < after.length) {
      old += 1;
      now += 1;
    } else if (now >= after.length || (old < before.length && common[old + 1][now] >= common[old][now + 1])) {
      lines.push(`- ${before[old]}`);
      old += 1;
    } else {
      lines.push(`+ ${after[now]}`);
      now += 1;
    }
  }
  return lines;
}

/// Counts the lines that the rests of both texts have in common, from each pair of places on.
function commonLengths(before, after) {
  const common = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  for (let old = before.length - 1; old >= 0; old -= 1)
    for (let now = after.length - 1; now >= 0; now -= 1)
      common[old][now] =
        before[old] === after[now]
          ? common[old + 1][now + 1] + 1
          : Math.max(common[old + 1][now], common[old][now + 1]);
  return common;
}
