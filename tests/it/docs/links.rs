//! Every link of a page leads to an existing file and heading, on GitHub and in the book.

use std::path::{Component, Path, PathBuf};

use super::markdown::{anchors, parse};
use super::{all_pages, checkout, read};

/// GitHub URLs of this repository, which the book uses for files outside of `docs/`.
const HERE: [&str; 2] =
    ["https://github.com/ralph-board/ralph/blob/main/", "https://github.com/ralph-board/ralph/tree/main/"];

/// The path without `..`, from the root of the repository; `None` if it leads outside.
fn resolved(page: &str, link: &str) -> Option<PathBuf> {
    let mut found = PathBuf::new();
    for part in Path::new(page).parent()?.join(link).components() {
        match part {
            Component::ParentDir => {
                if !found.pop() {
                    return None;
                }
            }
            Component::Normal(name) => found.push(name),
            _ => return None,
        }
    }
    Some(found)
}

/// The problem with a link of a page.
fn trouble(page: &str, link: &str) -> Option<String> {
    let (path, heading) = link.split_once('#').map_or((link, None), |(path, heading)| (path, Some(heading)));
    let here = HERE.iter().find_map(|start| path.strip_prefix(start));
    let target = match here {
        Some(path) => PathBuf::from(path),
        None if path.contains("://") || path.starts_with("mailto:") => return None,
        None if path.is_empty() => PathBuf::from(page),
        None => match resolved(page, path) {
            Some(target) => target,
            None => return Some("it leads out of the repository".into()),
        },
    };
    if here.is_none() && page.starts_with("docs/") && !target.starts_with("docs") {
        return Some("a link of the book that leads out of docs/ needs an address on GitHub".into());
    }
    let file = checkout().join(&target);
    if !file.exists() {
        return Some(format!("there is no {}", target.display()));
    }
    let heading = heading.filter(|_| file.extension().is_some_and(|ext| ext == "md"))?;
    let there = anchors(&parse(&std::fs::read_to_string(file).unwrap()));
    (!there.iter().any(|anchor| anchor == heading)).then(|| format!("{} has no #{heading}", target.display()))
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for name in all_pages() {
        for (link, line) in parse(&read(&name)).links {
            seen += 1;
            wrong.extend(trouble(&name, &link).map(|why| format!("{name}:{line}: {link}: {why}")));
        }
    }
    assert!(seen > 200, "only {seen} links were found");
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn a_link_to_nothing_is_found() {
    for bad in [
        "nothing.md",
        "install.md#nothing",
        "../README.md",
        "../../x",
        "https://github.com/ralph-board/ralph/blob/main/x",
    ] {
        assert!(trouble("docs/README.md", bad).is_some(), "{bad}");
    }
    for good in [
        "install.md#update",
        "https://example.org",
        "#ralph",
        "https://github.com/ralph-board/ralph/tree/main/examples",
    ] {
        assert_eq!(trouble("docs/README.md", good), None, "{good}");
    }
}

#[test]
fn every_page_of_the_book_is_in_its_summary() {
    let linked: Vec<PathBuf> = parse(&read("docs/SUMMARY.md"))
        .links
        .iter()
        .filter_map(|(link, _)| resolved("docs/SUMMARY.md", link))
        .collect();
    let pages = all_pages().into_iter().filter(|page| page.starts_with("docs/") && page != "docs/SUMMARY.md");
    let missing: Vec<String> = pages.filter(|page| !linked.contains(&PathBuf::from(page))).collect();
    assert_eq!(missing, Vec::<String>::new());
}
