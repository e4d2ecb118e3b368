// A card in the hand: with the mouse, with a finger that rests on it, or with the keyboard.

import { all, cardOf, columnOf, focusCard, step } from './board.js';
import { claim, move, release, targets } from './changes.js';
import { $, $$, mayWrite, say } from './dom.js';
import { refused } from './toast.js';

const FAR = 5;
const REST = 380;
/** So near to a side of the window the board comes along, at most so fast, in pixels of a frame. */
const EDGE = 60;
const FAST = 14;
let held = null;
let pressed = null;

export function enableDrag(place) {
  place.addEventListener('pointerdown', press);
  place.addEventListener('keydown', keys);
  place.addEventListener('touchmove', (event) => held?.ghost && event.preventDefault(), { passive: false });
  place.addEventListener('contextmenu', (event) => held && event.preventDefault());
  // Drawn anew, a card has the focus again before this looks.
  place.addEventListener('focusout', () => setTimeout(left));
  addEventListener('keydown', escape, { capture: true });
}

/** A card that was picked up with the keyboard is put back when the keyboard goes elsewhere. */
function left() {
  const there = document.activeElement?.closest('.card')?.dataset.id;
  if (held && !held.ghost && there !== held.id) putDown();
}

function escape(event) {
  if (event.key !== 'Escape' || !held?.ghost || !pressed) return;
  event.preventDefault();
  event.stopPropagation();
  addEventListener('pointerup', swallowClick, { once: true });
  say(`${held.id} is put back`);
  cancel();
}

function press(event) {
  const card = event.target.closest('.card');
  if (!card || event.button !== 0 || held || !mayWrite()) return;
  pressed = { card, x: event.clientX, y: event.clientY, touch: event.pointerType === 'touch' };
  if (pressed.touch) pressed.timer = setTimeout(() => pressed && lift(pressed.x, pressed.y), REST);
  addEventListener('pointermove', drag);
  addEventListener('pointerup', drop, { once: true });
  addEventListener('pointercancel', cancel, { once: true });
}

function drag(event) {
  if (!held && pressed) {
    const far = Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) > FAR;
    if (far && pressed.touch) return cancel();
    if (far) lift(pressed.x, pressed.y);
  }
  if (!held?.ghost) return undefined;
  held.ghost.style.transform = `translate(${event.clientX - held.x}px, ${event.clientY - held.y}px) rotate(1.5deg)`;
  held.at = { x: event.clientX, y: event.clientY };
  look();
  return undefined;
}

const look = () => over(columnOf(document.elementFromPoint(held.at.x, held.at.y)));

/** Held near a side, the board comes along even if the hand rests; what lies under the card changes then, too. */
function glide() {
  if (!held?.ghost || !pressed) return;
  const right = held.at.x - (innerWidth - EDGE);
  const pull = right > 0 ? right : Math.min(held.at.x - EDGE, 0);
  if (pull) {
    $('.columns').scrollLeft += Math.sign(pull) * Math.ceil(Math.min(Math.abs(pull) / EDGE, 1) * FAST);
    look();
  }
  requestAnimationFrame(glide);
}

function lift(x, y) {
  const { card } = pressed;
  const box = card.getBoundingClientRect();
  const ghost = card.cloneNode(true);
  ghost.classList.add('ghost');
  ghost.setAttribute('aria-hidden', 'true');
  Object.assign(ghost.style, { left: `${box.left}px`, top: `${box.top}px`, width: `${box.width}px` });
  document.body.append(ghost);
  take(card);
  Object.assign(held, { ghost, x, y, at: { x, y } });
  requestAnimationFrame(glide);
  getSelection()?.removeAllRanges();
}

/** From here on the columns show whether they take it. */
function take(card) {
  const id = card.dataset.id;
  held = { id, from: columnOf(card)?.dataset.state, targets: null, column: null };
  card.classList.add('lifted');
  document.body.classList.add('dragging');
  const mine = held;
  mine.asked = targets(id).then((found) => {
    mine.targets = found;
    if (held === mine) for (const column of all()) mark(column.element, found.get(column.state));
  }, (error) => refused(error));
}

