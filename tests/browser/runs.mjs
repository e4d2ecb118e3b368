// Agents from the page: a team is started, the output of its run is shown live, and it is stopped and retried.

import { browser, check, json, open, run, serve, until } from './lib.mjs';

run(async (keep) => {
  const server = keep(await serve());
  const chromium = keep(await browser());
  const context = await chromium.newContext({ reducedMotion: 'reduce', viewport: { width: 1400, height: 900 } });
  const page = await open(context, server.url);
  await page.waitForSelector('.may-write');
  await page.goto(`${server.base}/review/t-one`);
  await page.click('text=Start a team');
  await page.locator('.run.running').waitFor();
  check(await page.locator('text=Start a team').count() === 0, 'a second team is offered');
  await page.locator('.run.running summary').click();
  await until(async () => (await page.locator('.run .log').first().textContent()).includes('triage one (t-one)'), 'the log is not shown');
  await page.click('text=Stop run');
  await until(() => json('task', 'show', 't-one').state === 'Human Needed', 'it is not stopped', 20000);
  await page.locator('.run.stopped').waitFor();
  await page.click('text=Try again');
  await until(() => json('task', 'show', 't-one').state !== 'Human Needed', 'it is not sent back');
  await until(async () => await page.locator('text=Try again').count() === 0, 'a retry is still offered');

  const reading = keep(await serve(0, '--read-only'));
  const guest = await open(context, reading.url);
  await guest.locator('.card').waitFor();
  await guest.goto(`${reading.base}/review/t-one`);
  await guest.locator('.run.stopped').waitFor();
  for (const name of ['Start a team', 'Try again', 'Stop run']) check(await guest.locator(`text=${name}`).count() === 0, `a reader is offered to ${name}`);
});
