//! `task search`: searches titles, labels, descriptions and notes; best match first.

use serde::Serialize;

use crate::app::view::task::{TaskView, views};
use crate::app::{Code, Failure, Workspace};
use crate::board::{Searched, Standings, score};

#[derive(Debug, Serialize)]
pub struct Hit {
    #[serde(flatten)]
    pub task: TaskView,
    pub score: u32,
    /// The line of the description or of a note that contains a word.
    pub excerpt: Option<String>,
}

pub fn search(ws: &Workspace, text: &str, all: bool, limit: usize) -> Result<Vec<Hit>, Failure> {
    let words: Vec<String> = text.to_lowercase().split_whitespace().map(str::to_owned).collect();
    if words.is_empty() {
        return Err(Failure::usage(Code::EmptySearch, "no words to search for"));
    }
    let board = ws.board()?;
    let mut found: Vec<(u32, usize, Option<String>)> = Vec::new();
    for (at, task) in board.tasks().iter().enumerate() {
        if !all && ws.flow().is_terminal(task.kind, &task.state) {
            continue;
        }
        let description = ws.store.load(&task.id).map(|file| file.description).unwrap_or_default();
        let notes: Vec<String> = ws.store.notes(&task.id)?.into_iter().map(|note| note.text).collect();
        let searched = Searched {
            id: task.id.as_str(),
            title: &task.title,
            labels: &task.labels,
            description: &description,
            notes: &notes,
        };
        let points = score(&words, &searched);
        if points > 0 {
            let excerpt = excerpt(&words, std::iter::once(&description).chain(&notes));
            found.push((points, at, excerpt));
        }
    }
    found.sort_by_key(|(points, at, _)| (std::cmp::Reverse(*points), *at));
    found.truncate(limit);
    let places: Vec<usize> = found.iter().map(|(_, at, _)| *at).collect();
    let standings = Standings::new(&board, ws.rules());
    let tasks = views(board, &standings, &places);
    Ok(tasks.into_iter().zip(found).map(|(task, (score, _, excerpt))| Hit { task, score, excerpt }).collect())
}

fn excerpt<'a>(words: &[String], texts: impl Iterator<Item = &'a String>) -> Option<String> {
    let mut lines = texts.flat_map(|text| text.lines());
    let line = lines.find(|line| words.iter().any(|word| line.to_lowercase().contains(word)))?;
    Some(line.trim().to_owned())
}
