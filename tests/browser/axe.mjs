// Every view in both themes, as those need it who do not see or do not point.

import { readFileSync } from 'node:fs';
import { browser, check, open, require, run, serve } from './lib.mjs';

const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

run(async (keep) => {
  const server = keep(await serve());
  const chromium = keep(await browser());
  const found = [];
  for (const colorScheme of ['light', 'dark']) {
    // The checker is put into the page by hand, which the page's own policy would not allow.
    const context = await chromium.newContext({ colorScheme, bypassCSP: true, reducedMotion: 'reduce', viewport: { width: 1400, height: 900 } });
    const page = await open(context, server.url);
    const views = [['/', '.card'], ['/task/t-b000', '.task-side'], ['/dashboard', '.chart'], ['/graph', '.graph'], ['/workers', '.workers']];
    for (const [path, sign] of views) {
      await page.goto(server.base + path);
      await page.waitForSelector(sign);
      await page.waitForSelector('#live[data-state="up"]');
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ['violations'] }));
      for (const one of violations.filter(({ impact }) => ['serious', 'critical'].includes(impact))) {
        found.push(`${colorScheme} ${path} ${one.id}: ${one.help}\n  ${one.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${node.any[0]?.message || ''}`).join('\n  ')}`);
      }
    }
    await page.goto(server.base);
    await page.waitForSelector('.card');
    for (const button of ['#new', '#help', '#search']) {
      await page.click(button);
      await page.waitForSelector('dialog[open]');
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => axe.run('dialog', { resultTypes: ['violations'] }));
      found.push(...violations.filter(({ impact }) => ['serious', 'critical'].includes(impact)).map((one) => `${colorScheme} ${button} ${one.id}: ${one.nodes[0].html}`));
      await page.keyboard.press('Escape');
      await page.waitForSelector('dialog', { state: 'detached' });
    }
    await context.close();
  }
  check(found.length === 0, found.join('\n'));
});
