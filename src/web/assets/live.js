// Receives changes of the board, and shows whether the server is reachable.

import { adopt, token } from './api.js';
import { $, say } from './dom.js';
import { follow } from './stream.js';

const WORDS = { up: 'live', down: 'reconnecting', refused: 'needs the token' };
/** How long to wait for a token. The worker answers at once if another tab has given it one. */
const ANSWER = 1000;
let was = '';
let port = null;
const asked = [];

/** Calls `hear` with each change; after a reconnection, everything may have changed. */
export function listen(hear) {
  const tell = (message) => {
    if (message.kind === 'token') offered(message.token);
    else if (message.kind === 'change') hear(message.news);
    else show(message.kind);
  };
  if (!('SharedWorker' in window)) {
    follow(tell, token);
    return;
  }
  ({ port } = new SharedWorker('/assets/live-worker.js', { type: 'module', name: 'ralph' }));
  port.onmessage = ({ data }) => tell(data);
  window.addEventListener('pagehide', () => port.postMessage({ bye: true }));
  // The browser has restored this page from its cache, so it has missed changes.
  window.addEventListener('pageshow', (event) => event.persisted && location.reload());
}

async function offered(value) {
  await adopt(value);
  for (const done of asked.splice(0)) done();
}

/** Waits until the token of another tab is stored, if there is a valid one. */
export function borrowToken() {
  if (!port) return null;
  port.postMessage({ ask: true });
  return new Promise((done) => {
    asked.push(done);
    setTimeout(done, ANSWER);
  });
}

/** Gives the valid token of this tab to other tabs. */
export function lendToken() {
  port?.postMessage({ token: token() });
}

function show(kind) {
  const place = $('#live');
  place.textContent = WORDS[kind];
  place.dataset.state = kind;
  if (was && was !== kind) say(kind === 'up' ? 'reconnected' : 'connection lost');
  was = kind;
}
