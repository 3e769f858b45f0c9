import { LIMIT, shown } from './inspect.mjs';

/// The most that images may weigh, in bytes, and how many there may be.
const IMAGE_BYTES = 8 * 1024 * 1024;
const IMAGES = 8;


/// The output that one call has to show.
export class Output {
  #notes = [];
  #images = [];
  #text = '';
  #bytes = 0;

  note(text) {
    this.#notes.push(text);
  }

  error(text) {
    this.#text = text;
  }

  value(value) {
    if (value === undefined) return;
    if (value instanceof Uint8Array && imageType(value)) return this.image(value);
    this.#text = typeof value === 'string' && value !== '' ? value : shown(value);
  }

  image(bytes) {
    const fits = this.#images.length < IMAGES && this.#bytes + bytes.length <= IMAGE_BYTES;
    if (!fits)
      return this.note(`an image of ${bytes.length} bytes was left out: at most ${IMAGES} images and ${IMAGE_BYTES} bytes come back; use a smaller clip, or type jpeg`);
    this.#bytes += bytes.length;
    this.#images.push({ mimeType: imageType(bytes), data: Buffer.from(bytes).toString('base64') });
  }

  with(said) {
    const parts = [cut(said.text, said.lost, 'console output'), cut(this.#text, 0, 'result')];
    return { notes: this.#notes, text: parts.filter(Boolean).join('\n'), images: this.#images };
  }
}

function cut(text, lost, what) {
  const more = text.length - LIMIT + lost;
  if (more <= 0) return text;
  return `${text.slice(0, LIMIT)}\n[the ${what} was cut here: ${more} more characters; filter it, or write it to a file with require('fs')]`;
}

function imageType(bytes) {
  const starts = (...first) => first.every((byte, at) => bytes[at] === byte);
  if (starts(0x89, 0x50, 0x4e, 0x47)) return 'image/png';
  if (starts(0xff, 0xd8, 0xff)) return 'image/jpeg';
  if (starts(0x52, 0x49, 0x46, 0x46) && bytes[8] === 0x57) return 'image/webp';
  if (starts(0x47, 0x49, 0x46, 0x38)) return 'image/gif';
  return null;
}
