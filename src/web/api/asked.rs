//! The query string: the filters of the board.

use axum::http::Uri;

use crate::app::ListAsk;

/// The names and values of the query, in order.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    pairs: Vec<(String, String)>,
}

/// The parameters that select tasks; all others only affect how the page shows them.
const FILTERS: [&str; 14] = [
    "state", "role", "ready", "blocked", "owner", "mine", "label", "priority", "estimate", "parent", "kind", "open",
    "q", "sort",
];

impl Asked {
    pub fn of(uri: &Uri) -> Self {
        let pairs = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
        Self { pairs: pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect() }
    }

    pub fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let set = move |(known, value): &&(String, String)| known == name && !value.is_empty();
        self.pairs.iter().filter(set).map(|(_, value)| value.as_str())
    }

    pub fn one(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(known, value)| known == name && !value.is_empty()).map(|(_, value)| value.as_str())
    }

    /// A key that is the same for the same filters.
    pub fn key(&self) -> String {
        let chosen = self.pairs.iter().filter(|(name, _)| FILTERS.contains(&name.as_str()));
        form_urlencoded::Serializer::new(String::new()).extend_pairs(chosen).finish()
    }

    pub fn list(&self) -> ListAsk {
        let many = |name: &str| self.all(name).map(str::to_owned).collect::<Vec<_>>();
        let one = |name: &str| self.one(name).map(str::to_owned);
        let flag = |name: &str| self.one(name).is_some();
        ListAsk {
            state: many("state"),
            role: one("role"),
            ready: flag("ready"),
            blocked: flag("blocked"),
            owner: many("owner"),
            mine: flag("mine"),
            label: many("label"),
            priority: many("priority"),
            estimate: many("estimate"),
            parent: one("parent"),
            kind: many("kind"),
            // Finished tasks are included unless only unfinished ones are requested.
            all: !flag("open"),
            search: one("q"),
            sort: many("sort"),
            limit: None,
        }
    }
}
