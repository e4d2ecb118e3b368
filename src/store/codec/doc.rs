//! A task file whose keys are changed by splicing its text, so that every byte outside of the changed value stays.
//!
//! `toml_edit` only determines positions; it does not write the file, because its output turns CRLF into LF and drops a
//! byte-order mark.

use std::ops::Range;

use toml_edit::{Document, InlineTable, Item, Table, Value as TomlValue};

use super::array::{edit_apart, edit_array};
use super::render;
use crate::task::{Key, Value};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("{message}")]
    Syntax { message: String, offset: usize },
    #[error("{key} is inside a value that is not a table")]
    NotATable { key: Key },
    #[error("{key} is a table, not a value")]
    IsATable { key: Key },
    #[error("{value} cannot be written under {key}")]
    Unwritable { key: Key, value: String },
}

pub struct Doc {
    tree: Document<String>,
}

/// The position of a key, or the position where it would be added.
enum TomlSpot<'a> {
    Value(&'a TomlValue),
    Inline {
        whole: &'a TomlValue,
        rest: Vec<&'a str>,
    },
    /// The table exists, but not the key; `depth` parts of the key lead to the table's header.
    Absent {
        table: &'a Table,
        depth: usize,
    },
    /// The table does not exist.
    NoTable,
}

impl Doc {
    pub fn new(text: impl Into<String>) -> Result<Self, EditError> {
        let tree = Document::parse(text.into()).map_err(|error| EditError::Syntax {
            message: error.message().to_owned(),
            offset: error.span().map_or(0, |span| span.start),
        })?;
        Ok(Self { tree })
    }

    pub fn text(&self) -> &str {
        self.tree.raw()
    }

    pub fn get(&self, key: &Key) -> Option<Value> {
        let mut item = self.tree.as_item();
        for part in key.parts() {
            item = item.get(part)?;
        }
        plain(item)
    }

    /// Whether the file has the expected value for a key.
    pub fn says(&self, key: &Key, expected: Option<&Value>) -> bool {
        same(self.get(key).as_ref(), expected)
    }

    /// Every key with a value, including those in tables, in no particular order.
    pub fn leaves(&self) -> Vec<(Key, Value)> {
        let mut found = Vec::new();
        collect(self.tree.as_table(), "", &mut found);
        found
    }

    /// The text with `key` set or, with `None`, removed. The result is parsed again and checked.
    pub fn with(&self, key: &Key, new: Option<&Value>) -> Result<String, EditError> {
        let text = match (self.find(key)?, new) {
            (TomlSpot::Value(old), Some(new)) => self.replaced(span(old), &self.rewritten(old, new)),
            (TomlSpot::Value(old), None) => match self.lone_table(key) {
                Some(range) => self.splice(range, ""),
                None => self.without(span(old)),
            },
            (TomlSpot::Inline { whole, rest }, new) => {
                self.splice(span(whole), &self.local(&self.inline(whole, &rest, new)))
            }
            (TomlSpot::Absent { .. } | TomlSpot::NoTable, None) => return Ok(self.text().to_owned()),
            (TomlSpot::Absent { table, depth }, Some(new)) => self.added(table, key, depth, new),
            (TomlSpot::NoTable, Some(new)) => self.appended(key, new),
        };
        let reread = Self::new(text.clone()).ok().filter(|doc| same(doc.get(key).as_ref(), new));
        reread.map(|_| text).ok_or_else(|| EditError::Unwritable {
            key: key.clone(),
            value: new.map_or_else(|| "nothing".into(), ToString::to_string),
        })
    }

    /// The range of the lines with a key and its value.
    pub fn statement(&self, key: &Key) -> Option<Range<usize>> {
        match self.find(key).ok()? {
            TomlSpot::Value(value) => Some(self.line_start(span(value).start)..self.line_end(span(value).end)),
            TomlSpot::Inline { .. } | TomlSpot::Absent { .. } | TomlSpot::NoTable => None,
        }
    }

