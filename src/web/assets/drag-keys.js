// The keys of a card: moving the focus, picking the card up, and choosing a column.

import { all, cardOf, columnOf, focusCard, step } from './board.js';
import { claim, release } from './changes.js';
import { mayWrite, say } from './dom.js';
import { held, over, putDown, settle, take } from './hand.js';

export function enableDragKeys(place) {
  place.addEventListener('keydown', keys);
  // Delayed, because a card that is drawn again gets the focus back.
  place.addEventListener('focusout', () => setTimeout(left));
}

/** Puts a card that was picked up with the keyboard back when the focus moves elsewhere. */
function left() {
  const there = document.activeElement?.closest('.card')?.dataset.id;
  if (held && !held.ghost && there !== held.id) putDown();
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
      say(`${id} picked up from ${held.from}; left and right choose a column, space drops it, escape cancels`);
    };
  }
  if (key === 'c') return () => claim(id);
  if (key === 'r') return () => release(id);
  return null;
}

function carrying(key) {
  if (key === 'Escape') return () => { say(`${held.id} returned to its column`); putDown(); };
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
  if (!target) return 'its current column';
  if (!target.allowed) return `not allowed, ${target.refusal.message}`;
  return target.outside ? `allowed, outside the workflow: ${target.outside}` : 'allowed';
}
