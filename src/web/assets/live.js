// What changes, as it changes; and whether the server is there.

import { onToken, setToken, token } from './api.js';
import { $, say } from './dom.js';
import { follow } from './stream.js';

const WORDS = { up: 'live', down: 'reconnecting', refused: 'needs the token' };
let was = '';

/** `hear` is called with what changed; after the server was away, with everything. */
export function listen(hear) {
  const tell = (message) => {
    if (message.kind === 'token') setToken(message.token);
    else if (message.kind === 'change') hear(message.news);
    else show(message.kind);
  };
  if (!('SharedWorker' in window)) {
    follow(tell, token);
    return;
  }
  const worker = new SharedWorker('/assets/live-worker.js', { type: 'module', name: 'ralph' });
  worker.port.onmessage = ({ data }) => tell(data);
  worker.port.postMessage({ token: token() });
  onToken((value) => worker.port.postMessage({ token: value }));
  window.addEventListener('pagehide', () => worker.port.postMessage({ bye: true }));
  // Brought back from where the browser keeps pages that were left: it has missed everything since.
  window.addEventListener('pageshow', (event) => event.persisted && location.reload());
}

function show(kind) {
  const place = $('#live');
  place.textContent = WORDS[kind];
  place.dataset.state = kind;
  if (was && was !== kind) say(kind === 'up' ? 'connected again' : 'the connection is lost');
  was = kind;
}