    fn find<'a>(&'a self, key: &'a Key) -> Result<TomlSpot<'a>, EditError> {
        let parts: Vec<&str> = key.parts().collect();
        let (leaf, path) = parts.split_last().expect("a split yields at least one part");
        let mut table = self.tree.as_table();
        let mut depth = 0;
        for (at, part) in path.iter().enumerate() {
            match table.get(part) {
                Some(Item::Table(inner)) => {
                    if !inner.is_dotted() {
                        depth = at + 1;
                    }
                    table = inner;
                }
                Some(Item::Value(whole @ TomlValue::InlineTable(_))) => {
                    return Ok(TomlSpot::Inline { whole, rest: parts[at + 1..].to_vec() });
                }
                Some(_) => return Err(EditError::NotATable { key: key.clone() }),
                None => return Ok(TomlSpot::NoTable),
            }
        }
        match table.get(leaf) {
            Some(Item::Value(value)) => Ok(TomlSpot::Value(value)),
            Some(Item::None) | None if table.is_implicit() && !table.is_dotted() => Ok(TomlSpot::NoTable),
            Some(Item::None) | None => Ok(TomlSpot::Absent { table, depth }),
            Some(_) => Err(EditError::IsATable { key: key.clone() }),
        }
    }

    fn splice(&self, range: Range<usize>, new: &str) -> String {
        let text = self.text();
        [&text[..range.start], new, &text[range.end..]].concat()
    }

    /// Replaces a value. Comments inside the old value that are not in the new one are moved above it.
    fn replaced(&self, range: Range<usize>, new: &str) -> String {
        let lost: Vec<&str> =
            comments(&self.text()[range.clone()]).into_iter().filter(|comment| !new.contains(comment)).collect();
        let start = self.line_start(range.start);
        let kept: String = lost.iter().map(|comment| format!("{comment}\n")).collect();
        let text = self.splice(range, &self.local(new));
        [&text[..start], &self.local(&kept), &text[start..]].concat()
    }

    /// The text with the line endings of this file.
    fn local(&self, text: &str) -> String {
        if self.text().contains("\r\n") { text.replace('\n', "\r\n") } else { text.to_owned() }
    }

    fn rewritten(&self, old: &TomlValue, new: &Value) -> String {
        match (old, new) {
            (TomlValue::Array(_), Value::List(items)) => {
                edit_array(&self.text()[span(old)].replace("\r\n", "\n"), items).unwrap_or_else(|| render::value(new))
            }
            _ => render::value(new),
        }
    }

    /// Edits an inline table as a whole, which keeps its spacing.
    fn inline(&self, whole: &TomlValue, rest: &[&str], new: Option<&Value>) -> String {
        let source = self.text()[span(whole)].replace("\r\n", "\n");
        let edited = edit_apart(&source, |value| {
            let (leaf, path) = rest.split_last()?;
            let mut table = value.as_inline_table_mut()?;
            for part in path {
                table = table.get_or_insert(*part, InlineTable::new()).as_inline_table_mut()?;
            }
            match new {
                Some(new) => {
                    let text = render::value(new);
                    table.insert(*leaf, text.parse::<TomlValue>().ok()?);
                }
                None => {
                    table.remove(leaf);
                }
            }
            Some(())
        });
        edited.unwrap_or(source)
    }

    /// The range of a table that contains only this value and no comment, so that it is removed with the value.
    fn lone_table(&self, key: &Key) -> Option<Range<usize>> {
        let parts: Vec<&str> = key.parts().collect();
        let (_, path) = parts.split_last().filter(|(_, path)| !path.is_empty())?;
        let table = path.iter().try_fold(self.tree.as_item(), |item, part| item.get(part))?.as_table()?;
        let header = table.span().filter(|_| !table.is_dotted() && !table.is_implicit() && table.len() == 1)?;
        let value = last_value(table)?;
        let (start, end) = (self.line_start(header.start), self.line_end(value.end));
        let alone = comments(&self.text()[start..end]).is_empty();
        let blank = self.text()[..start].trim_end_matches([' ', '\t', '\r', '\n']).len();
        let from = if end == self.text().len() && blank > 0 { self.line_end(blank) } else { start };
        alone.then_some(from..end)
    }

    fn line_start(&self, offset: usize) -> usize {
        let bom = if self.text().starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        self.text()[..offset].rfind('\n').map_or(bom, |at| at + 1)
    }

