// Title and description, edited in place. A change by somebody else is not overwritten.

import { save } from './changes.js';
import { $, h, once, rendered } from './dom.js';
import { line } from './line.js';
import { refresh } from './task.js';

export function titleEditor(task) {
  return h('h3', { class: 'title-line' }, line(task, 'title', task.title, { required: true, class: 'title-input', 'aria-label': 'Title' }));
}

/** A `draft` was started from an older description: it stays in the editor, with the new description beside it. */
export function descriptionEditor(task, html, draft = null) {
  let begun = draft;
  const place = h('section', { class: 'part description' });
  const read = () => place.replaceChildren(
    h('div', { class: 'part-head' }, h('h3', {}, 'Description'), h('button', { type: 'button', class: 'quiet writes', data: { key: 'edit' }, on: { click: write } }, 'Edit')),
    task.description ? rendered(h('div', { class: 'markdown' }), html) : h('p', { class: 'dim' }, 'No description.'));
  const write = () => {
    const text = h('textarea', { rows: Math.min(24, task.description.split('\n').length + 4), 'aria-label': 'Description', value: begun ?? task.description, data: { was: task.description, key: 'description', open: 'yes' } });
    const keep = once(async () => {
      const saved = await save(task.id, { fields: { description: text.value }, seen: { description: task.description } });
      if (saved) place.replaceChildren();
      await refresh();
      if (saved) $('dialog.task [data-key="edit"]')?.focus();
    });
    const cancel = () => {
      begun = null;
      read();
      $('button', place).focus();
      refresh();
    };
    text.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) keep();
    });
    place.replaceChildren(h('h3', {}, 'Description'), text, ...(begun === null ? [] : [theirs(task.description)]),
      h('div', { class: 'form-end' }, h('button', { type: 'button', class: 'quiet', on: { click: cancel } }, 'Cancel'), h('button', { type: 'button', class: 'primary', on: { click: keep } }, 'Save')));
    text.focus();
  };
  read();
  if (begun !== null) write();
  return place;
}

function theirs(text) {
  return h('label', { class: 'field draft' }, h('span', {}, 'The current text, which would be overwritten'),
    h('textarea', { rows: Math.min(12, text.split('\n').length + 1), readonly: true, value: text, data: { key: 'theirs' } }));
}
