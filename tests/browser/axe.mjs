// Accessibility of every view in both themes.

import { readFileSync } from 'node:fs';
import { browser, card, check, open, require, run, serve } from './lib.mjs';

const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const found = [];

/** Records the serious violations in a part of the current page. */
async function look(page, where, part = 'html') {
  await page.evaluate(axe);
  const { violations } = await page.evaluate((part) => axe.run(part, { resultTypes: ['violations'] }), part);
  for (const one of violations.filter(({ impact }) => ['serious', 'critical'].includes(impact))) {
    found.push(`${where} ${one.id}: ${one.help}\n  ${one.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${node.any[0]?.message || ''}`).join('\n  ')}`);
  }
}

async function views(page, base, how) {
  for (const [path, sign] of [['/', '.card'], ['/task/t-b000', '.task-side'], ['/dashboard', '.chart'], ['/graph', '.graph'], ['/workers', '.workers']]) {
    await page.goto(base + path);
    await page.waitForSelector(sign);
    await page.waitForSelector('#live[data-state="up"]');
    await look(page, `${how} ${path}`);
  }
  await page.goto(base);
  await page.waitForSelector('.card');
  await page.waitForSelector('.may-write');
}

async function dialogs(page, how) {
  for (const button of ['#new', '#help', '#search']) {
    await page.click(button);
    await page.waitForSelector('dialog[open]');
    await look(page, `${how} ${button}`, 'dialog');
    if (button === '#search') {
      await page.fill('.search input', 'many');
      await page.waitForSelector('.result');
      await page.keyboard.press('ArrowDown');
      await look(page, `${how} what is found`, 'dialog');
      await page.fill('.search input', 'no such words');
      await page.waitForSelector('.results .dim');
      await look(page, `${how} nothing found`, 'dialog');
      await page.fill('.search input', '');
    }
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { state: 'detached' });
  }
}

/** Checks a card while it is moved with the keyboard and with the mouse, and the message after the drop. */
async function hand(page, how) {
  await card(page, 't-b001').locator('.card-title').focus();
  await page.keyboard.press(' ');
  await page.waitForSelector('.column.refuses');
  await page.keyboard.press('ArrowRight');
  await look(page, `${how} a card in the hand`);
  await page.keyboard.press('Escape');
  await card(page, 't-b001').scrollIntoViewIfNeeded();
  const box = await card(page, 't-b001').boundingBox();
  await page.mouse.move(box.x + 40, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + 80, box.y + 50, { steps: 3 });
  await page.waitForSelector('.column.refuses');
  await look(page, `${how} a card that is dragged`);
  await page.mouse.up();
  await page.waitForSelector('.ghost', { state: 'detached' });
}

async function messages(page, how) {
  await card(page, 't-b001').locator('.card-title').click();
  await page.waitForSelector('.task-columns');
  const refused = await page.locator('select[data-key="state"] option', { hasText: 'refused' }).first().getAttribute('value');
  await page.selectOption('select[data-key="state"]', refused);
  await page.waitForSelector('.toast.bad');
  await page.click('.description button');
  await page.fill('.description textarea', 'not saved');
  await page.keyboard.press('Escape');
  await page.locator('.toast', { hasText: 'not saved' }).waitFor();
  await look(page, `${how} messages`);
  await page.click('text=Close without saving');
  await page.waitForSelector('dialog', { state: 'detached' });
}

run(async (keep) => {
  const server = keep(await serve());
  const chromium = keep(await browser());
  for (const colorScheme of ['light', 'dark']) {
    for (const width of [1400, 400]) {
      const how = `${colorScheme} ${width} px`;
      // The page's own policy would not allow the injected checker.
      const context = await chromium.newContext({ colorScheme, bypassCSP: true, reducedMotion: 'reduce', viewport: { width, height: 900 }, hasTouch: width === 400 });
      const page = await open(context, server.url);
      await page.waitForSelector('.may-write');
      await views(page, server.base, how);
      await dialogs(page, how);
      await hand(page, how);
      await messages(page, how);
      await context.close();
    }
  }
  check(found.length === 0, found.join('\n'));
});
