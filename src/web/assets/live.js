// What changes, as it changes; and whether the server is there.

import { adopt, token } from './api.js';
import { $, say } from './dom.js';
import { follow } from './stream.js';

const WORDS = { up: 'live', down: 'reconnecting', refused: 'needs the token' };
/** The worker answers at once, unless the browser has none to give. */
const ANSWER = 1000;
let was = '';
let port = null;
const asked = [];

/** `hear` is called with what changed; after the server was away, with everything. */
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
  // Brought back from where the browser keeps pages that were left: it has missed everything since.
  window.addEventListener('pageshow', (event) => event.persisted && location.reload());
}

async function offered(value) {
  await adopt(value);
  for (const done of asked.splice(0)) done();
}

/** Has the token of another tab, if there is one and it fits. */
export function borrowToken() {
  if (!port) return null;
  port.postMessage({ ask: true });
  return new Promise((done) => {
    asked.push(done);
    setTimeout(done, ANSWER);
  });
}

/** Gives the other tabs the token of this one, which the server knows. */
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
