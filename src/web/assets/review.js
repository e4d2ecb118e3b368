// One task to decide on: its plan, changes, checks and runs; it can be approved, or rejected with comments on lines.

import { get, taskPath } from './api.js';
import { approve, merge, reject, retry, startTeam, stopRun } from './changes.js';
import { files, plain } from './diff.js';
import { $, h, mayWrite, once, rendered } from './dom.js';
import { question, words } from './inbox.js';
import { current } from './route.js';
import { since, span } from './time.js';

const WIDE = 1600;
/** Texts that were not sent yet, by task, which are kept when the page is drawn again. */
const drafts = new Map();
let split = innerWidth >= WIDE;
let source = false;

export async function showReview() {
  const { review: id } = current();
  const whole = await get(taskPath(id, 'review'));
  // If nothing has changed, the page is not drawn again, so that open parts and typed text stay.
  const text = JSON.stringify([whole, mayWrite()]);
  if ($('.review')?.drawn === text) return null;
  return Object.assign(page(whole, draftOf(id)), { drawn: text });
}

function draftOf(id) {
  if (!drafts.has(id)) drafts.set(id, { why: '', lines: new Map() });
  return drafts.get(id);
}

function page(whole, draft) {
  const { task, plan, changes, unchanged, runs, checks, can } = whole;
  const comments = commenting(draft, () => count(draft));
  return h('section', { class: 'sheet-view review' },
    h('header', { class: 'review-top' },
      h('h1', {}, h('a', { href: `/task/${encodeURIComponent(task.id)}` }, h('span', { class: 'id' }, task.id)), ' ', task.title),
      h('span', { class: `chip state ${task.meaning}` }, task.state)),
    whole.question && h('div', { class: 'panel' }, question(task.id, whole.question)),
    !whole.question && whole.waits && h('div', { class: 'panel question' }, h('p', {}, whole.waits), words(task.id)),
    h('div', { class: 'panels' }, checksPanel(checks), runsPanel(task.id, runs, can)),
    h('div', { class: plan && changes ? 'review-columns' : 'review-columns one' },
      plan && planPanel(plan, comments),
      h('section', { class: 'panel changes', 'aria-label': 'Changes' }, changesPanel(changes, unchanged, comments))),
    (can.approve || can.reject) && mayWrite() && decide(task.id, can, draft));
}

function planPanel(plan, comments) {
  const body = h('div', {});
  const draw = () => {
    body.replaceChildren(source ? plain(plan.path, plan.lines, comments) : rendered(h('div', { class: 'markdown', tabindex: '0', role: 'region', 'aria-label': 'The plan' }), plan.html));
    toggle.textContent = source ? 'Read' : 'Comment on lines';
  };
  const toggle = h('button', { type: 'button', class: 'quiet', on: { click: () => { source = !source; draw(); } } });
  draw();
  return h('section', { class: 'panel plan', 'aria-label': 'Plan' }, h('div', { class: 'panel-top' }, h('h2', {}, 'Plan'), h('span', { class: 'id' }, plan.path), toggle), body);
}

function changesPanel(changes, unchanged, comments) {
  if (!changes) return [h('h2', {}, 'Changes'), h('p', { class: 'dim' }, unchanged)];
  const body = h('div', {});
  const draw = () => {
    body.replaceChildren(changes.files.length ? files(changes, comments, split) : h('p', { class: 'dim' }, 'No changes yet.'));
    toggle.textContent = split ? 'One column' : 'Side by side';
  };
  const toggle = h('button', { type: 'button', class: 'quiet', on: { click: () => { split = !split; draw(); } } });
  draw();
  const added = changes.files.reduce((sum, file) => sum + file.added, 0);
  const removed = changes.files.reduce((sum, file) => sum + file.removed, 0);
  return [h('div', { class: 'panel-top' }, h('h2', {}, 'Changes'),
    h('span', { class: 'dim' }, `${changes.files.length} ${changes.files.length === 1 ? 'file' : 'files'} on ${changes.branch}${changes.worktree ? ', in its worktree' : ''} `, h('span', { class: 'plus' }, `+${added}`), ' ', h('span', { class: 'minus' }, `−${removed}`)), toggle), body];
}

function checksPanel(checks) {
  return h('section', { class: 'panel' }, h('h2', {}, 'Checks'), checks.length
    ? checks.map(check)
    : h('p', { class: 'dim' }, 'None. Set `merge.checks` to programs that must succeed before a merge.'));
}

/** A check with the result of the last merge that was tried. */
function check({ name, last, outdated }) {
  const how = !last ? 'not run yet' : `${last.passed ? 'passed' : 'failed'}${outdated ? ' on an earlier commit' : ''}`;
  const head = [h('code', {}, name), ' ', h('span', { class: `chip ${last ? (last.passed ? 'good' : 'bad') : ''}` }, how), last && h('span', { class: 'dim' }, ` ${since(last.at)} ago`)];
  return last?.tail ? h('details', { class: 'check' }, h('summary', {}, head), h('pre', { class: 'log', tabindex: '0', 'aria-label': `Output of ${name}` }, last.tail)) : h('div', { class: 'check' }, head);
}

