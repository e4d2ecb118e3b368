//! The twenty policy checks: each blocks what it forbids and allows the rest, on the input that Claude Code writes.
//!
//! The shapes of the input and the meaning of the exit codes are those of Claude Code's hooks reference,
//! <https://code.claude.com/docs/en/hooks>: `hook-input` (session_id, transcript_path, cwd, permission_mode,
//! hook_event_name), PreToolUse and PostToolUse (tool_name, tool_input, tool_use_id, tool_response), PostToolUseFailure
//! (error, is_interrupt), Stop and SubagentStop (stop_hook_active, agent_id, agent_type, last_assistant_message),
//! TaskCompleted (task_id, task_subject, task_description, teammate_name, team_name), TeammateIdle (teammate_name,
//! team_name); exit 0 allows the call, 2 blocks it and shows stderr to the agent, and any other code is an error that
//! blocks nothing.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::sandbox::{Output, RALPH, Sandbox, finish};
use crate::system::{make_program, symlink};

/// A repository with one commit and hand-written tasks.
struct Stage(Sandbox);

impl Stage {
    fn new(tasks: &[(&str, &str)]) -> Self {
        let sandbox = Sandbox::new();
        for (id, text) in tasks {
            sandbox.write_task(id, format!("title = 'Work {id}'\n{text}\n"));
        }
        std::fs::write(sandbox.root().join("code.txt"), "one\n").unwrap();
        sandbox.git(&["add", "-A"]);
        sandbox.git(&["commit", "-q", "-m", "base"]);
        Self(sandbox)
    }

    /// A task in progress, claimed by a builder, with its worktree.
    fn implementing(id: &str) -> Self {
        let stage = Self::new(&[(id, "state = 'Plan in Review'")]);
        stage.claim(id, "builder", "implement");
        stage.0.ralph(&["worktree", "add", id]).ok();
        stage
    }

    fn root(&self) -> PathBuf {
        self.0.root().canonicalize().unwrap()
    }

    fn worktree(&self, id: &str) -> PathBuf {
        self.root().join("worktrees").join(id)
    }

    fn claim(&self, id: &str, worker: &str, command: &str) {
        self.0.ralph(&["claim", id, "--as", worker, "--for", command]).ok();
    }

    fn document(&self, kind: &str, id: &str) -> String {
        self.0.hand_in(kind, id)
    }

    fn ask(&self, gate: &str, worker: Option<&str>, input: &Value) -> Output {
        let mut command = self.0.command(RALPH, &self.0.root());
        command.args(["hook", gate]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(worker) = worker {
            command.env("RALPH_WORKER", worker);
        }
        let mut child = command.spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.to_string().as_bytes()).unwrap();
        let raw = child.wait_with_output().unwrap();
        Output {
            stdout: String::from_utf8(raw.stdout).unwrap(),
            stderr: String::from_utf8(raw.stderr).unwrap(),
            code: raw.status.code().unwrap(),
        }
    }

    /// Asserts that the check blocks, with one line for the reason and one for the alternative.
    #[track_caller]
    fn blocks(&self, gate: &str, worker: Option<&str>, input: &Value) -> String {
        let said = self.ask(gate, worker, input).fails(2);
        assert_eq!(said.trim_end().lines().count(), 2, "{said}");
        // Every `ralph` command that the message suggests is valid.
        for line in said.split('`').skip(1).step_by(2).filter(|line| line.starts_with("ralph ")) {
            let typed = self
                .0
                .command("sh", &self.0.root())
                .args(["-c", &format!("{line} --board /nowhere")])
                .env("PATH", format!("{}:/usr/bin:/bin", bin().display()))
                .output();
            let typed = String::from_utf8(typed.unwrap().stderr).unwrap();
            assert!(typed.contains("/nowhere is not a folder"), "{line}: {typed}");
        }
        said
    }

    #[track_caller]
    fn allows(&self, gate: &str, worker: Option<&str>, input: &Value) {
        let out = self.ask(gate, worker, input);
        assert_eq!((out.code, out.stdout.as_str(), out.stderr.as_str()), (0, "", ""), "{gate} {input}");
    }

    fn common(&self, event: &str, cwd: &Path, more: Value) -> Value {
        let mut input = json!({
            "session_id": "00893aaf-19fa-41d2-8238-13269b9b3ca0",
            "transcript_path": "/home/ada/.claude/projects/repo/00893aaf.jsonl",
            "cwd": cwd,
            "permission_mode": "default",
            "hook_event_name": event,
        });
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        input
    }

    fn bash_in(&self, cwd: &Path, line: &str) -> Value {
        let tool = json!({ "command": line, "description": "Do it", "timeout": 120_000 });
        self.common("PreToolUse", cwd, json!({ "tool_name": "Bash", "tool_input": tool, "tool_use_id": "toolu_01ABC" }))
    }

    fn bash(&self, line: &str) -> Value {
        self.bash_in(&self.root(), line)
    }

    fn bashed(&self, cwd: &Path, line: &str, stderr: &str) -> Value {
        let tool = json!({ "command": line });
        let response = json!({ "stdout": "", "stderr": stderr, "interrupted": false, "isImage": false });
        let more =
            json!({ "tool_name": "Bash", "tool_input": tool, "tool_response": response, "tool_use_id": "toolu_1" });
        self.common("PostToolUse", cwd, more)
    }

    fn write_in(&self, cwd: &Path, file: impl AsRef<Path>) -> Value {
        let tool = json!({ "file_path": file.as_ref(), "content": "x" });
        self.common(
            "PreToolUse",
            cwd,
            json!({ "tool_name": "Write", "tool_input": tool, "tool_use_id": "toolu_01ABC" }),
        )
    }

    fn write(&self, file: impl AsRef<Path>) -> Value {
        self.write_in(&self.root(), file)
    }

    fn stop(&self) -> Value {
        self.common("Stop", &self.root(), json!({ "stop_hook_active": false, "last_assistant_message": "Done." }))
    }

    fn commit_in(&self, folder: &Path) {
        std::fs::write(folder.join("new.txt"), "x").unwrap();
        self.0.git_in(folder, &["add", "-A"]).ok();
        self.0.git_in(folder, &["commit", "-q", "-m", "work"]).ok();
    }
}

/// The folder of the tested program.
fn bin() -> PathBuf {
    Path::new(RALPH).parent().unwrap().to_owned()
}

const BUILDER: Option<&str> = Some("builder");

#[test]
fn branch_gate_keeps_who_does_not_implement_on_main() {
    let stage = Stage::new(&[("t-ab", "state = 'Research Needed'")]);
    stage.claim("t-ab", "analyst-2", "research");
    let analyst = Some("analyst-2");
    stage.allows("branch-gate", analyst, &stage.bash("ls"));
    stage.0.git(&["switch", "-q", "-c", "elsewhere"]);
    let said = stage.blocks("branch-gate", analyst, &stage.bash("git commit -am x"));
    assert!(said.contains("on elsewhere") && said.contains("switch main`"), "{said}");
    stage.blocks("branch-gate", analyst, &stage.bash("git commit -am x; git switch main"));
    stage.allows("branch-gate", analyst, &stage.bash("git switch main && ls"));
    stage.allows("branch-gate", analyst, &stage.bash("git status"));
    stage.allows("branch-gate", analyst, &stage.bash("ralph escalate t-ab"));
    stage.allows("branch-gate", None, &stage.bash("git commit -am x"));
    stage.0.git(&["switch", "-q", "--detach"]);
    assert!(stage.blocks("branch-gate", analyst, &stage.bash("make")).contains("detached"));
}

