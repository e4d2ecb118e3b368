// A task in a dialog: its fields, its history and its blockers; everything can be edited in place.

import { get, taskPath } from './api.js';
import { focusCard } from './board.js';
import { claim, note, release } from './changes.js';
import { dialog, mayClose } from './dialog.js';
import { $, $$, h, keepingFocus, once, released, rendered, swap } from './dom.js';
import { carry, dirty } from './line.js';
import { closeTask } from './route.js';
import { descriptionEditor, titleEditor } from './task-edit.js';
import { side } from './task-side.js';
import { between, day, since } from './time.js';
import { refused } from './toast.js';

let shown = null;
let turns = 0;

export async function showTask(id) {
  if (shown?.id === id) return;
  hideTask();
  const before = document.activeElement;
  const mine = { id, leaving: false };
  shown = mine;
  const made = dialog({ name: id, class: 'task', closed: () => left(mine, before), guard: () => $$('textarea, input', made.body).some(unsaved) });
  Object.assign(mine, made);
  made.body.append(h('p', { class: 'dim' }, 'loading'));
  await refresh();
}

/** Whether the task can be left without losing text. If not, it asks, and runs `then` if the person confirms. */
export const mayLeave = (then) => !shown || mayClose(shown.box, then);

export function hideTask() {
  if (!shown) return;
  shown.leaving = true;
  shown.box.close();
}

function left(mine, before) {
  if (shown === mine) shown = null;
  // Closed by the button or Escape and not by the address, so the address must be updated.
  if (!mine.leaving) closeTask();
  if (!shown) refocus(before, mine.id);
}

/** Restores the focus. If the element was drawn again meanwhile, its replacement gets it. */
function refocus(before, id) {
  const link = $$('#main a[href]').find((other) => other.getAttribute('href') === `/task/${encodeURIComponent(id)}`);
  if (before?.isConnected && before !== document.body) before.focus({ preventScroll: true });
  else if (link?.closest('.card')) focusCard(link.closest('.card'));
  else (link || $('#main')).focus({ preventScroll: true });
}

/** Whether closing would lose the text of an input. A line is saved when it loses the focus, unless it was refused. */
const unsaved = (input) => dirty(input) && (input.tagName === 'TEXTAREA' || input.dataset.key === 'block' || input.dataset.tried === input.value.trim());

/** Whether there is text that would be lost if the task was drawn again. */
const writing = (task) => $$('textarea, input', shown.body).some((input) => dirty(input) && !input.closest('[data-keep]'))
  || $$('textarea[data-key="description"]', shown.body).some((text) => text.dataset.was !== task.description);

/** Keeps a part with unsaved text; otherwise, the part is made again. */
function kept(name, make) {
  const there = $(`[data-keep="${name}"]`, shown.body);
  if (there && $$('textarea', there).some((text) => text.dataset.open || dirty(text))) return there;
  const part = make();
  part.dataset.keep = name;
  return part;
}

export async function refresh(news = null) {
  const mine = shown;
  if (!mine || (news && !news.all && !news.tasks.some((id) => mine.around?.has(id)))) return;
  const turn = ++turns;
  try {
    const whole = await get(taskPath(mine.id));
    await released();
    if (shown !== mine || turn < mine.turn) return;
    mine.turn = turn;
    mine.latest = whole;
    mine.around = new Set([whole.task.id, ...whole.linked.map((task) => task.id)]);
    const text = JSON.stringify(whole);
    if (mine.drawn && writing(whole.task)) $('.meanwhile', mine.body).hidden = text === mine.drawn;
    else keepingFocus(() => draw(whole));
  } catch (error) {
    if (shown === mine && error.status) failed(mine, error);
  }
}

/** Shows that a task does not exist any more; unsaved text stays visible, so that it can be copied. */
function failed(mine, error) {
  if ($$('textarea, input', mine.body).some(dirty)) return void refused(error);
  mine.drawn = '';
  mine.body.replaceChildren(h('p', { role: 'alert' }, error.message), ...error.hints.map((hint) => h('p', { class: 'dim' }, hint)));
}

/** Draws the current task, with the unsaved text beside it. */
function catchUp() {
  const draft = $$('[data-keep="description"] textarea', shown.body).find(dirty)?.value ?? null;
  $('[data-keep="description"]', shown.body).replaceChildren();
  carry(shown.body, () => draw(shown.latest, draft));
  $('textarea[data-key="description"]', shown.body)?.focus();
}

