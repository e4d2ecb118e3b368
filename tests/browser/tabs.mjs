// Fifty tabs and constant changes: none is stale at the end, and neither the server nor the tabs grow. SECONDS sets the
// time.

import { readFileSync } from 'node:fs';
import { browser, check, open, ralph, run, serve, until } from './lib.mjs';

const seconds = Number(process.env.SECONDS || 12);
const tabs = Number(process.env.TABS || 50);
/** A page that polls from time to time would be later than this. */
const LATE = 8000;

run(async (keep) => {
  const server = keep(await serve());
  const context = await keep(await browser()).newContext({ viewport: { width: 900, height: 600 } });
  const pages = [];
  for (let at = 0; at < tabs; at += 1) pages.push(await open(context, server.url));
  for (const page of pages) await page.waitForSelector('#live[data-state="up"]', { timeout: 60000 });
  const heaps = [];
  for (const page of [pages[0], pages[tabs >> 1], pages[tabs - 1]]) heaps.push(await heapOf(context, page));

  const memory = () => Number(readFileSync(`/proc/${server.pid}/status`, 'utf8').match(/VmRSS:\s+(\d+)/)[1]) / 1024;
  const rounds = { count: 0 };
  const half = async () => {
    const end = performance.now() + seconds * 500;
    let most = 0;
    for (; performance.now() < end; rounds.count += 1) {
      ralph('task', 'set', `t-b00${rounds.count % 8}`, `title=Round ${rounds.count}`);
      // Let the event loop handle the messages of the pages.
      await new Promise((done) => setTimeout(done, 20));
      most = Math.max(most, memory());
    }
    return { server: most, tabs: await Promise.all(heaps.map((heap) => heap())) };
  };
  const early = await half();
  const late = await half();
  console.log(`${tabs} tabs, ${rounds.count} changes in ${seconds} s: server ${early.server.toFixed(0)} MiB in the first half, ${late.server.toFixed(0)} MiB in the second`);
  console.log(`tabs: ${early.tabs.map(shown)} after the first half, ${late.tabs.map(shown)} after the second`);
  check(late.server < early.server * 1.25 + 8, 'the server grows');
  late.tabs.forEach((tab, at) => {
    check(tab.heap < early.tabs[at].heap * 1.25 + 2, `a tab grows from ${shown(early.tabs[at])} to ${shown(tab)}`);
    check(tab.nodes < early.tabs[at].nodes * 1.25 + 500, `a page grows from ${shown(early.tabs[at])} to ${shown(tab)}`);
  });

  // Each tab records when it has the last change, because asking fifty of them takes longer than the change.
  const note = (id) => new MutationObserver(() => {
    if (document.querySelector(`.card[data-id="${id}"]`)?.textContent.includes('The last word')) window.toldAt ||= Date.now();
  }).observe(document.body, { subtree: true, childList: true });
  for (const page of pages) await page.evaluate(note, 't-b009');
  const said = Date.now();
  ralph('task', 'set', 't-b009', 'title=The last word');
  for (const page of pages) await until(() => page.evaluate(() => window.toldAt), 'a tab is stale', 30000);
  const delays = (await Promise.all(pages.map((page) => page.evaluate(() => window.toldAt)))).map((at) => at - said).sort((a, b) => a - b);
  console.log(`the last change is in half of the tabs after ${delays[Math.floor(delays.length / 2)]} ms, in all after ${delays.at(-1)} ms`);
  check(delays.at(-1) < LATE, `a tab is ${delays.at(-1)} ms late`);
});

const shown = (tab) => ` ${tab.heap.toFixed(1)} MiB in ${tab.nodes} nodes`;

/** Returns a function that measures the memory of a page after a garbage collection. */
async function heapOf(context, page) {
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable');
  return async () => {
    await session.send('HeapProfiler.collectGarbage');
    const { metrics } = await session.send('Performance.getMetrics');
    const value = (name) => metrics.find((metric) => metric.name === name).value;
    return { heap: value('JSHeapUsedSize') / 1024 / 1024, nodes: value('Nodes') };
  };
}
