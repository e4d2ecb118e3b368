// Typed text is not lost, and does not overwrite changes by others.

import { browser, check, hold, json, open, ralph, retell, run, serve, until } from './lib.mjs';

const ASKS = 'your text is not saved';
const shown = (id) => json('task', 'show', id);

async function openTask(page, id) {
  await page.locator(`.card[data-id="${id}"] .card-title`).click();
  await page.waitForSelector('.task-columns');
}

async function close(page) {
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog', { state: 'detached' });
  await until(() => !page.url().includes('/task/'), 'the address still names the task');
}

/** Another worker changes the same text: both texts are shown, and the merged one can be saved. */
async function description(page, id) {
  await openTask(page, id);
  await page.click('.description button');
  await page.fill('.description textarea', 'mine');
  ralph('task', 'set', id, 'description=theirs');
  await page.waitForSelector('.meanwhile:not([hidden])');
  await page.click('.description button.primary');
  await page.waitForSelector('.toast.bad');
  check(shown(id).description.trim() === 'theirs', 'a save overwrote a change that was not shown');
  await page.click('.meanwhile button');
  const editor = page.locator('textarea[data-key="description"]');
  check(await editor.inputValue() === 'mine', 'the typed text is gone');
  check((await page.locator('textarea[data-key="theirs"]').inputValue()).trim() === 'theirs', 'the new text is not shown');
  await editor.fill('theirs and mine');
  await page.click('.description button.primary');
  await until(() => shown(id).description.trim() === 'theirs and mine', 'it cannot be saved any more');
  await page.waitForSelector('.description .markdown');
  await until(() => page.evaluate(() => document.activeElement.dataset.key === 'edit'), 'the keyboard is lost after saving');
  await close(page);
}

/** The same in a single line; after reading the other value, it can be overwritten. */
async function lines(page, id) {
  await openTask(page, id);
  const labels = page.locator('input[data-key="labels"]');
  await labels.fill('l0, mine');
  ralph('task', 'set', id, 'labels+=theirs');
  await page.waitForSelector('.meanwhile:not([hidden])');
  await labels.press('Enter');
  await page.waitForSelector('.toast.bad');
  check(shown(id).labels.includes('theirs'), 'labels of another worker are gone');
  check(await labels.inputValue() === 'l0, mine', 'typed labels are gone');
  await page.click('.meanwhile button');
  check(await labels.inputValue() === 'l0, mine', 'typed labels are gone when the new ones are shown');
  check((await page.locator('.now').textContent()).includes('theirs'), 'the new labels are not shown');
  await labels.fill('l0, mine, theirs');
  await labels.press('Enter');
  await until(() => shown(id).labels.length === 3, 'the labels cannot be saved any more');
  for (const [key, value] of [['owner', 'eve'], ['parent', 't-b005']]) {
    const input = page.locator(`input[data-key="${key}"]`);
    await until(async () => await page.locator('.meanwhile:not([hidden])').count() === 0, 'the page still shows a conflict');
    await input.fill(key === 'owner' ? 'ada' : 't-b006');
    ralph('task', 'set', id, `${key}=${value}`);
    await page.waitForSelector('.meanwhile:not([hidden])');
    await input.press('Enter');
    await until(async () => await input.getAttribute('data-tried'), `the ${key} is not refused`);
    check(shown(id)[key] === value, `another worker's ${key} is gone`);
    await input.press('Escape');
    await until(async () => await input.inputValue() === value, `the new ${key} is not shown`);
  }
  await close(page);
}

/** Every way to close asks first. */
async function waysOut(page, id) {
  await openTask(page, id);
  await page.click('.description button');
  const text = page.locator('textarea[data-key="description"]');
  await text.fill('not saved yet');
  const stays = async (how) => {
    await page.locator('.toast', { hasText: ASKS }).waitFor();
    check(await text.inputValue() === 'not saved yet', `${how} loses the typed text`);
    check(page.url().endsWith(`/task/${id}`), `${how} changes the address`);
    await page.locator('.toast [aria-label="Close the message"]').last().click();
  };
  for (let time = 1; time < 5; time += 1) {
    await text.focus();
    await page.keyboard.press('Escape');
    await stays(`escape, ${time} times,`);
  }
  await page.goBack();
  await stays('the back button');
  await page.click('.linked');
  await stays('a link');
  await page.mouse.click(5, 5);
  await stays('a click beside it');
  await page.click('.close');
  await stays('the button');
  await page.click('.linked');
  await page.click('.toast button:has-text("Close without saving")');
  await until(() => !page.url().endsWith(id), 'discarding the text does not close the task');
  await page.waitForSelector('.task-columns');
  await close(page);
  check(shown(id).description.trim() !== 'not saved yet', 'the discarded text was saved');
}