#[test]
fn who_does_not_implement_writes_documents_and_no_code() {
    let stage = Stage::new(&[("t-ab", "state = 'Research Needed'")]);
    stage.claim("t-ab", "analyst-2", "research");
    let analyst = Some("analyst-2");
    for line in ["echo x > src.rs", "sed -i s/a/b/ src/main.rs", "touch .ralph/tasks/t-ab.toml"] {
        let said = stage.blocks("impl-branch-gate", analyst, &stage.bash(line));
        assert!(said.contains("research of t-ab can only write its document"), "{said}");
    }
    stage.blocks("impl-worktree-gate", analyst, &stage.write("src/main.rs"));
    stage.allows("impl-worktree-gate", analyst, &stage.write("thoughts/shared/research/x.md"));
    stage.allows("impl-branch-gate", analyst, &stage.bash("echo x > /tmp/x; git log > thoughts/x"));
    stage.blocks("impl-branch-gate", analyst, &stage.bash("git commit -am x"));
    stage.allows("impl-branch-gate", analyst, &stage.bash("git switch main; git log; git add thoughts; ralph commit"));
    stage.allows("impl-branch-gate", None, &stage.bash("echo x > src.rs"));
}

#[test]
fn git_itself_refuses_a_session_that_implements_on_main() {
    let stage = Stage::implementing("t-ab");
    let root = stage.root();
    stage.0.git(&["config", "user.name", "Ada"]);
    let hook = root.join(".git/hooks/pre-commit");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, "#!/bin/sh\ntouch \"$HOME/hook-ran\"\n").unwrap();
    make_program(&hook);
    let file = stage.0.outside("env.sh");
    let start = finish(stage.0.command(RALPH, &root).args(["hook", "session-start"]).env("CLAUDE_ENV_FILE", &file));
    assert_eq!(start.code, 0, "{start}");
    let shell = |session: &str, line: &str| {
        let mut shell = stage.0.command("sh", &root);
        let path = format!("{}:{}", bin().display(), std::env::var("PATH").unwrap());
        shell.env("PATH", path).env("CLAUDE_CODE_SESSION_ID", session);
        finish(shell.args(["-c", &format!(". {}; {line}", file.display())]))
    };
    // The claim was taken in that session.
    let words = ["claim", "t-ab", "--for", "implement", "--as", "builder"];
    let claim = finish(stage.0.command(RALPH, &root).args(words).env("CLAUDE_CODE_SESSION_ID", "s-1"));
    assert_eq!(claim.code, 0, "{claim}");
    let before = stage.0.git(&["rev-parse", "main"]);
    let hidden =
        "python3 -c \"import subprocess; subprocess.run(['git', 'commit', '--allow-empty', '-qm', 'x'], check=True)\"";
    let said = shell("s-1", hidden);
    assert!(said.code != 0 && said.stderr.contains("works on t-ab in this session"), "{said}");
    assert_eq!(stage.0.git(&["rev-parse", "main"]), before);
    let said = shell("s-1", "cd worktrees/t-ab && git commit --allow-empty -qm x");
    assert_eq!(said.code, 0, "{said}");
    assert!(stage.0.home().join("hook-ran").exists(), "the repository's own hooks run");
    assert_eq!(shell("s-2", hidden).code, 0, "another session has no worker");
}

#[test]
fn branch_gate_leaves_an_implementer_alone() {
    let stage = Stage::implementing("t-ab");
    stage.0.git(&["switch", "-q", "-c", "elsewhere"]);
    stage.allows("branch-gate", BUILDER, &stage.bash("make"));
}

#[test]
fn impl_branch_gate_sees_through_every_way_to_call_git_on_main() {
    let stage = Stage::implementing("t-ab");
    let (root, worktree) = (stage.root(), stage.worktree("t-ab"));
    let root_text = root.display();
    for line in [
        "git commit -m x".to_owned(),
        "git add -A && git status".to_owned(),
        "VAR=1 git push".to_owned(),
        "sh -c 'git commit -m x'".to_owned(),
        format!("cd {root_text} && git reset --hard"),
        format!("git -C {root_text} merge feature/t-ab"),
        format!("cd worktrees/t-ab && git commit -m x && git -C {root_text} rebase x"),
        "git commit -m \"$(cat <<'EOF'\ndon't\nEOF\n)\"".to_owned(),
    ] {
        let said = stage.blocks("impl-branch-gate", BUILDER, &stage.bash(&line));
        assert!(said.contains("t-ab") && said.contains("worktrees/t-ab"), "{line}: {said}");
    }
    for line in ["git push origin HEAD:main", "git push origin main", "git branch -f main HEAD", "git switch main"] {
        stage.blocks("impl-branch-gate", BUILDER, &stage.bash_in(&worktree, line));
    }
    let said = stage.blocks("impl-branch-gate", BUILDER, &stage.bash("cd $SOMEWHERE && git commit -m x"));
    assert!(said.contains("in which repository"), "{said}");
    for line in [
        "env -C .. git -C $X commit -m x",
        "echo 'git commit' | sh",
        "X=git; $X commit -m x",
        "python3 -c \"import os; os.system('git commit -m x')\"",
        "git ci -m x",
        "git update-ref --stdin",
        "git push origin 'refs/heads/*:refs/heads/*'",
        "git fetch -u . HEAD:main",
        "export GIT_DIR=x; git commit",
        "git -c core.hooksPath=/dev/null commit",
        "echo x > outside.txt",
        "sed -i s/a/b/ $PWD/src/main.rs",
        "sed -i s/a/b/ .ralph/tasks/t-ab.toml",
        "cp x src/y && true",
    ] {
        stage.blocks("impl-branch-gate", BUILDER, &stage.bash(line));
    }
    for line in [
        "git status",
        "git log --oneline",
        "cd worktrees/t-ab && git commit -m x",
        "git -C worktrees/t-ab add .",
        "echo git commit",
        "git branch -a",
        "git stash list",
        "git fetch origin",
        "git config user.name",
        "cd worktrees/t-ab && echo x > a && sed -i s/a/b/ a && python3 -m pytest > log 2>&1",
        "echo x > thoughts/x.md",
        "make > /tmp/log",
    ] {
        stage.allows("impl-branch-gate", BUILDER, &stage.bash(line));
    }
    for line in [
        "git add -A && git commit -m x",
        "git push -u origin feature/t-ab",
        "git rebase main",
        "git checkout main -- code.txt",
    ] {
        stage.allows("impl-branch-gate", BUILDER, &stage.bash_in(&worktree, line));
    }
    stage.allows("impl-branch-gate", None, &stage.bash("git commit -m x"));
    // Commits in another repository are allowed.
    let other = stage.0.outside("other");
    std::fs::create_dir(&other).unwrap();
    stage.0.git_in(&other, &["init", "-q", "-b", "main"]).ok();
    stage.allows("impl-branch-gate", BUILDER, &stage.bash(&format!("git -C {} commit -m x", other.display())));
    // A caller inside the worktree is identified by the worktree.
    stage.blocks("impl-branch-gate", None, &stage.bash_in(&worktree, &format!("git -C {root_text} commit -m x")));
}