function draw(whole, draft = null) {
  const { task } = whole;
  shown.drawn = JSON.stringify(whole);
  shown.title.replaceChildren(h('span', { class: 'id' }, task.id), ' ', h('span', { class: `chip state ${task.meaning}` }, task.state), ' ',
    task.claim ? h('span', { class: 'owner live' }, `claimed by ${task.claim.by}, ${since(task.claim.since)}`) : '');
  swap(shown.body,
    h('p', { class: 'meanwhile', hidden: true, role: 'status' }, 'This task has changed. ', h('button', { type: 'button', on: { click: catchUp } }, 'Reload')),
    h('div', { class: 'task-columns' },
      h('div', { class: 'task-main' },
        titleEditor(task),
        whole.why && h('p', { class: `why${task.blocked ? ' blocked' : ''}` }, whole.why),
        task.attention && h('p', { class: 'mark bad' }, `Flagged: ${task.attention}`),
        task.problems.map((problem) => h('p', { class: 'mark bad' }, `${problem.file}: ${problem.message}`)),
        kept('description', () => descriptionEditor(task, whole.description_html, draft)),
        whole.graph && part('Graph', rendered(h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Graph' }), whole.graph)),
        whole.timeline.length > 0 && part('Timeline', timeline(whole.timeline)),
        part(`Notes${task.notes.length ? ` (${task.notes.length})` : ''}`, notes(task, whole.notes_html)),
        h('details', { class: 'part' }, h('summary', {}, `Journal (${whole.history.length})`), h('ol', { class: 'history' }, whole.history.map(line)))),
      side(whole, { claim, release })));
  centre($('.graph .here', shown.body));
}

/** Scrolls a wide graph to the task itself, unless the person has scrolled it. */
function centre(node) {
  const box = node?.closest('.scroll');
  if (!box || box.scrollLeft) return;
  const [inner, outer] = [node.getBoundingClientRect(), box.getBoundingClientRect()];
  box.scrollLeft = inner.left + inner.width / 2 - outer.left - outer.width / 2;
}

function part(title, ...content) {
  return h('section', { class: 'part' }, h('h3', {}, title), content);
}

/** The states of a task as a bar, in proportion to their durations, and as a list. */
function timeline(stays) {
  const end = (stay) => stay.until || new Date().toISOString();
  const long = stays.map((stay) => Math.max(Date.parse(end(stay)) - Date.parse(stay.since), 1));
  const total = long.reduce((sum, one) => sum + one, 0);
  const bar = h('div', { class: 'stays', 'aria-hidden': 'true' }, stays.map((stay, at) => {
    const piece = h('span', { class: `stay ${stay.meaning}`, title: `${stay.state}, ${between(stay.since, end(stay))}` });
    piece.style.flexGrow = Math.max(long[at] / total, 0.02);
    return piece;
  }));
  return [bar, h('ol', { class: 'timeline' }, stays.map((stay) => h('li', {},
    h('span', { class: `swatch ${stay.meaning}`, 'aria-hidden': 'true' }), h('span', { class: 'name' }, stay.state), ' ',
    h('span', { class: 'dim' }, `${between(stay.since, end(stay))}${stay.until ? '' : ' so far'} · ${stay.by} · ${day(stay.since)}`))))];
}

function notes(task, html) {
  const text = h('textarea', { rows: 3, 'aria-label': 'New note', placeholder: 'Add a note (Markdown)', data: { was: '', key: 'note' } });
  const send = once(async () => {
    if (text.value.trim() && (await note(task.id, text.value))) text.value = '';
    refresh();
  });
  return [
    task.notes.map((one, at) => h('article', { class: 'note' },
      h('h4', {}, one.by || 'somebody', ' ', h('span', { class: 'dim' }, one.at ? day(one.at) : '')),
      rendered(h('div', { class: 'markdown' }), html[at]))),
    kept('note', () => h('form', { class: 'form writes', on: { submit: (event) => { event.preventDefault(); send(); } } }, text, h('div', { class: 'form-end' }, h('button', {}, 'Add note')))),
  ];
}

function line(entry) {
  const said = (value) => (value === null || value === undefined ? 'none' : Array.isArray(value) ? value.join(', ') : String(value)).slice(0, 80);
  return h('li', { class: entry.undone ? 'undone' : '' },
    h('strong', {}, entry.by), ` ${entry.verb} `, h('span', { class: 'dim' }, day(entry.at)),
    entry.fields.map((field) => h('div', { class: 'dim' }, `${field.key}: ${said(field.old)} → ${said(field.new)}`)));
}
