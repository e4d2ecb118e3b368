//! Copies files, folders and links. Nothing is overwritten, and no link is followed.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{FsError, named, refuse_outside};
use crate::os::files;

/// More threads would only wait for the disk.
const MOST_THREADS: usize = 4;

/// Copies a file, a link, or a folder with its content to a path that does not exist yet, and returns the number of files and
/// links. Folders that are repositories are left out. Where the file system supports it, copies share their blocks.
pub fn copy_tree(from: &Path, to: &Path) -> Result<usize, FsError> {
    copy_linked(from, to, &|_| true)
}

/// The same. A relative link that leads out of the tree keeps its text if `stays` is true for its target; otherwise it
/// is made absolute, so that it has the same target as before.
pub fn copy_linked(from: &Path, to: &Path, stays: &dyn Fn(&Path) -> bool) -> Result<usize, FsError> {
    copy_but(from, to, &is_repository, stays)
}

/// Whether a folder is a git repository, a worktree or a submodule.
pub fn is_repository(folder: &Path) -> bool {
    folder.join(".git").exists()
}

/// The same, without the folders for which `left_out` is true.
fn copy_but(
    from: &Path,
    to: &Path,
    left_out: &dyn Fn(&Path) -> bool,
    stays: &dyn Fn(&Path) -> bool,
) -> Result<usize, FsError> {
    named("copy to", to, refuse_outside(to.parent().unwrap_or(to)))?;
    let (mut files, mut links) = (Vec::new(), 0);
    for entry in walk(from).filter_entry(|entry| !entry.file_type().is_dir() || !left_out(entry.path())) {
        let entry = named("copy", from, entry.map_err(io::Error::from))?;
        let target = match entry.path().strip_prefix(from) {
            Ok(rest) if !rest.as_os_str().is_empty() => to.join(rest),
            _ => to.to_owned(),
        };
        if entry.file_type().is_dir() {
            named("create the folder", &target, std::fs::create_dir(&target))?;
        } else if entry.file_type().is_symlink() {
            named("copy", entry.path(), copy_link(entry.path(), &target, from, stays))?;
            links += 1;
        } else {
            files.push((entry.into_path(), target));
        }
    }
    copy_all(&files)?;
    Ok(files.len() + links)
}

/// Walks a tree without following any link, also not one at its root.
fn walk(root: &Path) -> walkdir::IntoIter {
    walkdir::WalkDir::new(root).follow_root_links(false).into_iter()
}

fn copy_link(link: &Path, to: &Path, tree: &Path, stays: &dyn Fn(&Path) -> bool) -> io::Result<()> {
    let (text, target) = (std::fs::read_link(link)?, target_of(link)?);
    let is_inside = link != tree && target.starts_with(tree);
    let text = if text.is_absolute() || is_inside || stays(&target) { text } else { target };
    files::symlink_to(text.as_os_str().as_encoded_bytes(), to)
}

/// The absolute target of a link, which may not exist.
fn target_of(link: &Path) -> io::Result<PathBuf> {
    let text = std::fs::read_link(link)?;
    let mut target = PathBuf::new();
    for part in link.parent().unwrap_or(Path::new("")).join(text).components() {
        match part {
            Component::ParentDir => drop(target.pop()),
            Component::CurDir => {}
            part => target.push(part),
        }
    }
    Ok(target)
}

/// Copies files with several threads.
fn copy_all(files: &[(PathBuf, PathBuf)]) -> Result<(), FsError> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS).min(files.len());
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((from, to)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            named("copy", from, copy_one(from, to))?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let started: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let own = work();
        started.into_iter().map(|thread| thread.join().expect("copying does not panic")).fold(own, Result::and)
    })
}

fn copy_one(from: &Path, to: &Path) -> io::Result<()> {
    match std::fs::symlink_metadata(from)?.file_type().is_file() {
        // `copy` shares the blocks on Btrfs, XFS and APFS.
        true => std::fs::copy(from, to).map(|_| ()),
        // A copied socket or pipe would be useless: it belongs to a running program.
        false => Ok(()),
    }
}

/// Moves a file, a link or a folder to a path that does not exist yet. To another file system, it is copied and then removed.
pub fn move_tree(from: &Path, to: &Path) -> Result<(), FsError> {
    match super::rename(from, to) {
        Err(error) if error.source.kind() == io::ErrorKind::CrossesDevices => {
            copy_whole(from, to)?;
            if super::itself(from)?.is_some_and(|meta| meta.is_dir()) {
                super::remove_tree(from)
            } else {
                super::remove(from)
            }
        }
        moved => moved,
    }
}

/// Like [`copy_tree`], but including folders that are repositories.
fn copy_whole(from: &Path, to: &Path) -> Result<usize, FsError> {
    copy_but(from, to, &|_| false, &|_| true)
}

/// Whether a folder is a repository or contains one.
pub fn has_repository(folder: &Path) -> bool {
    walk(folder).flatten().any(|entry| entry.file_type().is_dir() && is_repository(entry.path()))
}

