self.greeting = "hello from the service worker";
self.onactivate = (event) => event.waitUntil(self.clients.claim());
