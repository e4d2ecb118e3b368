// The card in the hand, however it came there: which columns take it, and what becomes of it.

import { all, columnOf } from './board.js';
import { move, targets } from './changes.js';
import { $$ } from './dom.js';
import { refused } from './toast.js';

/** Where it is from, where it may go, and the column it is over. */
export let held = null;

/** From here on the columns show whether they take it. */
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

/** Asks for the move, if it is one; whether the card stays where it was dropped. */
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
