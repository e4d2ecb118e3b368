// Title and description, changed in place. What somebody else wrote since is not written over.

import { save } from './changes.js';
import { h, rendered } from './dom.js';
import { refresh } from './task.js';

export function titleEditor(task) {
  const input = h('input', { class: 'title-input', 'aria-label': 'Title', value: task.title, data: { was: task.title, key: 'title' } });
  input.readOnly = !document.body.classList.contains('may-write');
  const keep = async () => {
    const value = input.value.trim();
    if (!value || value === input.dataset.was) {
      input.value = input.dataset.was;
      return;
    }
    const seen = { title: input.dataset.was };
    if (await save(task.id, { fields: { title: value }, seen })) {
      input.dataset.was = value;
      refresh();
    }
  };
  input.addEventListener('blur', keep);
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') input.blur();
    if (event.key === 'Escape' && input.value !== input.dataset.was) {
      event.preventDefault();
      event.stopPropagation();
      input.value = input.dataset.was;
    }
  });
  return h('h3', { class: 'title-line' }, input);
}

export function descriptionEditor(task, html) {
  const place = h('section', { class: 'part description' });
  const read = () => place.replaceChildren(
    h('div', { class: 'part-head' }, h('h3', {}, 'Description'), h('button', { type: 'button', class: 'quiet writes', data: { key: 'edit' }, on: { click: write } }, 'Edit')),
    task.description ? rendered(h('div', { class: 'markdown' }), html) : h('p', { class: 'dim' }, 'There is none.'));
  const write = () => {
    const text = h('textarea', { rows: Math.min(24, task.description.split('\n').length + 4), 'aria-label': 'Description', value: task.description, data: { was: task.description, key: 'description', open: 'yes' } });
    const keep = async () => {
      if (!(await save(task.id, { fields: { description: text.value }, seen: { description: task.description } }))) return;
      place.replaceChildren();
      refresh();
    };
    text.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) keep();
    });
    place.replaceChildren(h('h3', {}, 'Description'), text,
      h('div', { class: 'form-end' }, h('button', { type: 'button', class: 'quiet', on: { click: read } }, 'Cancel'), h('button', { type: 'button', class: 'primary', on: { click: keep } }, 'Save')));
    text.focus();
  };
  read();
  return place;
}
