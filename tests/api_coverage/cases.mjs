// All cases, in the order in which they are walked.

// Downloads are among the surprises, and without a relay they go to the client that came last; some
// of the other cases let one come.
const files = [
  'surprises', 'page', 'page_events', 'page_settings', 'page_network', 'frame', 'handles',
  'locator', 'input', 'context', 'context_events', 'browser', 'network', 'sockets', 'workers',
  'tracing', 'cdp_session', 'storage', 'screencast', 'debugger', 'api_request', 'clock',
];

/** From `Class.method (what about it)` to what walks it. */
export const cases = {};
for (const file of files) Object.assign(cases, (await import(`./${file}.mjs`)).cases);