    fn line_end(&self, offset: usize) -> usize {
        self.text()[offset..].find('\n').map_or(self.text().len(), |at| offset + at + 1)
    }

    /// Removes one `key = value`. A comment after it stays on a separate line.
    fn without(&self, value: Range<usize>) -> String {
        let text = self.text();
        // In TOML, the key is on the same line as the beginning of its value.
        let (start, end) = (self.line_start(value.start), self.line_end(value.end));
        let rest = &text[value.end..end];
        // Comments inside the value and after it were written by people, so each is kept on a line.
        let mut kept: Vec<&str> = comments(&text[value]);
        kept.extend(comments(rest));
        if !kept.is_empty() {
            let lines: String = kept.iter().map(|comment| format!("{comment}\n")).collect();
            return self.splice(start..end, &self.local(&lines));
        }
        let blank_before = start == 0 || text[..start].ends_with("\n\n") || text[..start].ends_with("\n\r\n");
        let after = self.line_end(end.min(text.len()));
        let blank_after = end < text.len() && text[end..after].trim().is_empty();
        let last = end == text.len();
        let end = if blank_before && blank_after { after } else { end };
        let mut result = self.splice(start..end, "");
        if last && blank_before {
            result.truncate(result.trim_end().len());
            if !result.is_empty() {
                result.push_str(&self.local("\n"));
            }
        }
        result
    }

    fn added(&self, table: &Table, key: &Key, depth: usize, new: &Value) -> String {
        let name = key.parts().skip(depth).map(render::key).collect::<Vec<_>>().join(".");
        let line = self.local(&format!("{name} = {}\n", render::value(new)));
        let anchor = if depth == 0 { self.root_anchor(key) } else { last_value(table).map(|range| range.end) };
        let Some(anchor) = anchor.or_else(|| table.span().filter(|_| depth > 0).map(|header| header.end)) else {
            return self.at_the_top(&line);
        };
        let at = self.line_end(anchor);
        let text = self.text();
        let open_end = if text[..at].ends_with('\n') { String::new() } else { self.local("\n") };
        let spaced = depth == 0 && key.as_str() != "title" && self.is_spaced(anchor, at);
        let gap = if spaced { self.local("\n") } else { String::new() };
        self.splice(at..at, &format!("{open_end}{gap}{line}"))
    }

    /// The end of the value after which a new key is added: the previous one in the usual order, or the last one.
    fn root_anchor(&self, key: &Key) -> Option<usize> {
        let rank = |name: &str| render::ORDER.iter().position(|known| *known == name);
        let root = self.tree.as_table();
        let before = rank(key.as_str()).and_then(|mine| {
            let ranked = root.iter().filter_map(|(name, item)| Some((rank(name)?, item.as_value()?.span()?)));
            ranked.filter(|(theirs, _)| *theirs < mine).max_by_key(|(theirs, _)| *theirs)
        });
        before.map(|(_, range)| range.end).or_else(|| last_value(root).map(|range| range.end))
    }

    /// Whether keys are separated by blank lines: there is one after the anchor, or before it if it is the last key.
    fn is_spaced(&self, anchor: usize, at: usize) -> bool {
        let text = self.text();
        let follows = text[at..].lines().next();
        let start = self.line_start(anchor);
        let before = &text[..start];
        follows.map_or_else(|| before.ends_with("\n\n") || before.ends_with("\n\r\n"), |line| line.trim().is_empty())
    }

    /// Adds a line before the first table, or at the end of a file without tables.
    fn at_the_top(&self, line: &str) -> String {
        let headers = self.tree.as_table().iter().filter_map(|(_, item)| item.span().map(|span| span.start));
        match headers.min() {
            Some(header) => {
                let at = self.line_start(header);
                self.splice(at..at, &format!("{line}{}", self.local("\n")))
            }
            None => self.splice(self.text().len()..self.text().len(), &self.closing(line)),
        }
    }

    fn appended(&self, key: &Key, new: &Value) -> String {
        let parts: Vec<String> = key.parts().map(render::key).collect();
        let (leaf, path) = parts.split_last().expect("a split yields at least one part");
        let gap = if self.text().trim().is_empty() { "" } else { "\n" };
        let table = self.local(&format!("{gap}[{}]\n{leaf} = {}\n", path.join("."), render::value(new)));
        self.splice(self.text().len()..self.text().len(), &self.closing(&table))
    }

