//! The changes of a branch or a worktree since its merge base with main.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::program::{plain_git, run};
use super::repository::{GitError, Repository, other};
use crate::fs;

/// One file of a diff.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct FileDiff {
    pub path: String,
    /// The old name, if the file was renamed.
    pub old_path: Option<String>,
    pub status: &'static str,
    pub added: usize,
    pub removed: usize,
    pub binary: bool,
    pub hunks: Vec<Hunk>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Hunk {
    /// The function or section that git shows after the line numbers.
    pub section: String,
    pub lines: Vec<DiffLine>,
}

#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct DiffLine {
    /// `+`, `-`, or a space.
    pub mark: char,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<u32>,
    pub text: String,
    /// The file ends with this line, without a newline.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_newline: bool,
}

impl Repository {
    /// The last commit that two branches have in common.
    pub fn merge_base(&self, one: &str, two: &str) -> Result<String, GitError> {
        let said = run(self.program().args(["merge-base", one, two]), b"")?;
        match said.ok {
            true => Ok(said.stdout.trim().to_owned()),
            false => Err(other("find the merge base", &std::io::Error::other(said.stderr))),
        }
    }

    /// A comparison of `folder` with `against`, as for `git diff`. In a worktree, untracked files are included.
    pub fn comparison(&self, folder: &Path, against: &[&str], worktree: bool) -> Comparison {
        let against = against.iter().map(|side| (*side).to_owned()).collect();
        let index = if worktree { with_new_files(folder) } else { None };
        Comparison { folder: folder.to_owned(), against, index }
    }
}

/// Two sides to compare.
pub struct Comparison {
    folder: PathBuf,
    against: Vec<String>,
    /// A folder with a copy of the index that includes untracked files.
    index: Option<tempfile::TempDir>,
}

impl Comparison {
    fn git(&self) -> Command {
        let mut git = plain_git(&self.folder);
        git.envs(self.index.as_ref().map(|index| ("GIT_INDEX_FILE", index.path().join("index"))));
        git
    }

    /// Runs `git diff`, with the user's own pager, colors and diff settings.
    pub fn show(&self, stat: bool) -> std::io::Result<std::process::ExitStatus> {
        self.git().arg("diff").args(stat.then_some("--stat")).args(&self.against).arg("--").status()
    }

    /// The paths that differ, in order. For a renamed file, both names are listed.
    pub fn names(&self) -> Result<Vec<String>, GitError> {
        let mut git = self.git();
        git.args(["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff"]).args(&self.against).arg("--");
        let said = run(&mut git, b"")?;
        match said.ok {
            true => Ok(said.stdout.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect()),
            false => Err(other("compare the worktree with main", &std::io::Error::other(said.stderr))),
        }
    }

    /// The differences as data.
    pub fn files(&self) -> Result<Vec<FileDiff>, GitError> {
        let mut git = self.git();
        git.args(["-c", "core.quotePath=false", "diff", "--no-color", "--no-ext-diff", "--no-textconv"]);
        git.args(["--find-renames", "--src-prefix=a/", "--dst-prefix=b/", "-U3"]).args(&self.against).arg("--");
        let said = run(&mut git, b"")?;
        match said.ok {
            true => Ok(parse(&said.stdout)),
            false => Err(other("compare the worktree with main", &std::io::Error::other(said.stderr))),
        }
    }
}

/// A copy of the worktree's index with the untracked files added; the original is not changed. `None` if there are none.
fn with_new_files(worktree: &Path) -> Option<tempfile::TempDir> {
    let ask = |words: &[&str]| run(plain_git(worktree).args(words), b"").ok().filter(|said| said.ok);
    if ask(&["ls-files", "--others", "--exclude-standard", "--directory"])?.stdout.is_empty() {
        return None;
    }
    let index = ask(&["rev-parse", "--path-format=absolute", "--git-path", "index"])?.stdout;
    let folder = tempfile::Builder::new().prefix("ralph-").tempdir().ok()?;
    let copy = folder.path().join("index");
    if let Some(bytes) = fs::read(Path::new(index.trim_end())).ok()? {
        fs::write_new(&copy, &bytes, false).ok()?;
    }
    let mut git = plain_git(worktree);
    git.env("GIT_INDEX_FILE", copy).args(["add", "--intent-to-add", "--ignore-errors", "--", "."]);
    run(&mut git, b"").ok()?;
    Some(folder)
}

/// Parses git's unified diff.
pub fn parse(text: &str) -> Vec<FileDiff> {
    let mut files: Vec<FileDiff> = Vec::new();
    let (mut old, mut new) = (0, 0);
    let mut in_hunk = false;
    for line in text.split('\n') {
        if let Some(rest) = line.strip_prefix("diff --git ") {
            in_hunk = false;
            files.push(FileDiff { path: named(rest), status: "modified", ..FileDiff::default() });
            continue;
        }
        let Some(file) = files.last_mut() else { continue };
        if let Some(rest) = line.strip_prefix("@@ ") {
            let (numbers, section) = rest.split_once(" @@").unwrap_or((rest, ""));
            (old, new) = starts(numbers);
            in_hunk = true;
            file.hunks.push(Hunk { section: section.trim().to_owned(), lines: Vec::new() });
        } else if in_hunk {
            body(file, line, &mut old, &mut new);
        } else {
            head(file, line);
        }
    }
    files
}