#[test]
fn a_session_that_took_a_task_is_gated_as_its_worker() {
    let stage = Stage::new(&[("one", "state = 'Plan in Review'"), ("two", "state = 'Plan in Review'")]);
    let mut command = stage.0.command(RALPH, &stage.0.root());
    command.env("CLAUDE_CODE_SESSION_ID", "s-1").args(["claim", "one", "--as", "builder", "--for", "implement"]);
    assert!(command.output().unwrap().status.success());
    let commit = |session: &str| {
        json!({ "hook_event_name": "PreToolUse", "session_id": session, "cwd": stage.root(), "tool_name": "Bash",
            "tool_input": { "command": "git commit -am x" } })
    };
    let why = stage.blocks("impl-branch-gate", None, &commit("s-1"));
    assert!(why.contains("one is being implemented"), "{why}");
    stage.allows("impl-branch-gate", None, &commit("s-2"));
    let write = json!({ "hook_event_name": "PreToolUse", "session_id": "s-1", "cwd": stage.root(), "tool_name": "Write",
        "tool_input": { "file_path": stage.root().join("code.txt"), "content": "x" } });
    stage.blocks("impl-worktree-gate", None, &write);
}

#[test]
fn a_command_that_cannot_be_parsed_is_blocked_by_every_gate_before_it() {
    let stage = Stage::implementing("t-ab");
    let deep = format!("{}ralph move t-ab done{}", "(".repeat(100), ")".repeat(100));
    for line in ["git status 'x", "ralph move t-ab done \"$(date\"", "(cat <<E) && git push\nx\nE", &deep] {
        for gate in ["impl-branch-gate", "convergence-gate", "plan-state-gate", "review-state-gate", "impl-state-gate"]
        {
            let said = stage.blocks(gate, BUILDER, &stage.bash(line));
            assert!(said.contains("cannot parse the command"), "{gate}: {said}");
        }
        // A check after the command cannot block it any more.
        stage.allows("impl-verify-commit", BUILDER, &stage.bashed(&stage.root(), line, ""));
    }
    let stage = Stage::new(&[("t-ab", "state = 'Research Needed'")]);
    stage.claim("t-ab", "analyst-2", "research");
    stage.0.git(&["switch", "-q", "-c", "elsewhere"]);
    stage.blocks("branch-gate", Some("analyst-2"), &stage.bash("git switch main && ls 'x"));
    stage.blocks("branch-gate", Some("analyst-2"), &stage.bash("'"));
}

/// A task that a builder implements, with a plan that changes `src/` and `README.md`.
fn scoped(mode: &str) -> Stage {
    let plan = |id: &str| format!("thoughts/shared/plans/2026-11-18-{id}-x.md");
    let task = |id: &str| format!("state = 'Plan in Review'\n[artifacts]\nplan = '{}'", plan(id));
    let stage = Stage::new(&[("t-ab", &task("t-ab")), ("t-cd", &task("t-cd"))]);
    for (id, files) in [("t-ab", "`src/`, `README.md`"), ("t-cd", "`docs/`")] {
        let file = stage.root().join(plan(id));
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, format!("# Plan\n## Phase 1: It\n- **files**: {files}\n- [ ] it\n")).unwrap();
    }
    std::fs::write(stage.root().join(".gitignore"), "target/\n").unwrap();
    stage.0.ralph(&["config", "set", "scopes.mode", mode]).ok();
    stage.claim("t-ab", "builder", "implement");
    stage.claim("t-cd", "builder-2", "implement");
    stage.0.ralph(&["worktree", "add", "t-ab"]).ok();
    stage
}

#[test]
fn impl_worktree_gate_keeps_to_the_files_of_the_claim_where_scopes_are_strict() {
    let stage = scoped("strict");
    let own = stage.worktree("t-ab");
    for file in ["src/a.rs", "README.md", "target/debug/x", "thoughts/shared/research/x.md"] {
        stage.allows("impl-worktree-gate", BUILDER, &stage.write_in(&own, file));
    }
    stage.allows("impl-branch-gate", BUILDER, &stage.bash_in(&own, "echo x > src/b.rs"));
    let outside = stage.blocks("impl-worktree-gate", BUILDER, &stage.write_in(&own, "Cargo.toml"));
    assert!(outside.contains("Cargo.toml is outside the scope of t-ab: README.md, src\n"), "{outside}");
    assert!(
        outside.contains("add it to a `files` line of the plan") && outside.contains("`ralph renew t-ab"),
        "{outside}"
    );
    stage.blocks("impl-branch-gate", BUILDER, &stage.bash_in(&own, "echo x > Cargo.toml"));
    let held = stage.blocks("impl-worktree-gate", BUILDER, &stage.write_in(&own, "docs/x.md"));
    assert!(held.contains("docs/x.md is in the scope of t-cd, which is claimed by builder-2\n"), "{held}");

    let plan = stage.root().join("thoughts/shared/plans/2026-11-18-t-ab-x.md");
    let text = std::fs::read_to_string(&plan).unwrap().replace("`src/`", "`src/`, `Cargo.toml`");
    std::fs::write(&plan, text).unwrap();
    let planned = stage.blocks("impl-worktree-gate", BUILDER, &stage.write_in(&own, "Cargo.toml"));
    assert!(planned.contains("Cargo.toml is in the plan of t-ab, but not yet covered by its claim\n"), "{planned}");
    stage.0.ralph(&["renew", "t-ab", "--as", "builder"]).ok();
    stage.allows("impl-worktree-gate", BUILDER, &stage.write_in(&own, "Cargo.toml"));
}

#[test]
fn impl_worktree_gate_allows_every_file_of_the_worktree_where_scopes_are_only_told() {
    let stage = scoped("tell");
    for file in ["Cargo.toml", "docs/x.md", "src/a.rs"] {
        stage.allows("impl-worktree-gate", BUILDER, &stage.write_in(&stage.worktree("t-ab"), file));
    }
}

