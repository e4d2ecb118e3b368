// The graph of all blockers, in parts if it is large.

import { get } from './api.js';
import { h, rendered } from './dom.js';
import { current } from './route.js';

export async function showGraph() {
  const part = Number(current().params.get('part')) || 1;
  const { svg, nodes } = await get(`/api/graph?part=${part}`);
  const drawing = nodes ? rendered(h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Graph' }), svg)
    : h('p', { class: 'nothing' }, 'No open task is blocked by another.');
  return h('section', { class: 'sheet-view' }, h('h1', {}, 'Graph of blockers'), drawing);
}
