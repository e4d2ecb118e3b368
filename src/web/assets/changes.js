// What a person does to a task: asked of the server, and what it says of it shown where it happened.

import { get, post, taskPath } from './api.js';
import { say } from './dom.js';
import { refused, toast } from './toast.js';

async function attempt(act) {
  try {
    return await act();
  } catch (error) {
    refused(error);
    return null;
  }
}

/** Where the server would take it now, by state. */
export async function targets(id) {
  const list = await get(taskPath(id, 'targets'));
  return new Map(list.map((target) => [target.state, target]));
}

/** Moves it if the server takes it there; whether it did. */
export async function move(id, state, known = null) {
  try {
    const target = (known || (await targets(id))).get(state);
    if (target && !target.allowed) {
      refused(target.refusal, () => insist(id, state));
      say(`${id} stays: ${target.refusal.message}`);
      return false;
    }
    return await moved(id, state, await post(taskPath(id, 'save'), { state }));
  } catch (error) {
    refused(error, () => insist(id, state));
    return false;
  }
}

async function insist(id, state) {
  const saved = await attempt(() => post(taskPath(id, 'save'), { state, force: true }));
  return saved && moved(id, state, saved);
}

function moved(id, state, saved) {
  const along = (saved.moved?.along || []).map((other) => `${other.task} → ${other.to}`);
  toast(`${id} is now ${saved.moved?.to || state}`, { hints: along });
  say(`${id} moved to ${state}`);
  return true;
}

export const save = (id, body) => attempt(() => post(taskPath(id, 'save'), body));
export const note = (id, text) => attempt(() => post(taskPath(id, 'note'), { text }));
export const block = (id, tasks) => attempt(() => post(taskPath(id, 'block'), { tasks }));
export const unblock = (id, tasks) => attempt(() => post(taskPath(id, 'unblock'), { tasks }));

export async function claim(id) {
  const done = await attempt(() => post(taskPath(id, 'claim')));
  if (done) toast(`${id} is yours, in ${done.state}`);
  return done;
}

export async function release(id) {
  const done = await attempt(() => post(taskPath(id, 'release')));
  if (done) toast(`${id} is free again, in ${done.to}`);
  return done;
}