    fn closing(&self, addition: &str) -> String {
        let open = !self.text().is_empty() && !self.text().ends_with('\n');
        format!("{}{addition}", if open { self.local("\n") } else { String::new() })
    }
}

/// All comments of a text.
pub fn comments(text: &str) -> Vec<&str> {
    let tokens = toml_parser::Source::new(text).lex();
    let found = tokens.filter(|token| token.kind() == toml_parser::lexer::TokenKind::Comment);
    found.filter_map(|token| text.get(token.span().start()..token.span().end())).map(str::trim_end).collect()
}

fn span(value: &TomlValue) -> Range<usize> {
    value.span().expect("a parsed document has the place of every value")
}

/// The range of the last value directly in a table, including dotted keys.
fn last_value(table: &Table) -> Option<Range<usize>> {
    let places = table.iter().filter_map(|(_, item)| match item {
        Item::Value(value) => value.span(),
        Item::Table(inner) if inner.is_dotted() => last_value(inner),
        _ => None,
    });
    places.max_by_key(|range| range.end)
}

fn collect(table: &Table, path: &str, found: &mut Vec<(Key, Value)>) {
    for (name, item) in table {
        let here = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        match item {
            Item::Table(inner) => collect(inner, &here, found),
            other => found.extend(plain(other).map(|value| (Key::new(here), value))),
        }
    }
}

fn plain(item: &Item) -> Option<Value> {
    match item {
        Item::Value(value) => Some(plain_value(value)),
        Item::ArrayOfTables(tables) => Some(Value::List(tables.iter().map(table_value).collect())),
        Item::Table(table) => Some(table_value(table)),
        Item::None => None,
    }
}

fn table_value(table: &Table) -> Value {
    Value::Table(table.iter().filter_map(|(name, item)| Some((name.to_owned(), plain(item)?))).collect())
}

fn plain_value(value: &TomlValue) -> Value {
    match value {
        TomlValue::String(text) => Value::Text(text.value().replace("\r\n", "\n")),
        TomlValue::Integer(n) => Value::Integer(*n.value()),
        TomlValue::Float(n) => Value::Float(*n.value()),
        TomlValue::Boolean(b) => Value::Bool(*b.value()),
        TomlValue::Datetime(at) => Value::Time { time: at.value().to_string() },
        TomlValue::Array(array) => Value::List(array.iter().map(plain_value).collect()),
        TomlValue::InlineTable(table) => {
            Value::Table(table.iter().map(|(name, value)| (name.to_owned(), plain_value(value))).collect())
        }
    }
}

