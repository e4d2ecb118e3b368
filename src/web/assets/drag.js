// Dragging a card with the mouse, or with a finger after a long press.

import { cardOf, columnOf } from './board.js';
import { $, mayWrite, say } from './dom.js';
import { held, over, putDown, settle, take } from './hand.js';

const FAR = 5;
const REST = 380;
/** The distance from the edge of the window at which the board scrolls, and the maximum speed in pixels per frame. */
const EDGE = 60;
const FAST = 14;
let pressed = null;

export function enableDrag(place) {
  place.addEventListener('pointerdown', press);
  place.addEventListener('touchmove', (event) => held?.ghost && event.preventDefault(), { passive: false });
  place.addEventListener('contextmenu', (event) => held && event.preventDefault());
  addEventListener('keydown', escape, { capture: true });
}

function escape(event) {
  if (event.key !== 'Escape' || !held?.ghost || !pressed) return;
  event.preventDefault();
  event.stopPropagation();
  addEventListener('pointerup', swallowClick, { once: true });
  say(`${held.id} returned to its column`);
  cancel();
}

function press(event) {
  const card = event.target.closest('.card');
  // A card that was picked up with the keyboard is put back.
  if (held && !held.ghost) putDown();
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

/** Scrolls the board while the card is near an edge, and updates the column under it, even if the pointer does not move. */
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
  ghost.inert = true;
  Object.assign(ghost.style, { left: `${box.left}px`, top: `${box.top}px`, width: `${box.width}px` });
  document.body.append(ghost);
  take(card);
  Object.assign(held, { ghost, x, y, at: { x, y } });
  requestAnimationFrame(glide);
  getSelection()?.removeAllRanges();
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

/** Prevents the click at the end of a drag from opening something. */
function swallowClick() {
  const swallow = (event) => { event.preventDefault(); event.stopPropagation(); };
  addEventListener('click', swallow, { capture: true, once: true });
  setTimeout(() => removeEventListener('click', swallow, { capture: true }), 50);
}

function springBack(ghost, card) {
  const box = card?.getBoundingClientRect();
  if (!box || matchMedia('(prefers-reduced-motion: reduce)').matches) return null;
  ghost.classList.add('back');
  ghost.style.transform = `translate(${box.left - parseFloat(ghost.style.left)}px, ${box.top - parseFloat(ghost.style.top)}px)`;
  return new Promise((done) => setTimeout(done, 240));
}

function cancel() {
  clearTimeout(pressed?.timer);
  removeEventListener('pointermove', drag);
  removeEventListener('pointerup', drop);
  pressed = null;
  held?.ghost?.remove();
  if (held) putDown();
}
