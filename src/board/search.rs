//! Ranks tasks for a search: every word must occur in the task, and the field in which it occurs decides the rank.

/// The texts of a task that are searched; earlier fields rank higher.
pub struct Searched<'a> {
    pub id: &'a str,
    pub title: &'a str,
    pub labels: &'a [String],
    pub description: &'a str,
    pub notes: &'a [String],
}

/// The rank; zero if some word does not occur in the task.
pub fn score(words: &[String], task: &Searched<'_>) -> u32 {
    let title = task.title.to_lowercase();
    let description = task.description.to_lowercase();
    let notes: Vec<String> = task.notes.iter().map(|note| note.to_lowercase()).collect();
    let labels: Vec<String> = task.labels.iter().map(|label| label.to_lowercase()).collect();
    let mut total = 0;
    for word in words {
        let mut points = found(&title, word, 40) + found(&description, word, 8);
        points += labels.iter().map(|label| found(label, word, 15)).max().unwrap_or(0);
        points += notes.iter().map(|note| found(note, word, 4)).max().unwrap_or(0);
        points += if task.id.to_lowercase().contains(word.as_str()) { 50 } else { 0 };
        if points == 0 {
            return 0;
        }
        total += points;
    }
    total
}

/// The points for a word in one text. A whole word counts double, and each further occurrence adds a little.
fn found(text: &str, word: &str, worth: u32) -> u32 {
    let mut points = 0;
    for (at, _) in text.match_indices(word) {
        let before = text[..at].chars().next_back().is_some_and(char::is_alphanumeric);
        let after = text[at + word.len()..].chars().next().is_some_and(char::is_alphanumeric);
        let here = if before || after { worth } else { worth * 2 };
        points = if points == 0 { here } else { (points + 1).min(worth * 3) };
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(words: &str, title: &str, description: &str) -> u32 {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        score(
            &words,
            &Searched { id: "t-x", title, labels: &["bug".into()], description, notes: &["seen on mac".into()] },
        )
    }

    #[test]
    fn a_title_beats_a_description_and_a_word_beats_a_part() {
        assert!(rank("sync", "Sync drops labels", "") > rank("sync", "Labels", "the sync drops them"));
        assert!(rank("sync", "Sync drops labels", "") > rank("sync", "Async labels", ""));
    }

    #[test]
    fn every_word_must_be_somewhere() {
        assert_eq!(rank("sync windows", "Sync drops labels", ""), 0);
        assert!(rank("sync mac bug", "Sync drops labels", "") > 0);
    }

    #[test]
    fn a_match_is_worth_more_in_the_id_and_title_than_in_the_text() {
        let at = |task: Searched<'_>| score(&["sync".into()], &task);
        let none = || Searched { id: "t-x", title: "", labels: &[], description: "", notes: &[] };
        let (labels, notes) = (["Sync".to_owned(), "x".to_owned()], ["no".to_owned(), "the sync".to_owned()]);
        assert_eq!(at(none()), 0);
        assert_eq!(at(Searched { id: "t-Sync", ..none() }), 50);
        assert_eq!(at(Searched { title: "The Sync", ..none() }), 80);
        assert_eq!(at(Searched { labels: &labels, ..none() }), 30);
        assert_eq!(at(Searched { description: "a SYNC.", ..none() }), 16);
        assert_eq!(at(Searched { notes: &notes, ..none() }), 8);
        assert_eq!(at(Searched { title: "Sync", description: "sync", ..none() }), 96);
    }

    #[test]
    fn a_whole_word_counts_double_and_each_further_place_a_little_up_to_a_limit() {
        for (title, points) in [
            ("async", 40),
            ("syncs", 40),
            ("sync", 80),
            ("sync-lock", 80),
            ("sync sync", 81),
            ("async sync", 41),
            (&"sync ".repeat(100), 120),
        ] {
            assert_eq!(rank("sync", title, ""), points, "{title}");
        }
    }

    #[test]
    fn each_word_adds_to_the_rank() {
        assert_eq!(rank("sync labels", "Sync labels", ""), 160);
    }
}