#[test]
fn impl_worktree_gate_takes_this_tasks_worktree_and_no_other() {
    let stage = Stage::new(&[("t-ab", "state = 'Plan in Review'"), ("t-abc", "state = 'Plan in Review'")]);
    stage.claim("t-ab", "builder", "implement");
    stage.claim("t-abc", "builder-2", "implement");
    let none = stage.blocks("impl-worktree-gate", BUILDER, &stage.write("src/a.rs"));
    assert!(none.contains("`ralph worktree add t-ab`"), "{none}");
    stage.0.ralph(&["worktree", "add", "t-ab"]).ok();
    stage.0.ralph(&["worktree", "add", "t-abc"]).ok();
    let (own, other) = (stage.worktree("t-ab"), stage.worktree("t-abc"));
    for file in [
        "code.txt",
        "worktrees/t-abc/code.txt",
        "worktrees/t-ab/../t-abc/code.txt",
        "worktrees/t-ab/../../code.txt",
        "/etc/hosts",
        ".ralph/tasks/t-ab.toml",
    ] {
        let said = stage.blocks("impl-worktree-gate", BUILDER, &stage.write(file));
        assert!(
            said.contains("is outside the worktree of t-ab\n") && said.contains("worktrees/t-ab\n"),
            "{file}: {said}"
        );
    }
    // Being inside one's own worktree does not allow writes to the others.
    stage.blocks("impl-worktree-gate", BUILDER, &stage.write_in(&own, other.join("code.txt")));
    stage.blocks("impl-worktree-gate", BUILDER, &stage.write_in(&own, "../t-abc/code.txt"));
    symlink(stage.root(), own.join("out")).unwrap();
    stage.blocks("impl-worktree-gate", BUILDER, &stage.write_in(&own, "out/code.txt"));
    symlink(stage.root().join("gone.txt"), own.join("dangling")).unwrap();
    stage.blocks("impl-worktree-gate", BUILDER, &stage.write_in(&own, "dangling"));
    for file in ["worktrees/t-ab/code.txt", "worktrees/t-ab/new/deep/a.rs", "thoughts/shared/plans/x.md", "/tmp/x/y"] {
        stage.allows("impl-worktree-gate", BUILDER, &stage.write(file));
    }
    stage.allows("impl-worktree-gate", BUILDER, &stage.write_in(&own, "code.txt"));
    stage.allows("impl-worktree-gate", Some("builder-2"), &stage.write_in(&other, "code.txt"));
    stage.allows("impl-worktree-gate", Some("analyst"), &stage.write("code.txt"));
    stage.allows("impl-worktree-gate", None, &stage.write("code.txt"));
    let tool = json!({ "notebook_path": other.join("n.ipynb"), "new_source": "x" });
    let notebook = json!({ "tool_name": "NotebookEdit", "tool_input": tool });
    stage.blocks("impl-worktree-gate", BUILDER, &stage.common("PreToolUse", &own, notebook));
    // A subagent and a teammate are identified by the names that the host gives them.
    let mut as_agent = stage.write("code.txt");
    as_agent["agent_id"] = "a1b2".into();
    as_agent["agent_type"] = "ralph-builder".into();
    stage.blocks("impl-worktree-gate", None, &as_agent);
    let mut as_mate = stage.write(own.join("code.txt"));
    as_mate["teammate_name"] = "builder-2".into();
    stage.blocks("impl-worktree-gate", None, &as_mate);
}

#[test]
fn convergence_gate_waits_for_the_whole_group() {
    let group = |state: &str| {
        Stage::new(&[
            ("e-1", "kind = 'epic'\natomic = true\nstate = 'Backlog'"),
            ("t-ab", "state = 'Ready for Plan'\nparent = 'e-1'"),
            ("t-abc", &format!("state = '{state}'\nparent = 'e-1'")),
        ])
    };
    let tool = |stage: &Stage, name: &str, input: Value| {
        stage.common("PreToolUse", &stage.root(), json!({ "tool_name": name, "tool_input": input }))
    };
    let behind = group("Research in Progress");
    for line in [
        "ralph claim t-ab --for plan",
        "ralph move t-ab __LOCK__ --for plan",
        "ralph mv t-ab plan-in-progress",
        "cd . && ralph claim t-ab --as builder",
    ] {
        let said = behind.blocks("convergence-gate", BUILDER, &behind.bash(line));
        assert!(said.contains("these are behind: t-abc\n"), "{line}: {said}");
    }
    let hero = tool(&behind, "mcp__ralph__claim", json!({ "task": "t-ab", "command": "plan" }));
    behind.blocks("convergence-gate", BUILDER, &hero);
    for line in ["ralph claim t-abc --for research", "ralph move t-ab __ESCALATE__ --for plan", "ralph task show t-ab"]
    {
        behind.allows("convergence-gate", BUILDER, &behind.bash(line));
    }
    let there = group("Ready for Plan");
    there.allows("convergence-gate", BUILDER, &there.bash("ralph claim t-ab --for plan"));
}

#[test]
fn plan_research_required_wants_the_research_of_exactly_this_task() {
    let issue =
        |n: u64| format!("state = 'Ready for Plan'\n[github]\nnumber = {n}\nurl = 'https://github.com/o/r/issues/{n}'");
    let stage = Stage::new(&[
        ("t-x", &issue(14)),
        ("t-y", &issue(147)),
        ("t-ab", "state = 'Ready for Plan'"),
        ("t-abc", "state = 'Ready for Plan'"),
    ]);
    stage.document("research", "t-y");
    stage.document("research", "t-abc");
    let plan = |name: &str| stage.write(format!("thoughts/shared/plans/2026-11-16-{name}.md"));
    for (name, id) in [("GH-0014-x", "t-x"), ("GH-14-x", "t-x"), ("t-ab-x", "t-ab"), ("group-t-ab-x", "t-ab")] {
        let said = stage.blocks("plan-research-required", None, &plan(name));
        assert!(said.starts_with(&format!("{id} has no research")), "{name}: {said}");
    }
    for name in ["GH-0147-x", "t-abc-x", "t-unknown-x"] {
        stage.allows("plan-research-required", None, &plan(name));
    }
    stage.allows("plan-research-required", None, &stage.write("code.txt"));
    let path = stage.document("research", "t-x");
    stage.allows("plan-research-required", None, &plan("GH-0014-x"));
    std::fs::remove_file(stage.root().join(path)).unwrap();
    assert!(stage.blocks("plan-research-required", None, &plan("GH-0014-x")).contains("does not exist"));
}

#[test]
fn plan_research_required_lets_pass_what_triage_sent_straight_to_planning() {
    let stage =
        Stage::new(&[("t-ab", "state = 'Backlog'\nestimate = 'S'"), ("t-abc", "state = 'Backlog'\nestimate = 'S'")]);
    stage.0.ralph(&["move", "t-ab", "Ready for Plan", "--for", "triage", "--as", "analyst"]).ok();
    stage.0.ralph(&["move", "t-abc", "Research Needed", "--for", "triage", "--as", "analyst"]).ok();
    // A person may complete the step without a document.
    stage.claim("t-abc", "Ada", "research");
    stage.0.ralph(&["move", "t-abc", "__COMPLETE__", "--for", "research"]).ok();
    stage.allows("plan-research-required", None, &stage.write("thoughts/shared/plans/2026-11-16-t-ab-x.md"));
    stage.blocks("plan-research-required", None, &stage.write("thoughts/shared/plans/2026-11-16-t-abc-x.md"));
}

