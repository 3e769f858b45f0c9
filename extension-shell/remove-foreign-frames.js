// Run in a page that Chrome will not let us debug because another extension, often a password
// manager, has put a frame of its own into it. Its frames go; they come back when it likes.
for (const frame of document.querySelectorAll("iframe, frame, embed, object")) {
  const address = frame.src || frame.data || "";
  if (/^[a-z]+-extension:/.test(address)) frame.remove();
}
