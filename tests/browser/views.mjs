// Navigation: the view that was requested last is shown, and the keyboard focus stays.

import { rmSync, writeFileSync } from 'node:fs';
import { browser, card, check, columnOf, hold, json, open, ralph, retell, run, serve, until } from './lib.mjs';

/** A slow answer does not replace a view that was opened after it. */
async function slowView(page) {
  const letGo = await hold(page, '**/api/trends*');
  await page.keyboard.press('4');
  await until(() => page.url().endsWith('/dashboard'), 'the key opens no view');
  await page.keyboard.press('1');
  await page.waitForSelector('.card');
  await letGo();
  check(await page.locator('.card').count() > 0, 'a slow view covers the board');
}

/** Only the answer to the current search is shown. */
async function slowSearch(page) {
  await page.keyboard.press('Control+k');
  const letGo = await hold(page, '**/api/search?q=Task');
  ralph('task', 'set', 't-b008', 'title=Zebra');
  const asked = page.waitForRequest('**/api/search?q=Task');
  await page.fill('.search input', 'Task');
  await asked;
  await page.fill('.search input', 'Zebra');
  await until(async () => await page.locator('.result').count() === 1, 'the search finds something else');
  await letGo();
  check(await page.locator('.result').count() === 1, 'an older answer is shown');
  await page.click('.search .close');
}

const focused = (page) => page.evaluate(() => {
  const element = document.activeElement;
  return element.closest('.card')?.dataset.id || element.dataset.key || element.id || element.tagName;
});
const total = (page, count) => until(() => page.evaluate((count) => document.body.dataset.total === count, String(count)), `there are not ${count}`);

async function keyboardStays(page) {
  await page.locator('.card[data-id="t-b002"] .card-title').click();
  await page.waitForSelector('.task-columns');
  await page.selectOption('.task-side select[data-key="estimate"]', 'L');
  await until(async () => (await page.locator('.card[data-id="t-b002"]').textContent()).includes('L'), 'the card is as it was');
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog', { state: 'detached' });
  await until(async () => await focused(page) === 't-b002', 'a task that was changed and closed loses the keyboard');

  await page.locator('#choices button[data-key="blocked"]').focus();
  await page.keyboard.press('Enter');
  await total(page, 1);
  check(await focused(page) === 'blocked', `a filter loses the keyboard to ${await focused(page)}`);
  ralph('task', 'set', 't-b009', 'labels+=fresh');
  await page.waitForSelector('option[value="fresh"]', { state: 'attached' });
  check(await focused(page) === 'blocked', `another worker's change moves the focus to ${await focused(page)}`);
  await page.keyboard.press('Enter');
  await total(page, 40);
  await page.selectOption('select[data-key="label"]', 'l3');
  await page.locator('select[data-key="label"]').focus();
  await page.selectOption('select[data-key="label"]', 'l4');
  await page.waitForSelector('.taken[data-key="not label l4"]');
  check(await focused(page) === 'label', `a list loses the keyboard to ${await focused(page)}`);
  await page.locator('#clear').focus();
  await page.keyboard.press('Enter');
  await total(page, 40);
  check(await page.evaluate(() => document.querySelector('#choices').contains(document.activeElement)), 'a removed choice loses the keyboard focus');
}

/** A picked-up card is put back when it loses the focus, and the next one can be picked up. */
async function putBack(page) {
  const inHand = () => page.locator('.dragging, .lifted, .ghost, .column.over').count();
  await page.locator('.card[data-id="t-b003"] .card-title').focus();
  await page.keyboard.press(' ');
  await page.waitForSelector('.column.takes');
  await page.focus('#q');
  await until(async () => await inHand() === 0, 'a card that lost the focus stays picked up');
  await page.locator('.card[data-id="t-b003"] .card-title').focus();
  await page.keyboard.press(' ');
  await page.waitForSelector('.column.takes');
  const box = await card(page, 't-b004').boundingBox();
  await page.mouse.move(box.x + 40, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + 90, box.y + 60, { steps: 3 });
  await page.waitForSelector('.ghost[data-id="t-b004"]');
  await page.keyboard.press('Escape');
  check(await inHand() === 0, 'escape does not put the card back');
  await page.mouse.move(box.x + 40, box.y + 20);
  await page.mouse.up();
  check(await page.locator('dialog').count() === 0, 'putting a card back opens it');
  const { state } = json('task', 'show', 't-b004');
  check(await columnOf(page, 't-b004') === state, 'escape moved the card');
}

