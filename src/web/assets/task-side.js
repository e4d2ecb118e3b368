// The column beside a task: its fields, links, documents, and holder.

import { get } from './api.js';
import { block, move, save, unblock } from './changes.js';
import { dialog } from './dialog.js';
import { h, mayWrite, once, option, rendered } from './dom.js';
import { line } from './line.js';
import { pickLabels, pickOwner, pickTask, pickTasks } from './picker.js';
import { refresh } from './task.js';
import { refused } from './toast.js';

export function side(whole, { claim, release }) {
  const { task } = whole;
  const then = (act) => once(async () => {
    await act(task.id);
    refresh();
  });
  const held = task.claim || task.owner;
  return h('aside', { class: 'task-side', 'aria-label': 'Fields' },
    !task.archived && h('p', {}, h('a', { class: 'button', href: `/review/${encodeURIComponent(task.id)}` }, 'Review: plan, changes, runs')),
    h('div', { class: 'writes side-acts' },
      h('button', { type: 'button', data: { key: 'claim' }, on: { click: then(claim) } }, task.claim ? 'Renew claim' : 'Claim'),
      held && h('button', { type: 'button', data: { key: 'release' }, on: { click: then(release) } }, 'Release')),
    field('State', states(whole)),
    field('Type', choice(task, 'kind', ['issue', 'epic'])),
    field('Priority', choice(task, 'priority', ['', 'P0', 'P1', 'P2', 'P3'])),
    field('Estimate', choice(task, 'estimate', ['', 'XS', 'S', 'M', 'L', 'XL'])),
    field('Owner', pickOwner(line(task, 'owner', task.owner || ''))),
    field('Labels', pickLabels(line(task, 'labels', task.labels.join(', '), { read: words }))),
    field('Parent', pickTask(line(task, 'parent', task.parent || ''))),
    task.parent && links('Part of', [task.parent], whole),
    links('Children', task.children, whole),
    blockers(whole),
    links('Blocks', task.blocks, whole),
    documents(task),
    task.github && h('p', {}, 'Issue ', task.github.url?.startsWith('https://') ? h('a', { href: task.github.url, target: '_blank', rel: 'noopener noreferrer' }, `#${task.github.number}`) : `#${task.github.number}`),
    h('p', { class: 'dim file' }, task.file));
}

const words = (value) => value.split(',').map((word) => word.trim()).filter(Boolean);

function field(name, input) {
  return h('label', { class: 'field' }, h('span', {}, name), input);
}

function stateName({ state, allowed, outside }) {
  if (!allowed) return `${state} – refused`;
  return outside ? `${state} – outside the workflow` : state;
}

/** A list of states. Refused states are marked; choosing one shows the reason. */
function states({ task, targets }) {
  const input = h('select', { data: { key: 'state' } },
    option(task.state, task.state, true),
    targets.map((target) => option(target.state, stateName(target), false)));
  input.disabled = !mayWrite() || task.archived;
  input.addEventListener('change', async () => {
    if (!(await move(task.id, input.value))) input.value = task.state;
    refresh();
  });
  return input;
}

function choice(task, key, values) {
  const now = task[key] || '';
  const input = h('select', { data: { key } }, [...new Set([...values, now])].map((value) => option(value, value || '–', value === now)));
  input.disabled = !mayWrite();
  input.addEventListener('change', async () => {
    await save(task.id, { fields: { [key]: input.value || null }, seen: { [key]: now } });
    refresh();
  });
  return input;
}

function named(id, { linked }) {
  const known = linked.find((task) => task.id === id);
  return h('a', { href: `/task/${encodeURIComponent(id)}`, class: 'linked' }, h('span', { class: 'id' }, id), known ? ` ${known.title}` : '', known && h('span', { class: 'dim' }, ` · ${known.state}`));
}

function links(title, ids, whole) {
  return ids.length > 0 && h('section', { class: 'links' }, h('h3', {}, title), h('ul', { class: 'plain' }, ids.map((id) => h('li', {}, named(id, whole)))));
}

function blockers(whole) {
  const { task } = whole;
  const free = (id) => h('button', { type: 'button', class: 'quiet square writes', 'aria-label': `Remove the blocker ${id}`, on: { click: once(async () => { await unblock(task.id, [id]); refresh(); }) } }, '×');
  const input = h('input', { placeholder: 'id of a task', 'aria-label': 'Add a blocker', autocomplete: 'off', data: { was: '', key: 'block' } });
  const add = once(async () => {
    if (input.value.trim() && (await block(task.id, input.value.trim().split(/[\s,]+/)))) input.value = '';
    refresh();
  });
  return h('section', { class: 'links' }, h('h3', {}, 'Blocked by'),
    h('ul', { class: 'plain' }, task.blocked_by.map((id) => h('li', { class: 'blocker' }, named(id, whole), free(id)))),
    h('form', { class: 'inline writes', on: { submit: (event) => { event.preventDefault(); add(); } } }, pickTasks(input), h('button', {}, 'Add')));
}

function documents(task) {
  const all = Object.entries(task.artifacts);
  return all.length > 0 && h('section', { class: 'links' }, h('h3', {}, 'Documents'),
    h('ul', { class: 'plain' }, all.map(([kind, path]) => h('li', {}, h('button', { type: 'button', class: 'link', title: path, on: { click: () => read(kind, path) } }, kind)))));
}

async function read(kind, path) {
  try {
    const { html } = await get(`/api/document?path=${encodeURIComponent(path)}`);
    dialog({ name: kind, class: 'document' }, h('p', { class: 'dim' }, path), rendered(h('div', { class: 'markdown' }), html));
  } catch (error) {
    refused(error);
  }
}
