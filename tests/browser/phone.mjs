// Touch on a phone: a card is dragged to a column that is not on the screen, and dropped there.

import { browser, check, json, open, run, serve, until } from './lib.mjs';

const ID = 't-b000';

run(async (keep) => {
  const server = keep(await serve());
  const context = await keep(await browser()).newContext({ viewport: { width: 400, height: 800 }, hasTouch: true, isMobile: true });
  const page = await open(context, server.url);
  await page.waitForSelector('.card');
  // Neither the next column nor the last, so that scrolling must go on and then stop.
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
  // Hold the card at the edge until the column is shown. On a busy machine the finger may move back too late; then it
  // goes back, as a person would.
  const order = await page.evaluate(() => [...document.querySelectorAll('.column')].map((column) => column.dataset.state));
  const middle = () => page.evaluate(([x, y]) => document.elementFromPoint(x, y)?.closest('.column')?.dataset.state, [200, y]);
  const place = async () => order.indexOf(await middle());
  const goal = order.indexOf(wanted);
  for (let tries = 0; tries < 10 && await place() !== goal; tries += 1) {
    const right = await place() < goal;
    await finger('touchMove', right ? 365 : 35, y);
    await until(async () => (right ? await place() >= goal : [...order.keys()].slice(0, goal + 1).includes(await place())), `${wanted} is not shown`);
    await finger('touchMove', 200, y);
    await until(async () => await place() >= 0, 'no column lies under the finger');
  }
  await page.waitForSelector(`.column.over[data-state="${await middle()}"]`);
  // The board has stopped scrolling, so the column under the finger is the target.
  const aimed = await middle();
  await finger('touchEnd');
  await until(() => json('task', 'show', ID).state === aimed, `the card is not in ${aimed}`);
  check(aimed === wanted, `the board scrolled on to ${aimed}`);
});
