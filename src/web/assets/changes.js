// Changes of a task: sends them to the server, and shows the result or the refusal.

import { get, post, taskPath } from './api.js';
import { say } from './dom.js';
import { refused, toast } from './toast.js';

/** Sends a change, and shows notices of the server. */
async function change(path, body) {
  const done = await post(path, body);
  for (const notice of done.notices || []) toast(notice);
  return done;
}

async function attempt(act) {
  try {
    return await act();
  } catch (error) {
    refused(error);
    return null;
  }
}

/** The states that the task can be moved to, by state. */
export async function targets(id) {
  const list = await get(taskPath(id, 'targets'));
  return new Map(list.map((target) => [target.state, target]));
}

/** Moves a task; returns whether it was moved. The server decides again, whatever `targets` returned before. */
export async function move(id, state) {
  try {
    return moved(id, state, await change(taskPath(id, 'save'), { state }));
  } catch (error) {
    refused(error, () => insist(id, state));
    say(`${id} stays: ${error.message}`);
    return false;
  }
}

async function insist(id, state) {
  const saved = await attempt(() => change(taskPath(id, 'save'), { state, force: true }));
  return saved && moved(id, state, saved);
}

function moved(id, state, saved) {
  const along = (saved.moved?.along || []).map((other) => `${other.task} → ${other.to}`);
  const outside = saved.moved?.outside ? [`outside the workflow: ${saved.moved.outside}`] : [];
  toast(`${id} is now ${saved.moved?.to || state}`, { hints: [...outside, ...along] });
  say(`${id} moved to ${state}`);
  return true;
}

export const create = (body) => attempt(() => change('/api/task', body));
export const save = (id, body) => attempt(() => change(taskPath(id, 'save'), body));
export const note = (id, text) => attempt(() => change(taskPath(id, 'note'), { text }));
export const block = (id, tasks) => attempt(() => change(taskPath(id, 'block'), { tasks }));
export const unblock = (id, tasks) => attempt(() => change(taskPath(id, 'unblock'), { tasks }));

export async function answer(id, text) {
  const done = await attempt(() => change(taskPath(id, 'answer'), { text }));
  if (done) toast(`${id} answered, now in ${done.to}`);
  return done;
}

export async function approve(id) {
  const done = await attempt(() => change(taskPath(id, 'approve'), {}));
  if (done) toast(`${id} approved, now in ${done.to}`);
  return done;
}

export async function reject(id, why, comments) {
  const done = await attempt(() => change(taskPath(id, 'reject'), { why, comments }));
  if (done) toast(`${id} rejected, now in ${done.to}`);
  return done;
}

export async function merge(id) {
  const done = await attempt(() => change(taskPath(id, 'merge'), {}));
  if (done) toast(`${id} merged into ${done.into}, now in ${done.to}`);
  return done;
}

export async function retry(id) {
  const done = await attempt(() => change(taskPath(id, 'retry'), {}));
  if (done) toast(`${id} is in ${done.state}, and will be tried again`);
  return done;
}

export async function stopRun(run) {
  const done = await attempt(() => change(`/api/run/${encodeURIComponent(run)}/stop`, {}));
  if (done) toast(`${done.task} is being stopped; it will be in the inbox`);
  return done;
}

export async function startTeam(id) {
  const done = await attempt(() => change(taskPath(id, 'team'), {}));
  if (done) toast(`started a team on ${id}`);
  return done;
}

export async function claim(id) {
  const done = await attempt(() => change(taskPath(id, 'claim')));
  if (done) toast(`${id} claimed, in ${done.state}`);
  return done;
}

export async function release(id) {
  const done = await attempt(() => change(taskPath(id, 'release')));
  if (done) toast(`${id} released, in ${done.to}`);
  return done;
}
