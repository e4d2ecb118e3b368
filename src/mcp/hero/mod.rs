//! The board under the names and shapes of ralph-hero's tools, so that its agents and skills work on it.

use super::tool::Tool;

pub const ABOUT: &str = "A local board under the names of ralph-hero's tools: `number` is the number of an issue, or the id of a \
task that no issue mirrors.";

pub fn all() -> Vec<Tool> {
    Vec::new()
}
