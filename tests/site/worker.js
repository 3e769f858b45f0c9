self.answer = 42;
console.log("the worker speaks");
self.onmessage = ({ data }) => self.postMessage(data * 2);