function runsPanel(id, runs, can) {
  const runsNow = runs.some(({ outcome }) => outcome === 'running');
  const button = (name, act) => h('button', { type: 'button', on: { click: once(act) } }, name);
  return h('section', { class: 'panel runs', 'aria-label': 'Runs' },
    h('div', { class: 'panel-top' }, h('h2', {}, 'Runs'), mayWrite() && [
      can.retry && button('Try again', () => retry(id)),
      can.team && !runsNow && button('Start a team', () => startTeam(id))]),
    runs.length ? runs.map(run) : h('p', { class: 'dim' }, 'No runs on this machine.'));
}

const tone = (outcome) => ({ done: 'good', advanced: 'good', failed: 'bad', lost: 'bad', 'timed-out': 'bad', 'setup-failed': 'bad', unmoved: 'bad', strayed: 'bad' })[outcome] || '';

/** A run. Its log is read when it is opened, and again while it is running. */
function run(done) {
  const took = done.ended ? span((Date.parse(done.ended) - Date.parse(done.started)) / 1000) : 'running';
  const log = h('pre', { class: 'log', tabindex: '0', 'aria-label': `Output of ${done.command}` }, 'loading');
  const read = async () => {
    const { tail, run: now } = await get(`/api/run/${encodeURIComponent(done.id)}`).catch(() => ({ tail: 'cannot read the output', run: done }));
    const end = log.scrollTop + log.clientHeight >= log.scrollHeight - 4;
    log.textContent = tail || 'no output';
    // If the log is scrolled to its end, it stays at the end.
    if (end) log.scrollTop = log.scrollHeight;
    if (!now.ended && details.open && details.isConnected) setTimeout(read, 2000);
  };
  const details = h('details', { class: `run ${done.outcome}`, data: { key: `run ${done.id}` }, on: { toggle: () => details.open && read() } },
    h('summary', {}, h('strong', {}, done.command), ' ', h('span', { class: `chip ${tone(done.outcome)}` }, done.outcome), ' ', h('span', { class: 'dim' }, `${done.worker} · ${took} · ${since(done.started)} ago${done.message ? ` · ${done.message}` : ''}`)),
    log);
  const stop = done.outcome === 'running' && mayWrite() && h('button', { type: 'button', on: { click: once(() => stopRun(done.id)) } }, 'Stop run');
  return h('div', { class: 'run-row' }, details, stop);
}

/** The comments by file and line, each below its line. */
function commenting(draft, changed) {
  const key = (path, line) => `${path}:${line}`;
  const box = (path, line) => {
    const input = h('textarea', { rows: 2, 'aria-label': `Comment on line ${line} of ${path}`, data: { key: key(path, line) } }, draft.lines.get(key(path, line)).text);
    input.addEventListener('input', () => { draft.lines.get(key(path, line)).text = input.value; changed(); });
    const remove = () => { draft.lines.delete(key(path, line)); place.remove(); changed(); };
    const place = h('div', { class: 'comment' }, input, h('button', { type: 'button', class: 'quiet square', 'aria-label': 'Remove the comment', on: { click: remove } }, '×'));
    return place;
  };
  return {
    writable: mayWrite(),
    at: (path, line) => draft.lines.has(key(path, line)) ? box(path, line) : null,
    open: (path, line, row) => {
      if (!draft.lines.has(key(path, line))) {
        draft.lines.set(key(path, line), { path, line, text: '' });
        row.after(box(path, line));
        changed();
      }
      $('textarea', row.nextElementSibling)?.focus();
    },
  };
}

const written = (draft) => [...draft.lines.values()].filter(({ text }) => text.trim());

function sendBack(draft) {
  const many = written(draft).length;
  return many ? `Reject with ${many} ${many === 1 ? 'comment' : 'comments'}` : 'Reject';
}

function count(draft) {
  const button = $('#send-back');
  if (button) button.textContent = sendBack(draft);
}

function decide(id, can, draft) {
  const why = h('textarea', { rows: 2, placeholder: 'What has to change', 'aria-label': 'What has to change', data: { key: 'why' } }, draft.why);
  why.addEventListener('input', () => { draft.why = why.value; });
  const back = once(async () => {
    if (await reject(id, draft.why, written(draft))) drafts.delete(id);
  });
  return h('footer', { class: 'decide' }, why,
    can.reject && h('button', { type: 'button', id: 'send-back', on: { click: back } }, sendBack(draft)),
    can.approve && h('button', { type: 'button', class: 'primary', on: { click: once(() => approve(id)) } }, 'Approve'),
    can.merge && h('button', { type: 'button', class: 'primary', on: { click: once(() => merge(id)) } }, 'Merge'));
}

// Comments that were not sent would be lost with the page.
addEventListener('beforeunload', (event) => [...drafts.values()].some((draft) => draft.why.trim() || written(draft).length) && event.preventDefault());
/** Changes in a worktree cause no event, so the page is drawn again at an interval. */
setInterval(() => !document.hidden && $('.review') && dispatchEvent(new Event('ralph-redraw')), 5000);
