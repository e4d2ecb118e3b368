// The address: the view, the task and the filters, so that a link shows the same to others.

const VIEWS = { '/': 'board', '/inbox': 'inbox', '/graph': 'graph', '/workers': 'workers', '/dashboard': 'dashboard' };
const PATHS = Object.fromEntries(Object.entries(VIEWS).map(([path, view]) => [view, path]));

let changed = () => {};
let mayLeave = () => true;
let here = {};

/** Calls `act` when the address changes. `may` returns whether the page can be left; if it asks, it continues with its argument. */
export function onRoute(act, may) {
  mayLeave = may;
  changed = () => {
    here = { path: location.pathname, address: location.href, state: history.state };
    return act();
  };
  window.addEventListener('popstate', () => {
    if (location.pathname === here.path || mayLeave(() => history.back())) changed();
    // The browser has already changed the address, so it is set back.
    else history.pushState(here.state, '', here.address);
  });
  return changed;
}

export function current() {
  const task = location.pathname.match(/^\/task\/([^/]+)$/);
  const review = location.pathname.match(/^\/review\/([^/]+)$/);
  const behind = history.state?.view || 'board';
  const view = task ? behind : review ? 'review' : VIEWS[location.pathname] || 'board';
  const named = (found) => found && decodeURIComponent(found[1]);
  return { view, task: named(task), review: named(review) || (view === 'review' ? history.state?.review : null), params: new URLSearchParams(location.search) };
}

function go(path, params, state, replace = false) {
  if (path !== location.pathname && !mayLeave(() => go(path, params, state, replace))) return;
  const query = params.toString();
  history[replace ? 'replaceState' : 'pushState'](state, '', path + (query && `?${query}`));
  changed();
}

export function openView(view) {
  go(PATHS[view], current().params, {});
}

export function openTask(id) {
  const { view, task, review, params } = current();
  if (task !== id) go(`/task/${encodeURIComponent(id)}`, params, { view, review, inside: true }, Boolean(task));
}

export function openReview(id) {
  go(`/review/${encodeURIComponent(id)}`, new URLSearchParams(), {});
}

/** Returns to the view behind the task. */
export function closeTask() {
  const { view, task, params } = current();
  if (!task) return;
  if (history.state?.inside) history.back();
  else go(PATHS[view] || '/', params, {}, true);
}

/** Sets the filters. With `replace`, letters that are typed make no new entries in the history. */
export function setFilters(params, { replace = false } = {}) {
  const { view, task } = current();
  go(task ? location.pathname : PATHS[view] || location.pathname, params, history.state || {}, replace);
}

/** Handles links to the page itself without loading it again. */
export function catchLinks() {
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const link = event.target.closest('a[href]');
    if (!link || link.getAttribute('target')) return;
    const href = link.getAttribute('href');
    const task = href.match(/^\/task\/([^/?]+)$/);
    const review = href.match(/^\/review\/([^/?]+)$/);
    if (task) openTask(decodeURIComponent(task[1]));
    else if (review) openReview(decodeURIComponent(review[1]));
    else if (VIEWS[href]) openView(VIEWS[href]);
    else return;
    event.preventDefault();
  });
}