async function newTask(page) {
  await page.keyboard.press('n');
  const title = page.locator('.new input[name="title"]');
  await title.fill('Made once');
  const box = await title.boundingBox();
  // Select the text from right to left, to outside of the dialog.
  await page.mouse.move(box.x + 60, box.y + 10);
  await page.mouse.down();
  await page.mouse.move(20, box.y + 10, { steps: 4 });
  await page.mouse.up();
  check(await title.inputValue() === 'Made once', 'selecting text closes the dialog');
  check(await page.locator('.new .toast').count() === 0, 'selecting text counts as a click outside of the dialog');
  await page.keyboard.press('Escape');
  await page.locator('.new .toast', { hasText: ASKS }).waitFor();
  check(await title.inputValue() === 'Made once', 'escape loses a new task');
  const letGo = await hold(page, '**/api/task');
  await page.locator('.new button.primary').dblclick();
  await title.press('Enter');
  await letGo();
  await page.waitForSelector('dialog', { state: 'detached' });
  await page.locator('.toast', { hasText: 'added t-' }).waitFor();
  check(json('task', 'list').filter((task) => task.title === 'Made once').length === 1, 'two presses make two tasks');
}

async function notes(page, id) {
  await openTask(page, id);
  await page.fill('textarea[data-key="note"]', 'said once');
  const letGo = await hold(page, '**/note');
  await page.locator('text=Add note').dblclick();
  await letGo();
  await page.waitForSelector('.note .markdown');
  check(shown(id).notes.length === 1, 'two presses make two notes');
  await close(page);
}

/** Notices next to an answer, and a move that has become possible since the page was drawn. */
async function news(page, id) {
  let end = await retell(page, '**/save', (saved) => ({ ...saved, notices: ['the journal was mended'] }));
  await openTask(page, id);
  await page.selectOption('.task-side select[data-key="priority"]', 'P3');
  await page.locator('.toast', { hasText: 'the journal was mended' }).waitFor();
  await end();
  await close(page);

  const refusal = { message: 'no longer so' };
  end = await retell(page, `**/api/task/${id}`, (whole) => ({ ...whole, targets: whole.targets.map((target) => ({ ...target, allowed: false, refusal })) }));
  await openTask(page, id);
  await page.selectOption('.task-side select[data-key="state"]', 'Ready for Plan');
  await until(() => shown(id).state === 'Ready for Plan', 'a move is refused because of an outdated state');
  await end();
  await close(page);
}

/** The cursor stays when other fields of the task change. */
async function typing(page, id) {
  await openTask(page, id);
  await page.click('.description button');
  for (const key of ['description', 'note']) {
    const text = page.locator(`textarea[data-key="${key}"]`);
    await text.fill('one two');
    await text.evaluate((element) => element.setSelectionRange(4, 4));
    ralph('task', 'set', id, `labels+=${key}`);
    await until(async () => (await page.locator('input[data-key="labels"]').inputValue()).includes(key), 'the change is not shown');
    await page.keyboard.type('and ');
    check(await text.inputValue() === 'one and two', `what is typed into the ${key} becomes ${await text.inputValue()}`);
  }
  await page.keyboard.press('Escape');
  await page.click('.toast button:has-text("Close without saving")');
  await page.waitForSelector('dialog', { state: 'detached' });
}

/** A change while a mouse button is down does not move the clicked button away. */
async function pressed(page, id) {
  await openTask(page, id);
  const letGo = await hold(page, `**/api/task/${id}`);
  ralph('task', 'set', id, 'labels+=fresh');
  const box = await page.locator('.description button').boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await letGo();
  await page.mouse.up();
  await page.waitForSelector('.description textarea');
  await until(async () => (await page.locator('input[data-key="labels"]').inputValue()).includes('fresh'), 'the change is not shown after the release');
  await close(page);
}

/** Typing replaces a selected title, even if the task was redrawn in between. */
async function selected(page, id) {
  await openTask(page, id);
  const title = page.locator('.title-input');
  await title.focus();
  await title.selectText();
  ralph('task', 'set', id, 'labels+=renewed');
  await until(async () => (await page.locator('input[data-key="labels"]').inputValue()).includes('renewed'), 'the change is not shown');
  await page.keyboard.insertText('Another title');
  await page.keyboard.press('Enter');
  await until(() => shown(id).title === 'Another title', `the title is ${await title.inputValue()}`);
  await close(page);
}

run(async (keep) => {
  const server = keep(await serve());
  const context = await keep(await browser()).newContext({ viewport: { width: 1500, height: 900 } });
  // The browser logs a refusal as an error.
  const page = await open(context, server.url, /409/);
  await page.waitForSelector('.card');
  await page.waitForSelector('#live[data-state="up"]');
  await description(page, 't-b002');
  await lines(page, 't-b003');
  await waysOut(page, 't-b001');
  await newTask(page);
  await notes(page, 't-b004');
  await news(page, 't-b007');
  await pressed(page, 't-b008');
  await typing(page, 't-b009');
  await selected(page, 't-b010');
});
