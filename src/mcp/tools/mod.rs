//! The tools of the board, one file each.

mod artifact;
mod claim;
mod create;
mod get;
mod list;
mod next;
mod relate;
mod save;
mod status;
pub mod value;

use super::tool::Tool;

pub fn all() -> Vec<Tool> {
    vec![
        next::next(),
        claim::claim(),
        claim::release(),
        get::get(),
        list::list(),
        save::save(),
        create::create(),
        save::note(),
        relate::relate(),
        create::split(),
        artifact::artifact(),
        status::status(),
    ]
}
