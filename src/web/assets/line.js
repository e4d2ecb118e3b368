// A line of a task, saved when it is left. What somebody else wrote there since is not written over.

import { save } from './changes.js';
import { $, $$, h, mayWrite } from './dom.js';
import { refresh } from './task.js';

/** `read` makes a value of what is typed. */
export function line(task, key, now, { read = (value) => value || null, required = false, ...props } = {}) {
  const input = h('input', { autocomplete: 'off', ...props, value: now, data: { was: now, key } });
  input.readOnly = !mayWrite();
  const keep = async () => {
    const value = input.value.trim();
    const { was, tried } = input.dataset;
    if (value === was || (required && !value)) input.value = was;
    // What was refused is not asked for again by leaving it once more.
    if (input.value === was || value === tried) return;
    if (await save(task.id, { fields: { [key]: read(value) }, seen: { [key]: was } })) settle(value);
    else input.dataset.tried = value;
    refresh();
  };
  const settle = (value) => {
    input.dataset.was = value;
    if (input.value.trim() === value) input.value = value;
  };
  input.addEventListener('blur', keep);
  input.addEventListener('keydown', (event) => {
    if (event.isComposing) return;
    if (event.key === 'Enter') {
      delete input.dataset.tried;
      input.blur();
    }
    if (event.key === 'Escape' && input.value !== input.dataset.was) {
      // It takes the words back, and closes nothing.
      event.preventDefault();
      event.stopPropagation();
      input.value = input.dataset.was;
      // Nobody writes here any more: what changed meanwhile can be shown.
      refresh();
    }
  });
  return input;
}

/** Whether it says something that is saved nowhere. */
export const dirty = (input) => input.dataset.was !== undefined && input.value !== input.dataset.was;

/** Draws a place anew with what somebody was about to write into its lines. */
export function carry(place, draw) {
  const typed = $$('input', place).filter(dirty).map((input) => ({ value: input.value, ...input.dataset }));
  draw();
  for (const { value, was, key } of typed) {
    const input = $(`input[data-key="${key}"]`, place);
    if (!input) continue;
    input.value = value;
    if (input.dataset.was === was) continue;
    // Leaving it does not write over what is new; whoever has seen that presses enter.
    input.dataset.tried = value.trim();
    input.after(h('span', { class: 'now' }, `current value: ${input.dataset.was || 'nothing'}`));
  }
}
