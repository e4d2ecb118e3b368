// Follows the server's event stream. After an interruption, it continues from the last event.

const FIRST_WAIT = 250;
const LONGEST_WAIT = 2000;
/** The server sends an event every ten seconds, so the stream is lost after this time without one. */
const SILENCE = 25000;

const sleep = (time) => new Promise((done) => setTimeout(done, time));

/** Calls `tell` with { kind: 'up' | 'down' | 'refused' | 'change', news }. */
export async function follow(tell, tokenOf) {
  let last = '';
  let wait = FIRST_WAIT;
  for (;;) {
    const control = new AbortController();
    try {
      const headers = { ...(tokenOf() && { 'ralph-token': tokenOf() }), ...(last && { 'last-event-id': last }) };
      const response = await fetch('/api/events', { headers, signal: control.signal, cache: 'no-store' });
      if (!response.ok) throw new Error(response.status === 401 ? 'refused' : 'down');
      wait = FIRST_WAIT;
      await read(response.body, control, (event) => {
        last = event.id || last;
        if (event.event === 'hello') tell({ kind: 'up' });
        if (event.event === 'hello' || event.event === 'change') tell({ kind: 'change', news: JSON.parse(event.data) });
      });
      tell({ kind: 'down' });
    } catch (error) {
      tell({ kind: error.message === 'refused' ? 'refused' : 'down' });
    }
    await sleep(wait);
    wait = Math.min(wait * 1.6, LONGEST_WAIT);
  }
}

async function read(body, control, hear) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  let timer = setTimeout(() => control.abort(), SILENCE);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => control.abort(), SILENCE);
      const blocks = (rest + value).split('\n\n');
      rest = blocks.pop();
      blocks.map(parse).forEach(hear);
    }
  } finally {
    clearTimeout(timer);
  }
}

function parse(block) {
  const event = {};
  for (const line of block.split('\n')) {
    const at = line.indexOf(':');
    if (at > 0) event[line.slice(0, at)] = line.slice(at + 1).trimStart();
  }
  return event;
}
