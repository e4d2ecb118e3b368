// The list of keys, shown with `?`.

import { dialog } from './dialog.js';
import { h } from './dom.js';

const KEYS = [
  ['Board', [['arrows', 'from card to card'], ['enter', 'open the card'], ['space', 'pick up or drop the card'], ['← →', 'choose a column while it is picked up'], ['escape', 'cancel'], ['c', 'claim it'], ['r', 'release it']]],
  ['Everywhere', [['/', 'filter by words'], ['Ctrl K', 'search all texts'], ['n', 'new task'], ['1 2 3 4 5', 'board, graph, workers, dashboard, inbox'], ['t', 'dark or light theme'], ['?', 'show these keys']]],
];

export function showHelp() {
  dialog({ name: 'Keyboard shortcuts', class: 'help' }, KEYS.map(([part, keys]) => [
    h('h3', {}, part),
    h('dl', { class: 'keys' }, keys.map(([key, text]) => [h('dt', {}, h('kbd', {}, key)), h('dd', {}, text)])),
  ]));
}