async function problems(page) {
  writeFileSync(`${process.env.REPO}/.ralph/tasks/t-bad1.toml`, 'title = "broken\n');
  await page.waitForSelector('#problems:not([hidden])', { timeout: 20000 });
  await page.click('#problems');
  await page.waitForSelector('.number.bad:has-text("problems")');
  const headers = { 'ralph-token': await page.evaluate(() => sessionStorage.getItem('ralph-token')) };
  const { problem_list: list } = await (await fetch(new URL('/api/status', page.url()), { headers })).json();
  if (list) await page.locator('.problems li', { hasText: 't-bad1.toml' }).waitFor();
  // Independent of the server's list of problems.
  const told = [{ file: '.ralph/tasks/t-bad2.toml', line: 3, column: 1, message: 'no <b>closing</b> quote', hint: 'add one' }];
  const end = await retell(page, '**/api/status', (status) => ({ ...status, problem_list: told }));
  await page.reload();
  const text = await page.locator('.problems').innerText();
  check(text.includes('t-bad2.toml:3') && text.includes('no <b>closing</b> quote') && text.includes('add one'), `a problem is shown as ${text}`);
  await end();
  rmSync(`${process.env.REPO}/.ralph/tasks/t-bad1.toml`);
  await page.waitForSelector('#problems', { state: 'hidden', timeout: 20000 });
}

/** A printed board shows all cards that are loaded, no controls, and the number of cards that are not shown. */
async function paper(page, base) {
  for (let at = 0; at < 70; at += 1) writeFileSync(`${process.env.REPO}/.ralph/tasks/t-p0${String(at).padStart(2, '0')}.toml`, `title = "More ${at}"\nstate = "Backlog"\ncreated = 2026-11-01T00:00:00Z\n`);
  await page.goto(base);
  await page.waitForSelector('.card');
  await until(() => page.evaluate(() => Number(document.body.dataset.total) === 110), 'the new tasks are not shown', 20000);
  const rest = page.locator('.column[data-state="Backlog"] .rest');
  check(!(await rest.isVisible()), 'the print-only text is on the screen');
  await page.emulateMedia({ media: 'print' });
  const column = page.locator('.column[data-state="Backlog"]');
  const [count, cards] = [Number(await column.locator('.count').textContent()), await column.locator('.card').count()];
  check(cards < count && await rest.textContent() === `and ${count - cards} more`, `the print does not say that ${count - cards} are missing`);
  check(await rest.isVisible(), 'the number of missing cards is not printed');
  for (const gone of ['nav', '#filters', '#new', '.live-state']) check(!(await page.locator(gone).first().isVisible()), `${gone} is printed`);
  const cut = await page.evaluate(() => [...document.querySelectorAll('.cards, .column, .columns, main')].filter((box) => box.scrollHeight > box.clientHeight + 4 && getComputedStyle(box).overflowY !== 'visible').length);
  check(cut === 0, 'cards are cut off in print');
  const pdf = (await page.pdf()).toString('latin1');
  const pages = pdf.match(/\/Type\s*\/Page\b/g).length;
  check(pages > 1, `a long board is on ${pages} page`);
  await page.emulateMedia({ media: 'screen' });
}

run(async (keep) => {
  const server = keep(await serve());
  const context = await keep(await browser()).newContext({ viewport: { width: 1500, height: 900 } });
  const page = await open(context, server.url);
  await page.waitForSelector('.card');
  await page.waitForSelector('#live[data-state="up"]');
  await slowView(page);
  await slowSearch(page);
  await keyboardStays(page);
  await putBack(page);
  await problems(page);
  await paper(page, server.base);
});
