//! Fuzz tests for every parser of untrusted input: no parser panics, and each keeps the properties that its target checks.
//!
//! `RALPH_FUZZ_CASES` is the number of inputs for each target, `RALPH_FUZZ_SEED` the first seed; a failure prints its seed.

#![allow(clippy::disallowed_methods)]

use std::path::Path;

use crate::agent::document::{DocumentKind, FrontMatter, files_modified, phases};
use crate::agent::host::{HOSTS, Report, denied_paths, trouble_in};
use crate::agent::{HookInput, calls};
use crate::config::{Settings, Source};
use crate::store::Store;
use crate::store::codec::{self, Doc};
use crate::store::index::IndexFile;
use crate::store::merge::{Side, merge, merge_taking};
use crate::store::{merge_journals, parse_journal, parse_note};
use crate::task::{Key, TaskId, Value};
use crate::workflow::Workflow;

/// Pieces of text that have a meaning for one of the parsers.
const PIECES: &[&str] = &[
    "title = \"x\"\n",
    "[artifacts]\n",
    "blocked_by = [\"t-a\"]\n",
    "\"\"\"",
    "'''",
    "\\u0000",
    "[[",
    "]]",
    "= ",
    "\n",
    "\r\n",
    "#",
    "{",
    "}",
    "\u{feff}",
    "\u{202e}",
    "\u{0}",
    "<<<<<<< a\n",
    "=======\n",
    ">>>>>>> b\n",
    "+++\n",
    "---\n",
    "# ",
    "- [ ] ",
    "## Phase 1: x (t-a)\n",
    "`",
    "```\n",
    "$(",
    "<<EOF\n",
    "'",
    "\\",
    "git commit",
    "sh -c ",
    "{\"id\":\"a\"",
    "null",
    "1e999",
    "9999-99-99T99:99:99Z",
    "🦀",
    "é",
    "\t",
    "|",
    "&&",
    ";",
    "type",
    "result",
];

const SEEDS: &[&str] = &[
    "id = \"t-x\"\ntitle = \"A task\"\nstate = \"Backlog\"\nlabels = [\"a\", \"b\"] # why\n\n[artifacts]\nplan = \"thoughts/x.md\"\n",
    "title = 'x'\ndescription = \"\"\"\nText\n\"\"\"\nparent = \"t-p\"\nblocked_by = [\n  \"t-a\", # one\n  \"t-b\",\n]\n[github]\nnumber = 7\n",
    "{\"id\":\"aaaa\",\"at\":\"2026-11-16T10:00:00Z\",\"by\":\"Ada\",\"verb\":\"task set\",\"changes\":[{\"task\":\"t-x\",\"key\":\"title\",\"old\":\"a\",\"new\":\"b\"}]}\n",
    "+++\nby = \"Ada\"\nat = 2026-11-16T10:00:00Z\n+++\nA note\n",
    "---\ntask: t-x\nstatus: draft\n---\n# Plan\n\n## Phase 1: it (t-x)\n- **depends_on**: null\n- **files**: `src/a.rs`\n- [ ] `cargo test`\n",
    "cd a && git -C b commit -m \"$(cat <<'EOF'\nx\nEOF\n)\" > out 2>&1 | tee log; find . -exec sh -c 'git push' \\;",
    "{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"git status\"},\"session_id\":\"s\"}",
    "{\"type\":\"result\",\"is_error\":true,\"result\":\"limit reached|1794935249\"}\n{\"type\":\"turn.failed\",\"error\":{\"message\":\"try again at 6:11 PM\"}}\n",
    "[agent]\ncommand = [\"sh\", \"x\"]\n[merge]\nchecks = [[\"cargo\", \"test\"]]\n[[on]]\nevent = \"moved\"\nrun = [\"x\"]\n",
    "[[state]]\nname = \"Todo\"\ninitial = true\n[[state]]\nname = \"Done\"\nterminal = true\n",
];

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// A seed with a few pieces inserted, removed, doubled or swapped.
fn mutated(rng: &mut fastrand::Rng) -> String {
    let mut text: Vec<char> = SEEDS[rng.usize(..SEEDS.len())].chars().collect();
    for _ in 0..rng.usize(..12) {
        let at = rng.usize(..=text.len());
        let end = (at + rng.usize(..24)).min(text.len());
        match rng.u8(..5) {
            0 => drop(text.splice(at..at, PIECES[rng.usize(..PIECES.len())].chars())),
            1 => drop(text.drain(at..end)),
            2 => {
                let again: Vec<char> = text[at..end].to_vec();
                let to = rng.usize(..=text.len());
                drop(text.splice(to..to, again));
            }
            3 => {
                let other: Vec<char> = SEEDS[rng.usize(..SEEDS.len())].chars().collect();
                let from = rng.usize(..other.len());
                let piece: Vec<char> = other[from..(from + 40).min(other.len())].to_vec();
                drop(text.splice(at..end, piece));
            }
            _ => drop(text.splice(at..at, [rng.char(..)])),
        }
    }
    text.into_iter().collect()
}

/// Runs a target on many inputs; a panic names the seed that reproduces it.
fn fuzz(target: impl Fn(&mut fastrand::Rng) + std::panic::RefUnwindSafe) {
    let first = number("RALPH_FUZZ_SEED", 1);
    for seed in first..first + number("RALPH_FUZZ_CASES", 2_000) {
        let run = std::panic::catch_unwind(|| target(&mut fastrand::Rng::with_seed(seed)));
        assert!(run.is_ok(), "RALPH_FUZZ_SEED={seed} RALPH_FUZZ_CASES=1 shows it again");
    }
}

