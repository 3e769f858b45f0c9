// Runs in a page that Chrome refuses to debug, because another extension, often a password manager,
// has put a frame of its own into it. Removes those frames. The other extension may add them again.
for (const frame of document.querySelectorAll("iframe, frame, embed, object")) {
  const address = frame.src || frame.data || "";
  if (/^[a-z]+-extension:/.test(address)) frame.remove();
}
