// Elements from data. Text always becomes text nodes; only `rendered` inserts HTML from the server.

export function h(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === 'on') for (const [event, act] of Object.entries(value)) element.addEventListener(event, act);
    else if (name === 'data') Object.assign(element.dataset, value);
    else if (name === 'value') element.value = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Inserts Markdown and drawings, which the server has made safe. */
export function rendered(element, html) {
  element.innerHTML = html;
  return element;
}

export const $ = (selector, from = document) => from.querySelector(selector);
export const $$ = (selector, from = document) => [...from.querySelectorAll(selector)];

export const mayWrite = () => document.body.classList.contains('may-write');

/** A function that ignores calls while it is running, so that nothing is done twice. */
export function once(act) {
  let busy = false;
  return async () => {
    if (busy) return;
    busy = true;
    try {
      await act();
    } finally {
      busy = false;
    }
  };
}

let pressed = null;

addEventListener('pointerdown', () => {
  pressed ||= new Promise((done) => {
    const over = new AbortController();
    const end = () => {
      if (over.signal.aborted) return;
      over.abort();
      pressed = null;
      done();
    };
    // The click event follows the release.
    for (const name of ['pointerup', 'pointercancel']) addEventListener(name, () => setTimeout(end), { capture: true, signal: over.signal });
    // The page must not wait forever for a release that is not reported, as over a context menu.
    setTimeout(end, 5000);
  });
}, { capture: true });

/** Waits while a button or finger is down: a control that is replaced at that time would lose the click. */
export const released = () => pressed || Promise.resolve();

/** Announces a text to screen readers. */
export function say(text) {
  $('#say').textContent = text;
}

export function option(value, text, chosen) {
  const element = h('option', { value }, text);
  element.selected = chosen;
  return element;
}

/** Replaces the content of a place, and keeps open details, scroll positions and the focus. */
export function swap(place, ...nodes) {
  const open = new Map($$('details', place).map((details, at) => [details.dataset.key || at, details.open]));
  const scrolls = [place, ...$$('.scroll, .table', place)].map((element) => [element.scrollLeft, element.scrollTop]);
  const active = document.activeElement;
  const mark = place.contains(active) && place !== active && marked(active);
  const { value, selectionStart: from, selectionEnd: to, selectionDirection: way } = active;
  place.replaceChildren(...nodes);
  $$('details', place).forEach((details, at) => { details.open = open.get(details.dataset.key || at) ?? details.open; });
  [place, ...$$('.scroll, .table', place)].forEach((element, at) => scrolls[at] && element.scrollTo(...scrolls[at]));
  // If the focused element no longer exists, the place itself gets the focus.
  if (mark === false) return;
  const there = find(mark, place) || place;
  there.focus({ preventScroll: true });
  // Keeps the selection, because the person may be about to type over it.
  if (Number.isInteger(from) && there.value === value && there.matches('input, textarea')) there.setSelectionRange(from, to, way);
}

/** Draws with elements that are reused: when they are moved they lose the focus, which is then restored. */
export function keepingFocus(draw) {
  const active = document.activeElement;
  const { selectionStart: from, selectionEnd: to, selectionDirection: way, scrollTop } = active;
  draw();
  if (active === document.activeElement || !active.isConnected || active === document.body) return;
  active.focus({ preventScroll: true });
  if (active.tagName !== 'TEXTAREA') return;
  active.setSelectionRange(from, to, way);
  active.scrollTop = scrollTop;
}

/** The element that replaces another one in a place that was drawn again. */
export const counterpart = (element, place) => find(marked(element), place);
const find = (mark, place) => $$('[data-key], a[href], [aria-label]', place).find((element) => marked(element) === mark);
const marked = (element) => element.dataset.key || element.getAttribute('href') || element.getAttribute('aria-label') || '';
