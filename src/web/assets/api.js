// Requests to the server, and the token that they need.

const KEY = 'ralph-token';
let listeners = [];

export function token() {
  return sessionStorage.getItem(KEY) || '';
}

export function onToken(act) {
  listeners.push(act);
}

/** Stores a token if the server accepts it; the token of another server must not replace a valid one. */
export async function adopt(value) {
  if (!value || value === token() || !(await isKnown(value))) return;
  sessionStorage.setItem(KEY, value);
  for (const act of listeners) act();
}

async function isKnown(value) {
  const asked = { headers: { 'ralph-token': value }, cache: 'no-store', credentials: 'omit' };
  const session = await fetch('/api/session', asked).then((response) => response.json()).catch(() => ({}));
  return session.trusted === true;
}

/** Takes the token from the address and removes it there, so that it is neither copied nor kept in the history. */
export async function takeToken() {
  const found = new URLSearchParams(location.hash.slice(1)).get('token');
  if (!found) return;
  // The address is changed after this, so that a page that is reloaded meanwhile still has the token.
  await adopt(found);
  history.replaceState(history.state, '', location.pathname + location.search);
}

/** A refusal, with the server's message. */
export class Refused extends Error {
  constructor(status, error) {
    super(error.message);
    this.status = status;
    this.code = error.code;
    this.hints = error.hints || [];
    this.insist = Boolean(error.insist);
  }
}

async function call(path, options = {}) {
  const headers = { ...options.headers };
  if (token()) headers['ralph-token'] = token();
  let response;
  try {
    response = await fetch(path, { ...options, headers, cache: 'no-store', credentials: 'omit' });
  } catch {
    throw new Refused(0, { code: 'away', message: 'cannot reach the server', hints: ['start it again with `ralph serve`'] });
  }
  const body = await response.json().catch(() => ({}));
  if (response.ok) return body;
  throw new Refused(response.status, body.error || { code: 'odd', message: `the server returned status ${response.status}` });
}

export const get = (path) => call(path);

export const post = (path, body = {}) =>
  call(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

export const taskPath = (id, verb = '') => `/api/task/${encodeURIComponent(id)}${verb && `/${verb}`}`;
