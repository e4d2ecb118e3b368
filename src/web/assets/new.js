// A new task.

import { get } from './api.js';
import { create } from './changes.js';
import { dialog } from './dialog.js';
import { $, h, once, option } from './dom.js';
import { pickLabels, pickTask, pickTasks } from './picker.js';
import { current, openTask } from './route.js';
import { toast } from './toast.js';

export const showNew = once(async () => {
  if ($('dialog.new')) return;
  const flow = await get('/api/workflow').catch(() => ({ states: [] }));
  const form = h('form', { class: 'form', on: { submit: (event) => { event.preventDefault(); send(); } } },
    field('Title', h('input', { name: 'title', required: true, autocomplete: 'off' })),
    field('Description', h('textarea', { name: 'description', rows: 6, placeholder: 'Markdown' })),
    h('div', { class: 'form-row' },
      choice('Type', 'kind', ['', 'issue', 'epic']),
      choice('Priority', 'priority', ['', 'P0', 'P1', 'P2', 'P3']),
      choice('Estimate', 'estimate', ['', 'XS', 'S', 'M', 'L', 'XL']),
      choice('State', 'state', ['', ...flow.states.map((state) => state.name)])),
    field('Labels', pickLabels(h('input', { name: 'labels', placeholder: 'separated by commas', autocomplete: 'off', value: current().params.getAll('label').join(', ') }))),
    h('div', { class: 'form-row' },
      field('Parent', pickTask(h('input', { name: 'parent', placeholder: 'id or words', autocomplete: 'off' }))),
      field('Blocked by', pickTasks(h('input', { name: 'blocked_by', placeholder: 'ids or words', autocomplete: 'off' })))),
    h('div', { class: 'form-end' }, h('button', { class: 'primary' }, 'Create')));
  const blank = filled(form);
  const { box } = dialog({ name: 'New task', class: 'new', guard: () => filled(form) !== blank }, form);
  const send = once(() => add(form, box));
  form.elements.title.focus();
});

const filled = (form) => JSON.stringify([...new FormData(form)]);

function field(name, input) {
  return h('label', { class: 'field' }, h('span', {}, name), input);
}

function choice(title, name, values) {
  return field(title, h('select', { name }, values.map((value) => option(value, value || '–', value === ''))));
}

const words = (text) => text.split(/[\s,]+/).filter(Boolean);

async function add(form, box) {
  const given = Object.fromEntries(new FormData(form).entries());
  const body = { title: given.title, description: given.description };
  for (const name of ['kind', 'priority', 'estimate', 'state', 'parent']) if (given[name]) body[name] = given[name];
  body.labels = given.labels.split(',').map((label) => label.trim()).filter(Boolean);
  body.blocked_by = words(given.blocked_by);
  const made = await create(body);
  if (!made) return;
  box.close();
  const [{ id }] = made.tasks;
  toast(`added ${id}`, { action: { name: 'Open', run: () => openTask(id) } });
}
