// What password managers do: a frame of the extension's own in everybody's page.
const frame = document.createElement("iframe");
frame.src = chrome.runtime.getURL("frame.html");
document.documentElement.append(frame);
