// The workers: running work, free capacity of roles, and recent runs.

import { get } from './api.js';
import { $, h } from './dom.js';
import { day, since, span } from './time.js';

export async function showWorkers() {
  const { claims, runs, ready } = await get('/api/workers');
  return h('section', { class: 'sheet-view' },
    h('h1', {}, 'Workers'),
    h('div', { class: 'panels' },
      h('section', { class: 'panel full' }, h('h2', {}, 'Active workers'), claims.length ? h('ul', { class: 'workers' }, claims.map(worker)) : nobody('No active workers.')),
      h('section', { class: 'panel' }, h('h2', {}, 'Roles'), h('ul', { class: 'plain' }, ready.map(role))),
      h('section', { class: 'panel' }, h('h2', {}, 'Runs'), runs.length ? h('ul', { class: 'plain' }, runs.map(run)) : nobody('No runs yet.'))));
}

const nobody = (text) => h('p', { class: 'dim' }, text);

function worker(claim) {
  return h('li', { class: `worker ${claim.live ? 'live' : 'stale'}` },
    h('div', { class: 'worker-name' }, h('span', { class: 'dot', 'aria-hidden': 'true' }), h('strong', {}, claim.worker), h('span', { class: 'dim' }, claim.live ? `for ${since(claim.since)}` : 'claim expired')),
    h('a', { href: `/task/${encodeURIComponent(claim.task)}` }, h('span', { class: 'id' }, claim.task), ' ', claim.title),
    h('p', { class: 'dim' }, [claim.command, claim.host, claim.held ? 'while its process runs' : `until ${day(claim.until)}`].filter(Boolean).join(' · ')));
}

function role(queue) {
  return h('li', { class: 'role' },
    h('strong', {}, queue.role),
    h('span', { class: 'dim' }, `${queue.at_work}${queue.limit ? ` of ${queue.limit}` : ''} claimed, ${queue.count} ready`),
    h('ul', { class: 'plain small' }, queue.first.map((task) => h('li', {}, h('a', { href: `/task/${encodeURIComponent(task.task)}` }, h('span', { class: 'id' }, task.task), ' ', task.title)))));
}

function run(done) {
  const took = done.ended ? span((Date.parse(done.ended) - Date.parse(done.started)) / 1000) : 'runs';
  return h('li', {}, h('a', { href: `/review/${encodeURIComponent(done.task)}` }, h('span', { class: 'id' }, done.task), ' ', [done.worker, done.command].filter(Boolean).join(' · ')), ' ',
    h('span', { class: 'chip' }, done.outcome), ' ', h('span', { class: 'dim' }, took));
}

/** Shows the number of workers beside the view's name. */
export function countWorkers(count) {
  const pill = $('#at-work');
  pill.hidden = !count;
  pill.textContent = count;
}
