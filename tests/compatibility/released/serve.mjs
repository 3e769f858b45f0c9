// Runs a released relay until it is ended: node serve.mjs <package> <port>
const [name, port] = process.argv.slice(2);
const { startPlayWriterCDPRelayServer } = await import(`${name}/dist/cdp-relay.js`);
await startPlayWriterCDPRelayServer({ port: Number(port), host: '127.0.0.1' });
console.log('it listens');
