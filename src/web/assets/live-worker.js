// One event stream for all tabs, because a browser allows only six connections to a server.

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
    // A tab that was opened from another tab gets its token here.
    if (data.ask) port.postMessage({ kind: 'token', token });
    if (data.token && data.token !== token) {
      token = data.token;
      tell({ kind: 'token', token });
    }
  });
  port.start();
  port.postMessage({ kind: state });
  // The new tab may have missed this change while it was loading.
  if (news) port.postMessage(news);
});

follow(tell, () => token);
