// The inbox: questions can be answered here; everything else has a link to its page.

import { get } from './api.js';
import { answer } from './changes.js';
import { $, h, mayWrite, once } from './dom.js';
import { since } from './time.js';

export async function showInbox() {
  const { items } = await get('/api/inbox');
  return h('section', { class: 'sheet-view narrow' },
    h('div', { class: 'panel-top' }, h('h1', {}, 'Inbox'), notifyButton()),
    items.length ? h('ul', { class: 'inbox' }, items.map(thing)) : h('p', { class: 'dim' }, 'Your inbox is empty.'));
}

function thing(item) {
  const link = item.task && h('a', { href: `/task/${encodeURIComponent(item.task)}` }, h('span', { class: 'id' }, item.task), ' ', item.title);
  const facts = [item.since && `for ${since(item.since)}`, item.blocks > 0 && `blocks ${item.blocks}`].filter(Boolean);
  return h('li', { class: `panel waits ${item.kind}` },
    h('div', { class: 'waits-top' }, h('span', { class: 'chip person' }, item.name), link,
      item.state && h('span', { class: `chip state ${item.meaning}` }, item.state), h('span', { class: 'dim' }, facts.join(' · '))),
    item.question ? question(item.task, item.question) : h('p', {}, item.why),
    item.task && h('a', { class: 'button', href: `/review/${encodeURIComponent(item.task)}` }, 'Review'),
    !item.question && ['human-needed', 'attention'].includes(item.kind) && words(item.task));
}

/** A question, answered by a click on a choice or by a text. */
export function question(task, { text, options, recommend, by }) {
  return h('div', { class: 'question' },
    h('p', {}, by && h('strong', {}, `${by} asks: `), text),
    h('div', { class: 'choices writes' }, options.map((option) =>
      h('button', { type: 'button', class: option === recommend ? 'primary' : '', on: { click: once(() => answer(task, option)) } }, option === recommend ? `${option} (recommended)` : option))),
    words(task));
}

/** Answers that were typed but not sent, by task. */
const typed = new Map();

export function words(task) {
  if (!mayWrite()) return null;
  const input = h('input', { value: typed.get(task) || '', 'aria-label': `Answer ${task} in your own words`, placeholder: 'Answer in your own words', autocomplete: 'off', data: { key: `answer ${task}` } });
  const send = once(async () => {
    if (!input.value.trim() || !await answer(task, input.value.trim())) return;
    typed.delete(task);
    input.value = '';
  });
  input.addEventListener('input', () => typed.set(task, input.value));
  return h('form', { class: 'words writes', on: { submit: (event) => { event.preventDefault(); send(); } } }, input, h('button', { type: 'submit' }, 'Answer'));
}

let known = null;

/** Shows the number of waiting tasks beside the view's name, and a notification if it grows while the page is hidden. */
export function countWaiting(count) {
  const pill = $('#waiting');
  pill.hidden = !count;
  pill.textContent = count;
  if (known !== null && count > known && document.hidden && window.Notification?.permission === 'granted') notify();
  known = count;
}

async function notify() {
  const { items } = await get('/api/inbox').catch(() => ({ items: [] }));
  const newest = items.filter((item) => item.since).sort((a, b) => Date.parse(b.since) - Date.parse(a.since))[0];
  if (newest) new Notification(`${newest.task} ${newest.question ? 'has a question' : 'was handed to you'}`, { body: newest.question?.text || newest.why, tag: newest.task });
}

/** A button for notifications, because browsers ask for permission only after a click. */
function notifyButton() {
  if (window.Notification?.permission !== 'default') return null;
  const button = h('button', { type: 'button', class: 'quiet', on: { click: async () => { await Notification.requestPermission(); button.remove(); } } }, 'Notify me');
  return button;
}
