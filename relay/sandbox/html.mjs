/// The HTML of an element without what only a browser needs.
export async function cleanHtml({ page, locator }) {
  // A page will do, too.
  const element = locator?.first ? locator.first() : (locator ?? page).locator('body');
  return element.evaluate(clean);
}

/// Runs in the page.
function clean(root) {
  const DROPPED = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'LINK', 'META', 'HEAD', 'PATH']);
  const KEPT = /^(id|name|type|href|src|alt|title|role|for|value|placeholder|action|method|checked|selected|disabled|aria-.+|data-testid|data-test|data-test-id|data-cy|data-qa)$/;
  const VOID = new Set(['AREA', 'BR', 'COL', 'EMBED', 'HR', 'IMG', 'INPUT', 'SOURCE', 'TRACK', 'WBR']);
  const LONGEST = 200;
  const escape = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
  const short = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

  function attributes(element) {
    return [...element.attributes]
      .filter(({ name }) => KEPT.test(name))
      .map(({ name, value }) => (value === '' ? ` ${name}` : ` ${name}="${short(value).replace(/"/g, '&quot;')}"`))
      .join('');
  }

  function write(node, indent) {
    if (node.nodeType === Node.TEXT_NODE) {
      const text = node.data.replace(/\s+/g, ' ').trim();
      return text ? [indent + escape(text)] : [];
    }
    if (node.nodeType !== Node.ELEMENT_NODE || DROPPED.has(node.tagName.toUpperCase())) return [];
    const tag = node.tagName.toLowerCase();
    const given = attributes(node);
    if (VOID.has(node.tagName)) return [`${indent}<${tag}${given}>`];
    const children = [...(node.shadowRoot?.childNodes ?? []), ...node.childNodes];
    const isBox = !given && (tag === 'div' || tag === 'span') && node !== root;
    const inside = children.flatMap((child) => write(child, isBox ? indent : `${indent} `));
    if (isBox) return inside;
    if (inside.length === 0) return given || node === root ? [`${indent}<${tag}${given}></${tag}>`] : [];
    if (inside.length === 1 && !inside[0].trim().startsWith('<'))
      return [`${indent}<${tag}${given}>${inside[0].trim()}</${tag}>`];
    return [`${indent}<${tag}${given}>`, ...inside, `${indent}</${tag}>`];
  }

  return write(root, '').join('\n');
}
