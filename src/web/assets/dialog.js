// A dialog: over everything, with a name, closed by escape or a click beside it.

import { h } from './dom.js';

/** `guard` says whether somebody would lose what they wrote: then only the button closes it. */
export function dialog({ name, class: kind = '', closed = () => {}, guard = () => false }, ...children) {
  const title = h('h2', { class: 'dialog-title', tabindex: -1, autofocus: true, id: `dialog-${kind || 'name'}` }, name);
  const close = h('button', { type: 'button', class: 'quiet square close', 'aria-label': 'Close', on: { click: () => box.close() } }, '×');
  const body = h('div', { class: 'dialog-body' }, children);
  const box = h('dialog', { class: kind, 'aria-labelledby': title.id }, h('div', { class: 'dialog-head' }, title, close), body, h('div', { class: 'toasts' }));
  box.addEventListener('click', (event) => event.target === box && !guard() && box.close());
  box.addEventListener('cancel', (event) => guard() && event.preventDefault());
  box.addEventListener('close', () => {
    box.remove();
    closed();
  });
  document.body.append(box);
  box.showModal();
  return { box, body, title };
}
