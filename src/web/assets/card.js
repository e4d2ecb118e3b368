// A task on the board: title, holder, blockers, labels.

import { h } from './dom.js';
import { since } from './time.js';

export function card(task) {
  return h('li', { class: `card${task.blocked ? ' blocked' : ''}${task.since ? ' at-work' : ''}`, data: { id: task.id } },
    h('div', { class: 'card-top' },
      h('span', { class: 'id' }, task.id),
      task.kind && h('span', { class: 'chip kind' }, task.kind),
      task.priority && h('span', { class: `chip priority ${task.priority}`, title: 'Priority' }, task.priority),
      task.estimate && h('span', { class: 'chip', title: 'Estimate' }, task.estimate),
      task.github && h('span', { class: 'dim' }, `#${task.github}`),
      task.attention && h('span', { class: 'mark bad', title: task.attention }, '! flagged'),
      task.problems && h('span', { class: 'mark bad', title: 'Its file has problems' }, '! problem')),
    h('a', { class: 'card-title', href: `/task/${encodeURIComponent(task.id)}`, tabindex: -1, draggable: 'false', 'aria-describedby': 'card-keys' }, task.title),
    foot(task));
}

function foot(task) {
  const parts = [
    ...(task.labels || []).map((label) => h('span', { class: 'label' }, label)),
    task.blocked && h('span', { class: 'mark blocked', title: 'Blocked' }, waits(task)),
    task.ready && h('span', { class: 'mark ready' }, 'ready'),
    task.children && h('span', { class: 'dim' }, task.children === 1 ? '1 child' : `${task.children} children`),
    task.owner && owner(task),
  ].filter(Boolean);
  return parts.length ? h('div', { class: 'card-foot' }, parts) : null;
}

function waits(task) {
  return task.blockers ? `⊘ blocked by ${task.blockers}` : '⊘ blocked, because its parent is blocked';
}

/** The owner: with a live claim, in progress without a live claim, or only assigned. */
function owner(task) {
  const kind = task.since ? 'live' : task.stale ? 'stale' : '';
  const told = { live: `claimed, ${task.since && since(task.since)}`, stale: 'no live claim', '': 'owner' }[kind];
  return h('span', { class: `owner ${kind}`, title: told },
    h('span', { class: 'face', 'aria-hidden': 'true' }, initials(task.owner)),
    h('span', {}, task.owner),
    kind && h('span', { class: 'hidden' }, `, ${told}`));
}

function initials(name) {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  return words.slice(0, 2).map((word) => [...word][0]).join('').toUpperCase() || '?';
}
