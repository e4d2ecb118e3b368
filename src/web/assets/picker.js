// Inputs with suggestions: tasks by id or title, labels, owners.

import { get } from './api.js';
import { h } from './dom.js';

const PAUSE = 120;
let number = 0;

/** `find` returns [value, text] pairs for the typed text. */
function picking(input, find) {
  const list = h('datalist', { id: `offers-${++number}` });
  input.setAttribute('list', list.id);
  let timer = 0;
  const offer = () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const found = await find(input.value).catch(() => []);
      list.replaceChildren(...found.map(([value, text]) => h('option', { value }, text)));
    }, PAUSE);
  };
  for (const name of ['focus', 'input']) input.addEventListener(name, offer);
  return h('span', { class: 'picker' }, input, list);
}

/** Splits a text into the last word and the text before it, which stays. */
function lastWord(text, separator) {
  const at = text.lastIndexOf(separator) + 1;
  const before = at ? `${text.slice(0, at).trimEnd()} ` : '';
  return [before, text.slice(at).trim()];
}

async function tasks(word) {
  const found = await get(`/api/search?q=${encodeURIComponent(word)}`);
  return found.slice(0, 12).map(({ id, title }) => [id, title]);
}

async function facet(name, word) {
  const all = (await get('/api/facets'))[name].map(([value]) => value);
  return all.filter((value) => value.toLowerCase().includes(word.toLowerCase())).slice(0, 20);
}

export const pickTask = (input) => picking(input, async (text) => text.trim() ? tasks(text.trim()) : []);

export const pickTasks = (input) => picking(input, async (text) => {
  const [before, word] = lastWord(text, ' ');
  return word ? (await tasks(word)).map(([id, title]) => [`${before}${id}`, title]) : [];
});

export const pickLabels = (input) => picking(input, async (text) => {
  const [before, word] = lastWord(text, ',');
  return (await facet('labels', word)).map((label) => [`${before}${label}`, label]);
});

export const pickOwner = (input) => picking(input, async (text) => (await facet('owners', text.trim())).map((owner) => [owner, owner]));
