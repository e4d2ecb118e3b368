// The filters: read from the address, and written to it.

import { get } from './api.js';
import { $, h, option, swap } from './dom.js';
import { current, setFilters } from './route.js';

const LISTS = [
  { name: 'priority', title: 'Priority', values: ['P0', 'P1', 'P2', 'P3'] },
  { name: 'estimate', title: 'Estimate', values: ['XS', 'S', 'M', 'L', 'XL'] },
  { name: 'label', title: 'Label', facet: 'labels' },
  { name: 'owner', title: 'Owner', facet: 'owners' },
  { name: 'kind', title: 'Type', values: ['issue', 'epic', 'step'] },
  { name: 'sort', title: 'Sort', values: ['priority', '-updated', '-created', 'title', 'estimate'], single: true },
];
const FLAGS = [['ready', 'Ready'], ['blocked', 'Blocked'], ['mine', 'Mine'], ['open', 'Unfinished']];
const ALL = ['q', 'parent', 'role', 'state', ...LISTS.map((list) => list.name), ...FLAGS.map(([name]) => name)];
/** The time that a click takes. */
const CLICK = 300;

let facets = { labels: [], owners: [] };
let timer = 0;
let chosen = false;
let drawn = '';

export async function loadFacets() {
  try {
    facets = await get('/api/facets');
    draw();
  } catch { /* The board shows the error. */ }
}

/** Draws later, so that a control beside an open list is not replaced before the click on it is handled. */
const later = () => setTimeout(draw, CLICK);

export function draw() {
  const place = $('#filters');
  const focused = place.contains(document.activeElement);
  // An open list must not be closed while the person uses it.
  if (focused && !chosen && document.activeElement.tagName === 'SELECT') {
    document.activeElement.addEventListener('blur', later, { once: true });
    return;
  }
  const { params } = current();
  if (!$('#q', place)) place.append(h('div', { class: 'filter-row' }, input(), h('div', { class: 'choices', id: 'choices' })));
  const box = $('#q');
  if (document.activeElement !== box) box.value = params.get('q') || '';
  const says = JSON.stringify([facets, params.toString()]);
  if (says === drawn) return;
  drawn = says;
  const used = ALL.some((name) => params.has(name));
  swap($('#choices'),
    ...LISTS.map((list) => select(list, params)),
    ...FLAGS.map(([name, title]) => flag(name, title, params)),
    ...chips(params),
    ...(used ? [h('button', { type: 'button', class: 'quiet', id: 'clear', data: { key: 'clear' }, on: { click: clear } }, 'Clear')] : []));
  // If the focused element was removed, the focus moves to the first list.
  if (focused && !place.contains(document.activeElement)) $('select', place).focus();
}

function input() {
  return h('input', {
    id: 'q', type: 'search', placeholder: 'Filter by words', 'aria-label': 'Filter by words', autocomplete: 'off', spellcheck: 'false',
    on: {
      input: (event) => {
        clearTimeout(timer);
        timer = setTimeout(() => set('q', event.target.value ? [event.target.value] : [], true), 150);
      },
    },
  });
}

function select({ name, title, values, facet, single }, params) {
  const taken = params.getAll(name);
  const known = facet ? facets[facet].map(([value, count]) => [value, `${value} (${count})`]) : values.map((value) => [value, value]);
  return h('select', {
    'aria-label': title, class: taken.length ? 'set' : '', data: { key: name },
    on: {
      change: (event) => {
        const { value } = event.target;
        // The list is closed now.
        chosen = true;
        set(name, value ? [...new Set([...(single ? [] : taken), value])] : []);
        chosen = false;
      },
    },
  }, option('', title, true), known.filter(([value]) => single || !taken.includes(value)).map(([value, text]) => option(value, text, false)));
}

function flag(name, title, params) {
  const on = params.has(name);
  return h('button', { type: 'button', class: on ? 'toggle set' : 'toggle', 'aria-pressed': String(on), data: { key: name }, on: { click: () => set(name, on ? [] : ['1']) } }, title);
}

/** The active filters, each with a button to remove it. */
function chips(params) {
  const names = [...LISTS.map((list) => list.name), 'parent', 'role', 'state'];
  return names.flatMap((name) => params.getAll(name).map((value) => h('button', {
    type: 'button', class: 'chip taken', 'aria-label': `Remove the filter ${name} ${value}`, data: { key: `not ${name} ${value}` },
    on: { click: () => set(name, params.getAll(name).filter((other) => other !== value)) },
  }, `${name}: ${value} ×`)));
}

function set(name, values, replace = false) {
  const { params } = current();
  params.delete(name);
  for (const value of values) params.append(name, value);
  setFilters(params, { replace });
}

function clear() {
  const { params } = current();
  for (const name of ALL) params.delete(name);
  $('#q').value = '';
  setFilters(params);
}
