// The pictures: the web board at its address, and the terminal's screens as pages.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const { PACKAGES, OUT, PAGES, URL: address, NOW } = process.env;
const { chromium } = createRequire(`${PACKAGES}/package.json`)('playwright-core');
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });

async function page(colorScheme, viewport) {
  const context = await browser.newContext({ viewport, colorScheme, deviceScaleFactor: 1, reducedMotion: 'reduce', timezoneId: 'UTC' });
  await context.clock.setFixedTime(NOW);
  return context.newPage();
}

async function web(name, colorScheme, act, viewport = { width: 1360, height: 760 }) {
  const tab = await page(colorScheme, viewport);
  await tab.goto(address);
  await tab.waitForSelector('#live[data-state="up"]');
  await tab.waitForSelector('.card');
  await act(tab);
  await tab.screenshot({ path: `${OUT}/${name}.png` });
  await tab.context().close();
}

/** The colours of the first terminals, as today's have them. */
const SOFT = { red: '#e06c75', lime: '#98c379', green: '#98c379', yellow: '#e5c07b', olive: '#e5c07b', '#3333FF': '#61afef', fuchsia: '#c678dd', purple: '#c678dd', aqua: '#56b6c2', teal: '#56b6c2' };

async function terminal(name) {
  const tab = await page('dark', { width: 1360, height: 800 });
  const screen = readFileSync(`${PAGES}/${name}.html`, 'utf8').replace(/color:([#\w]+);/g, (whole, name) => (SOFT[name] ? `color:${SOFT[name]};` : whole));
  await tab.setContent(`<style>body { margin: 0; background: #14161b } pre { display: inline-block; margin: 0; padding: 14px; color: #d5d8de; font: 13px/1.25 "DejaVu Sans Mono", monospace }</style><pre>${screen}</pre>`);
  await tab.locator('pre').screenshot({ path: `${OUT}/${name}.png` });
  await tab.context().close();
}

await web('web-board', 'light', async () => {});
await web('web-task', 'dark', async (tab) => {
  await tab.locator('.card-title', { hasText: 'Charge a saved card' }).click();
  await tab.waitForSelector('.task-columns');
});
await web('web-dashboard', 'light', async (tab) => {
  await tab.click('a[href$="/dashboard"]');
  await tab.waitForSelector('.chart-panel svg');
});
await terminal('terminal-board');
await browser.close();
