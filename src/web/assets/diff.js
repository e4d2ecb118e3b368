// Changed files, line by line. A click on a line number adds a comment. Long files are rendered when they become visible.

import { coloured, languageOf } from './colour.js';
import { h } from './dom.js';

const BLOCK = 100;
const HEIGHT = 20;

/** `comments` is an object: `at` returns the comment of a line, and `open` is called when a line number is clicked. */
export function files(changes, comments, split) {
  return h('div', { class: split ? 'diff split' : 'diff' }, changes.files.map((file) => one(file, comments, split)));
}

function one(file, comments, split) {
  const name = file.old_path ? `${file.old_path} → ${file.path}` : file.path;
  const body = file.binary ? h('p', { class: 'dim' }, 'binary file') : h('div', { class: 'code', role: 'group', 'aria-label': name, tabindex: '0' }, blocks(file, comments, split));
  return h('details', { class: 'file', open: true, data: { key: `file ${file.path}` } },
    h('summary', {}, h('span', { class: 'id' }, visible(name)), ' ', h('span', { class: 'plus' }, `+${file.added}`), ' ', h('span', { class: 'minus' }, `−${file.removed}`), ' ', file.status !== 'modified' && h('span', { class: 'chip' }, file.status)),
    body);
}

function blocks(file, comments, split) {
  const language = languageOf(file.path);
  const parts = [];
  for (const hunk of file.hunks) {
    const lines = split ? paired(hunk.lines) : hunk.lines;
    const first = hunk.lines[0];
    parts.push(h('div', { class: 'hunk' }, `line ${first?.new ?? first?.old ?? 0}`, hunk.section && ` in ${hunk.section}`));
    for (let at = 0; at < lines.length; at += BLOCK) parts.push(lazily(lines.slice(at, at + BLOCK), (line) => split ? pair(file, line, language, comments) : single(file, line, language, comments)));
  }
  return parts;
}

/** The lines of a text that is not a diff. */
export function plain(path, lines, comments) {
  const file = { path };
  const language = languageOf(path);
  const rows = lines.map((text, at) => ({ mark: ' ', new: at + 1, text }));
  const parts = [];
  for (let at = 0; at < rows.length; at += BLOCK) parts.push(lazily(rows.slice(at, at + BLOCK), (line) => single(file, line, language, comments)));
  return h('div', { class: 'code', role: 'group', 'aria-label': path, tabindex: '0' }, parts);
}

const sight = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting || !target.draw) continue;
    sight.unobserve(target);
    target.replaceChildren(...target.draw());
    target.style.minHeight = '';
    target.draw = null;
  }
}, { rootMargin: '600px' });

function lazily(lines, row) {
  const place = h('div', { class: 'lines' });
  place.style.minHeight = `${lines.length * HEIGHT}px`;
  place.draw = () => lines.flatMap(row);
  sight.observe(place);
  return place;
}

const MARKS = { '+': 'added', '-': 'removed', ' ': 'same' };

/** Invisible characters and those that change other text, shown visibly, so that the text is not misleading. */
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const visible = (text) => text.replace(HIDDEN, (c) => c === '\r' ? '␍' : `⟨${c.codePointAt(0).toString(16).padStart(4, '0')}⟩`);

/** The visible text of a line. A carriage return at its end is shown only if the line has changed. */
const shown = (line) => visible(line.mark === ' ' ? line.text.replace(/\r$/, '') : line.text);
const ending = (line) => line.no_newline && h('span', { class: 'dim' }, ' no newline at the end');

/** The line number, which is a button for a comment. */
function number(file, line, comments) {
  const at = line.new ?? line.old;
  // A removed line has no number in the new file.
  if (!comments.writable || line.mark === '-') return h('span', { class: 'line-number' }, at);
  return h('button', { type: 'button', class: 'line-number', 'aria-label': `Comment on line ${at} of ${file.path}`, on: { click: (event) => comments.open(file.path, at, event.currentTarget.closest('.row')) } }, at);
}

function single(file, line, language, comments) {
  const row = h('div', { class: `row ${MARKS[line.mark]}` }, number(file, line, comments), h('span', { class: 'mark', 'aria-hidden': 'true' }, line.mark), h('code', {}, coloured(shown(line), language), ending(line)));
  const said = line.mark !== '-' && comments.at(file.path, line.new);
  return said ? [row, said] : [row];
}

/** Removed lines beside the added lines that replace them. */
function paired(lines) {
  const rows = [];
  let removed = [];
  const flush = () => { rows.push(...removed.map((left) => [left, null])); removed = []; };
  for (const line of lines) {
    if (line.mark === '-') removed.push(line);
    else if (line.mark === '+' && removed.length) rows.push([removed.shift(), line]);
    else {
      if (line.mark === ' ') flush();
      rows.push(line.mark === '+' ? [null, line] : [line, line]);
    }
  }
  flush();
  return rows;
}

function pair(file, [left, right], language, comments) {
  const side = (line, mark, old) => line
    ? [old ? h('span', { class: 'line-number' }, line.old) : number(file, line, comments), h('code', { class: line.mark === mark ? MARKS[mark] : '' }, coloured(shown(line), language), ending(line))]
    : [h('span', { class: 'line-number' }), h('code', { class: 'void' })];
  const row = h('div', { class: 'row two' }, side(left, '-', true), side(right, '+', false));
  const said = right && comments.at(file.path, right.new);
  return said ? [row, said] : [row];
}
