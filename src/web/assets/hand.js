// The card that was picked up, with mouse, finger or keyboard: which columns accept it, and where it is dropped.

import { all, columnOf } from './board.js';
import { move, targets } from './changes.js';
import { $$ } from './dom.js';
import { refused } from './toast.js';

/** The task, the column it comes from, the allowed targets, and the column it is over. */
export let held = null;

/** Picks a card up. From now on, the columns show whether they accept it. */
export function take(card) {
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
  element.classList.toggle('outside', Boolean(target?.allowed && target.outside));
  element.classList.toggle('refuses', Boolean(target && !target.allowed));
}

export function over(column) {
  if (held.column === column) return;
  held.column?.classList.remove('over');
  column?.classList.add('over');
  held.column = column;
}

/** Drops the card, and moves the task if the column has changed; returns whether it was moved. */
export async function settle(state) {
  const { id, from, asked } = held;
  const mine = held;
  await asked;
  if (held === mine) putDown();
  if (!state || state === from || !mine.targets) return false;
  return move(id, state);
}

export function putDown() {
  held.column?.classList.remove('over');
  for (const element of $$('.lifted')) element.classList.remove('lifted');
  for (const column of all()) column.element.classList.remove('takes', 'outside', 'refuses');
  document.body.classList.remove('dragging');
  held = null;
}
