// The requests that a second machine may send to a relay, and those that are refused.
import { execFileSync } from 'node:child_process';
import { chromium } from 'playwright-core';
import WebSocket from 'ws';

const relay = `${process.env.PLAYWRITER_HOST}:19988`;
const token = process.env.PLAYWRITER_TOKEN;

const statusOf = (address, options) =>
  new Promise((resolve) => {
    const socket = new WebSocket(address, options);
    socket.on('unexpected-response', (_, response) => resolve(response.statusCode));
    socket.on('open', () => resolve(101));
    socket.on('error', (error) => resolve(error.message));
  });

const withoutToken = (await fetch(`http://${relay}/json/version`)).status;
const asExtension = await statusOf(`ws://${relay}/extension?v=1.0.0&token=${token}`, {
  origin: `chrome-extension://${process.env.EXTENSION_ID}`,
});
const url = execFileSync('playwriter', ['connect']).toString().trim();
const browser = await chromium.connectOverCDP(url);
const page = browser.contexts()[0].pages()[0];
await page.setContent('<title>from afar</title>');
const title = await page.title();
await browser.close();
console.log(JSON.stringify({ withoutToken, asExtension, url, title }));
