// An input for a field of a task, saved when it loses the focus. A change by somebody else is not overwritten.

import { save } from './changes.js';
import { $, $$, h, mayWrite } from './dom.js';
import { refresh } from './task.js';

/** `read` converts the typed text into a value. */
export function line(task, key, now, { read = (value) => value || null, required = false, ...props } = {}) {
  const input = h('input', { autocomplete: 'off', ...props, value: now, data: { was: now, key } });
  input.readOnly = !mayWrite();
  const keep = async () => {
    const value = input.value.trim();
    const { was, tried } = input.dataset;
    if (value === was || (required && !value)) input.value = was;
    // A value that was refused is not sent again when the input loses the focus again.
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
      // Escape only restores the value, and does not close the dialog.
      event.preventDefault();
      event.stopPropagation();
      input.value = input.dataset.was;
      // Nothing is being edited now, so changes by others can be shown.
      refresh();
    }
  });
  return input;
}

/** Whether the input has unsaved text. */
export const dirty = (input) => input.dataset.was !== undefined && input.value !== input.dataset.was;

/** Draws a place again, and restores the unsaved text of its inputs. */
export function carry(place, draw) {
  const typed = $$('input', place).filter(dirty).map((input) => ({ value: input.value, ...input.dataset }));
  draw();
  for (const { value, was, key } of typed) {
    const input = $(`input[data-key="${key}"]`, place);
    if (!input) continue;
    input.value = value;
    if (input.dataset.was === was) continue;
    // The new value is shown; leaving the input does not overwrite it, but Enter does.
    input.dataset.tried = value.trim();
    input.after(h('span', { class: 'now' }, `current value: ${input.dataset.was || 'nothing'}`));
  }
}