fn issue(state: &str, number: u64) -> String {
    format!("state = '{state}'\n[github]\nnumber = {number}\nurl = 'https://github.com/o/r/issues/{number}'")
}

/// A check, the worker, the lines that it blocks and the lines that it allows.
const STATE_GATES: [(&str, &str, &[&str], &[&str]); 3] = [
    (
        "plan-state-gate",
        "builder",
        &[
            "ralph move t-x done --for plan",
            "ralph move t-x 'In Review'",
            "ralph done t-x",
            "ralph mv 14 __CLOSE__ --for plan",
            "ralph move t-x __COMPLETE__ --for implement",
            "ralph move GH-147 plan-in-review --for plan",
        ],
        &[
            "ralph move t-x __COMPLETE__ --for plan",
            "ralph move #14 plan_in_review",
            "ralph move t-x 'PLAN IN REVIEW'",
            "ralph escalate t-x",
            "ralph task ls",
        ],
    ),
    (
        "review-state-gate",
        "builder-2",
        &[
            "ralph move t-r done --for review",
            "ralph move t-r __LOCK__ --for review",
            "ralph move t-r backlog",
            "ralph move t-r ready --for review",
        ],
        &["ralph move t-r __COMPLETE__ --for review", "ralph move t-r in-progress", "ralph escalate t-r --for review"],
    ),
    (
        "impl-state-gate",
        "builder-3",
        &[
            "ralph move t-i done",
            "ralph move t-i 'Ready for Plan' --for implement",
            "ralph move t-i __COMPLETE__ --for plan",
        ],
        &["ralph move t-i __COMPLETE__ --for implement", "ralph move t-i in-review", "ralph move t-i __ESCALATE__"],
    ),
];

#[test]
fn state_gates_judge_intents_and_states_in_any_spelling() {
    let stage = Stage::new(&[
        ("t-x", &issue("Ready for Plan", 14)),
        ("t-y", &issue("Done", 147)),
        ("t-r", "state = 'Plan in Review'"),
        ("t-i", "state = 'Plan in Review'"),
    ]);
    stage.0.ralph(&["config", "set", "review.mode", "auto"]).ok();
    stage.claim("t-x", "builder", "plan");
    stage.claim("t-r", "builder-2", "review");
    stage.0.ralph(&["move", "t-i", "In Progress", "--for", "review"]).ok();
    stage.claim("t-i", "builder-3", "implement");
    // A command cannot complete without its result. The critique approves, so the plan is not sent back.
    for (gate, worker, _, right) in STATE_GATES {
        stage.blocks(gate, Some(worker), &stage.bash(right[0]));
    }
    stage.document("plan", "t-x");
    stage.document("plan", "t-r");
    stage.document("review", "t-r");
    stage.0.ralph(&["worktree", "add", "t-i"]).ok();
    stage.commit_in(&stage.worktree("t-i"));
    for (gate, worker, wrong, right) in STATE_GATES {
        for line in wrong {
            stage.blocks(gate, Some(worker), &stage.bash(line));
        }
        for line in right {
            stage.allows(gate, Some(worker), &stage.bash(line));
        }
    }
}

#[test]
fn state_gates_judge_what_the_tools_of_a_server_ask() {
    let stage = Stage::new(&[("t-x", &issue("Ready for Plan", 14)), ("t-y", &issue("Done", 147))]);
    stage.claim("t-x", "builder", "plan");
    stage.document("plan", "t-x");
    let tool = |name: &str, input: Value| {
        stage.common("PreToolUse", &stage.root(), json!({ "tool_name": name, "tool_input": input }))
    };
    let hero = |number: u64, state: &str| {
        let input = json!({ "number": number, "state": state, "command": "ralph_plan" });
        tool("mcp__plugin_ralph-hero_ralph-github__ralph_hero__update_workflow_state", input)
    };
    stage.allows("plan-state-gate", BUILDER, &hero(14, "__COMPLETE__"));
    stage.blocks("plan-state-gate", BUILDER, &hero(14, "Done"));
    stage.blocks("plan-state-gate", BUILDER, &hero(147, "__COMPLETE__"));
    stage.allows("plan-state-gate", BUILDER, &hero(1, "Done"));
    let save = json!({ "number": 14, "workflowState": "In Review", "command": "ralph_plan" });
    stage.blocks("plan-state-gate", BUILDER, &tool("mcp__ralph-github__ralph_hero__save_issue", save));
    let ours = |state: &str| tool("mcp__ralph__save", json!({ "task": "t-x", "state": state, "for": "plan" }));
    stage.blocks("plan-state-gate", BUILDER, &ours("done"));
    stage.allows("plan-state-gate", BUILDER, &ours("plan-in-review"));
}

#[test]
fn plan_postcondition_wants_the_plan_linked_whole_and_handed_on() {
    let stage = Stage::new(&[("t-ab", "state = 'Ready for Plan'"), ("t-abc", "state = 'Ready for Plan'")]);
    stage.document("plan", "t-abc");
    stage.claim("t-ab", "builder", "plan");
    let said = stage.blocks("plan-postcondition", BUILDER, &stage.stop());
    assert!(said.contains("no plan of t-ab") && said.contains("`ralph artifact new plan t-ab`"), "{said}");
    let path =
        stage.0.ralph(&["artifact", "new", "plan", "t-ab", "--json"]).json()["path"].as_str().unwrap().to_owned();
    assert!(stage.blocks("plan-postcondition", BUILDER, &stage.stop()).contains("ralph artifact check plan t-ab"));
    stage.0.fill(&path);
    assert!(stage.blocks("plan-postcondition", BUILDER, &stage.stop()).contains("is not linked"));
    stage.0.ralph(&["artifact", "link", "plan", "t-ab", "--as", "builder"]).ok();
    let said = stage.blocks("plan-postcondition", BUILDER, &stage.stop());
    assert!(
        said.contains("still in Plan in Progress") && said.contains("`ralph move t-ab __COMPLETE__ --for plan`"),
        "{said}"
    );
    let mut again = stage.stop();
    again["stop_hook_active"] = true.into();
    stage.allows("plan-postcondition", BUILDER, &again);
    stage.allows("plan-postcondition", None, &stage.stop());
    stage.allows("plan-postcondition", Some("analyst"), &stage.stop());
    stage.0.ralph(&["move", "t-ab", "__COMPLETE__", "--for", "plan", "--as", "builder"]).ok();
    stage.allows("plan-postcondition", BUILDER, &stage.stop());
    // The task was moved on, but its document is missing.
    std::fs::remove_file(stage.root().join(path)).unwrap();
    stage.blocks("plan-postcondition", BUILDER, &stage.stop());
}

#[test]
fn plan_postcondition_lets_go_who_called_for_a_person() {
    let stage = Stage::new(&[("t-ab", "state = 'Ready for Plan'")]);
    stage.claim("t-ab", "builder", "plan");
    stage.0.ralph(&["escalate", "t-ab", "--as", "builder", "--for", "plan"]).ok();
    stage.allows("plan-postcondition", BUILDER, &stage.stop());
}

