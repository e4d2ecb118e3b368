// Helpers for browser tests: a server, a browser, pages whose errors count, and checks with messages.

import { spawn, spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';

const { PACKAGES, RALPH, REPO } = process.env;
export const require = createRequire(`${PACKAGES}/package.json`);
const { chromium } = require('playwright-core');

export function check(holds, text) {
  if (!holds) throw new Error(text);
}

/** Waits until `ask` returns a truthy value; returns how long it took. */
export async function until(ask, text, limit = 10000) {
  const start = performance.now();
  for (;;) {
    const found = await ask();
    if (found) return performance.now() - start;
    if (performance.now() - start > limit) throw new Error(`${text}, after ${limit} ms`);
    await new Promise((done) => setTimeout(done, 15));
  }
}

export function ralph(...args) {
  const done = spawnSync(RALPH, args, { cwd: REPO, encoding: 'utf8' });
  check(done.status === 0, `ralph ${args.join(' ')}: ${done.stderr}`);
  return done.stdout;
}

export const json = (...args) => JSON.parse(ralph(...args, '--json'));

/** Starts a server of the board at a port or an address; a stopped one can be started again at its port. */
export async function serve(place = 0, ...more) {
  const address = String(place).includes(':') ? place : `127.0.0.1:${place}`;
  const child = spawn(RALPH, ['serve', '--addr', address, ...more], { cwd: REPO, stdio: ['ignore', 'pipe', 'inherit'] });
  const printed = await new Promise((done, fail) => {
    let text = '';
    child.stdout.on('data', (data) => {
      text += data;
      const found = text.match(/http:\/\/\S+/);
      if (found) done(found[0]);
    });
    child.on('exit', () => fail(new Error('the server ended')));
  });
  // With `--allow-remote` the server prints its network address; the tests use the loopback interface.
  const url = printed.replace(/\/\/[^/:]+/, '//127.0.0.1');
  const stop = () => new Promise((done) => {
    child.removeAllListeners('exit');
    child.on('exit', done);
    child.kill('SIGTERM');
  });
  return { url, base: url.split('#')[0].replace(/\/$/, ''), port: Number(new URL(url).port), token: url.split('token=')[1], pid: child.pid, stop };
}

export async function browser() {
  const args = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'];
  return chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args });
}

export const complaints = [];
const pages = [];
const sent = [];

/** The browser logs every refusal of the server as an error. */
const refusal = /status of 422 /;

/** Opens a page whose errors all count, except refusals and those that the test expects. */
export async function open(context, url, expected = /^$/) {
  const page = await context.newPage();
  const hear = (text) => refusal.test(text) || expected.test(text) || complaints.push(text);
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && hear(message.text()));
  page.on('pageerror', (error) => hear(error.stack || error.message));
  page.on('request', (request) => request.method() === 'POST' && sent.push(`${new URL(request.url()).pathname} ${request.postData()}`));
  pages.push(page);
  await page.goto(url);
  return page;
}

/** The content of the pages and their last requests, for the message of a failed test. */
async function shown() {
  const look = () => [location.href, ...[...document.querySelectorAll('dialog, .toast')].map((part) => part.innerText), [...document.querySelectorAll('textarea')].map((text) => text.value)].join('\n');
  const texts = pages.slice(-3).map((page) => Promise.race([page.evaluate(look), new Promise((done) => setTimeout(done, 3000, 'no answer'))]).catch(String));
  return [...await Promise.all(texts), ...sent.slice(-5)].join('\n---\n').slice(0, 6000);
}

/** Delays the answers of a path; returns a function that releases them and returns once the page has read them. */
export async function hold(page, path) {
  let letGo;
  let asked = 0;
  const gate = new Promise((done) => { letGo = done; });
  await page.route(path, async (route) => {
    asked += 1;
    await gate;
    await route.continue();
  });
  return async () => {
    await until(() => asked, `no request for ${path}`);
    const answered = page.waitForResponse(path);
    letGo();
    await (await answered).finished();
    await page.unrouteAll({ behavior: 'wait' });
    // A later request on the same connection: once it is answered, the page has read the earlier answer.
    await page.evaluate(() => fetch('/favicon.ico').then((answer) => answer.text()).then(() => new Promise(requestAnimationFrame)));
  };
}

/** Changes the server's answers on a path; returns a function that ends that. */
export async function retell(page, path, change) {
  await page.route(path, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: change(await response.json()) });
  });
  return () => page.unrouteAll({ behavior: 'wait' });
}

export const card = (page, id) => page.locator(`.card[data-id="${id}"]`);
export const columnOf = (page, id) => page.evaluate((id) => document.querySelector(`.card[data-id="${id}"]:not(.ghost)`)?.closest('.column')?.dataset.state, id);

export async function dragTo(page, id, state) {
  // Drawn, and within reach of the pointer.
  await card(page, id).first().scrollIntoViewIfNeeded();
  const from = await card(page, id).first().boundingBox();
  const column = page.locator(`.column[data-state="${state}"]`);
  await page.mouse.move(from.x + 40, from.y + 20);
  await page.mouse.down();
  await page.mouse.move(from.x + 60, from.y + 30, { steps: 3 });
  await page.waitForSelector('.column.takes, .column.refuses');
  await column.evaluate((element) => element.scrollIntoView({ inline: 'center' }));
  const to = await column.boundingBox();
  await page.mouse.move(to.x + to.width / 2, to.y + 120, { steps: 6 });
  await page.mouse.up();
}

/** Runs a test, and stops everything that it started. */
export async function run(test) {
  const started = [];
  const keep = (thing) => { started.push(thing); return thing; };
  // Otherwise node would exit at once and leave its child processes running.
  process.on('unhandledRejection', (error) => complaints.push(error.stack));
  try {
    await test(keep);
    check(complaints.length === 0, `errors of the page:\n${complaints.join('\n')}`);
  } catch (error) {
    console.error(error.stack || error, complaints.join('\n'), await shown());
    process.exitCode = 1;
  }
  for (const thing of started.reverse()) await (thing.stop || thing.close).call(thing).catch(() => {});
  process.exit();
}
