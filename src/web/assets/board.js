// The columns: read again when something changes; only the differences are drawn.

import { get } from './api.js';
import { card } from './card.js';
import { countProblems } from './dashboard.js';
import { $, h, released, say } from './dom.js';
import { current } from './route.js';
import { refused } from './toast.js';

const PAGE = 120;
/** Changes come in bursts, so the board is read at most this often, and less often if reading takes long. */
const PAUSE = 120;

let root = null;
let nothing = null;
let columns = [];
const drawn = new Map();
const more = new Map();
let filters = '';
let loading = null;
let again = false;

export const cardOf = (id) => drawn.get(id)?.element;
export const columnOf = (element) => element?.closest('.column');
export const all = () => columns;

/** Shows the board in `place` until another view is shown there. */
export function show(place) {
  if (root?.parentNode !== place) {
    root = h('div', { class: 'columns' });
    nothing = h('p', { class: 'nothing', hidden: true });
    drawn.clear();
    columns = [];
    place.replaceChildren(
      h('h1', { class: 'hidden' }, 'Board'),
      h('p', { class: 'hidden', id: 'card-keys' }, 'Space picks the card up, arrows choose a column, space drops it, enter opens it.'),
      nothing, root);
  }
  return load();
}

export function load() {
  if (loading) {
    again = true;
    return loading;
  }
  const start = performance.now();
  loading = once().finally(async () => {
    await new Promise((done) => setTimeout(done, Math.max(PAUSE, (performance.now() - start) * 2)));
    loading = null;
    if (again) {
      again = false;
      load();
    }
  });
  return loading;
}

async function once() {
  const params = new URLSearchParams(current().params);
  if (params.toString() !== filters) {
    filters = params.toString();
    more.clear();
  }
  for (const [at, count] of more) params.append('more', `${at}:${count}`);
  try {
    const board = await get(`/api/board?${params}`);
    await released();
    // If the filters have changed meanwhile, this answer is outdated: it would remove cards that should be visible, and the focus.
    if (root?.isConnected && current().params.toString() === filters) draw(board);
  } catch (error) {
    if (error.status) refused(error);
  }
}

function draw(board) {
  const focused = document.activeElement?.closest?.('.card')?.dataset.id;
  if (columns.map((column) => column.state).join() !== board.columns.map((column) => column.state).join()) {
    columns = board.columns.map(makeColumn);
    root.replaceChildren(...columns.map((column) => column.element));
  }
  const seen = new Set();
  board.columns.forEach((column, at) => {
    update(columns[at], column);
    column.cards.forEach((task) => seen.add(task.id));
  });
  for (const id of [...drawn.keys()].filter((id) => !seen.has(id))) {
    drawn.get(id).element.remove();
    drawn.delete(id);
  }
  keepFocus(focused);
  document.body.dataset.version = board.version;
  document.body.dataset.total = board.total;
  countProblems(board.problems);
  nothing.hidden = board.total > 0;
  nothing.textContent = filters ? 'No task matches these filters.' : 'No tasks yet.';
  if (!performance.getEntriesByName('board-drawn').length) requestAnimationFrame(() => performance.mark('board-drawn'));
}

function makeColumn(column, at) {
  const list = h('ul', { class: 'cards', 'aria-label': column.state });
  const count = h('span', { class: 'count' });
  const points = h('span', { class: 'dim points' });
  const head = h('h2', { class: 'column-head' }, h('span', { class: 'name' }, column.state), ' ', count, points);
  // Shown on paper, where the column cannot be scrolled.
  const rest = h('p', { class: 'rest dim' });
  const element = h('section', { class: `column ${column.meaning}`, 'aria-label': column.state, data: { state: column.state } }, head, list, rest);
  const mine = { state: column.state, meaning: column.meaning, element, list, count, points, rest, total: 0 };
  list.addEventListener('scroll', () => grow(mine, at), { passive: true });
  return mine;
}

/** Requests more cards when the column is scrolled near its end. */
function grow(column, at) {
  const { list } = column;
  const near = list.scrollTop + list.clientHeight * 3 > list.scrollHeight;
  if (near && list.children.length < column.total && (more.get(at) || 0) <= list.children.length) {
    more.set(at, list.children.length + PAGE);
    load();
  }
}

function update(column, { cards, count, points }) {
  column.total = count;
  column.count.textContent = count;
  column.points.textContent = points ? `${points} pt` : '';
  column.rest.textContent = count > cards.length ? `and ${count - cards.length} more` : '';
  column.element.classList.toggle('empty', count === 0);
  cards.forEach((task, place) => {
    const element = cardFor(task, column);
    const there = column.list.children[place];
    if (there !== element) column.list.insertBefore(element, there || null);
  });
}

/** The existing card, or a new one if its data has changed. */
function cardFor(task, column) {
  const text = JSON.stringify(task) + column.state;
  const known = drawn.get(task.id);
  if (known?.text === text) return known.element;
  const element = card(task);
  if (known) {
    element.classList.add(known.state === column.state ? 'changed' : 'arrived');
    known.element.replaceWith(element);
  }
  drawn.set(task.id, { element, text, state: column.state });
  return element;
}

function keepFocus(id) {
  const link = id && $('.card-title', cardOf(id) || h('div'));
  if (link && document.activeElement !== link) link.focus({ preventScroll: true });
  if (!$('.card-title[tabindex="0"]', root)) $('.card-title', root)?.setAttribute('tabindex', '0');
}

/** Focuses a card. Only one card is in the tab order; the arrow keys lead to the others. */
export function focusCard(element) {
  const link = element && $('.card-title', element);
  if (!link) return;
  for (const other of root.querySelectorAll('.card-title[tabindex="0"]')) other.setAttribute('tabindex', '-1');
  link.setAttribute('tabindex', '0');
  link.focus();
  element.scrollIntoView({ block: 'nearest', inline: 'nearest' });
}

export function step(element, key) {
  const list = element.parentNode;
  if (key === 'ArrowDown') return focusCard(element.nextElementSibling);
  if (key === 'ArrowUp') return focusCard(element.previousElementSibling);
  const at = columns.findIndex((column) => column.list === list);
  const way = key === 'ArrowRight' ? 1 : -1;
  const place = [...list.children].indexOf(element);
  for (let next = at + way; columns[next]; next += way) {
    const cards = columns[next].list.children;
    if (cards.length) {
      say(columns[next].state);
      return focusCard(cards[Math.min(place, cards.length - 1)]);
    }
  }
  return null;
}