#[test]
fn review_no_dup_has_one_critique_a_round() {
    let stage = Stage::new(&[("t-ab", "state = 'Plan in Review'"), ("t-abc", "state = 'Plan in Review'")]);
    stage.0.ralph(&["config", "set", "review.mode", "auto"]).ok();
    let write = |name: &str| stage.write(format!("thoughts/shared/reviews/2026-11-17-{name}.md"));
    stage.document("plan", "t-ab");
    stage.document("plan", "t-abc");
    stage.document("review", "t-abc");
    // The critique of another task does not count, and neither does an unfilled template.
    stage.allows("review-no-dup", BUILDER, &write("t-ab-critique"));
    let made = stage.0.ralph(&["artifact", "new", "review", "t-ab", "--json"]).json();
    let first = made["path"].as_str().unwrap().to_owned();
    stage.allows("review-no-dup", BUILDER, &stage.write(&first));
    stage.0.fill(&first);
    for name in ["t-ab-critique", "t-ab-critique-2"] {
        let said = stage.blocks("review-no-dup", BUILDER, &write(name));
        assert!(said.contains("round 1 of t-ab") && said.contains(&first), "{said}");
    }
    stage.0.ralph(&["artifact", "link", "review", "t-ab"]).ok();
    stage.0.ralph(&["move", "t-ab", "Ready for Plan", "--for", "review"]).ok();
    stage.claim("t-ab", "builder", "plan");
    stage.0.ralph(&["move", "t-ab", "__COMPLETE__", "--for", "plan", "--as", "builder"]).ok();
    assert!(stage.blocks("review-no-dup", BUILDER, &write("t-ab-critique")).contains("in round 2"));
    stage.allows("review-no-dup", BUILDER, &write("t-ab-critique-2"));
}

#[test]
fn review_verify_doc_reads_what_was_written() {
    let stage = Stage::new(&[("t-ab", "state = 'Plan in Review'")]);
    stage.document("plan", "t-ab");
    let made = stage.0.ralph(&["artifact", "new", "review", "t-ab", "--json"]).json();
    let path = made["path"].as_str().unwrap().to_owned();
    let mut written = stage.write(stage.root().join(&path));
    written["hook_event_name"] = "PostToolUse".into();
    written["tool_response"] = json!({ "filePath": stage.root().join(&path), "success": true });
    let said = stage.blocks("review-verify-doc", BUILDER, &written);
    assert!(said.contains("is not complete") && said.contains("`ralph artifact check review t-ab`"), "{said}");
    stage.0.fill(&path);
    stage.allows("review-verify-doc", BUILDER, &written);
    stage.allows("review-verify-doc", BUILDER, &stage.write("code.txt"));
    stage.claim("t-ab", "builder", "review");
    stage.blocks("review-verify-doc", BUILDER, &stage.write("thoughts/shared/reviews/notes.md"));
}

#[test]
fn review_postcondition_wants_a_verdict_and_its_critique() {
    let stage = Stage::new(&[("t-ab", "state = 'Plan in Review'")]);
    stage.0.ralph(&["config", "set", "review.mode", "auto"]).ok();
    stage.document("plan", "t-ab");
    stage.claim("t-ab", "builder", "review");
    assert!(stage.blocks("review-postcondition", BUILDER, &stage.stop()).contains("`ralph artifact new review t-ab`"));
    let made = stage.0.ralph(&["artifact", "new", "review", "t-ab", "--json"]).json();
    let path = made["path"].as_str().unwrap().to_owned();
    stage.0.fill(&path);
    stage.0.ralph(&["artifact", "link", "review", "t-ab", "--as", "builder"]).ok();
    let said = stage.blocks("review-postcondition", BUILDER, &stage.stop());
    assert!(said.contains("reject it with `ralph move t-ab \"Ready for Plan\" --for review`"), "{said}");
    let critique = std::fs::read_to_string(stage.root().join(&path)).unwrap();
    let critique =
        critique.replace("APPROVED", "NEEDS_ITERATION").replace("status: approved", "status: needs-iteration");
    std::fs::write(stage.root().join(&path), critique).unwrap();
    stage.0.ralph(&["move", "t-ab", "Ready for Plan", "--for", "review", "--as", "builder"]).ok();
    stage.allows("review-postcondition", BUILDER, &stage.stop());
}

#[test]
fn impl_plan_required_wants_the_plan_of_exactly_this_task() {
    let stage = Stage::new(&[("t-ab", "state = 'In Progress'"), ("t-abc", "state = 'In Progress'")]);
    stage.document("plan", "t-abc");
    stage.0.ralph(&["worktree", "add", "t-ab"]).ok();
    stage.0.ralph(&["worktree", "add", "t-abc"]).ok();
    let said = stage.blocks("impl-plan-required", BUILDER, &stage.write("worktrees/t-ab/code.txt"));
    assert!(said.contains("t-ab has no plan\n") && said.contains("`ralph artifact new plan t-ab`"), "{said}");
    stage.allows("impl-plan-required", BUILDER, &stage.write("worktrees/t-abc/code.txt"));
    stage.allows("impl-plan-required", BUILDER, &stage.write("worktrees/t-ab/thoughts/x.md"));
    stage.allows("impl-plan-required", BUILDER, &stage.write("code.txt"));
    let path = stage.document("plan", "t-ab");
    stage.allows("impl-plan-required", BUILDER, &stage.write("worktrees/t-ab/code.txt"));
    std::fs::remove_file(stage.root().join(path)).unwrap();
    assert!(
        stage.blocks("impl-plan-required", BUILDER, &stage.write("worktrees/t-ab/code.txt")).contains("does not exist")
    );
}

#[test]
fn worktrees_of_issues_are_told_apart_by_their_whole_number() {
    let issue =
        |n: u64| format!("state = 'In Progress'\n[github]\nnumber = {n}\nurl = 'https://github.com/o/r/issues/{n}'");
    let stage = Stage::new(&[("t-x", &issue(14)), ("t-y", &issue(147))]);
    stage.document("plan", "t-y");
    stage.0.ralph(&["worktree", "add", "#14"]).ok();
    stage.0.ralph(&["worktree", "add", "#147"]).ok();
    stage.allows("impl-plan-required", None, &stage.write("worktrees/GH-147/code.txt"));
    stage.blocks("impl-plan-required", None, &stage.write("worktrees/GH-14/code.txt"));
    stage.claim("t-x", "builder", "implement");
    stage.allows("impl-worktree-gate", BUILDER, &stage.write("worktrees/GH-14/code.txt"));
    stage.blocks("impl-worktree-gate", BUILDER, &stage.write("worktrees/GH-147/code.txt"));
}

