//! Additions to somebody's JSON file, and their removal, that leave every other byte as it was.

use serde::Serialize as _;
use serde_json::Value;

/// A way into a document: members by key, elements by place.
#[derive(Debug, Clone, Copy)]
pub enum Step<'a> {
    Key(&'a str),
    At(usize),
}

/// Where a value stands in the text.
struct Node {
    start: usize,
    end: usize,
    items: Vec<Item>,
}

/// A member or an element: from its key, if it has one, to the end of its value.
struct Item {
    start: usize,
    key: Option<String>,
    value: Node,
}

/// The text with one member more at the end of the object at `path`. The text is valid JSON, and there is such an object.
pub fn add_member(text: &str, path: &[Step<'_>], key: &str, value: &Value) -> String {
    append(text, path, &format!("{}: ", Value::from(key)), value)
}

/// The text with one element more at the end of the array at `path`.
pub fn push(text: &str, path: &[Step<'_>], value: &Value) -> String {
    append(text, path, "", value)
}

/// The text without the member or element at `path`.
pub fn remove(text: &str, path: &[Step<'_>]) -> String {
    let root = scan(text);
    let Some((last, around)) = path.split_last() else { return text.to_owned() };
    let Some(container) = find(&root, around) else { return text.to_owned() };
    let items = &container.items;
    let Some(at) = place(container, last) else { return text.to_owned() };
    let (from, to) = match (at, items.len()) {
        (_, 1) => (container.start + 1, container.end - 1),
        (0, _) => (items[0].start, items[1].start),
        _ => (items[at - 1].value.end, items[at].value.end),
    };
    format!("{}{}", &text[..from], &text[to..])
}

/// A whole document, as new files are written.
pub fn render(value: &Value) -> String {
    format!("{}\n", pretty(value, "  "))
}

fn append(text: &str, path: &[Step<'_>], front: &str, value: &Value) -> String {
    let root = scan(text);
    let Some(container) = find(&root, path) else { return text.to_owned() };
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let unit = unit(text, &root);
    let base = indent(text, container.start);
    let own_line = |item: &Item| text[..item.start].ends_with(|c: char| c.is_whitespace());
    let inner = match container.items.last().filter(|item| own_line(item)) {
        Some(item) if indent(text, item.start).len() > base.len() => indent(text, item.start),
        _ => format!("{base}{unit}"),
    };
    let value = pretty(value, &unit).replace('\n', &format!("{newline}{inner}"));
    let item = format!("{newline}{inner}{front}{value}");
    match container.items.last() {
        Some(last) => format!("{},{item}{}", &text[..last.value.end], &text[last.value.end..]),
        None => format!("{}{item}{newline}{base}{}", &text[..=container.start], &text[container.end - 1..]),
    }
}

fn pretty(value: &Value, unit: &str) -> String {
    let mut bytes = Vec::new();
    let format = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let mut writer = serde_json::Serializer::with_formatter(&mut bytes, format);
    value.serialize(&mut writer).expect("a value is always JSON");
    String::from_utf8(bytes).expect("JSON is text")
}

/// The blanks at the beginning of the line.
fn indent(text: &str, at: usize) -> String {
    let line = &text[text[..at].rfind('\n').map_or(0, |newline| newline + 1)..at];
    line.chars().take_while(|c| *c == ' ' || *c == '\t').collect()
}

/// How this file indents: as its first member is.
fn unit(text: &str, root: &Node) -> String {
    let first = root.items.first().map(|item| indent(text, item.start)).unwrap_or_default();
    if first.is_empty() { "  ".into() } else { first }
}

fn find<'n>(root: &'n Node, path: &[Step<'_>]) -> Option<&'n Node> {
    path.iter().try_fold(root, |node, step| Some(&node.items[place(node, step)?].value))
}

fn place(node: &Node, step: &Step<'_>) -> Option<usize> {
    match step {
        // Of two of the same name, the later one counts.
        Step::Key(key) => node.items.iter().rposition(|item| item.key.as_deref() == Some(key)),
        Step::At(at) => (*at < node.items.len()).then_some(*at),
    }
}

fn scan(text: &str) -> Node {
    Scanner { text: text.as_bytes(), at: 0 }.value()
}

/// Reads what is known to be JSON.
struct Scanner<'t> {
    text: &'t [u8],
    at: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    fn blanks(&mut self) {
        while self.peek().is_ascii_whitespace() {
            self.at += 1;
        }
    }

    fn value(&mut self) -> Node {
        self.blanks();
        let start = self.at;
        let items = match self.peek() {
            b'{' => self.items(b'}'),
            b'[' => self.items(b']'),
            b'"' => {
                self.string();
                Vec::new()
            }
            _ => {
                while !matches!(self.peek(), 0 | b',' | b'}' | b']') && !self.peek().is_ascii_whitespace() {
                    self.at += 1;
                }
                Vec::new()
            }
        };
        Node { start, end: self.at, items }
    }

    fn items(&mut self, close: u8) -> Vec<Item> {
        let mut items = Vec::new();
        self.at += 1;
        loop {
            self.blanks();
            match self.peek() {
                0 => return items,
                b',' => self.at += 1,
                c if c == close => {
                    self.at += 1;
                    return items;
                }
                _ => {
                    let start = self.at;
                    let key = (close == b'}').then(|| self.key());
                    items.push(Item { start, key, value: self.value() });
                }
            }
        }
    }

    fn key(&mut self) -> String {
        let start = self.at;
        self.string();
        let key = serde_json::from_slice(&self.text[start..self.at]).unwrap_or_default();
        self.blanks();
        self.at += 1;
        key
    }

    fn string(&mut self) {
        self.at += 1;
        while !matches!(self.peek(), 0 | b'"') {
            self.at += if self.peek() == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use Step::{At, Key};

    const FILES: &[&str] = &[
        "{\n  \"a\": 1\n}\n",
        "{\n    \"a\": {\"b\": [1, 2]},\n    \"c\": \"}\\\"]\"\n}",
        "{\"a\":1,\"hooks\":{\"Stop\":[{\"x\":1}]}}",
        "{\r\n\t\"hooks\": {\r\n\t\t\"Stop\": [ 1 ]\r\n\t}\r\n}\r\n",
        "{ \"hooks\": {\n  \"Stop\": [\n  {}\n ]} , \"z\": null }\n\n",
    ];

    #[test]
    fn what_is_added_and_removed_again_leaves_no_trace() {
        for text in FILES {
            let more = add_member(text, &[], "new", &json!({ "k": [{ "deep": true }] }));
            let value: Value = serde_json::from_str(&more).unwrap_or_else(|e| panic!("{e}: {more}"));
            assert_eq!(value["new"]["k"][0]["deep"], true, "{more}");
            assert_eq!(remove(&more, &[Key("new")]), *text, "{more}");
        }
        for text in &FILES[2..] {
            let path = [Key("hooks"), Key("Stop")];
            let more = push(text, &path, &json!({ "y": 2 }));
            let value: Value = serde_json::from_str(&more).unwrap_or_else(|e| panic!("{e}: {more}"));
            assert_eq!(value["hooks"]["Stop"][1]["y"], 2, "{more}");
            assert_eq!(remove(&more, &[Key("hooks"), Key("Stop"), At(1)]), *text, "{more}");
        }
    }

    #[test]
    fn additions_look_like_the_rest_of_the_file() {
        let added = add_member("{\n    \"a\": 1\n}\n", &[], "b", &json!({ "c": [1] }));
        assert_eq!(added, "{\n    \"a\": 1,\n    \"b\": {\n        \"c\": [\n            1\n        ]\n    }\n}\n");
        assert_eq!(add_member("{}\n", &[], "b", &json!(1)), "{\n  \"b\": 1\n}\n");
        assert_eq!(remove("{\"a\": 1, \"b\": 2}", &[Key("a")]), "{\"b\": 2}");
        assert_eq!(remove("{\"a\": 1}\n", &[Key("a")]), "{}\n");
    }
}
