//! Two clones of one mirrored board.

use std::path::{Path, PathBuf};

use super::Mirror;
use crate::fake::World;
use crate::sandbox::{Output, finish};

/// A mirrored board and a second clone of it; they share the board through git.
pub struct Pair {
    pub mirror: Mirror,
    pub second: PathBuf,
}

impl Pair {
    /// The tasks are added before the board is cloned, and mirrored on request.
    pub fn new(titles: &[&str], mirrored: bool) -> (Self, Vec<String>) {
        let mirror = Mirror::new();
        let ids: Vec<String> = titles.iter().map(|title| mirror.add(&[title])).collect();
        if mirrored {
            mirror.sync();
        }
        let second = mirror.sandbox.outside("second");
        let pair = Self { mirror, second };
        pair.commit();
        let (root, folder) = (pair.mirror.sandbox.root(), pair.second.display().to_string());
        pair.mirror.sandbox.git(&["clone", "-q", &root.display().to_string(), &folder]);
        pair.git(&["remote", "set-url", "origin", "git@github.com:acme/app.git"]);
        pair.git(&["remote", "add", "first", &root.display().to_string()]);
        pair.mirror.sandbox.git(&["remote", "add", "second", &folder]);
        let _ = pair.b(&["init"]).ok();
        (pair, ids)
    }

    pub fn git(&self, args: &[&str]) {
        let done = self.mirror.sandbox.git_in(&self.second, args);
        assert_eq!(done.code, 0, "git {args:?}: {done}");
    }

    pub fn a(&self, args: &[&str]) -> Output {
        self.mirror.ralph(args)
    }

    pub fn b(&self, args: &[&str]) -> Output {
        finish(self.mirror.command(&self.second).args(args))
    }

    pub fn commit(&self) {
        self.mirror.ralph(&["commit"]).ok();
    }

    /// Merges the board of the first clone into the second.
    pub fn to_b(&self) {
        self.commit();
        self.b(&["commit"]).ok();
        self.git(&["fetch", "-q", "first"]);
        self.merge(&self.second, "first/main");
    }

    pub fn to_a(&self) {
        self.b(&["commit"]).ok();
        self.commit();
        self.mirror.sandbox.git(&["fetch", "-q", "second"]);
        self.merge(&self.mirror.sandbox.root(), "second/main");
    }

    /// The merge must not conflict. If it does, the three versions of each file are shown.
    #[track_caller]
    fn merge(&self, folder: &Path, branch: &str) {
        let sandbox = &self.mirror.sandbox;
        let done = sandbox.git_in(folder, &["merge", "-q", "--no-edit", branch]);
        if done.code != 0 {
            let torn = sandbox.git_in(folder, &["diff", "--name-only", "--diff-filter=U"]).stdout;
            let versions = torn.lines().flat_map(|file| {
                [1, 2, 3].map(|side| sandbox.git_in(folder, &["show", &format!(":{side}:{file}")]).stdout)
            });
            panic!("merge of {branch}: {done}\n{}", versions.collect::<Vec<_>>().join("\n-----\n"));
        }
    }

    /// Both clones sync and share until nothing is left to do.
    #[track_caller]
    pub fn rest(&self) {
        for _ in 0..3 {
            self.a(&["sync"]).ok();
            self.to_b();
            self.b(&["sync"]).ok();
            self.to_a();
        }
        for said in [self.a(&["sync", "--json"]), self.b(&["sync", "--json"])] {
            assert_eq!(said.json()["plan"]["rows"], serde_json::json!([]));
        }
    }

    #[track_caller]
    pub fn field(&self, clone: char, task: &str, field: &str) -> String {
        let shown = if clone == 'a' { self.a(&["show", task, "--json"]) } else { self.b(&["show", task, "--json"]) };
        match &shown.json()[field] {
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }

    #[track_caller]
    pub fn open_issues(&self, title: &str) -> Vec<u32> {
        self.mirror.world(|world: &mut World| world.open_issues_titled(title))
    }
}
