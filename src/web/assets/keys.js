// Keys that work while no text is being typed.

import { $ } from './dom.js';

export function enableKeys({ search, create, help, view, theme }) {
  document.addEventListener('keydown', (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      search();
      return;
    }
    const typing = event.target.closest?.('input, textarea, select, [contenteditable]');
    if (typing || event.ctrlKey || event.metaKey || event.altKey || $('dialog[open]')) return;
    const acts = {
      '/': () => $('#q')?.focus(),
      n: create,
      '?': help,
      t: theme,
      1: () => view('board'),
      2: () => view('graph'),
      3: () => view('workers'),
      4: () => view('dashboard'),
      5: () => view('inbox'),
      ArrowDown: () => document.activeElement === document.body && $('.card-title')?.focus(),
    };
    if (!acts[event.key]) return;
    event.preventDefault();
    acts[event.key]();
  });
}
