self.answer = 43;
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  if (event.request.url.endsWith("/made-up")) {
    event.respondWith(new Response("from the service worker"));
  }
  if (event.request.url.endsWith("/passed-on")) {
    event.respondWith(fetch("/echo"));
  }
});