fn head(file: &mut FileDiff, line: &str) {
    let plain = |path: &str| unquoted(path.trim_end_matches('\t'));
    let new_name = || match line.strip_prefix("rename to ") {
        Some(path) => Some(plain(path)),
        None => plain(line.strip_prefix("+++ ")?).strip_prefix("b/").map(str::to_owned),
    };
    if line.starts_with("new file") {
        file.status = "added";
    } else if line.starts_with("deleted file") {
        file.status = "removed";
    } else if let Some(path) = line.strip_prefix("rename from ") {
        (file.status, file.old_path) = ("renamed", Some(plain(path)));
    } else if let Some(path) = new_name() {
        file.path = path;
    } else if line.starts_with("new mode ") && file.status == "modified" {
        file.status = "mode changed";
    } else if line.starts_with("Binary files ") {
        file.binary = true;
    }
}

fn body(file: &mut FileDiff, line: &str, old: &mut u32, new: &mut u32) {
    let Some(hunk) = file.hunks.last_mut() else { return };
    let mark = match line.chars().next() {
        Some(mark @ ('+' | '-' | ' ')) => mark,
        // The line "\ No newline at end of file".
        Some('\\') => {
            hunk.lines.iter_mut().next_back().into_iter().for_each(|last| last.no_newline = true);
            return;
        }
        _ => return,
    };
    let mut numbered = DiffLine { mark, old: None, new: None, text: line[1..].to_owned(), no_newline: false };
    if mark != '+' {
        numbered.old = Some(*old);
        *old += 1;
    }
    if mark != '-' {
        numbered.new = Some(*new);
        *new += 1;
    }
    file.added += usize::from(mark == '+');
    file.removed += usize::from(mark == '-');
    hunk.lines.push(numbered);
}

/// Parses the first line numbers of both sides from `-1,4 +1,6`.
fn starts(numbers: &str) -> (u32, u32) {
    let first = |sign: char| {
        let part = numbers.split(' ').find_map(|part| part.strip_prefix(sign))?;
        part.split(',').next()?.parse().ok()
    };
    (first('-').unwrap_or(1), first('+').unwrap_or(1))
}

/// Decodes a name that git has quoted and escaped because of special characters.
fn unquoted(name: &str) -> String {
    let Some(inner) = name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else { return name.to_owned() };
    let (mut bytes, mut rest) = (Vec::new(), inner.as_bytes());
    while let Some((&first, after)) = rest.split_first() {
        let escaped = if first == b'\\' { after.split_first() } else { None };
        rest = match escaped {
            Some((digit @ b'0'..=b'3', more)) if more.len() >= 2 => {
                let octal = |byte: u8| byte.wrapping_sub(b'0') & 7;
                bytes.push((octal(*digit) << 6) | (octal(more[0]) << 3) | octal(more[1]));
                &more[2..]
            }
            Some((letter, more)) => {
                bytes.push(match letter {
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'r' => b'\r',
                    other => *other,
                });
                more
            }
            None => {
                bytes.push(first);
                after
            }
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The name in `a/x b/x`. Both are the same, because a rename has separate lines.
fn named(rest: &str) -> String {
    let half = rest.len() / 2;
    let (a, b) = (rest.get(..half).unwrap_or_default(), rest.get(half + 1..).unwrap_or_default());
    let (a, b) = (unquoted(a), unquoted(b));
    let same = a.strip_prefix("a/").filter(|a| Some(*a) == b.strip_prefix("b/"));
    same.map_or_else(|| rest.to_owned(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "diff --git a/a b.txt b/a b.txt\nindex 1..2 100644\n--- a/a b.txt\t\n+++ b/a b.txt\t\n@@ -1,2 +1,3 @@ fn main() {\n one\n-two\n+2\n+--- three\n\\ No newline at end of file\ndiff --git a/old b/new\nsimilarity index 90%\nrename from old\nrename to new\ndiff --git a/x.png b/x.png\nnew file mode 100644\nBinary files /dev/null and b/x.png differ\ndiff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye\n";

    #[test]
    fn a_diff_is_read_with_its_files_lines_and_numbers() {
        let files = parse(TEXT);
        let named: Vec<(&str, &str)> = files.iter().map(|file| (file.path.as_str(), file.status)).collect();
        assert_eq!(named, [("a b.txt", "modified"), ("new", "renamed"), ("x.png", "added"), ("gone", "removed")]);
        let first = &files[0];
        assert_eq!((first.added, first.removed, first.hunks[0].section.as_str()), (2, 1, "fn main() {"));
        let lines: Vec<_> = first.hunks[0].lines.iter().map(|l| (l.mark, l.old, l.new, l.text.as_str())).collect();
        assert_eq!(
            lines,
            [
                (' ', Some(1), Some(1), "one"),
                ('-', Some(2), None, "two"),
                ('+', None, Some(2), "2"),
                ('+', None, Some(3), "--- three"),
            ]
        );
        assert_eq!((files[1].old_path.as_deref(), files[2].binary, files[3].removed), (Some("old"), true, 1));
        assert!(first.hunks[0].lines[3].no_newline && !first.hunks[0].lines[2].no_newline);
        let odd = parse("diff --git \"a/q\\\"\\303\\274\" \"b/q\\\"\\303\\274\"\nold mode 100644\nnew mode 100755\n");
        assert_eq!((odd[0].path.as_str(), odd[0].status), ("q\"ü", "mode changed"));
        assert!(parse("").is_empty() && parse("nonsense\n@@ x").is_empty());
    }
}