#[test]
fn task_files_and_the_splicer() {
    let (id, flow) = (TaskId::new("t-x").unwrap(), Workflow::builtin());
    fuzz(|rng| {
        let text = mutated(rng);
        let _ = codec::read(&id, "t-x.toml", &text, &flow);
        let Ok(doc) = Doc::new(text.clone()) else { return };
        let keys = ["title", "labels", "artifacts.plan", "github.base.labels", "odd key"];
        let key = Key::new(keys[rng.usize(..keys.len())]);
        let value = [None, Some(Value::text("a\n\"'é")), Some(Value::texts(["x", "y"])), Some(Value::Integer(7))];
        let value = &value[rng.usize(..value.len())];
        if let Ok(edited) = doc.with(&key, value.as_ref()) {
            let again = Doc::new(edited.clone()).unwrap_or_else(|_| panic!("{text:?} with {key} became {edited:?}"));
            assert!(again.says(&key, value.as_ref()), "{text:?} with {key} = {value:?} became {edited:?}");
            // Nothing else changes: every comment is still there.
            for comment in codec::comments(&text).into_iter().filter(|_| value.is_some()) {
                assert!(edited.contains(comment), "{comment:?} of {text:?} is not in {edited:?}");
            }
        }
    });
}

#[test]
fn the_merge_driver() {
    fuzz(|rng| {
        let (base, ours, theirs) = (mutated(rng), mutated(rng), mutated(rng));
        if let Some(merged) = merge(&base, &ours, &theirs)
            && merged.conflicts.is_empty()
        {
            assert!(Doc::new(merged.text.clone()).is_ok() || merged.text == ours || merged.text == theirs);
        }
        let _ = merge_taking(&base, &ours, &theirs, Side::Theirs);
        assert_eq!(merge(&base, &ours, &base).map(|merged| merged.text), Some(ours.clone()), "nobody else changed it");
    });
}

#[test]
fn journals_and_notes() {
    fuzz(|rng| {
        let (ours, theirs) = (mutated(rng), mutated(rng));
        let lines = parse_journal(ours.as_bytes());
        let merged = merge_journals(&ours, &theirs);
        let kept = parse_journal(merged.as_bytes());
        for line in lines {
            assert!(kept.iter().any(|other| other.id == line.id), "{} of {ours:?} is not in {merged:?}", line.id);
        }
        let _ = parse_note("20261116-100000-abcd.md".into(), &ours);
    });
}

#[test]
fn shell_lines_hooks_and_what_agents_say() {
    fuzz(|rng| {
        let text = mutated(rng);
        if let Ok(found) = calls(&text, Path::new("/r")) {
            for call in found {
                let _ = (call.git(), call.writes(), call.is_unknown(), call.hides_git(&["commit"]));
            }
        }
        let _ = HookInput::parse(&text);
        for host in HOSTS {
            let report = Report::read(host, &text);
            let _ = trouble_in(&report, rng.i32(-1..200), &jiff::Zoned::now());
        }
        let _ = denied_paths([text.as_str()].into_iter());
    });
}

#[test]
fn documents_settings_and_workflows() {
    fuzz(|rng| {
        let text = mutated(rng);
        let _ = (FrontMatter::read(&text), phases(&text), files_modified(&text));
        let _ = text.parse::<DocumentKind>();
        let mut settings = Settings::defaults();
        if settings.add_file(Source::Board(".ralph/config.toml".into()), &text).is_ok() {
            let _ = (settings.untrusted(), settings.untrusted_words());
        }
        let _ = Workflow::parse(&text);
    });
}

/// An index from another program, or damaged on disk: it is read correctly, or rejected.
#[test]
fn the_index() {
    let folder = tempfile::tempdir().unwrap();
    let (root, local) = (folder.path().to_owned(), folder.path().join("local"));
    std::fs::create_dir_all(root.join(".ralph/tasks")).unwrap();
    for name in ["t-a", "t-b", "t-c"] {
        std::fs::write(root.join(format!(".ralph/tasks/{name}.toml")), "title = 'x'\nparent = 't-a'\n").unwrap();
    }
    let store = Store::new(root, local, Workflow::builtin());
    store.snapshot().unwrap();
    let path = store.index_path();
    let whole = std::fs::read(&path).unwrap();
    let read = |bytes: &[u8]| {
        crate::fs::write_over(&path, bytes, false).unwrap();
        let index = IndexFile::open(&path, store.reader())?;
        let id = TaskId::new("t-a").unwrap();
        let _ = (index.entry(&id), index.may_name(&id), index.touched(), index.folder());
        index.entries().map(|entries| entries.len())
    };
    assert_eq!(read(&whole), Some(3));
    let (whole, read) = (std::panic::AssertUnwindSafe(whole), std::panic::AssertUnwindSafe(read));
    fuzz(move |rng| {
        let mut bytes = whole.to_vec();
        for _ in 0..rng.usize(1..4) {
            let at = rng.usize(..bytes.len());
            match rng.u8(..3) {
                0 => bytes[at] ^= 1 << rng.u8(..8),
                1 => bytes.truncate(at.max(1)),
                _ => bytes.insert(at, rng.u8(..)),
            }
        }
        let _ = read(&bytes);
    });
}
