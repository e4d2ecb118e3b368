// Search in titles, descriptions and notes, including finished tasks.

import { get } from './api.js';
import { dialog } from './dialog.js';
import { $, h, say } from './dom.js';
import { openTask } from './route.js';

let timer = 0;

export function showSearch() {
  if ($('dialog.search')) return;
  const list = h('ul', { class: 'results', id: 'results', role: 'listbox', 'aria-label': 'Found tasks' });
  const input = h('input', {
    type: 'search', class: 'big', placeholder: 'Search titles, descriptions and notes', 'aria-label': 'Search', role: 'combobox',
    'aria-expanded': 'true', 'aria-controls': 'results', autocomplete: 'off',
    on: {
      input: () => {
        clearTimeout(timer);
        timer = setTimeout(() => look(input, list, box), 160);
      },
      keydown: (event) => keys(event, list, input),
    },
  });
  const { box } = dialog({ name: 'Search', class: 'search' }, input, list);
  input.focus();
}

async function look(input, list, box) {
  const text = input.value.trim();
  if (!text) {
    input.removeAttribute('aria-activedescendant');
    return list.replaceChildren();
  }
  const hits = await get(`/api/search?q=${encodeURIComponent(text)}`).catch(() => []);
  // The text has changed meanwhile, and its results may already be shown.
  if (input.value.trim() !== text) return undefined;
  say(`${hits.length} found`);
  const open = (id) => {
    box.close();
    openTask(id);
  };
  list.replaceChildren(...hits.map((hit, at) => h('li', { role: 'option', id: `hit-${at}`, class: 'result', 'aria-selected': String(at === 0), data: { id: hit.id }, on: { click: () => open(hit.id) } },
    h('span', { class: 'id' }, hit.id), h('span', { class: 'result-title' }, hit.title), h('span', { class: 'chip' }, hit.state),
    hit.excerpt && h('span', { class: 'dim excerpt' }, hit.excerpt))));
  if (hits.length) input.setAttribute('aria-activedescendant', 'hit-0');
  else input.removeAttribute('aria-activedescendant');
  if (!hits.length) list.append(h('li', { class: 'dim', role: 'option', 'aria-selected': 'false', 'aria-disabled': 'true' }, 'no tasks match'));
  return undefined;
}

function keys(event, list, input) {
  const now = list.querySelector('[aria-selected="true"]');
  if (event.key === 'Enter' && now?.dataset.id) {
    event.preventDefault();
    now.click();
  }
  const next = { ArrowDown: now?.nextElementSibling, ArrowUp: now?.previousElementSibling }[event.key];
  if (!next) return;
  event.preventDefault();
  now.setAttribute('aria-selected', 'false');
  next.setAttribute('aria-selected', 'true');
  next.scrollIntoView({ block: 'nearest' });
  input.setAttribute('aria-activedescendant', next.id);
}
