//! The git setup of `ralph init`: the merge driver of this clone, and the attributes that use it.

use std::io::Write as _;

use super::repository::{GitError, Repository, other};

/// Lines of `.gitattributes` that make git use the board's merge driver.
pub const ATTRIBUTES: [&str; 4] = [
    ".ralph/tasks/*.toml merge=ralph",
    ".ralph/archive/*.toml merge=ralph",
    ".ralph/notes/**/*.md merge=ralph",
    ".ralph/journal/*.jsonl merge=union",
];

/// The arguments of the merge driver, after the program's name.
pub const DRIVER: &str = "merge-driver %O %A %B %P";

impl Repository {
    /// The command that this clone runs to merge task files.
    pub fn merge_driver(&self) -> Option<String> {
        self.inner.config_snapshot().string("merge.ralph.driver").map(|command| command.to_string())
    }

    /// Sets the driver in the repository's own configuration, which is not copied to other clones.
    pub fn install_merge_driver(&self, program: &str) -> Result<(), GitError> {
        self.write_merge_driver(Some(program))
    }

    pub fn remove_merge_driver(&self) -> Result<(), GitError> {
        self.write_merge_driver(None)
    }

    fn write_merge_driver(&self, program: Option<&str>) -> Result<(), GitError> {
        let path = self.common.join("config");
        let doing = "set the merge driver in git's configuration";
        let mut lock = gix::lock::File::acquire_to_update_resource(
            &path,
            gix::lock::acquire::Fail::AfterDurationWithBackoff(std::time::Duration::from_secs(2)),
            None,
            0,
        )
        .map_err(|e| other(doing, &e))?;
        let mut file =
            gix::config::File::from_path_no_includes(path, gix::config::Source::Local).map_err(|e| other(doing, &e))?;
        file.remove_section("merge", "ralph");
        if let Some(program) = program {
            let mut section = file.new_section("merge", "ralph".to_owned()).map_err(|e| other(doing, &e))?;
            for (key, value) in [("name", "ralph task files"), ("driver", &format!("{program} {DRIVER}"))] {
                section.push(key, value).map_err(|e| other(doing, &e))?;
            }
        }
        let mut text = file.to_bstring().to_vec();
        if !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        lock.with_mut(|out| out.write_all(&text)).map_err(|e| other(doing, &e))?;
        lock.commit().map_err(|e| other(doing, &e.error))?;
        Ok(())
    }
}
