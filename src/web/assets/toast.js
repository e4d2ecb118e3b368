// Messages in a corner: results, and refusals with their hints.

import { $, $$, h } from './dom.js';

const SHOWN = 6000;

export function toast(text, { bad = false, hints = [], action = null } = {}) {
  const close = () => box.remove();
  const button = action && h('button', { type: 'button', on: { click: () => { close(); action.run(); } } }, action.name);
  const box = h('div', { class: bad ? 'toast bad' : 'toast', role: bad ? 'alert' : 'status', data: { text } },
    h('div', { class: 'toast-text' }, h('p', {}, text), hints.map((hint) => h('p', { class: 'dim' }, hint))),
    button,
    h('button', { type: 'button', class: 'quiet square', 'aria-label': 'Close the message', on: { click: close } }, '×'));
  // A dialog covers everything else, so its messages are inside it.
  const place = $$('dialog[open] .toasts').at(-1) || $('#toasts');
  // A repeated message replaces the previous one.
  for (const same of [...place.children].filter((other) => other.dataset.text === text)) same.remove();
  place.append(box);
  while (place.children.length > 4) place.firstElementChild.remove();
  let timer = setTimeout(close, bad ? SHOWN * 2 : SHOWN);
  box.addEventListener('pointerenter', () => clearTimeout(timer));
  box.addEventListener('pointerleave', () => { timer = setTimeout(close, SHOWN); });
  return box;
}

/** Shows a refusal. `again` repeats the action with force, if a person is allowed to. */
export function refused(error, again = null) {
  const action = error.insist && again ? { name: 'Force the move', run: again } : null;
  return toast(error.message, { bad: true, hints: error.hints || [], action });
}
