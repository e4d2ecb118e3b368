// The dashboard: counts, charts, and problems.

import { get } from './api.js';
import { $, h, rendered } from './dom.js';
import { since } from './time.js';

export async function showDashboard() {
  const [status, { trends, charts, costs }] = await Promise.all([get('/api/status'), get('/api/trends?days=30')]);
  const now = trends.days.at(-1);
  return h('section', { class: 'sheet-view' },
    h('h1', {}, 'Dashboard'),
    h('dl', { class: 'numbers' },
      number('open', now.open), number('ready', now.ready, 'good'), number('claimed', status.claims.length, 'live'),
      number('blocked', now.blocked, 'bad'), number('handed to a person', status.waiting_for_person.length, 'warn'), number('problems', status.problems, 'bad')),
    h('div', { class: 'panels' },
      problems(status.problem_list || []),
      spending(costs),
      panel('Done per day', charts.finished, ['day', 'done'], trends.days.map((day, at) => [date(day), trends.finished[at] ?? 0])),
      panel('Open, ready and blocked', charts.standing, ['day', 'open', 'ready', 'blocked'], trends.days.map((day) => [date(day), day.open, day.ready, day.blocked]), legend()),
      panel('Time in state', charts.times, ['state', '50% within (h)', '90% within (h)', 'tasks'], trends.states.filter((state) => state.left).map((state) => [state.state, state.median_hours, state.most_hours, state.left]), h('p', { class: 'dim' }, 'dark: 50% of the tasks left the state within this time; light: 90%')),
      list('Blockers', status.roots, (root) => `unblocks ${root.frees}${root.by ? `, claimed by ${root.by}` : ''}`),
      list('Active workers', status.claims, (held) => `${held.by}, for ${since(held.since)}`),
      list('Handed to a person', status.waiting_for_person, () => ''),
      list('Stuck', status.stuck.slice(0, 12), (stuck) => `${stuck.state} for ${stuck.hours} h`),
      list('Too large', status.oversized, (task) => task.state)));
}

/** The usage of agents in these days. A value that a program did not report is unknown, not zero. */
function spending({ total, merged }) {
  if (!total.runs) return null;
  const dollars = (amount) => (amount === null ? 'unknown' : `$${amount.toFixed(2)}`);
  const sum = (known, missing) => (missing && known !== 'unknown' ? `at least ${known}` : known);
  const used = total.output_tokens === null ? 'unknown' : (total.input_tokens + total.cached_tokens + total.output_tokens).toLocaleString('en');
  const row = (name, value) => h('tr', {}, h('th', { scope: 'row' }, name), h('td', {}, value));
  return h('section', { class: 'panel' }, h('h2', {}, 'Agents in 30 days'), h('table', { class: 'costs' }, h('tbody', {},
    row('runs', String(total.runs)), row('tokens', sum(used, total.without_tokens)), row('cost', sum(dollars(total.cost_usd), total.without_cost)),
    row('tasks done', String(merged.tasks)), row('cost per task', merged.tasks ? dollars(merged.cost_per_task) : '–'))));
}

/** The maximum number of problems that are listed. */
const LISTED = 50;

/** Problems of files; some of these files are tasks that cannot be shown on the board. */
function problems(all) {
  if (!all.length) return null;
  const place = ({ file, line }) => (line ? `${file}:${line}` : file);
  return h('section', { class: 'panel full' }, h('h2', {}, 'Problems'),
    h('ul', { class: 'plain problems' }, all.slice(0, LISTED).map((problem) => h('li', {},
      h('span', { class: 'id' }, place(problem)), ' ', problem.message, problem.hint && h('span', { class: 'dim' }, ` · ${problem.hint}`)))),
    all.length > LISTED && h('p', { class: 'dim' }, `and ${all.length - LISTED} more`));
}

/** Shows the number of problems beside the name of the view. */
export function countProblems(count) {
  const pill = $('#problems');
  pill.hidden = !count;
  pill.replaceChildren(h('span', { 'aria-hidden': 'true' }, `! ${count}`), h('span', { class: 'hidden' }, `${count} problems`));
}

const date = (day) => day.at.slice(0, 10);

function number(name, value, kind = '') {
  return h('div', { class: `number ${value ? kind : ''}` }, h('dt', {}, name), h('dd', {}, String(value)));
}

/** A chart, with the same data as a table. */
function panel(title, svg, heads, rows, extra = null) {
  return h('section', { class: 'panel chart-panel' }, h('h2', {}, title), rendered(h('div', { class: 'drawing' }), svg), extra,
    h('details', {}, h('summary', {}, 'As a table'), h('div', { class: 'table', tabindex: 0, role: 'region', 'aria-label': title }, h('table', {},
      h('thead', {}, h('tr', {}, heads.map((head) => h('th', { scope: 'col' }, head)))),
      h('tbody', {}, rows.map((row) => h('tr', {}, row.map((cell) => h('td', {}, String(cell))))))))));
}

function legend() {
  return h('ul', { class: 'legend' }, ['open', 'ready', 'blocked'].map((name) => h('li', { class: name }, h('span', { class: 'swatch', 'aria-hidden': 'true' }), name)));
}

function list(title, tasks, tell) {
  if (!tasks.length) return null;
  return h('section', { class: 'panel' }, h('h2', {}, title), h('ul', { class: 'plain' }, tasks.map((task) => h('li', {},
    h('a', { href: `/task/${encodeURIComponent(task.task)}` }, h('span', { class: 'id' }, task.task), ' ', task.title), ' ', h('span', { class: 'dim' }, tell(task))))));
}
