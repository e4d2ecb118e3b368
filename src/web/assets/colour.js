// Colors for a line of code: comments, strings, numbers and keywords. Each line is separate, so strings over several lines may be wrong.

import { h } from './dom.js';

const C_LIKE = 'as async await bool break case catch class const continue crate default do else enum export extends false final fn for from func function go if impl import in int interface let loop match mod move mut new nil null package private pub public ref return self static string struct super switch this throw trait true try type typeof unsafe use var void where while yield';
const PYTHON = 'and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return self True try while with yield';
const SHELL = 'case do done elif else esac exit export fi for function if in local return set then until while';
const KINDS = {
  '//': ['c cc cpp cs css dart go h hpp java js jsx kt mjs proto rs scala scss swift ts tsx zig', C_LIKE],
  '#': ['bash cfg conf dockerfile fish ini makefile nix pl properties py r rb sh tf toml yaml yml zsh', `${PYTHON} ${SHELL}`],
  '--': ['hs lua sql', 'and begin by create delete do else end false from function if insert into join local nil not null on or order return select set table then true update values where'],
};
const LANGUAGES = Object.entries(KINDS).flatMap(([comment, [endings, words]]) => {
  const language = { comment, words: new Set(words.split(' ')) };
  return endings.split(' ').map((ending) => [ending, language]);
});
const BY_ENDING = new Map(LANGUAGES);
const PIECES = /("(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'|`[^`]*`?)|(\b\d[\w.]*\b)|([A-Za-z_]\w*)/g;
const LONGEST = 500;

export function languageOf(path) {
  const name = path.split('/').at(-1).toLowerCase();
  return BY_ENDING.get(name.split('.').at(-1));
}

/** The line as nodes. */
export function coloured(text, language) {
  if (!language || text.length > LONGEST) return [text];
  const nodes = [];
  let at = 0;
  const add = (to, kind) => {
    if (to > at) nodes.push(kind ? h('span', { class: kind }, text.slice(at, to)) : text.slice(at, to));
    at = to;
  };
  const comment = commentAt(text, language.comment);
  PIECES.lastIndex = 0;
  for (let found; (found = PIECES.exec(text)) && found.index < comment;) {
    const kind = found[1] ? 'tok-text' : found[2] ? 'tok-number' : language.words.has(found[3]) && 'tok-word';
    if (!kind) continue;
    add(found.index);
    add(PIECES.lastIndex, kind);
  }
  add(Math.max(at, comment));
  add(text.length, 'tok-comment');
  return nodes;
}

/** The start of a comment, outside of strings. */
function commentAt(text, mark) {
  let quote = '';
  for (let at = 0; at < text.length; at++) {
    const letter = text[at];
    if (quote) {
      if (letter === '\\') at++;
      else if (letter === quote) quote = '';
    } else if (letter === '"' || letter === '`') quote = letter;
    else if (text.startsWith(mark, at) && (mark !== '#' || at === 0 || /\s/.test(text[at - 1]))) return at;
  }
  return text.length;
}
