//! The patterns of a file with the syntax of `.gitignore`.

use gix::glob::pattern::Case;
use gix::ignore::Search;
use gix::ignore::search::Ignore;

use super::repository::Repository;

/// Patterns that are relative to the root of the repository.
pub struct Patterns {
    search: Search,
    case: Case,
}

impl Repository {
    pub fn patterns(&self, text: &[u8]) -> Patterns {
        let folds = self.inner.config_snapshot().boolean("core.ignoreCase") == Some(true);
        Patterns::read(text, if folds { Case::Fold } else { Case::Sensitive })
    }
}

impl Patterns {
    fn read(text: &[u8], case: Case) -> Self {
        let mut search = Search::default();
        // Only a root that does not contain the file is refused, and there is none.
        let _ = search.add_patterns_buffer(text, "patterns", None, Ignore { support_precious: false });
        Self { search, case }
    }

    /// Whether a folder, or one above it, is matched. Then everything in it is, because git cannot take back a part of a
    /// matched folder.
    pub fn match_folder(&self, path: &str) -> bool {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        ends.into_iter().any(|end| {
            let found = self.search.pattern_matching_relative_path(path[..end].into(), Some(true), self.case);
            found.is_some_and(|found| !found.pattern.is_negative())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_matched_itself_or_by_one_above_it() {
        let patterns = Patterns::read(b"node_modules/\n/build/*\n!/build/keep\n*.key\n", Case::Sensitive);
        for path in ["node_modules", "apps/web/node_modules", "node_modules/p/lib", "build/a", "old.key/x"] {
            assert!(patterns.match_folder(path), "{path}");
        }
        for path in ["apps", "apps/web", "build", "build/keep", "secrets"] {
            assert!(!patterns.match_folder(path), "{path}");
        }
    }
}
