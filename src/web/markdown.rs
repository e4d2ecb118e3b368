//! Renders Markdown as HTML, without the raw HTML of its author.

use pulldown_cmark::{Alignment, CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd, html};

/// Renders Markdown. HTML in the text is escaped, links lead only to the web or to mail, and an image becomes a link to it.
pub fn render(text: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut out = String::with_capacity(text.len() * 2);
    html::push_html(&mut out, Parser::new_ext(text, options).map(tame));
    out
}

fn tame(event: Event<'_>) -> Event<'_> {
    match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
        Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
        // Alignment would be written as a style, which the page does not allow.
        Event::Start(Tag::Table(columns)) => Event::Start(Tag::Table(vec![Alignment::None; columns.len()])),
        // The page itself has headings above these.
        Event::Start(Tag::Heading { level, .. }) => {
            Event::Start(Tag::Heading { level: lower(level), id: None, classes: Vec::new(), attrs: Vec::new() })
        }
        Event::End(TagEnd::Heading(level)) => Event::End(TagEnd::Heading(lower(level))),
        Event::Start(Tag::Link { link_type, dest_url, .. }) => link(link_type, &dest_url),
        Event::Start(Tag::Image { link_type, dest_url, .. }) => link(link_type, &dest_url),
        Event::End(TagEnd::Link | TagEnd::Image) => Event::InlineHtml("</a>".into()),
        Event::TaskListMarker(done) => Event::Text(if done { "☑ ".into() } else { "☐ ".into() }),
        other => other,
    }
}

fn lower(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H3,
        HeadingLevel::H2 => HeadingLevel::H4,
        HeadingLevel::H3 => HeadingLevel::H5,
        _ => HeadingLevel::H6,
    }
}

fn link(kind: LinkType, target: &str) -> Event<'static> {
    let target = if kind == LinkType::Email { format!("mailto:{target}") } else { target.to_owned() };
    let tag = match is_harmless(&target) {
        true => format!("<a href=\"{}\" target=\"_blank\" rel=\"noopener noreferrer\">", escape(&target)),
        // The target is not allowed, so it is only shown as a title.
        false => format!("<a title=\"{}\">", escape(&target)),
    };
    Event::InlineHtml(CowStr::from(tag))
}

fn is_harmless(target: &str) -> bool {
    let start = target.to_ascii_lowercase();
    ["http://", "https://", "mailto:"].iter().any(|scheme| start.starts_with(scheme))
}

/// Renders a document: first the values of its front matter, then its text.
pub fn document(facts: &[(String, String)], body: &str) -> String {
    let fact = |(key, value): &(String, String)| format!("<dt>{}</dt><dd>{}</dd>", escape(key), escape(value));
    let facts: String = facts.iter().map(fact).collect();
    let facts = if facts.is_empty() { facts } else { format!("<dl class=\"facts\">{facts}</dl>") };
    format!("{facts}{}", render(body))
}

/// Escapes a text for HTML, as content or as an attribute.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // XML, and so SVG, does not allow these characters.
            c if c.is_control() && !matches!(c, '\n' | '\t') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_text_says_becomes_a_tag_of_its_own() {
        let texts = [
            "<script>alert(1)</script>",
            "a <img src=x onerror=alert(1)> b",
            "[x](javascript:alert(1)) <javascript:alert(1)>",
            "[x](JaVaScRiPt:alert(1)) [y](data:text/html,hi) [z](vbscript:x)",
            "![x](javascript:alert(1) \"onerror=alert(1)\")",
            "[x](http://a/\"onmouseover=\"alert(1))",
            "```\"onload=alert(1)\n<b>\n```",
            "| a |\n|:-:|\n| <i> |",
            "# <svg onload=alert(1)>",
        ];
        for text in texts {
            let html = render(text);
            let tags: Vec<&str> = html.split('<').skip(1).map(|rest| rest.split('>').next().unwrap()).collect();
            for tag in tags {
                let name: String =
                    tag.trim_start_matches('/').chars().take_while(char::is_ascii_alphanumeric).collect();
                let plain = ["p", "a", "pre", "code", "table", "thead", "tbody", "tr", "th", "td", "h3"];
                assert!(plain.contains(&name.as_str()), "{text} → {html}");
                let bare = tag.split('"').step_by(2).collect::<String>();
                assert!(!bare.contains("on") || bare.contains("noopener"), "{text} → {html}");
                assert!(!tag.contains("style=") && !tag.contains("href=\"javascript"), "{text} → {html}");
                assert!(!tag.contains("href=\"data") && !tag.contains("href=\"vbscript"), "{text} → {html}");
            }
        }
    }

    #[test]
    fn what_people_write_is_formatted() {
        let html =
            render("# Title\n\n- [x] done\n- **b** <https://a.example/?x=1&y=2>\n\n![plan](https://a.example/p.png)");
        assert!(html.contains("<h3>Title</h3>"), "{html}");
        assert!(html.contains("☑ done") && html.contains("<strong>b</strong>"), "{html}");
        assert!(html.contains("href=\"https://a.example/?x=1&amp;y=2\""), "{html}");
        assert!(html.contains(">plan</a>") && !html.contains("<img"), "{html}");
    }
}
