// Tokens of two servers and of many tabs: the valid one is kept, and tabs do not exchange tokens in an endless loop.

import { browser, check, json, open, ralph, run, serve, until } from './lib.mjs';

const mayWrite = (page) => until(() => page.evaluate(() => document.body.classList.contains('may-write')), 'the page may not write', 20000);
const title = (page, id) => page.evaluate((id) => document.querySelector(`.card[data-id="${id}"] .card-title`)?.textContent, id);
// Only the browser's own errors about an unreachable server or a rejected token are expected.
const AWAY = /ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE_CHUNKED|401/;

/** Makes enough changes for an endless exchange of tokens to show. */
async function settled(pages, from) {
  for (let round = from; round < from + 5; round += 1) {
    ralph('task', 'set', 't-b000', `title=Round ${round}`);
    for (const page of pages) await until(async () => await title(page, 't-b000') === `Round ${round}`, 'a tab is stale', 20000);
  }
}

async function another(keep, chromium) {
  process.env.RALPH_WEB_TOKEN = 'first-token';
  let server = await serve();
  const context = await chromium.newContext();
  let asked = 0;
  context.on('request', (request) => { asked += request.url().endsWith('/api/session') ? 1 : 0; });
  const old = await open(context, server.url, AWAY);
  await mayWrite(old);

  // A link with an invalid token.
  const lured = await open(context, `${server.base}/#token=wrong`, AWAY);
  await mayWrite(lured);
  await settled([old, lured], 0);
  check(asked < 15, `a wrong token makes the tabs check their session ${asked} times`);

  await server.stop();
  process.env.RALPH_WEB_TOKEN = 'second-token';
  server = keep(await serve(server.port));
  asked = 0;
  const fresh = await open(context, server.url, AWAY);
  await mayWrite(fresh);
  await old.waitForSelector('#live[data-state="up"]');
  await settled([old, lured, fresh], 10);
  check(asked < 40, `two tokens make the tabs check their session ${asked} times`);
  // The open tabs have the new token, too.
  for (const [page, priority] of [[old, 'P1'], [fresh, 'P2']]) {
    await mayWrite(page);
    await page.locator('.card[data-id="t-b001"] .card-title').click();
    await page.selectOption('.task-side select[data-key="priority"]', priority);
    await until(() => json('task', 'show', 't-b001').priority === priority, 'a tab cannot write');
  }
  await context.close();
}

/** With remote access nothing can be read without the token; tabs of the same browser share it at once. */
async function remote(keep, chromium) {
  const server = keep(await serve('0.0.0.0:0', '--allow-remote'));
  const context = await chromium.newContext();
  const first = await open(context, server.url, /401/);
  await mayWrite(first);
  for (const path of ['/', '/task/t-b000']) {
    const page = await open(context, server.base + path);
    await mayWrite(page);
    await page.waitForSelector(path === '/' ? '.card' : '.task-columns');
    check(await page.locator('.toast').count() === 0, 'a tab opened next to another one shows an error');
  }
  await context.close();
  // Without the token the page asks for it once. Opening the URL with the token in the same tab is enough.
  const alone = await open(await chromium.newContext(), `${server.base}/task/t-b000`, /401/);
  await alone.waitForSelector('.toast.bad');
  check(await alone.locator('.toast.bad').count() === 1, 'the message is shown more than once');
  await alone.goto(`${server.base}/task/t-b000#token=${server.token}`);
  await alone.waitForSelector('.task-columns');
}

run(async (keep) => {
  const chromium = keep(await browser());
  await another(keep, chromium);
  await remote(keep, chromium);
});
