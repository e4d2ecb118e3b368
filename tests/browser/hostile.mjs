// Titles that contain HTML, and requests from a page of another site.

import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';
import { browser, check, json, open, ralph, run, serve } from './lib.mjs';

const EVIL = '<img src=x onerror=window.ran=1><script>window.ran=1</script>"\'`${1}';

run(async (keep) => {
  const [one, two] = [0, 1].map(() => json('task', 'add', EVIL, '--label', '<b>x', '--body', `${EVIL}\n\n[x](javascript:window.ran=1)`).tasks[0].id);
  ralph('block', one, '--on', two);
  ralph('note', one, EVIL);
  ralph('claim', two, '--as', 'x"><img src=x onerror=window.ran=1>'.replace(/[^a-z]/g, ''));
  const server = keep(await serve());
  const chromium = keep(await browser());
  // The browser logs a refusal as an error.
  const page = await open(await chromium.newContext(), server.url, /status of 404/);
  const intact = async (where) => {
    const text = await page.evaluate(() => document.body.innerText + [...document.querySelectorAll('input, textarea')].map((input) => input.value).join() + [...document.querySelectorAll('svg title')].map((title) => title.textContent).join());
    check(text.includes('<img src=x onerror'), `${where} does not show the title as it is written`);
    const made = await page.evaluate(() => document.querySelectorAll('img[src="x"], script:not([src]), b').length);
    check(made === 0, `${where} took the title for HTML`);
    check(!(await page.evaluate(() => window.ran)), `${where} ran the title`);
  };
  await page.waitForSelector('.card');
  await intact('the board');
  for (const [path, sign] of [[`/task/${one}`, '.graph'], ['/graph', '.graph'], ['/dashboard', '.panel'], ['/workers', '.worker']]) {
    await page.goto(server.base + path);
    await page.waitForSelector(sign);
    await page.waitForSelector('#live[data-state="up"]');
    await intact(path);
  }
  await page.goto(server.base);
  await page.waitForSelector('.card');
  await page.keyboard.press('Control+k');
  await page.fill('.search input', 'onerror');
  await page.waitForSelector('.result');
  await intact('search');
  await page.click('.search .close');
  // A message with the title: the blocker is named as it was typed.
  await page.goto(`${server.base}/task/${one}`);
  await page.waitForSelector('.task-columns');
  await page.fill('input[data-key="block"]', EVIL.replaceAll(/[\s,]/g, '/'));
  await page.click('form.inline button');
  await page.locator('.toast.bad', { hasText: '<img/src=x/onerror' }).waitFor();
  await intact('a message');

  const file = `${process.env.REPO}/report.html`;
  ralph('report', '--html', file);
  await page.goto(pathToFileURL(file).href);
  await intact('the report');
  await page.goto(`${pathToFileURL(file).href}#${one}`);
  check(await page.locator(`#${one}`).isVisible(), 'a link of the report shows no task');
  await intact('a task of the report');

  await foreign(keep, chromium, server, two);
});

/** Nothing is read or changed by a page of another site. */
async function foreign(keep, chromium, server, id) {
  const site = createServer((_, answer) => answer.setHeader('content-type', 'text/html').end('<!doctype html><title>elsewhere</title>'));
  await new Promise((done) => site.listen(0, '127.0.0.1', done));
  keep({ stop: async () => site.close() });
  const before = json('task', 'show', id);
  const page = await (await chromium.newContext()).newPage();
  await page.goto(`http://127.0.0.1:${site.address().port}/`);
  const got = await page.evaluate(async ({ base, id, token }) => {
    const out = [];
    const attempt = async (name, act) => {
      try {
        const answer = await act();
        out.push([name, answer.type === 'opaque' ? 'opaque' : await answer.text()]);
      } catch {
        out.push([name, 'refused']);
      }
    };
    const body = JSON.stringify({ fields: { title: 'taken over' } });
    const save = `${base}/api/task/${id}/save`;
    await attempt('read', () => fetch(`${base}/api/board`));
    await attempt('read without cors', () => fetch(`${base}/api/board`, { mode: 'no-cors' }));
    await attempt('events', () => fetch(`${base}/api/events`));
    await attempt('plain post', () => fetch(save, { method: 'POST', mode: 'no-cors', body }));
    await attempt('json post', () => fetch(save, { method: 'POST', headers: { 'content-type': 'application/json' }, body }));
    await attempt('post with the token', () => fetch(save, { method: 'POST', headers: { 'content-type': 'application/json', 'ralph-token': token }, body }));
    await attempt('post by its other name', () => fetch(save.replace('127.0.0.1', 'localhost'), { method: 'POST', headers: { 'content-type': 'application/json', 'ralph-token': token }, body }));
    // As a script, an image and a frame.
    for (const tag of ['script', 'img', 'iframe']) {
      await new Promise((done) => {
        const element = document.createElement(tag);
        element.onload = () => { out.push([tag, tag === 'iframe' ? 'framed' : 'loaded']); done(); };
        element.onerror = () => { out.push([tag, 'refused']); done(); };
        element.src = tag === 'iframe' ? `${base}/` : `${base}/api/board`;
        document.body.append(element);
      });
    }
    return out;
  }, { base: server.base, id, token: server.token });
  for (const [name, text] of got.filter(([name]) => name !== 'iframe')) check(['refused', 'opaque'].includes(text), `a foreign page could ${name}: ${text}`);
  const frames = page.frames().filter((frame) => frame !== page.mainFrame());
  for (const frame of frames) check(!(await frame.content().catch(() => '')).includes('ralph</title>'), 'the board can be framed');
  await form(page, `${server.base}/api/task/${id}/save`);
  const after = json('task', 'show', id);
  check(after.title === before.title && after.notes.length === before.notes.length, 'a foreign page changed the board');
}

/** A form whose only field reads as JSON, which browsers send without a preflight: it is refused. */
async function form(page, save) {
  const answered = page.waitForResponse(save);
  await page.evaluate((action) => {
    const form = Object.assign(document.createElement('form'), { method: 'post', action, enctype: 'text/plain' });
    form.append(Object.assign(document.createElement('input'), { name: '{"fields":{"title":"taken over"},"note":"', value: '"}' }));
    document.body.append(form);
    form.submit();
  }, save);
  const answer = await answered;
  const sent = answer.request().postData();
  check(JSON.parse(sent).fields.title === 'taken over', `the form sends ${sent}`);
  check(answer.status() === 403, `a form of a foreign page is answered with ${answer.status()}`);
}
