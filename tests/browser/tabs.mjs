// Fifty tabs and constant changes: none is stale at the end, and the server does not grow. SECONDS sets how long.

import { readFileSync } from 'node:fs';
import { browser, check, open, ralph, run, serve, until } from './lib.mjs';

const seconds = Number(process.env.SECONDS || 20);
const tabs = Number(process.env.TABS || 50);

run(async (keep) => {
  const server = keep(await serve());
  const context = await keep(await browser()).newContext({ viewport: { width: 900, height: 600 } });
  const pages = [];
  for (let at = 0; at < tabs; at += 1) pages.push(await open(context, server.url));
  for (const page of pages) await page.waitForSelector('#live[data-state="up"]', { timeout: 60000 });
  const memory = () => Number(readFileSync(`/proc/${server.pid}/status`, 'utf8').match(/VmRSS:\s+(\d+)/)[1]) / 1024;
  const change = (round) => ralph('task', 'set', `t-b00${round % 8}`, `title=Round ${round}`);
  const end = performance.now() + seconds * 1000;
  const early = [];
  const late = [];
  let round = 0;
  for (; performance.now() < end; round += 1) {
    change(round);
    // In between the event loop runs, so that pages are heard.
    await new Promise((done) => setTimeout(done, 20));
    (end - performance.now() > seconds * 500 ? early : late).push(memory());
  }
  const most = (list) => Math.max(...list);
  console.log(`${tabs} tabs, ${round} changes in ${seconds} s: ${most(early).toFixed(0)} MiB in the first half, ${most(late).toFixed(0)} MiB in the second`);
  check(most(late) < most(early) * 1.25 + 8, 'the server grows');
  // Each tab notes for itself when it has the last change: to ask fifty of them takes longer than to tell them.
  const note = (id) => new MutationObserver(() => {
    if (document.querySelector(`.card[data-id="${id}"]`)?.textContent.includes('The last word')) window.toldAt ||= Date.now();
  }).observe(document.body, { subtree: true, childList: true });
  for (const page of pages) await page.evaluate(note, 't-b009');
  const said = Date.now();
  ralph('task', 'set', 't-b009', 'title=The last word');
  for (const page of pages) await until(() => page.evaluate(() => window.toldAt), 'a tab is stale', 30000);
  const delays = (await Promise.all(pages.map((page) => page.evaluate(() => window.toldAt)))).map((at) => at - said).sort((a, b) => a - b);
  console.log(`the last change is in half of the tabs after ${delays[Math.floor(delays.length / 2)]} ms, in all after ${delays.at(-1)} ms`);
});
