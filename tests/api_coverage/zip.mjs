// Enough of ZIP to look into a trace.

import { readFile } from 'node:fs/promises';
import { inflateRawSync } from 'node:zlib';

const CENTRAL = 0x02014b50;
const END = 0x06054b50;

/** The files in an archive, from name to text. */
export async function unzip(path) {
  const zip = await readFile(path);
  let end = zip.length - 22;
  while (zip.readUInt32LE(end) !== END) end -= 1;
  const files = new Map();
  let at = zip.readUInt32LE(end + 16);
  while (zip.readUInt32LE(at) === CENTRAL) {
    const [method, size] = [zip.readUInt16LE(at + 10), zip.readUInt32LE(at + 20)];
    const [name, extra, comment] = [28, 30, 32].map((field) => zip.readUInt16LE(at + field));
    const local = zip.readUInt32LE(at + 42);
    const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    const data = zip.subarray(start, start + size);
    const text = (method === 0 ? data : inflateRawSync(data)).toString();
    files.set(zip.subarray(at + 46, at + 46 + name).toString(), text);
    at += 46 + name + extra + comment;
  }
  return files;
}
