// An agent with the official TypeScript SDK. What it should call comes in on standard input, one JSON
// object per line; what came of it goes out the same way, when it is there.
//   node agent.mjs stdio <program> <arguments...>
//   node agent.mjs http <url> [token]
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const TIMEOUT = 120_000;

const [kind, where, ...rest] = process.argv.slice(2);
const client = new Client({ name: 'agent', version: '1.0.0' });
await client.connect(transport());
console.log(JSON.stringify({ ready: true }));

/// Calls that have not been answered, by id.
const waiting = new Map();

const answer = (id, result) => console.log(JSON.stringify({ id, ...result }));

for await (const line of createInterface({ input: process.stdin })) {
  const { id, tool, arguments: given, cancel } = JSON.parse(line);
  if (cancel) {
    waiting.get(cancel).abort(new Error('cancelled by the test'));
    continue;
  }
  const done = tool ? call(id, tool, given) : client.listTools();
  done.then((result) => answer(id, result), (error) => answer(id, { refused: error.message }));
}
await client.close();

async function call(id, name, given) {
  waiting.set(id, new AbortController());
  const onprogress = ({ message }) => answer(id, { progress: message });
  const options = { timeout: TIMEOUT, signal: waiting.get(id).signal, onprogress };
  const { content, isError } = await client.callTool({ name, arguments: given }, undefined, options);
  const blocks = content.filter(({ type }) => type === 'text').map((part) => part.text);
  const images = content.filter(({ type }) => type === 'image').map(({ mimeType, data }) => ({ mimeType, data }));
  return { failed: isError === true, text: blocks.join('\n'), blocks, images };
}

function transport() {
  if (kind === 'stdio') return new StdioClientTransport({ command: where, args: rest, env: process.env });
  const headers = rest[0] ? { Authorization: `Bearer ${rest[0]}` } : {};
  return new StreamableHTTPClientTransport(new URL(where), { requestInit: { headers } });
}
