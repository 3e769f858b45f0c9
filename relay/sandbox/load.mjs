const LIMIT = 5_000;

/// Waits until the page has loaded and its network has been quiet, and tells how far it got. It does
/// not wait for longer than the call that it is part of.
export async function waitForPageLoad({ page, timeout: wanted = LIMIT }, timeLeft) {
  const timeout = Math.min(wanted, timeLeft);
  const start = performance.now();
  const left = () => Math.max(1, timeout - (performance.now() - start));
  let reached = 'nothing';
  for (const state of ['domcontentloaded', 'load', 'networkidle']) {
    const isThere = await page.waitForLoadState(state, { timeout: left() }).then(() => true, () => false);
    if (!isThere) return `${page.url()}: ${state} did not come within ${timeout} ms (reached: ${reached})`;
    reached = state;
  }
  return `${page.url()}: loaded in ${Math.round(performance.now() - start)} ms`;
}
