// All chains of blockers in one drawing.

import { get } from './api.js';
import { h, rendered } from './dom.js';

export async function showGraph() {
  const { svg, nodes } = await get('/api/graph');
  const drawing = nodes ? rendered(h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Graph' }), svg)
    : h('p', { class: 'nothing' }, 'No open task waits for another.');
  return h('section', { class: 'sheet-view' }, h('h1', {}, 'What waits for what'), drawing);
}