/// Whether two values are equal; the order of lists does not matter.
fn same(a: Option<&Value>, b: Option<&Value>) -> bool {
    let sorted = |list: &[Value]| {
        let mut texts: Vec<String> = list.iter().map(ToString::to_string).collect();
        texts.sort();
        texts
    };
    match (a, b) {
        (Some(Value::List(a)), Some(Value::List(b))) => a == b || sorted(a) == sorted(b),
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str, key: &str, new: Option<Value>) -> String {
        Doc::new(text).unwrap().with(&Key::new(key), new.as_ref()).unwrap()
    }

    fn p1() -> Option<Value> {
        Some(Value::text("P1"))
    }

    const ODD: &str =
        "# mine\ntitle   =  'x'   # tail\npriority= \"P2\"\t# why\n\n\n[ custom ]\n  a = { b = 1, c = [1,2] } # deep\n";

    #[test]
    fn only_the_value_changes() {
        assert_eq!(with(ODD, "priority", p1()), ODD.replace("P2", "P1"));
        let crlf = ODD.replace('\n', "\r\n");
        assert_eq!(with(&crlf, "priority", p1()), crlf.replace("P2", "P1"));
        let bom = format!("\u{feff}{ODD}");
        assert_eq!(with(&bom, "priority", p1()), bom.replace("P2", "P1"));
        assert_eq!(with(ODD, "custom.a.b", Some(Value::Integer(7))), ODD.replace("b = 1", "b = 7"));
        let open = "title = 'x'\npriority = \"P2\"";
        assert_eq!(with(open, "priority", p1()), open.replace("P2", "P1"));
    }

    #[test]
    fn a_new_key_goes_where_it_belongs() {
        assert_eq!(
            with("title = 'x'\nlabels = []\n", "priority", p1()),
            "title = 'x'\npriority = \"P1\"\nlabels = []\n"
        );
        let spaced = "id = 'a'\ntitle = 'x'\n\nlabels = []\n";
        assert_eq!(with(spaced, "priority", p1()), "id = 'a'\ntitle = 'x'\n\npriority = \"P1\"\n\nlabels = []\n");
        assert_eq!(with("title = 'x'", "priority", p1()), "title = 'x'\npriority = \"P1\"\n");
        assert_eq!(with("title = 'x'\r\n", "priority", p1()), "title = 'x'\r\npriority = \"P1\"\r\n");
        assert_eq!(with("# c\n[t]\na = 1\n", "priority", p1()), "# c\npriority = \"P1\"\n\n[t]\na = 1\n");
    }

    #[test]
    fn tables_are_made_found_and_extended() {
        let made = with("title = 'x'\n", "artifacts.plan", Some(Value::text("p")));
        assert_eq!(made, "title = 'x'\n\n[artifacts]\nplan = \"p\"\n");
        assert_eq!(
            with(&made, "artifacts.research", Some(Value::text("r"))),
            "title = 'x'\n\n[artifacts]\nplan = \"p\"\nresearch = \"r\"\n"
        );
        assert_eq!(with("a.b = 1\n", "a.c", Some(Value::Integer(2))), "a.b = 1\na.c = 2\n");
        assert_eq!(with("[g.base]\nx = 1\n", "g.y", Some(Value::Integer(2))), "[g.base]\nx = 1\n\n[g]\ny = 2\n");
        assert_eq!(with("[g]\n[z]\n", "g.y", Some(Value::Integer(2))), "[g]\ny = 2\n[z]\n");
        assert!(Doc::new("a = 1\n").unwrap().with(&Key::new("a.b"), p1().as_ref()).is_err());
    }

    #[test]
    fn a_key_that_goes_leaves_its_comment() {
        assert_eq!(with(ODD, "priority", None), ODD.replace("priority= \"P2\"\t# why", "# why"));
        let spaced = "title = 'x'\n\nowner = 'o'\n\nkind = 'epic'\n";
        assert_eq!(with(spaced, "owner", None), "title = 'x'\n\nkind = 'epic'\n");
        assert_eq!(with("title = 'x'\n\nowner = 'o'\n", "owner", None), "title = 'x'\n");
        assert_eq!(with("title = 'x'\n", "owner", None), "title = 'x'\n");
    }

    #[test]
    fn the_comments_inside_a_list_stay() {
        let text = "labels = [\n  \"b\", # first\n  \"d\", # second\n]\n";
        let set = |items: &[&str]| with(text, "labels", Some(Value::texts(items)));
        assert_eq!(set(&["b", "c", "d"]), "labels = [\n  \"b\", # first\n  \"c\",\n  \"d\", # second\n]\n");
        assert!(set(&["d"]).contains("# first") && set(&["d"]).contains("# second"));
        assert!(set(&["b"]).contains("# first") && set(&["b"]).contains("# second"));
        let two = with("labels = ['a']\n", "labels", Some(Value::texts(["a", "b"])));
        assert_eq!(two, "labels = [\n    \"a\",\n    \"b\",\n]\n");
    }

    #[test]
    fn texts_of_any_content_come_back() {
        let texts = [
            "a\n",
            "\n",
            "\"\"\"\n",
            "'''\n\"\"\"\n",
            "back\\slash\n",
            "tab\there",
            "it's \"q\"",
            "\u{7f}\u{1}",
            "x\ny",
            "",
        ];
        for text in texts {
            let made = with("title = 'x'\n", "description", Some(Value::text(text)));
            assert_eq!(Doc::new(made).unwrap().get(&Key::new("description")), Some(Value::text(text)));
        }
    }
}