#[test]
fn impl_verify_commit_notices_what_did_not_come_about() {
    let stage = Stage::implementing("t-ab");
    let worktree = stage.worktree("t-ab");
    for (line, said) in [
        ("git push", " ! [rejected]        feature/t-ab -> feature/t-ab (non-fast-forward)"),
        ("git push -u origin x", "error: failed to push some refs to 'origin'"),
        ("git add . && git commit -m x", "pre-commit hook failed (add --no-verify to bypass)"),
        ("cd . && git commit -m x", "no changes added to commit (use \"git add\" and/or \"git commit -a\")"),
    ] {
        let blocked = stage.blocks("impl-verify-commit", BUILDER, &stage.bashed(&worktree, line, said));
        assert!(blocked.contains(said.trim()), "{blocked}");
    }
    let more = json!({ "tool_name": "Bash", "tool_input": { "command": "git commit -m x" }, "error": "Exit code 128\nfatal: unable to write new index file", "is_interrupt": false });
    stage.blocks("impl-verify-commit", BUILDER, &stage.common("PostToolUseFailure", &worktree, more));
    for (line, said) in [
        ("git commit -m x", "[feature/t-ab 1a2b3c4] x\n 1 file changed"),
        ("git push", "Everything up-to-date"),
        ("cargo test", "error: failed to run"),
        ("git log", "fatal: rejected"),
    ] {
        stage.allows("impl-verify-commit", BUILDER, &stage.bashed(&worktree, line, said));
    }
    stage.allows("impl-verify-commit", None, &stage.bashed(&stage.root(), "git push", "! [rejected]"));
}

#[test]
fn impl_verify_pr_wants_the_pull_request_on_the_board() {
    let stage = Stage::implementing("t-ab");
    let worktree = stage.worktree("t-ab");
    let gh = stage.bashed(&worktree, "gh pr create --fill", "https://github.com/o/r/pull/7");
    assert!(stage.blocks("impl-verify-pr", None, &gh).contains("`ralph task set t-ab artifacts.pr=URL`"));
    // Without a GitHub remote, `ralph pr` has nothing to do.
    stage.allows("impl-verify-pr", None, &stage.bashed(&worktree, "ralph pr t-ab", ""));
    stage.0.git(&["remote", "add", "origin", "https://github.com/o/r.git"]);
    assert!(stage.blocks("impl-verify-pr", None, &gh).contains("`ralph pr t-ab`"));
    stage.blocks("impl-verify-pr", None, &stage.bashed(&stage.root(), "ralph pr t-ab", ""));
    stage.allows("impl-verify-pr", None, &stage.bashed(&worktree, "gh pr view", ""));
    stage.0.ralph(&["task", "set", "t-ab", "artifacts.pr=https://github.com/o/r/pull/7"]).ok();
    stage.allows("impl-verify-pr", None, &gh);
}

#[test]
fn impl_postcondition_wants_a_clean_worktree_that_is_ahead_and_the_task_handed_on() {
    let stage = Stage::new(&[("t-ab", "state = 'Plan in Review'")]);
    stage.claim("t-ab", "builder", "implement");
    assert!(stage.blocks("impl-postcondition", BUILDER, &stage.stop()).contains("`ralph worktree add t-ab`"));
    stage.0.ralph(&["worktree", "add", "t-ab"]).ok();
    let worktree = stage.worktree("t-ab");
    assert!(stage.blocks("impl-postcondition", BUILDER, &stage.stop()).contains("no commits that main lacks"));
    stage.commit_in(&worktree);
    std::fs::write(worktree.join("code.txt"), "two\n").unwrap();
    assert!(stage.blocks("impl-postcondition", BUILDER, &stage.stop()).contains("uncommitted changes"));
    stage.commit_in(&worktree);
    let said = stage.blocks("impl-postcondition", BUILDER, &stage.stop());
    assert!(said.contains("still in In Progress") && said.contains("`ralph release t-ab`"), "{said}");
    stage.0.ralph(&["move", "t-ab", "__COMPLETE__", "--for", "implement", "--as", "builder"]).ok();
    stage.allows("impl-postcondition", BUILDER, &stage.stop());
    std::fs::write(worktree.join("late.txt"), "x").unwrap();
    stage.blocks("impl-postcondition", BUILDER, &stage.stop());
}

#[test]
fn worker_stop_gate_really_reads_the_board() {
    let stage = Stage::new(&[
        ("t-ab", "state = 'Ready for Plan'\npriority = 'P1'"),
        ("t-abc", "state = 'Research Needed'"),
        ("t-b", "state = 'Ready for Plan'\npriority = 'P0'\nblocked_by = ['t-abc']"),
    ]);
    let said = stage.blocks("worker-stop-gate", Some("builder-2"), &stage.stop());
    assert!(said.contains("`ralph claim t-ab --for plan --as builder-2`"), "{said}");
    assert!(stage.blocks("worker-stop-gate", Some("analyst"), &stage.stop()).contains("claim t-abc --for research"));
    stage.allows("worker-stop-gate", Some("integrator"), &stage.stop());
    stage.allows("worker-stop-gate", None, &stage.stop());
    let mut subagent = stage.common("SubagentStop", &stage.root(), json!({ "agent_id": "d4", "agent_type": "ralph-builder", "stop_hook_active": false, "agent_transcript_path": "~/x.jsonl" }));
    assert!(stage.blocks("worker-stop-gate", None, &subagent).contains("--as builder`"));
    subagent["stop_hook_active"] = true.into();
    stage.allows("worker-stop-gate", None, &subagent);
    stage.claim("t-ab", "builder-2", "plan");
    let own = stage.blocks("worker-stop-gate", Some("builder-2"), &stage.stop());
    assert!(own.contains("builder-2 still holds t-ab") && own.contains("`ralph prompt plan t-ab`"), "{own}");
    stage.allows("worker-stop-gate", BUILDER, &stage.stop());
}

#[test]
fn worker_stop_gate_lets_the_agent_of_one_task_go_when_that_is_done() {
    let stage = Stage::new(&[("t-ab", "state = 'Ready for Plan'"), ("t-abc", "state = 'Ready for Plan'")]);
    stage.claim("t-ab", "builder", "plan");
    let stop = |stage: &Stage| {
        let mut command = stage.0.command(RALPH, &stage.root());
        command.args(["hook", "worker-stop-gate"]).env("RALPH_WORKER", "builder").env("RALPH_TASK", "t-ab");
        let file = stage.0.outside("input.json");
        std::fs::write(&file, stage.stop().to_string()).unwrap();
        command.stdin(std::fs::File::open(file).unwrap()).output().unwrap().status.code()
    };
    assert_eq!(stop(&stage), Some(2));
    stage.0.ralph(&["release", "t-ab", "--as", "builder"]).ok();
    assert_eq!(stop(&stage), Some(0));
}

#[test]
fn worker_stop_gate_lets_go_where_the_role_has_no_room() {
    let stage = Stage::new(&[("t-ab", "state = 'In Review'"), ("t-abc", "state = 'In Review'")]);
    stage.blocks("worker-stop-gate", Some("integrator-2"), &stage.stop());
    stage.claim("t-ab", "integrator", "pr");
    stage.allows("worker-stop-gate", Some("integrator-2"), &stage.stop());
}