function mark(element, target) {
  element.classList.toggle('takes', Boolean(target?.allowed));
  element.classList.toggle('refuses', Boolean(target && !target.allowed));
}

function over(column) {
  if (held.column === column) return;
  held.column?.classList.remove('over');
  column?.classList.add('over');
  held.column = column;
}

async function drop() {
  clearTimeout(pressed?.timer);
  removeEventListener('pointermove', drag);
  removeEventListener('pointercancel', cancel);
  pressed = null;
  if (!held?.ghost) return;
  swallowClick();
  const { ghost, column } = held;
  const done = await settle(column?.dataset.state);
  if (!done) await springBack(ghost, cardOf(ghost.dataset.id));
  ghost.remove();
}

/** The click that ends a drag opens nothing. */
function swallowClick() {
  const swallow = (event) => { event.preventDefault(); event.stopPropagation(); };
  addEventListener('click', swallow, { capture: true, once: true });
  setTimeout(() => removeEventListener('click', swallow, { capture: true }), 50);
}

/** Asks for the move, if it is one; whether the card stays where it was dropped. */
async function settle(state) {
  const { id, from, asked } = held;
  const mine = held;
  await asked;
  if (held === mine) putDown();
  if (!state || state === from || !mine.targets) return false;
  return move(id, state);
}

function springBack(ghost, card) {
  const box = card?.getBoundingClientRect();
  if (!box || matchMedia('(prefers-reduced-motion: reduce)').matches) return null;
  ghost.classList.add('back');
  ghost.style.transform = `translate(${box.left - parseFloat(ghost.style.left)}px, ${box.top - parseFloat(ghost.style.top)}px)`;
  return new Promise((done) => setTimeout(done, 240));
}

function putDown() {
  held.column?.classList.remove('over');
  for (const element of $$('.lifted')) element.classList.remove('lifted');
  for (const column of all()) column.element.classList.remove('takes', 'refuses');
  document.body.classList.remove('dragging');
  held = null;
}

function cancel() {
  clearTimeout(pressed?.timer);
  removeEventListener('pointermove', drag);
  removeEventListener('pointerup', drop);
  pressed = null;
  held?.ghost?.remove();
  if (held) putDown();
}

const ARROWS = ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight'];

function keys(event) {
  const card = event.target.closest?.('.card');
  if (!card || event.ctrlKey || event.metaKey || event.altKey) return;
  const act = held && !held.ghost ? carrying(event.key) : resting(event.key, card);
  if (act) {
    event.preventDefault();
    event.stopPropagation();
    act();
  }
}

function resting(key, card) {
  const id = card.dataset.id;
  if (ARROWS.includes(key)) return () => step(card, key);
  if (!mayWrite()) return null;
  if (key === ' ') {
    return () => {
      take(card);
      over(columnOf(card));
      say(`${id} picked up from ${held.from}; left and right choose a column, space drops it, escape puts it back`);
    };
  }
  if (key === 'c') return () => claim(id);
  if (key === 'r') return () => release(id);
  return null;
}

function carrying(key) {
  if (key === 'Escape') return () => { say(`${held.id} is put back`); putDown(); };
  if (key === 'ArrowLeft' || key === 'ArrowRight') return () => choose(key === 'ArrowRight' ? 1 : -1);
  if (key === ' ' || key === 'Enter') {
    return async () => {
      const { id } = held;
      await settle(held.column?.dataset.state);
      setTimeout(() => focusCard(cardOf(id)), 200);
    };
  }
  return ARROWS.includes(key) ? () => {} : null;
}

async function choose(way) {
  const mine = held;
  const columns = all();
  const at = columns.findIndex((column) => column.element === mine.column);
  const next = columns[at + way];
  if (!next) return;
  over(next.element);
  next.element.scrollIntoView({ block: 'nearest', inline: 'center' });
  await mine.asked;
  const target = mine.targets?.get(next.state);
  if (held === mine && mine.column === next.element) say(`${next.state}: ${words(target)}`);
}

function words(target) {
  if (!target) return 'where it is now';
  return target.allowed ? 'takes it' : `does not take it, ${target.refusal.message}`;
}
