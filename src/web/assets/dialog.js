// A dialog: above everything, with a name, closed by Escape or a click outside. It asks before unsaved text is lost.

import { $$, h } from './dom.js';
import { toast } from './toast.js';

const guards = new Map();

/** `guard` returns whether there is unsaved text. */
export function dialog({ name, class: kind = '', closed = () => {}, guard = () => false }, ...children) {
  const title = h('h2', { class: 'dialog-title', tabindex: -1, autofocus: true, id: `dialog-${kind || 'name'}` }, name);
  const close = () => mayClose(box, () => box.close()) && box.close();
  const button = h('button', { type: 'button', class: 'quiet square close', 'aria-label': 'Close', on: { click: close } }, '×');
  const body = h('div', { class: 'dialog-body', tabindex: -1 }, children);
  const box = h('dialog', { class: kind, 'aria-labelledby': title.id }, h('div', { class: 'dialog-head' }, title, button), body, h('div', { class: 'toasts' }));
  // A click also ends outside if text is selected beyond the edge; such a click must not close the dialog.
  let beside = false;
  box.addEventListener('pointerdown', (event) => { beside = event.target === box; });
  box.addEventListener('click', (event) => event.target === box && beside && close());
  box.addEventListener('cancel', (event) => event.target === box && !mayClose(box, () => box.close()) && event.preventDefault());
  box.addEventListener('close', () => {
    guards.delete(box);
    box.remove();
    closed();
  });
  guards.set(box, guard);
  document.body.append(box);
  box.showModal();
  return { box, body, title };
}

/** Whether a dialog can be closed without losing text. If not, it asks, and runs `then` if the person confirms. */
export function mayClose(box, then) {
  if (!guards.get(box)?.()) return true;
  const run = () => {
    guards.delete(box);
    then();
  };
  toast('your text is not saved', { bad: true, action: { name: 'Close without saving', run } });
  return false;
}

// Browsers close a dialog at the second Escape in a row, even if `cancel` was prevented; preventing the key avoids that.
document.addEventListener('keydown', (event) => {
  const box = $$('dialog[open]').at(-1);
  if (event.key !== 'Escape' || event.isComposing || event.defaultPrevented || !box) return;
  if (!mayClose(box, () => box.close())) event.preventDefault();
});

window.addEventListener('beforeunload', (event) => [...guards.values()].some((guard) => guard()) && event.preventDefault());