#[test]
fn steps_of_a_team_come_before_other_work() {
    let step = |command: &str, more: &str| {
        format!("kind = 'step'\nstate = 'Pending'\nteam = 't-ab'\ncommand = '{command}'\nof = ['t-ab']\n{more}")
    };
    let stage = Stage::new(&[
        ("t-0", "state = 'Research Needed'\npriority = 'P0'"),
        ("t-ab", "state = 'Research Needed'"),
        ("s-1", &step("research", "")),
        ("s-2", &step("plan", "blocked_by = ['s-1']")),
    ]);
    let said = stage.blocks("worker-stop-gate", Some("analyst"), &stage.stop());
    assert!(said.contains("Work s-1") && said.contains("`ralph claim t-ab --for research --as analyst`"), "{said}");
    stage.allows("worker-stop-gate", BUILDER, &stage.stop());
    // The lead cannot stop while steps are unclaimed, and the message names a worker for them.
    let mut lead = stage.stop();
    lead["team_name"] = "ralph-team-t-ab".into();
    let said = stage.blocks("team-stop-gate", None, &lead);
    assert!(said.contains("step s-1") && said.contains("assign it to analyst"), "{said}");
    // A worker that leads no team can stop.
    stage.allows("team-stop-gate", None, &stage.stop());
    stage.claim("t-ab", "analyst-2", "research");
    stage.allows("team-stop-gate", None, &lead);
    assert!(stage.blocks("worker-stop-gate", Some("analyst"), &stage.stop()).contains("claim t-0"));
}

#[test]
fn team_stop_gate_holds_a_lead_and_not_a_person_who_chats() {
    let stage = Stage::new(&[("t-ab", "state = 'Ready for Plan'")]);
    let mut lead = stage.stop();
    lead["team_name"] = "ralph".into();
    let said = stage.blocks("team-stop-gate", None, &lead);
    assert!(said.contains("`ralph claim t-ab --for plan --as builder`"), "{said}");
    stage.allows("team-stop-gate", None, &stage.stop());
    stage.allows("team-stop-gate", BUILDER, &lead);
    stage.claim("t-ab", "builder", "plan");
    stage.allows("team-stop-gate", None, &lead);
    lead["stop_hook_active"] = true.into();
    stage.0.ralph(&["release", "t-ab", "--as", "builder"]).ok();
    stage.allows("team-stop-gate", None, &lead);
}

#[test]
fn team_task_completed_wants_a_result() {
    let issue =
        |n: u64| format!("state = 'Ready for Plan'\n[github]\nnumber = {n}\nurl = 'https://github.com/o/r/issues/{n}'");
    let step = "kind = 'step'\nstate = 'In Progress'\nteam = 't-x'\ncommand = 'plan'\nof = ['t-x']";
    let stage = Stage::new(&[("t-x", &issue(14)), ("t-y", &issue(147)), ("s-1", step)]);
    let done = |subject: &str| {
        let more = json!({ "task_id": "task-001", "task_subject": subject, "task_description": "…", "teammate_name": "builder", "team_name": "ralph" });
        stage.common("TaskCompleted", &stage.root(), more)
    };
    for subject in ["Work s-1", "Plan the thing (s-1)"] {
        assert!(stage.blocks("team-task-completed", None, &done(subject)).contains("step s-1"), "{subject}");
    }
    stage.0.write_task("s-1", format!("title = 'Work s-1'\n{step}\nresult = 'thoughts/x.md'\n"));
    stage.allows("team-task-completed", None, &done("Work s-1"));
    stage.document("research", "t-y");
    assert!(stage.blocks("team-task-completed", None, &done("Research GH-14")).contains("no research of t-x"));
    stage.allows("team-task-completed", None, &done("Research GH-147"));
    stage.allows("team-task-completed", None, &done("Make coffee"));
}

#[test]
fn team_teammate_idle_finds_work_for_the_idle() {
    let stage = Stage::new(&[("t-ab", "state = 'Ready for Plan'")]);
    let idle = |name: &str| {
        stage.common("TeammateIdle", &stage.root(), json!({ "teammate_name": name, "team_name": "ralph" }))
    };
    let said = stage.blocks("team-teammate-idle", None, &idle("builder-2"));
    assert!(said.contains("`ralph claim t-ab --for plan --as builder-2`"), "{said}");
    stage.allows("team-teammate-idle", None, &idle("analyst"));
    stage.allows("team-teammate-idle", None, &idle("researcher"));
    stage.claim("t-ab", "builder", "plan");
    stage.allows("team-teammate-idle", None, &idle("builder-2"));
}

#[test]
fn what_cannot_be_read_lets_a_worker_stop_and_blocks_a_tool() {
    let stage = Stage::new(&[("t-ab", "state = 'Ready for Plan'")]);
    for input in ["", "{", "[]", "nonsense"] {
        let out = stage.0.ralph_with(&["--as", "builder", "hook", "worker-stop-gate"], input);
        assert_eq!(out.code, 0, "{out}");
        assert!(out.stderr.contains("not the JSON of an agent hook"), "{out}");
        let said = stage.0.ralph_with(&["--as", "builder", "hook", "branch-gate"], input).fails(2);
        assert!(said.contains("not the JSON of an agent hook"), "{said}");
    }
    std::fs::write(stage.root().join(".ralph/workflow.toml"), "this is no workflow").unwrap();
    let out = stage.ask("worker-stop-gate", BUILDER, &stage.stop());
    assert!(out.code == 0 && out.stderr.contains("workflow.toml"), "{out}");
    stage.ask("impl-worktree-gate", BUILDER, &stage.write("x")).fails(2);
    // Without a board, every check passes.
    let bare = Sandbox::bare();
    assert_eq!(bare.ralph_with(&["hook", "branch-gate"], "{}").ok(), "");
}

#[test]
fn a_gate_that_is_none_says_which_there_are() {
    let sandbox = Sandbox::new();
    let listed = sandbox.ralph(&["hook", "--list", "--json"]).json();
    let names: Vec<&str> = listed.as_array().unwrap().iter().map(|gate| gate["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 21);
    let said = sandbox.ralph_with(&["hook", "brunch-gate"], "{}").fails(2);
    assert!(names.iter().all(|name| said.contains(name)), "{said}");
    assert_eq!(sandbox.ralph(&["hook", "--list"]).ok().lines().count(), 21);
    sandbox.ralph(&["hook"]).fails(2);
}

#[test]
fn as_json_a_gate_says_the_same() {
    let stage = Stage::new(&[("t-ab", "state = 'Ready for Plan'")]);
    let out = stage.0.ralph_with(&["--as", "builder", "hook", "worker-stop-gate", "--json"], &stage.stop().to_string());
    let said: Value = serde_json::from_str(&out.stdout).unwrap();
    assert_eq!((out.code, said["answer"].as_str()), (2, Some("block")));
    assert!(said["instead"].as_str().unwrap().contains("ralph claim t-ab"));
}
