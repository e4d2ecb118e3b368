// Work for a person: a question is answered in two clicks, a plan is rejected with comments on lines, a large change
// opens at once.

import { readFileSync } from 'node:fs';
import { browser, check, json, open, ralph, require, run, serve, until } from './lib.mjs';

const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

async function look(page, where) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => axe.run('html', { resultTypes: ['violations'] }));
  const bad = violations.filter(({ impact }) => ['serious', 'critical'].includes(impact));
  check(bad.length === 0, `${where}: ${bad.map((one) => `${one.id} ${one.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 140)} ${node.any[0]?.message || ''}`).join(' | ')}`).join('\n')}`);
}

/** From the board: one click on the inbox, one on the choice. */
async function answered(page) {
  await until(async () => (await page.locator('#waiting').textContent()) === '3', 'the inbox has no number');
  await page.click('nav a[data-view="inbox"]');
  await page.waitForSelector('.question');
  await look(page, 'the inbox');
  await page.click('text=10 years (recommended)');
  await until(() => json('task', 'show', 't-ask').state === 'Ready for Plan', 'the answer does not send it back');
  await until(async () => await page.locator('.question').count() === 0, 'the question is still shown');
  check(ralph('prompt', 'plan', 't-ask').includes('10 years'), 'the prompt has no answer');
}

async function sentBack(page) {
  await page.click('a.button[href="/review/t-plan"]');
  await page.locator('.panel.plan .markdown', { hasText: 'The plan' }).waitFor();
  check(page.url().endsWith('/review/t-plan'), page.url());
  await look(page, 'the plan and the changes');
  await page.click('text=Comment on lines');
  await page.click('[aria-label="Comment on line 3 of thoughts/shared/plans/p.md"]');
  await page.keyboard.type('Why not ');
  // The board changes while a person types: the text and the cursor stay.
  ralph('note', 't-plan', 'something else');
  await page.waitForTimeout(2500);
  await page.keyboard.type('the other way round?');
  await page.click('[aria-label="Comment on line 2 of src/a.rs"]');
  await page.keyboard.type('This can overflow.');
  await look(page, 'with comments');
  await page.click('text=Side by side');
  await page.waitForSelector('.row.two');
  check((await page.locator('.comment textarea').nth(1).inputValue()).includes('overflow'), 'a comment is lost when the diff is redrawn');
  await look(page, 'side by side');
  await page.fill('[data-key="why"]', 'Nearly there.');
  check((await page.textContent('#send-back')) === 'Reject with 2 comments', await page.textContent('#send-back'));
  await page.click('#send-back');
  await until(() => json('task', 'show', 't-plan').state === 'Ready for Plan', 'it is not sent back');
  check(page.url().endsWith('/review/t-plan'), 'the page was left');
  const prompt = ralph('prompt', 'plan', 't-plan');
  for (const part of ['on line 3 of "thoughts/shared/plans/p.md":', 'other way round', 'on line 2 of "src/a.rs":', 'overflow', 'Nearly there.']) check(prompt.includes(part), `${part} is not in the prompt`);
}

async function large(page, base) {
  await page.goto(`${base}/review/t-big`);
  await page.waitForSelector('.may-write');
  const started = await page.evaluate(() => performance.now());
  await page.goto('about:blank');
  void started;
  const start = performance.now();
  await page.goto(`${base}/review/t-big`);
  await page.waitForSelector('.row.added');
  const took = performance.now() - start;
  console.log(`a change of 10,000 lines: ${took.toFixed(0)} ms`);
  check(took < Number(process.env.LIMIT), `a change of 10,000 lines takes ${took.toFixed(0)} ms`);
  check(await page.locator('.row').count() < 3000, 'all lines are drawn at once');
  await page.locator('.lines').last().scrollIntoViewIfNeeded();
  await until(async () => (await page.locator('.row').last().textContent()).includes('9999'), 'the end is not drawn');
}

run(async (keep) => {
  const server = keep(await serve());
  const chromium = keep(await browser());
  for (const colorScheme of ['light', 'dark']) {
    const context = await chromium.newContext({ colorScheme, bypassCSP: true, reducedMotion: 'reduce', viewport: { width: 1400, height: 900 } });
    const page = await open(context, server.url);
    await page.waitForSelector('.may-write');
    if (colorScheme === 'light') {
      await answered(page);
      await sentBack(page);
      await large(page, server.base);
    } else {
      await page.goto(`${server.base}/review/t-plan`);
      await page.waitForSelector('.row.added');
      await look(page, 'dark');
    }
    await context.close();
  }
});
