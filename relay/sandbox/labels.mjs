import { ariaTree } from './snapshot.mjs';

/// The roles of elements that one can click or type into.
const ROLES = new Set([
  'button', 'checkbox', 'combobox', 'link', 'listbox', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'option',
  'radio', 'searchbox', 'slider', 'spinbutton', 'switch', 'tab', 'textbox', 'treeitem',
]);

/// More labels would hide the page.
const LABELS = 150;

/// The time that one element may take to tell its position, in milliseconds.
const BOX_LIMIT = 1_000;

/// Shows the page with the refs of its controls drawn on it, and gives the list of them.
export async function screenshotWithLabels(page, showImage, timeLeft) {
  const controls = controlsIn(await ariaTree(page));
  const boxes = await Promise.all(controls.map(({ ref }) => boxOf(page, ref, Math.min(BOX_LIMIT, timeLeft))));
  const labels = controls.map((control, at) => ({ ...control, box: boxes[at] }));
  const drawn = await page.evaluate(drawLabels, labels.filter(({ box }) => box));
  try {
    showImage(await page.screenshot({ type: 'jpeg', quality: 75, scale: 'css' }));
  } finally {
    await page.evaluate(removeLabels);
  }
  const seen = new Set(drawn);
  return labels.filter(({ ref }) => seen.has(ref)).map(({ line }) => line).join('\n');
}

function controlsIn(tree) {
  const controls = [];
  for (const text of tree.split('\n')) {
    const line = text.trim().replace(/:$/, '');
    const ref = line.match(/\[ref=(\w+)\]/)?.[1];
    const role = line.match(/^- '?(\w+)/)?.[1];
    if (ref && (ROLES.has(role) || line.includes('[cursor=pointer]')))
      controls.push({ ref, line: line.replace(' [cursor=pointer]', '') });
  }
  return controls.slice(0, LABELS);
}

async function boxOf(page, ref, timeout) {
  return page.locator(`aria-ref=${ref}`).boundingBox({ timeout }).catch(() => null);
}

/// Runs in the page. Gives the refs of what can be seen.
function drawLabels(labels) {
  const layer = document.createElement('div');
  layer.id = 'playwriter-labels';
  const over = 'position:fixed;inset:0;margin:0;padding:0;border:0;width:100vw;height:100vh;background:none;'
    + 'overflow:hidden;pointer-events:none;z-index:2147483647';
  layer.style.cssText = over;
  const drawn = [];
  for (const { ref, box: { x, y, width, height } } of labels) {
    const isSeen = x < innerWidth && y < innerHeight && x + width > 0 && y + height > 0 && width > 0 && height > 0;
    if (!isSeen) continue;
    const frame = document.createElement('div');
    frame.style.cssText = `position:absolute;box-sizing:border-box;left:${x}px;top:${y}px;width:${width}px;`
      + `height:${height}px;border:1px solid #d00`;
    const label = document.createElement('span');
    label.textContent = ref;
    label.style.cssText = `position:absolute;left:${Math.max(0, x)}px;top:${Math.max(0, y - 12)}px;font:bold 11px/12px `
      + 'monospace;padding:0 2px;color:#000;background:#fe0';
    layer.append(frame, label);
    drawn.push(ref);
  }
  document.documentElement.append(layer);
  // Above dialogs too, where the browser can do that.
  if (layer.showPopover) {
    layer.popover = 'manual';
    layer.showPopover();
  }
  return drawn;
}

/// Runs in the page.
function removeLabels() {
  document.getElementById('playwriter-labels')?.remove();
}
