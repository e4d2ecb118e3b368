// Elements from data. Texts only ever become text nodes; what the server has rendered goes through `rendered` alone.

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

/** Markdown and drawings, which the server has made harmless. */
export function rendered(element, html) {
  element.innerHTML = html;
  return element;
}

export const $ = (selector, from = document) => from.querySelector(selector);
export const $$ = (selector, from = document) => [...from.querySelectorAll(selector)];

export const mayWrite = () => document.body.classList.contains('may-write');

/** Pressed again while it is under way it does nothing: it would be done twice. */
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
    // The click comes after the release.
    for (const name of ['pointerup', 'pointercancel']) addEventListener(name, () => setTimeout(end), { capture: true, signal: over.signal });
    // A release that is not told, as over a context menu, does not hold the page up.
    setTimeout(end, 5000);
  });
}, { capture: true });

/** Waits while a button or finger is down: a control that is drawn anew under it would lose the click. */
export const released = () => pressed || Promise.resolve();

/** Told to those who listen to the page. */
export function say(text) {
  $('#say').textContent = text;
}

export function option(value, text, chosen) {
  const element = h('option', { value }, text);
  element.selected = chosen;
  return element;
}

/** New content in a place, with what was open, scrolled to and focused there kept. */
export function swap(place, ...nodes) {
  const open = new Map($$('details', place).map((details, at) => [details.dataset.key || at, details.open]));
  const scrolls = [place, ...$$('.scroll, .table', place)].map((element) => [element.scrollLeft, element.scrollTop]);
  const active = document.activeElement;
  const mark = place.contains(active) && place !== active && marked(active);
  const { value, selectionStart: from, selectionEnd: to, selectionDirection: way } = active;
  place.replaceChildren(...nodes);
  $$('details', place).forEach((details, at) => { details.open = open.get(details.dataset.key || at) ?? details.open; });
  [place, ...$$('.scroll, .table', place)].forEach((element, at) => scrolls[at] && element.scrollTo(...scrolls[at]));
  // What had the focus may be gone: then its place has it, rather than nothing.
  if (mark === false) return;
  const there = find(mark, place) || place;
  there.focus({ preventScroll: true });
  // Somebody who has selected a text is about to type over it.
  if (Number.isInteger(from) && there.value === value && there.matches('input, textarea')) there.setSelectionRange(from, to, way);
}

/** Draws with parts that stay: moved to their new place they would lose the keyboard, and what is typed next would go nowhere. */
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

/** What stands for an element in a place that was drawn anew. */
export const counterpart = (element, place) => find(marked(element), place);
const find = (mark, place) => $$('[data-key], a[href], [aria-label]', place).find((element) => marked(element) === mark);
const marked = (element) => element.dataset.key || element.getAttribute('href') || element.getAttribute('aria-label') || '';
