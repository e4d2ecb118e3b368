//! The version is the same everywhere, and has a section in the changelog.

use super::read;

const VERSION: &str = env!("CARGO_PKG_VERSION");

#[test]
fn the_changelog_has_this_version_and_a_place_for_the_next() {
    let text = read("CHANGELOG.md");
    let versions: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("## [")?.split(']').next()).collect();
    assert_eq!(versions.first(), Some(&"Unreleased"));
    assert!(versions.contains(&VERSION), "CHANGELOG.md has no part for {VERSION}: {versions:?}");
    for version in versions {
        assert!(text.contains(&format!("\n[{version}]: https://")), "[{version}] has no link");
    }
    let kinds = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];
    for line in text.lines().filter_map(|line| line.strip_prefix("### ")) {
        assert!(kinds.contains(&line), "{line} is not one of {kinds:?}");
    }
}

#[test]
fn pages_and_examples_name_this_version() {
    let action = read("docs/examples/board.yml");
    assert!(action.contains(&format!("ralph@v{VERSION}\n")) && action.contains(&format!("version: {VERSION}\n")));
    assert!(read("docs/install.md").contains(&format!("\nralph {VERSION} (")));
    let lock = read("Cargo.lock");
    assert!(lock.contains(&format!("name = \"ralph-board\"\nversion = \"{VERSION}\"\n")));
}
