//! Decides which paths of a repository belong to the board.

/// Folders that belong to the board: the board itself, and the documents that its tasks link.
pub const FOLDERS: [&str; 2] = [".ralph", "thoughts/shared"];

/// Whether a path belongs to the board; temporary files do not.
pub fn is_board(path: &str) -> bool {
    let inside = FOLDERS.iter().any(|folder| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')));
    let name = path.rsplit('/').next().unwrap_or(path);
    // Editors and verbs write temporary files with such names.
    inside && !name.starts_with('.') && !name.ends_with('~')
}
