//! Streams of work: tasks that change the same files or block one another share a stream; streams can run in parallel.

use serde::Serialize;

use crate::task::TaskId;

/// A task with the files that it will change and the tasks that it is blocked by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Footprint {
    pub task: TaskId,
    pub files: Vec<String>,
    pub blocked_by: Vec<TaskId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stream {
    /// In the order of the input.
    pub tasks: Vec<TaskId>,
    /// The files that more than one of them changes, sorted.
    pub shared_files: Vec<String>,
}

/// The streams, in the order of their first tasks. Blockers that are not in the list connect no tasks.
pub fn streams(footprints: &[Footprint]) -> Vec<Stream> {
    let mut left: Vec<&Footprint> = footprints.iter().collect();
    let mut found = Vec::new();
    while !left.is_empty() {
        let mut members = vec![left.remove(0)];
        while let Some(at) = left.iter().position(|other| members.iter().any(|member| touch(member, other))) {
            members.push(left.remove(at));
        }
        let place = |print: &&Footprint| footprints.iter().position(|other| other.task == print.task);
        members.sort_by_key(place);
        found.push(Stream {
            tasks: members.iter().map(|member| member.task.clone()).collect(),
            shared_files: shared(&members),
        });
    }
    found
}

fn touch(one: &Footprint, other: &Footprint) -> bool {
    let waits = |a: &Footprint, b: &Footprint| a.blocked_by.contains(&b.task);
    waits(one, other) || waits(other, one) || one.files.iter().any(|file| other.files.contains(file))
}

fn shared(members: &[&Footprint]) -> Vec<String> {
    let users = |file: &&String| members.iter().filter(|member| member.files.contains(file)).count();
    let mut files: Vec<String> =
        members.iter().flat_map(|member| &member.files).filter(|f| users(f) > 1).cloned().collect();
    files.sort();
    files.dedup();
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::testing::{id, ids};

    fn print(task: &str, files: &[&str], blocked_by: &[&str]) -> Footprint {
        let files = files.iter().map(|file| (*file).to_owned()).collect();
        Footprint { task: id(task), files, blocked_by: ids(blocked_by) }
    }

    #[test]
    fn tasks_share_a_stream_by_files_or_by_waiting_also_through_others() {
        let found = streams(&[
            print("a", &["x.rs"], &[]),
            print("b", &["z.rs"], &[]),
            print("c", &["y.rs"], &["a"]),
            print("d", &["y.rs", "w.rs"], &["outside"]),
            print("e", &["v.rs"], &["outside"]),
        ]);
        let tasks: Vec<Vec<TaskId>> = found.iter().map(|stream| stream.tasks.clone()).collect();
        assert_eq!(tasks, [ids(&["a", "c", "d"]), ids(&["b"]), ids(&["e"])]);
        assert_eq!(found[0].shared_files, ["y.rs"]);
        assert_eq!(streams(&[]), []);
    }
}
