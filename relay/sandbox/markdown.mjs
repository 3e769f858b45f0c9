/// Returns the readable text of a page, as Markdown.
export async function pageMarkdown(page) {
  return page.evaluate(read);
}

/// Runs in the page.
function read() {
  const DROPPED = new Set([
    'SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'SVG', 'NAV', 'FOOTER', 'ASIDE', 'IFRAME', 'BUTTON', 'SELECT',
    'TEXTAREA', 'DIALOG',
  ]);
  const BLOCKS = new Set([
    'ADDRESS', 'ARTICLE', 'DIV', 'DL', 'DT', 'DD', 'FIELDSET', 'FIGURE', 'FIGCAPTION', 'FORM', 'HEADER', 'MAIN', 'P',
    'SECTION', 'DETAILS', 'SUMMARY',
  ]);
  const inline = (node) => [...node.childNodes].map(write).join('');
  const words = (node) => inline(node).replace(/\s+/g, ' ').trim();
  const block = (text) => (text.trim() ? `\n\n${text.trim()}\n\n` : '');

  function list(node, isOrdered) {
    const items = [...node.children].filter((child) => child.tagName === 'LI');
    return block(
      items
        .map((item, at) => {
          const mark = isOrdered ? `${at + 1}. ` : '- ';
          const text = inline(item).trim().replace(/\n{2,}/g, '\n');
          return mark + text.replace(/\n/g, `\n${' '.repeat(mark.length)}`);
        })
        .join('\n'),
    );
  }

  function table(node) {
    const rows = [...node.rows].map((row) => [...row.cells].map((cell) => words(cell).replace(/\|/g, '\\|')));
    if (rows.length === 0) return '';
    const line = (cells) => `| ${cells.join(' | ')} |`;
    const [head, ...body] = rows;
    return block([line(head), line(head.map(() => '---')), ...body.map(line)].join('\n'));
  }

  function link(node) {
    const text = words(node);
    const href = node.getAttribute('href');
    return text && href && !href.startsWith('javascript:') ? `[${text}](${node.href})` : text;
  }

  function element(node) {
    const tag = node.tagName.toUpperCase();
    if (DROPPED.has(tag) || node.hidden || node.getAttribute('aria-hidden') === 'true') return '';
    if (node.checkVisibility && !node.checkVisibility()) return '';
    if (/^H[1-6]$/.test(tag)) return block(`${'#'.repeat(Number(tag[1]))} ${words(node)}`);
    switch (tag) {
      case 'A': return link(node);
      case 'BR': return '\n';
      case 'HR': return block('---');
      case 'IMG': return node.alt ? `![${node.alt}]` : '';
      case 'PRE': return block(`\`\`\`\n${node.textContent.trimEnd()}\n\`\`\``);
      case 'CODE': return `\`${node.textContent}\``;
      case 'STRONG': case 'B': return words(node) ? `**${words(node)}**` : '';
      case 'EM': case 'I': return words(node) ? `*${words(node)}*` : '';
      case 'UL': return list(node, false);
      case 'OL': return list(node, true);
      case 'TABLE': return table(node);
      case 'BLOCKQUOTE': return block(inline(node).trim().replace(/^/gm, '> '));
      default: return BLOCKS.has(tag) ? block(inline(node)) : inline(node);
    }
  }

  function write(node) {
    if (node.nodeType === Node.TEXT_NODE) return node.data.replace(/\s+/g, ' ');
    return node.nodeType === Node.ELEMENT_NODE ? element(node) : '';
  }

  const root = document.querySelector('main, [role=main], article') ?? document.body;
  const text = inline(root).replace(/[ \t]+\n/g, '\n').replace(/\n{3,}/g, '\n\n');
  const title = document.title.trim();
  return (title && !/^# /m.test(text) ? `# ${title}\n\n` : '') + text.trim();
}
