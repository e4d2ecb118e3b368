// A finger on a phone: a card is carried to a column that is not on the screen, and dropped where it was aimed.

import { browser, check, json, open, run, serve, until } from './lib.mjs';

const ID = 't-b000';

run(async (keep) => {
  const server = keep(await serve());
  const context = await keep(await browser()).newContext({ viewport: { width: 400, height: 800 }, hasTouch: true, isMobile: true });
  const page = await open(context, server.url);
  await page.waitForSelector('.card');
  // Not the next one, and not the last: the board must neither stop short nor run on.
  const wanted = 'Ready for Plan';
  const touch = await context.newCDPSession(page);
  const finger = (type, x, y) => touch.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [{ x, y }] });
  const card = page.locator(`.card[data-id="${ID}"]`);
  await card.scrollIntoViewIfNeeded();
  const box = await card.boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + 20];

  await finger('touchStart', x, y);
  await page.waitForSelector('.ghost');
  await page.waitForSelector('.column.takes');
  // To the side, and held there without moving until the column has come.
  const middle = () => page.evaluate(([x, y]) => document.elementFromPoint(x, y)?.closest('.column')?.dataset.state, [200, y]);
  await finger('touchMove', 365, y);
  await until(async () => await middle() === wanted, `${wanted} does not come`);
  await finger('touchMove', 200, y);
  await page.waitForSelector(`.column.over[data-state="${await middle()}"]`);
  // The board stands still now: what is under the finger is what it was aimed at.
  const aimed = await middle();
  await finger('touchEnd');
  await until(() => json('task', 'show', ID).state === aimed, `the card is not in ${aimed}`);
  check(aimed === wanted, `the board ran on to ${aimed}`);
});
