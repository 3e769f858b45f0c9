// Servers that speak MCP over stdio and CDP to the browser.
import { mkdtempSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { truly } from './features.mjs';

const require = createRequire(import.meta.url);

/// Starts the package's server; `call(tool, arguments)` gives the text of its answer.
export async function server(name, program, flags) {
  const manifest = require.resolve(`${name}/package.json`);
  const path = join(dirname(manifest), JSON.parse(readFileSync(manifest)).bin[program]);
  const client = new Client({ name: 'conformance', version: '1.0.0' });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [path, ...flags],
    cwd: mkdtempSync(join(tmpdir(), 'conformance-')),
    env: { ...process.env, CI: '1' },
    stderr: 'ignore',
  });
  await client.connect(transport);
  const attempt = async (tool, given = {}) => {
    const { content, isError } = await client.callTool({ name: tool, arguments: given });
    return { isError, text: content.map(({ text, type }) => text ?? type).join('\n') };
  };
  const call = async (tool, given) => {
    const { isError, text } = await attempt(tool, given);
    truly(!isError, `${tool}: ${text}`);
    return text;
  };
  return { attempt, call, tools: () => client.listTools(), end: () => client.close() };
}
