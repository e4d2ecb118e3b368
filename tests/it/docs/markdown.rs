//! The parts of a Markdown page that tests need: fenced blocks with their directives, links, headings and inline code.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// A directive: a comment before a block, invisible on GitHub and in mdBook, that says how a test runs the block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// `<!-- not run: REASON -->`
    NotRun(String),
    /// `<!-- exit CODE -->`: the exit code of the last command.
    Exit(i32),
    /// `<!-- new repository: COMMANDS -->`: the block starts in another repository.
    NewRepository(String),
    /// `<!-- first: COMMANDS -->`: run before the block.
    First(String),
    /// `<!-- until stopped: COMMANDS -->`: the command is stopped once these have run and it has printed the page's
    /// output.
    UntilStopped(String),
}

#[derive(Debug, Clone)]
pub struct Block {
    /// The first word after the fence; `None` for indented code.
    pub language: Option<String>,
    pub text: String,
    /// The line of its first line of content, from 1.
    pub line: usize,
    /// The range of the whole block with its fences, in the page's text.
    pub place: Range<usize>,
    pub orders: Vec<Order>,
}

#[derive(Debug, Default)]
pub struct Page {
    pub blocks: Vec<Block>,
    /// Each with its line.
    pub links: Vec<(String, usize)>,
    pub codes: Vec<(String, usize)>,
    /// The headings, as text.
    pub headings: Vec<String>,
    /// Comments that are not directives.
    pub unknown: Vec<String>,
}

fn order(comment: &str) -> Option<Order> {
    let inner = comment.trim().strip_prefix("<!--")?.strip_suffix("-->")?.trim();
    let (name, rest) = inner.split_once(':').map_or((inner, ""), |(name, rest)| (name.trim(), rest.trim()));
    match name {
        "not run" => Some(Order::NotRun(rest.to_owned())),
        "new repository" => Some(Order::NewRepository(rest.to_owned())),
        "first" => Some(Order::First(rest.to_owned())),
        "until stopped" => Some(Order::UntilStopped(rest.to_owned())),
        _ => Some(Order::Exit(name.strip_prefix("exit ")?.parse().ok()?)),
    }
}

pub fn parse(text: &str) -> Page {
    let mut page = Page::default();
    let mut comment: Option<String> = None;
    let mut orders = Vec::new();
    let mut heading: Option<String> = None;
    let mut block: Option<Block> = None;
    let line_of = |at: usize| text[..at].matches('\n').count() + 1;
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    for (event, place) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Start(Tag::HtmlBlock) => comment = Some(String::new()),
            Event::Html(html) => comment.get_or_insert_default().push_str(&html),
            Event::End(TagEnd::HtmlBlock) => match order(comment.take().unwrap_or_default().as_str()) {
                Some(order) => orders.push(order),
                None => page.unknown.push(text[place].to_owned()),
            },
            Event::Start(Tag::CodeBlock(kind)) => {
                let (language, first) = match kind {
                    CodeBlockKind::Fenced(words) => {
                        (Some(words.split_whitespace().next().unwrap_or_default().to_owned()), 1)
                    }
                    CodeBlockKind::Indented => (None, 0),
                };
                let line = line_of(place.start) + first;
                block = Some(Block { language, text: String::new(), line, place, orders: std::mem::take(&mut orders) });
            }
            Event::End(TagEnd::CodeBlock) => page.blocks.extend(block.take()),
            Event::Start(Tag::Paragraph) => {
                assert!(orders.is_empty(), "a directive must be right before its block: {orders:?}");
            }
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => page.headings.extend(heading.take()),
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                page.links.push((dest_url.into_string(), line_of(place.start)));
            }
            Event::Text(words) => {
                if let Some(block) = &mut block {
                    block.text.push_str(&words);
                } else if let Some(title) = &mut heading {
                    title.push_str(&words);
                }
            }
            Event::Code(code) => {
                if let Some(title) = &mut heading {
                    title.push_str(&code);
                }
                page.codes.push((code.into_string(), line_of(place.start)));
            }
            _ => {}
        }
    }
    assert!(orders.is_empty(), "a directive must be right before its block: {orders:?}");
    page
}

/// The anchor that GitHub and mdBook give a heading.
pub fn anchor(title: &str) -> String {
    let kept = title.trim().chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// The anchors of a page: repeated ones get a number.
pub fn anchors(page: &Page) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for title in &page.headings {
        let plain = anchor(title);
        let mut name = plain.clone();
        let mut number = 0;
        while found.contains(&name) {
            number += 1;
            name = format!("{plain}-{number}");
        }
        found.push(name);
    }
    found
}

/// The commands of a `sh` block with their first lines, from 0. A command continues after `\` or `|`, and inside
/// quotes.
pub fn commands(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (at, line) in text.lines().enumerate() {
        let (start, so_far) =
            open.take().map_or((at, line.to_owned()), |(start, so_far)| (start, so_far + "\n" + line));
        let end = so_far.trim_end();
        if end.ends_with('\\') || end.ends_with('|') || is_quoted(&so_far) {
            open = Some((start, so_far));
        } else if !end.is_empty() {
            found.push((start, so_far));
        }
    }
    found.extend(open);
    found
}

/// Whether a quote is still open at the end.
fn is_quoted(text: &str) -> bool {
    let mut quote = None;
    let mut before = ' ';
    let mut comment = false;
    for c in text.chars() {
        match (quote, c) {
            (_, '\n') => comment = false,
            _ if comment => {}
            (None, '#') if before.is_whitespace() => comment = true,
            (None, '\'' | '"') if before != '\\' => quote = Some(c),
            (Some(open), c) if c == open && (open == '\'' || before != '\\') => quote = None,
            _ => {}
        }
        before = c;
    }
    quote.is_some()
}

/// A command in a `console` block, with its output.
#[derive(Debug, Clone)]
pub struct Typed {
    pub line: usize,
    pub command: String,
    pub output: Vec<String>,
}

/// The commands of a `console` block, which start with `$ `.
pub fn console(text: &str) -> Vec<Typed> {
    let mut found: Vec<Typed> = Vec::new();
    for (line, shown) in text.lines().enumerate() {
        match (shown.strip_prefix("$ "), found.last_mut()) {
            (Some(command), _) => found.push(Typed { line, command: command.to_owned(), output: Vec::new() }),
            (None, Some(last)) => last.output.push(shown.to_owned()),
            (None, None) => panic!("a console block starts with `$ `: {shown}"),
        }
    }
    found
}

#[test]
fn a_command_goes_on_over_pipes_and_quotes_and_a_comment_has_none() {
    let text = "a |\n  b\n# it's a comment\nc 'x\ny' # don't\nd \\\n  e\n";
    let found: Vec<usize> = commands(text).iter().map(|(line, _)| *line).collect();
    assert_eq!(found, [0, 2, 3, 5]);
}

#[test]
fn orders_belong_to_the_block_that_follows() {
    let page = parse(
        "text\n\n<!-- not run: no network -->\n```sh\na\n```\n\n- item\n\n  <!-- exit 3 -->\n  ```console\n  $ b\n  ```\n",
    );
    assert_eq!(page.blocks[0].orders, [Order::NotRun("no network".into())]);
    assert_eq!((page.blocks[1].orders.clone(), page.blocks[1].line), (vec![Order::Exit(3)], 12));
    assert_eq!(page.blocks[1].text, "$ b\n");
}
