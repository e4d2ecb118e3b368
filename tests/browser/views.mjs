// From view to view: what is asked for last is what is shown, and the keyboard stays where it was.

import { browser, check, hold, open, run, serve, until } from './lib.mjs';

/** A slow answer does not take the place of a view that came after it. */
async function slowView(page) {
  const letGo = await hold(page, '**/api/trends*');
  await page.keyboard.press('4');
  await until(() => page.url().endsWith('/dashboard'), 'the key opens no view');
  await page.keyboard.press('1');
  await page.waitForSelector('.card');
  await letGo();
  check(await page.locator('.card').count() > 0, 'a slow view covers the board');
}

run(async (keep) => {
  const server = keep(await serve());
  const context = await keep(await browser()).newContext({ viewport: { width: 1500, height: 900 } });
  const page = await open(context, server.url);
  await page.waitForSelector('.card');
  await page.waitForSelector('#live[data-state="up"]');
  await slowView(page);
});
