// One stream for all tabs: a browser allows six connections to a server, and each tab would take one of them.

import { follow } from './stream.js';

const ports = new Set();
let token = '';
let state = 'down';
let news = null;

function tell(message) {
  if (message.kind === 'change') news = message;
  else if (message.kind !== 'token') state = message.kind;
  for (const port of ports) port.postMessage(message);
}

self.addEventListener('connect', ({ ports: [port] }) => {
  ports.add(port);
  port.addEventListener('message', ({ data }) => {
    if (data.bye) ports.delete(port);
    // A tab that was opened from another one has the token from here.
    if (data.ask) port.postMessage({ kind: 'token', token });
    if (data.token && data.token !== token) {
      token = data.token;
      tell({ kind: 'token', token });
    }
  });
  port.start();
  port.postMessage({ kind: state });
  // What happened while it came, it might have missed.
  if (news) port.postMessage(news);
});

follow(tell, () => token);
