self.depth = Number(new URL(location).searchParams.get("depth") ?? 1);
self.onmessage = ({ data }) => {
  if (data === "nest") self.nested = new Worker("/worker.js?depth=2");
};
postMessage("started");