/// Makes a link to a file or folder at a path that does not exist yet.
pub fn link_to(target: &Path, path: &Path) -> Result<(), FsError> {
    let link = || {
        refuse_outside(path.parent().unwrap_or(path))?;
        files::symlink_to(target.as_os_str().as_encoded_bytes(), path)
    };
    named("link", path, link())
}

/// Whether everything in `here` is also in `there`, with the same content. A link from `here` to `there`, or one with the
/// same target, counts as the same.
pub fn holds_nothing_new(here: &Path, there: &Path) -> bool {
    let same = |entry: walkdir::DirEntry| {
        let rest = entry.path().strip_prefix(here).unwrap_or(Path::new(""));
        let other = if rest.as_os_str().is_empty() { there.to_owned() } else { there.join(rest) };
        let kind = entry.file_type();
        if kind.is_symlink() {
            let (text, target) = (std::fs::read_link(entry.path()).ok(), target_of(entry.path()).ok());
            return text.is_some()
                && (target.as_ref() == Some(&other)
                    || text == std::fs::read_link(&other).ok()
                    || target == target_of(&other).ok());
        }
        let Ok(meta) = std::fs::symlink_metadata(&other) else { return false };
        if kind.is_dir() {
            return meta.is_dir();
        }
        let sizes = meta.is_file() && entry.metadata().is_ok_and(|own| own.len() == meta.len());
        sizes && super::read(entry.path()).ok().flatten() == super::read(&other).ok().flatten()
    };
    walk(here).all(|entry| entry.is_ok_and(same))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn a_folder_is_copied_without_the_repositories_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        write(&from.join("a/b.txt"), "b");
        write(&from.join("nested/.git/HEAD"), "ref");
        write(&from.join("nested/c.txt"), "c");
        files::symlink_to(b"a/b.txt", &from.join("link")).unwrap();
        assert_eq!(copy_tree(&from, &to).unwrap(), 2);
        assert_eq!(std::fs::read_to_string(to.join("a/b.txt")).unwrap(), "b");
        assert_eq!(std::fs::read_link(to.join("link")).unwrap(), Path::new("a/b.txt"));
        assert!(!to.join("nested").exists());
    }

    #[test]
    fn a_copied_link_has_the_same_target_as_before() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("deep/er/to"));
        write(&folder.path().join("shared/x"), "x");
        write(&from.join("a/b.txt"), "b");
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        for (text, name) in [("../../shared", "out"), ("b.txt", "in"), ("../../known", "stays"), ("../../gone", "gone")]
        {
            files::symlink_to(text.as_bytes(), &from.join("a").join(name)).unwrap();
        }
        let known = folder.path().join("known");
        assert_eq!(copy_linked(&from, &to, &|target| target == known).unwrap(), 5);
        let text = |name: &str| std::fs::read_link(to.join("a").join(name)).unwrap();
        assert_eq!(text("out"), folder.path().join("shared"));
        assert_eq!((text("in"), text("stays")), ("b.txt".into(), "../../known".into()));
        assert_eq!(text("gone"), folder.path().join("gone"));
        assert!(holds_nothing_new(&to, &from), "a link with the same target is not new");
        // The link itself, not what it leads to.
        assert_eq!(copy_linked(&from.join("a/out"), &folder.path().join("link"), &|_| false).unwrap(), 1);
        assert_eq!(std::fs::read_link(folder.path().join("link")).unwrap(), folder.path().join("shared"));
    }

    #[test]
    fn a_folder_is_moved_whole_also_to_another_file_system() {
        let folder = tempfile::tempdir().unwrap();
        // `/dev/shm`, if it exists, is another file system than the disk.
        let elsewhere = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        for to in [folder.path().join("to"), elsewhere.path().join("to")] {
            let from = folder.path().join("from");
            write(&from.join("a/b.txt"), "b");
            write(&from.join("nested/.git/HEAD"), "ref");
            files::symlink_to(b"a/b.txt", &from.join("link")).unwrap();
            move_tree(&from, &to).unwrap();
            assert!(!from.exists());
            assert_eq!(std::fs::read_to_string(to.join("nested/.git/HEAD")).unwrap(), "ref");
            assert_eq!(std::fs::read_link(to.join("link")).unwrap(), Path::new("a/b.txt"));
            write(&folder.path().join("one"), "1");
            move_tree(&folder.path().join("one"), &to.join("one")).unwrap();
            assert!(to.join("one").is_file() && !folder.path().join("one").exists());
        }
    }

    #[test]
    fn a_copy_holds_nothing_new_until_a_file_is_changed_or_added() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        write(&from.join("a/b.txt"), "b");
        write(&from.join("more.txt"), "x");
        copy_tree(&from.join("a"), &to).unwrap();
        assert!(holds_nothing_new(&to, &from.join("a")));
        write(&to.join("b.txt"), "c");
        assert!(!holds_nothing_new(&to, &from.join("a")));
        write(&to.join("b.txt"), "b");
        write(&to.join("new.txt"), "");
        assert!(!holds_nothing_new(&to, &from.join("a")));
    }
}
