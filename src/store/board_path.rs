//! Which paths of a repository belong to the board.

/// Folders that belong to the board: the board itself, and the documents that its tasks link.
pub const FOLDERS: [&str; 2] = [".ralph", "thoughts/shared"];

/// Whether a path is the board's alone; what a verb is just writing is nobody's.
pub fn is_board(path: &str) -> bool {
    let inside = FOLDERS.iter().any(|folder| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')));
    let name = path.rsplit('/').next().unwrap_or(path);
    // What editors and verbs leave beside a file for a moment.
    inside && !name.starts_with('.') && !name.ends_with('~')
}
