self.greeting = "hello from the service worker";
self.onactivate = (event) => event.waitUntil(self.clients.claim());
self.onfetch = (event) => {
  if (event.request.url.endsWith("/who-answers")) event.respondWith(new Response("the service worker"));
};
