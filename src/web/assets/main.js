// Starts the page, and shows the view in the address.

import { get, onToken, takeToken, token } from './api.js';
import * as board from './board.js';
import { countProblems, showDashboard } from './dashboard.js';
import { $, $$, counterpart, h, mayWrite, released, swap } from './dom.js';
import { enableDrag } from './drag.js';
import { enableDragKeys } from './drag-keys.js';
import * as filter from './filter.js';
import { showGraph } from './graph.js';
import { showHelp } from './help.js';
import { countWaiting, showInbox } from './inbox.js';
import { enableKeys } from './keys.js';
import { borrowToken, lendToken, listen } from './live.js';
import { showNew } from './new.js';
import { showReview } from './review.js';
import { catchLinks, current, onRoute, openView } from './route.js';
import { showSearch } from './search.js';
import * as task from './task.js';
import { refused } from './toast.js';
import { countWorkers, showWorkers } from './workers.js';

const VIEWS = { board: board.show, inbox: showInbox, review: showReview, graph: showGraph, workers: showWorkers, dashboard: showDashboard };
const OTHERS = 800;
const BESIDE = 4000;
const main = $('#main');
let shown = '';
let later = 0;
let beside = 0;
let turns = 0;
let newest = 0;
let started = false;

async function route() {
  const { view, task: id } = current();
  if (view !== shown) {
    shown = view;
    document.body.dataset.view = view;
    main.replaceChildren(h('p', { class: 'nothing' }, 'loading'));
    for (const link of $$('nav a')) {
      if (link.dataset.view === view) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
    }
  }
  filter.draw();
  const drawing = draw();
  if (id) task.showTask(id);
  else task.hideTask();
  await drawing;
}

/** Draws the current view. A slow view must not replace one that was requested after it. */
async function draw() {
  const view = shown;
  const turn = ++turns;
  try {
    const node = await VIEWS[view](main);
    await released();
    if (!node || view !== shown || turn < newest || isTyping(node)) return;
    newest = turn;
    swap(main, node);
  } catch (error) {
    if (error.status !== 0) refused(error);
    const waits = $('.nothing', main);
    if (waits) waits.textContent = error.message;
  }
}

/** Whether text is being typed: a new drawing would lose it, and further letters would be handled as keys of the page. */
function isTyping(node) {
  const input = document.activeElement;
  if (shown === 'board' || !main.contains(input) || !input.matches('textarea, input')) return false;
  // An empty input can be replaced, unless it was opened after this was drawn.
  if (!input.value && counterpart(input, node)) return false;
  input.addEventListener('blur', draw, { once: true });
  return true;
}

async function introduce() {
  const session = await get('/api/session').catch((error) => {
    if (error.status) refused(error);
    return null;
  });
  if (session?.trusted) lendToken();
  else borrowToken();
  if (!session) return;
  document.title = `${session.name} · ralph`;
  $('#name').textContent = session.name;
  document.body.classList.toggle('may-write', session.may_write);
  $('#new').hidden = !session.may_write;
  $('#me').textContent = session.may_write ? session.me : 'read-only';
  $('#me').title = session.may_write ? `Changes are made as ${session.me}` : session.read_only ? 'This server is read-only' : 'To make changes, open the URL that `ralph serve` printed';
}

/** Updates the board at once, other views a little later because they take longer, and the counts less often. */
function changed(news) {
  // The first reading, which comes later, includes this change.
  if (!started) return;
  if (shown === 'board') board.load();
  task.refresh(news);
  if (news.all) introduce();
  later ||= setTimeout(() => { later = 0; if (shown !== 'board') draw(); }, OTHERS);
  beside ||= setTimeout(lookBeside, BESIDE);
}

function lookBeside() {
  beside = 0;
  filter.loadFacets();
  get('/api/counts').then(({ at_work: count, waiting, problems }) => {
    countWorkers(count);
    countWaiting(waiting);
    countProblems(problems);
  }, () => {});
}

const theme = () => dispatchEvent(new Event('ralph-theme'));

catchLinks();
const arrive = onRoute(route, task.mayLeave);
enableDrag(main);
enableDragKeys(main);
const create = () => mayWrite() && showNew();
enableKeys({ search: showSearch, create, help: showHelp, view: openView, theme });
$('#search').addEventListener('click', showSearch);
$('#new').addEventListener('click', create);
$('#help').addEventListener('click', showHelp);
$('#theme').addEventListener('click', theme);
// Listens before reading, so that no change is missed.
listen(changed);
await takeToken();
if (!token()) await borrowToken();
onToken(() => {
  introduce();
  arrive();
  task.refresh();
});
// The person may open the printed URL in a tab that shows the board already.
addEventListener('hashchange', takeToken);
addEventListener('ralph-redraw', () => shown !== 'board' && draw());
started = true;
await Promise.all([arrive(), introduce()]);
// Permissions affect what is drawn, and may have become known only now.
if (shown !== 'board' && mayWrite()) draw();
lookBeside();
