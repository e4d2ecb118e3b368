//! Adds entries to a JSON file and removes them. Every other byte stays as it was, including comments.

use jsonc_parser::common::{Range, Ranged as _};
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, ast, parse_to_ast, parse_to_serde_value};
use serde::Serialize as _;
use serde_json::Value;

/// One step of a path into a document: a member by its key, or an element by its index.
#[derive(Debug, Clone, Copy)]
pub enum Step<'a> {
    Key(&'a str),
    At(usize),
}

/// Reads JSON, or JSON with comments and trailing commas. The error is an offset in the text and what is wrong there.
pub fn read(text: &str) -> Result<Value, (usize, String)> {
    let wrong =
        |error: jsonc_parser::errors::ParseError| (error.range().start, error.kind().to_string().to_lowercase());
    parse_to_serde_value(text, &dialect()).map_err(wrong)
}

/// Adds a member at the end of the object at `path`. The text must be valid and have that object.
pub fn add_member(text: &str, path: &[Step<'_>], key: &str, value: &Value) -> String {
    append(text, path, &format!("{}: ", Value::from(key)), value).unwrap_or_else(|| text.to_owned())
}

/// Adds an element at the end of the array at `path`.
pub fn push(text: &str, path: &[Step<'_>], value: &Value) -> String {
    append(text, path, "", value).unwrap_or_else(|| text.to_owned())
}

/// Removes the member or element at `path`. Comments stay.
pub fn remove(text: &str, path: &[Step<'_>]) -> String {
    without(text, path).unwrap_or_else(|| text.to_owned())
}

/// A whole document, formatted as in a new file.
pub fn render(value: &Value) -> String {
    format!("{}\n", pretty(value, "  "))
}

fn append(text: &str, path: &[Step<'_>], front: &str, value: &Value) -> Option<String> {
    let file = File::parse(text)?;
    let container = find(&file.root, path)?;
    let items: Vec<Range> = items(container).into_iter().map(|(.., range)| range).collect();
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let unit = unit(text, &file.root);
    let base = indent(text, container.start());
    let own_line = |item: &&Range| text[..item.start].ends_with(|c: char| c.is_whitespace());
    let inner = match items.last().filter(own_line) {
        Some(item) if indent(text, item.start).len() > base.len() => indent(text, item.start),
        _ => format!("{base}{unit}"),
    };
    let value = pretty(value, &unit).replace('\n', &format!("{newline}{inner}"));
    let item = format!("{newline}{inner}{front}{value}");
    let close = container.end() - 1;
    let Some(last) = items.last() else {
        let seat = file.token_before(close);
        return Some(format!("{}{item}{newline}{base}{}", &text[..seat], &text[close..]));
    };
    let (end, comma) = (last.end, file.comma_after(last.end));
    let seat = file.end_of_comments(text, comma.map_or(end, |comma| comma.end));
    // If the last item ends with a comma, the new one gets a comma, too.
    let (between, behind) = if comma.is_some() { ("", ",") } else { (",", "") };
    Some(format!("{}{between}{}{item}{behind}{}", &text[..end], &text[end..seat], &text[seat..]))
}

fn without(text: &str, path: &[Step<'_>]) -> Option<String> {
    let file = File::parse(text)?;
    let (last, around) = path.split_last()?;
    let container = find(&file.root, around)?;
    let items = items(container);
    let at = place(&items, last)?;
    let (.., item) = items[at];
    let comma = file.comma_after(item.end);
    let end = comma.map_or(item.end, |comma| comma.end);
    let (before, after) = (file.token_before(item.start), file.token_after(end));
    let (open, close) = (container.start() + 1, container.end() - 1);
    Some(match at {
        0 if before == open && after == close => format!("{}{}", &text[..open], &text[close..]),
        0 if items.len() > 1 => format!("{}{}", &text[..item.start], &text[after..]),
        // Without the last item, the comma before it has to go, too.
        1.. if comma.is_none() => {
            let led = file.comma_after(items[at - 1].2.end)?;
            format!("{}{}{}", &text[..led.start], &text[led.end..before], &text[end..])
        }
        _ => format!("{}{}", &text[..before], &text[end..]),
    })
}

fn pretty(value: &Value, unit: &str) -> String {
    let mut bytes = Vec::new();
    let format = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let mut writer = serde_json::Serializer::with_formatter(&mut bytes, format);
    value.serialize(&mut writer).expect("a value is always JSON");
    String::from_utf8(bytes).expect("JSON is text")
}

/// The spaces and tabs at the beginning of the line.
fn indent(text: &str, at: usize) -> String {
    let line = &text[text[..at].rfind('\n').map_or(0, |newline| newline + 1)..at];
    line.chars().take_while(|c| *c == ' ' || *c == '\t').collect()
}

/// The indentation that this file uses, taken from its first member.
fn unit(text: &str, root: &ast::Value<'_>) -> String {
    let first = items(root).first().map(|(.., item)| indent(text, item.start)).unwrap_or_default();
    if first.is_empty() { "  ".into() } else { first }
}

/// A member or an element: its key, its value, and the range of both.
type Item<'v> = (Option<&'v str>, &'v ast::Value<'v>, Range);

fn items<'v>(value: &'v ast::Value<'v>) -> Vec<Item<'v>> {
    match value {
        ast::Value::Object(object) => {
            object.properties.iter().map(|member| (Some(member.name.as_str()), &member.value, member.range)).collect()
        }
        ast::Value::Array(array) => array.elements.iter().map(|element| (None, element, element.range())).collect(),
        _ => Vec::new(),
    }
}

fn find<'v>(root: &'v ast::Value<'v>, path: &[Step<'_>]) -> Option<&'v ast::Value<'v>> {
    path.iter().try_fold(root, |value, step| {
        let items = items(value);
        Some(items[place(&items, step)?].1)
    })
}

fn place(items: &[Item<'_>], step: &Step<'_>) -> Option<usize> {
    match step {
        // If a key occurs twice, the later member counts.
        Step::Key(key) => items.iter().rposition(|(name, ..)| name == &Some(*key)),
        Step::At(at) => (*at < items.len()).then_some(*at),
    }
}

/// Allows comments and trailing commas, and no other extension of JSON.
fn dialect() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// A parsed text with its values and its tokens, which include comments.
struct File<'t> {
    root: ast::Value<'t>,
    tokens: Vec<TokenAndRange<'t>>,
}

impl<'t> File<'t> {
    fn parse(text: &'t str) -> Option<Self> {
        let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let parsed = parse_to_ast(text, &collect, &dialect()).ok()?;
        Some(Self { root: parsed.value?, tokens: parsed.tokens? })
    }

    fn comma_after(&self, at: usize) -> Option<Range> {
        let next = self.tokens.iter().find(|token| token.range.start >= at && !is_comment(token));
        next.filter(|token| token.token == Token::Comma).map(|token| token.range)
    }

    /// The end of the last token before an offset.
    fn token_before(&self, at: usize) -> usize {
        self.tokens.iter().rfind(|token| token.range.end <= at).map_or(0, |token| token.range.end)
    }

    /// The beginning of the first token after an offset.
    fn token_after(&self, at: usize) -> usize {
        self.tokens.iter().find(|token| token.range.start >= at).map_or(at, |token| token.range.start)
    }

    /// The end of the comments that follow on the same line.
    fn end_of_comments(&self, text: &str, at: usize) -> usize {
        let following = self.tokens.iter().skip_while(|token| token.range.start < at);
        let mut end = at;
        for token in following.take_while(|token| is_comment(token)) {
            if text[end..token.range.start].contains('\n') {
                break;
            }
            end = token.range.end;
        }
        end
    }
}

fn is_comment(token: &TokenAndRange<'_>) -> bool {
    matches!(token.token, Token::CommentLine(_) | Token::CommentBlock(_))
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
        "// top\n{\n  \"hooks\": { // open, {\n    \"Stop\": [1 /* one */], // tail\n    // end }\n  },\n}\n// bottom\n",
        "{\n  /* , */ \"hooks\": {\n    \"Stop\": [\n      1 // one, ]\n      // end\n    ]\n  } // tail\n}\n",
    ];

    #[test]
    fn what_is_added_and_removed_again_leaves_no_trace() {
        for text in FILES {
            let more = add_member(text, &[], "new", &json!({ "k": [{ "deep": true }] }));
            let value: Value = read(&more).unwrap_or_else(|error| panic!("{error:?}: {more}"));
            assert_eq!(value["new"]["k"][0]["deep"], true, "{more}");
            assert_eq!(remove(&more, &[Key("new")]), *text, "{more}");
        }
        for text in &FILES[2..] {
            let path = [Key("hooks"), Key("Stop")];
            let more = push(text, &path, &json!({ "y": 2 }));
            let value: Value = read(&more).unwrap_or_else(|error| panic!("{error:?}: {more}"));
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

    #[test]
    fn comments_stay_with_what_they_are_about() {
        let added = add_member("{\n  \"a\": 1 // one\n  // end\n}\n", &[], "b", &json!(2));
        assert_eq!(added, "{\n  \"a\": 1, // one\n  \"b\": 2\n  // end\n}\n");
        let added = add_member("{\n  \"a\": 1, // one\n}\n", &[], "b", &json!(2));
        assert_eq!(added, "{\n  \"a\": 1, // one\n  \"b\": 2,\n}\n");
        assert_eq!(add_member("{ // none\n}\n", &[], "b", &json!(2)), "{ // none\n  \"b\": 2\n}\n");
        let text = "{\n  // about a\n  \"a\": 1, // one\n  // about b\n  \"b\": 2 // two\n}";
        assert_eq!(remove(text, &[Key("a")]), "{\n  // about a\n  // one\n  // about b\n  \"b\": 2 // two\n}");
        assert_eq!(remove(text, &[Key("b")]), "{\n  // about a\n  \"a\": 1 // one\n  // about b // two\n}");
        assert_eq!(remove("{\n  // why\n  \"a\": 1,\n}", &[Key("a")]), "{\n  // why\n}");
    }

    #[test]
    fn no_other_dialect_of_json_is_read() {
        for text in ["{a: 1}", "{'a': 1}", "{\"a\": 0x1}", "{\"a\": 1 \"b\": 2}", "{\"a\": NaN}", "{,}", "{} {}"] {
            assert!(read(text).is_err(), "{text}");
        }
        assert_eq!(read("{\n \"a\": ,}"), Err((8, "unexpected comma".into())));
    }
}
