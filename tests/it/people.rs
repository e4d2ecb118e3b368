//! First use by people: a board in one command, any of the workflows, and files with mistakes.

use crate::sandbox::{Output, RALPH, Sandbox, finish};

const WORKFLOWS: [&str; 3] = ["simple", "lite", "full"];

/// A repository without a board.
fn bare() -> Sandbox {
    let sandbox = Sandbox::new();
    std::fs::remove_dir_all(sandbox.root().join(".ralph")).unwrap();
    sandbox
}

fn states(sandbox: &Sandbox) -> Vec<String> {
    let flow = sandbox.ralph(&["workflow", "--json"]).json();
    flow["states"].as_array().unwrap().iter().map(|state| state["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_board_with_a_workflow_of_ones_choice_takes_one_command() {
    for workflow in WORKFLOWS {
        let sandbox = bare();
        sandbox.ralph(&["init", "--workflow", workflow, "--demo"]).ok();
        let count = match workflow {
            "simple" => 3,
            "lite" => 7,
            _ => 11,
        };
        assert_eq!(states(&sandbox).len(), count);
        assert_eq!(sandbox.root().join(".ralph/workflow.toml").exists(), workflow != "full");
        assert!(sandbox.ralph(&["doctor"]).ok().contains("no problems"), "{workflow}");
    }
    let said = bare().ralph(&["init", "--workflow", "kanban"]).fails(2);
    assert!(said.contains("unknown workflow \"kanban\": use simple, lite, full"), "{said}");
}

/// A person takes a task of their own through each workflow, without a refusal and without `--force`.
#[test]
fn a_persons_own_task_goes_from_new_to_merged_on_every_workflow() {
    for workflow in WORKFLOWS {
        let sandbox = bare();
        sandbox.ralph(&["init", "--workflow", workflow]).ok();
        let id = sandbox.add(&["Fix the login"]);
        sandbox.ralph(&["commit"]).ok();
        sandbox.ralph(&["worktree", "add", &id]).ok();
        let worktree = sandbox.root().join(format!("worktrees/{id}"));
        std::fs::write(worktree.join("login.txt"), "fixed\n").unwrap();
        assert_eq!(sandbox.git_in(&worktree, &["add", "-A"]).code, 0);
        assert_eq!(sandbox.git_in(&worktree, &["commit", "-q", "-m", "fix"]).code, 0);
        sandbox.ralph(&["merge", &id]).ok();
        let shown = sandbox.ralph(&["task", "show", &id, "--json"]).json();
        assert_eq!(shown["state"], "Done", "{workflow}");
        assert!(sandbox.root().join("login.txt").exists());
    }
}

#[test]
fn every_move_of_a_person_and_the_views_of_the_board_work_on_every_workflow() {
    for workflow in WORKFLOWS {
        let sandbox = bare();
        sandbox.ralph(&["init", "--workflow", workflow]).ok();
        let (id, other) = (sandbox.add(&["One"]), sandbox.add(&["Two"]));
        sandbox.ralph(&["block", &other, "--on", &id]).ok();
        sandbox.ralph(&["next", "--claim"]).ok();
        for state in states(&sandbox) {
            sandbox.ralph(&["move", &id, &state]).ok();
            for view in [
                &["status"][..],
                &["task", "ls", "--all"],
                &["task", "tree", "--all"],
                &["why", &id],
                &["position", &id],
            ] {
                sandbox.ralph(view).ok();
            }
        }
        sandbox.ralph(&["move", &id, &states(&sandbox)[0]]).ok();
        let said = sandbox.ralph(&["claim", &other]);
        // On the other workflows a claim starts nothing, so a blocked task can be claimed.
        if workflow != "simple" {
            said.ok();
        } else {
            let said = said.fails(1);
            assert!(
                said.contains(&format!("{other} is blocked by {id}")) && said.contains("--force"),
                "{workflow}: {said}"
            );
        }
        sandbox.ralph(&["done", &id]).ok();
        sandbox.ralph(&["claim", &other]).ok();
        sandbox.ralph(&["done", &other]).ok();
        sandbox.ralph(&["report", "--html", "board.html"]).ok();
        assert!(sandbox.ralph(&["doctor"]).ok().contains("no problems"), "{workflow}");
    }
}

#[test]
fn a_board_is_converted_to_another_workflow_after_its_mapping_was_shown() {
    let sandbox = bare();
    sandbox.ralph(&["init", "--demo"]).ok();
    let said = sandbox.ralph(&["workflow", "use", "simple", "--dry-run"]).ok();
    assert!(said.contains("Plan in Review") && said.contains("Doing"), "{said}");
    assert_eq!(states(&sandbox).len(), 11, "nothing is changed yet");
    assert!(sandbox.ralph(&["workflow", "use", "simple"]).fails(2).contains("--yes"));
    sandbox.ralph(&["claim", &sandbox.add(&["Held"]), "--as", "analyst"]).ok();
    assert!(sandbox.ralph(&["workflow", "use", "simple", "--yes"]).fails(1).contains("while tasks are claimed"));
    sandbox.ralph(&["release", "Held"]).fails(1);
    let held = sandbox.ralph(&["claims", "ls", "--json"]).json()[0]["task"].as_str().unwrap().to_owned();
    sandbox.ralph(&["release", &held, "--as", "analyst"]).ok();
    let done = |sandbox: &Sandbox| {
        let tasks = sandbox.ralph(&["task", "ls", "--all", "--json"]).json();
        tasks.as_array().unwrap().iter().filter(|task| task["state"] == "Done").count()
    };
    let before = done(&sandbox);
    sandbox.ralph(&["workflow", "use", "simple", "--yes", "--map", "Canceled=Todo"]).ok();
    assert_eq!((done(&sandbox), states(&sandbox)), (before, ["Todo", "Doing", "Done"].map(str::to_owned).to_vec()));
    assert!(sandbox.ralph(&["doctor"]).ok().contains("no problems"));
    let table = sandbox.root().join(".ralph/workflow.toml");
    let own = std::fs::read_to_string(&table).unwrap() + "# mine\n";
    std::fs::write(&table, &own).unwrap();
    sandbox.ralph(&["workflow", "use", "full", "--yes"]).ok();
    assert!(!table.exists());
    let kept = std::fs::read_to_string(sandbox.root().join(".ralph/workflow.previous.toml")).unwrap();
    assert_eq!(kept, own, "a person's text is kept");
    says(&sandbox.ralph(&["workflow", "use", "full"]), "nothing to do");
}

#[test]
fn the_shipped_tables_are_a_start_for_ones_own() {
    let sandbox = Sandbox::new();
    for workflow in WORKFLOWS {
        let text = sandbox.ralph(&["workflow", "--of", workflow, "--toml"]).ok();
        let text = text.split("--- ").next().unwrap().to_owned();
        assert!(text.lines().filter(|line| line.starts_with('#')).count() > 10, "{text}");
        std::fs::write(sandbox.root().join(".ralph/workflow.toml"), &text).unwrap();
        assert_eq!(sandbox.ralph(&["workflow", "--json"]).json()["name"], workflow);
        assert!(sandbox.ralph(&["workflow", "--toml"]).ok().starts_with(&text));
    }
}

#[track_caller]
fn says(output: &Output, wanted: &str) {
    let said = output.to_string();
    assert!(said.contains(wanted), "{wanted:?} is not in {said}");
}

#[test]
fn a_broken_file_of_settings_is_a_problem_with_its_line_and_the_board_can_still_be_read() {
    for (file, text, place) in [
        ("config.toml", "format = 1\n[review\n", ".ralph/config.toml:2:"),
        (
            "workflow.toml",
            "format = 1\nname = \"x\"\ninitial = \"Nope\"\n[[state]]\nname = \"Done\"\nterminal = true\n",
            ".ralph/workflow.toml:3:11: ",
        ),
        ("workflow.toml", "format = 1\nnmae = \"x\"\n", ".ralph/workflow.toml:2:1: "),
    ] {
        let sandbox = Sandbox::new();
        let id = sandbox.add(&["One"]);
        std::fs::write(sandbox.root().join(".ralph").join(file), text).unwrap();
        for reading in
            [&["task", "ls"][..], &["task", "show", &id], &["status"], &["workflow"], &["config", "list"], &["log"]]
        {
            let read = sandbox.ralph(reading);
            says(&read, place);
            read.ok();
        }
        says(&sandbox.ralph(&["doctor"]), place);
        // People continue with the last settings that could be read. No workflow was ever read here, so its states are
        // unknown.
        for changing in [&["task", "add", "Two"][..], &["claim", &id], &["move", &id, "Done"]] {
            let changed = sandbox.ralph(changing);
            says(&changed, place);
            assert_eq!(changed.code, if file == "config.toml" { 0 } else { 4 }, "{changed}");
        }
        // Automatic commands are refused.
        for changing in [&["merge", &id][..], &["team", "--ready"]] {
            let refused = sandbox.ralph(changing);
            says(&refused, place);
            refused.fails(4);
        }
    }
}

/// The board had its own workflow: with the built-in one, every task would be in an unknown state.
#[test]
fn a_table_that_breaks_leaves_the_last_one_that_could_be_read() {
    let sandbox = bare();
    sandbox.ralph(&["init", "--workflow", "simple"]).ok();
    sandbox.add(&["One"]);
    let table = sandbox.root().join(".ralph/workflow.toml");
    std::fs::write(&table, std::fs::read_to_string(&table).unwrap().replace("[[role]]", "[[role]")).unwrap();
    assert_eq!(states(&sandbox), ["Todo", "Doing", "Done"]);
    says(&sandbox.ralph(&["task", "ls"]), ".ralph/workflow.toml:");
}

#[test]
fn a_mistyped_setting_is_named_by_every_command() {
    let sandbox = Sandbox::new();
    std::fs::write(
        sandbox.root().join(".ralph/config.toml"),
        "format = 1\n[reveiw]\nmode = \"auto\"\n[later]\nx = 1\n",
    )
    .unwrap();
    let read = sandbox.ralph(&["task", "ls"]);
    says(&read, ".ralph/config.toml:3:1: unknown setting \"reveiw.mode\" (did you mean \"review.mode\"?)");
    assert!(!read.to_string().contains("later.x"), "a newer ralph may know it");
    says(&sandbox.ralph(&["doctor"]), "later.x");
}

#[test]
fn a_question_is_asked_on_a_terminal_and_only_there() {
    let sandbox = bare();
    let asked = |typed: &str, args: &str| {
        use std::io::Write as _;
        let mut command = sandbox.command("script", &sandbox.root());
        command.args(["-qec", &format!("{RALPH} {args}"), "/dev/null"]).stdin(std::process::Stdio::piped());
        let mut child =
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let said = asked("nonsense\n1\n", "init");
    assert!(said.contains("Which workflow?") && said.contains("type a number or a name"), "{said}");
    assert_eq!(states(&sandbox), ["Todo", "Doing", "Done"]);
    assert!(!asked("", "init").contains("Which workflow?"), "once");
    let (one, two) = (sandbox.add(&["One"]), sandbox.add(&["Two"]));
    sandbox.ralph(&["block", &two, "--on", &one]).ok();
    assert!(asked("n\n", &format!("move {two} Doing")).contains("Do it anyway? [y/N]"));
    assert_eq!(sandbox.ralph(&["task", "show", &two, "--json"]).json()["state"], "Todo");
    asked("y\n", &format!("claim {two}"));
    assert_eq!(sandbox.ralph(&["task", "show", &two, "--json"]).json()["state"], "Doing");
    let mut command = sandbox.command(RALPH, &sandbox.root());
    let said = finish(command.args(["done", &two]));
    said.ok();
}

fn state(sandbox: &Sandbox, id: &str) -> String {
    sandbox.ralph(&["task", "show", id, "--json"]).json()["state"].as_str().unwrap().to_owned()
}

/// From the question to the answer in one command, on every workflow. The answer is in the next prompt.
#[test]
fn an_agent_asks_a_person_answers_and_the_task_goes_back_to_where_it_was() {
    for (workflow, waits, returns) in
        [("simple", "Todo", "Todo"), ("lite", "Human Needed", "Backlog"), ("full", "Human Needed", "In Progress")]
    {
        let sandbox = bare();
        sandbox.ralph(&["init", "--workflow", workflow]).ok();
        let id = sandbox.add(&["Keep invoices"]);
        let waiting = sandbox.add(&["Later"]);
        sandbox.ralph(&["block", &waiting, "--on", &id]).ok();
        let start = match workflow {
            "simple" => "Todo",
            "lite" => "Backlog",
            _ => "Plan in Review",
        };
        sandbox.ralph(&["move", &id, start]).ok();
        sandbox.ralph(&["task", "set", &id, "artifacts.plan=thoughts/p.md"]).ok();
        sandbox.ralph(&["claim", &id, "--for", "implement", "--as", "builder"]).ok();
        let options = ["--option", "1 year", "--option", "10 years", "--recommend", "10 years"];
        let mut args = vec!["ask", &id, "How long?", "--as", "builder"];
        args.extend(options);
        sandbox.ralph(&args).ok();
        assert_eq!(state(&sandbox, &id), waits, "{workflow}");
        assert_eq!(sandbox.ralph(&["claims", "ls", "--json"]).json(), serde_json::json!([]));
        sandbox.ralph(&["next", "--claim", "--as", "builder"]).fails(5);

        let said = sandbox.ralph(&["inbox"]).ok();
        for part in [
            "question",
            &id,
            "blocks 1",
            "builder asks: How long?",
            "1  1 year",
            "2  10 years  recommended",
            "ralph answer",
        ] {
            assert!(said.contains(part), "{workflow}: {part:?} is not in {said}");
        }
        let inbox = sandbox.ralph(&["inbox", "--json"]).json();
        assert_eq!(inbox["items"][0]["question"]["options"], serde_json::json!(["1 year", "10 years"]));

        sandbox.ralph(&["answer", &id, "2", "--as", "builder"]).fails(1);
        sandbox.ralph(&["answer", &id, "2"]).ok();
        assert_eq!(state(&sandbox, &id), returns, "{workflow}");
        assert_eq!(sandbox.ralph(&["inbox", "--json"]).json()["items"], serde_json::json!([]), "{workflow}");
        let prompt = sandbox.ralph(&["prompt", "implement", &id]).ok();
        assert!(prompt.contains("How long?") && prompt.contains("10 years\n"), "{prompt}");
        assert!(prompt.contains("A person has answered"), "{prompt}");
        sandbox.ralph(&["claim", &id, "--for", "implement", "--as", "builder"]).ok();
        assert!(sandbox.ralph(&["answer", &id, "again"]).fails(1).contains("no open question"));
    }
}

#[test]
fn what_an_agent_hands_over_without_a_question_is_answered_in_words() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["x", "--state", "Research Needed"]);
    sandbox.ralph(&["claim", &id, "--as", "analyst"]).ok();
    sandbox.ralph(&["escalate", &id, "--as", "analyst"]).ok();
    sandbox.ralph(&["note", &id, "the server is down"]).ok();
    says(&sandbox.ralph(&["inbox"]), "the server is down");
    sandbox.ralph(&["answer", &id, "it", "is", "up", "again"]).ok();
    assert_eq!(state(&sandbox, &id), "Research Needed");
    assert!(sandbox.ralph(&["prompt", "research", &id]).ok().contains("it is up again"));
    says(&sandbox.ralph(&["ask", &id, "what?", "--recommend", "x"]), "is not one of the options");
}

#[test]
fn a_plan_is_approved_or_sent_back_with_comments_on_lines() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["x", "--state", "Plan in Review"]);
    std::fs::create_dir_all(sandbox.root().join("thoughts/shared/plans")).unwrap();
    std::fs::write(sandbox.root().join("thoughts/shared/plans/p.md"), "# The plan\n").unwrap();
    let path = sandbox.task_file(&id);
    let text = std::fs::read_to_string(&path).unwrap() + "\n[artifacts]\nplan = \"thoughts/shared/plans/p.md\"\n";
    std::fs::write(&path, text).unwrap();
    assert!(sandbox.ralph(&["plan", "show", &id]).ok().contains("# The plan"));
    let interactive = ["--config", "review.mode=interactive", "inbox"];
    says(&sandbox.ralph(&interactive), "plan to review");
    assert!(
        !sandbox.ralph(&["inbox"]).to_string().contains("plan to review"),
        "only the interactive mode asks for a review"
    );

    for (name, lines) in [("a.rs", 41), ("b.rs", 1)] {
        std::fs::create_dir_all(sandbox.root().join("src")).unwrap();
        std::fs::write(sandbox.root().join("src").join(name), "line\n".repeat(lines)).unwrap();
    }
    let comments = ["--comment", "src/a.rs:41:this: loops", "--comment", "src/b.rs:1:no"];
    let mut args = vec!["reject", &id, "think again"];
    args.extend(comments);
    sandbox.ralph(&args).ok();
    assert_eq!(state(&sandbox, &id), "Ready for Plan");
    let shown = sandbox.ralph(&["task", "show", &id, "--json"]).json();
    assert_eq!((&shown["labels"][0], &shown["notes"][0]["line"]), (&"needs-iteration".into(), &41.into()));
    let prompt = sandbox.ralph(&["prompt", "plan", &id]).ok();
    for part in [
        "on line 41 of \"src/a.rs\":",
        "this: loops",
        "on line 1 of \"src/b.rs\":",
        "on the whole work:",
        "think again",
    ] {
        assert!(prompt.contains(part), "{part:?} is not in {prompt}");
    }
    assert!(sandbox.ralph(&["approve", &id]).fails(1).contains("nothing to review yet"));
    sandbox.ralph(&["move", &id, "Plan in Review"]).ok();
    sandbox.ralph(&["approve", &id]).ok();
    assert_eq!(state(&sandbox, &id), "In Progress");
    sandbox.ralph(&["move", &id, "In Review"]).ok();
    assert!(sandbox.ralph(&["approve", &id]).fails(1).contains("ralph merge"));
    sandbox.ralph(&["reject", &id, "a", "test", "is", "missing"]).ok();
    assert_eq!(state(&sandbox, &id), "In Progress");
    let prompt = sandbox.ralph(&["prompt", "implement", &id]).ok();
    assert!(prompt.contains("a test is missing") && !prompt.contains("on line 41"), "{prompt}");
    sandbox.ralph(&["reject", &id, "x", "--comment", "a.rs:x"]).fails(2);
}

#[test]
fn the_work_on_a_task_is_shown_against_where_it_left_main() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.root().join("a.txt"), "one\ntwo\n").unwrap();
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "base"]);
    let id = sandbox.add(&["x"]);
    assert!(sandbox.ralph(&["diff", &id]).fails(1).contains("has no branch"));
    sandbox.ralph(&["worktree", "add", &id]).ok();
    let worktree = sandbox.root().join(format!("worktrees/{id}"));
    std::fs::write(worktree.join("a.txt"), "one\n2\n").unwrap();
    assert_eq!(sandbox.git_in(&worktree, &["commit", "-qam", "work"]).code, 0);
    std::fs::write(worktree.join("a.txt"), "one\n2\nthree\n").unwrap();
    std::fs::write(sandbox.root().join("main.txt"), "main\n").unwrap();
    sandbox.git(&["add", "main.txt"]);
    sandbox.git(&["commit", "-q", "-m", "main goes on"]);
    let shown = sandbox.ralph(&["diff", &id]).ok();
    assert!(shown.contains("+2\n+three") && !shown.contains("main.txt"), "{shown}");
    let changes = sandbox.ralph(&["diff", &id, "--json"]).json();
    assert_eq!((&changes["files"][0]["path"], &changes["files"][0]["added"]), (&"a.txt".into(), &2.into()));
    assert!(sandbox.ralph(&["diff", &id, "--stat"]).ok().contains("1 file changed"));
    std::fs::write(worktree.join("new.txt"), "not added yet\n").unwrap();
    let staged = sandbox.git_in(&worktree, &["status", "--porcelain"]).stdout;
    assert!(sandbox.ralph(&["diff", &id]).ok().contains("+not added yet"));
    let changes = sandbox.ralph(&["diff", &id, "--json"]).json();
    assert_eq!((&changes["files"][1]["path"], &changes["files"][1]["status"]), (&"new.txt".into(), &"added".into()));
    assert_eq!(sandbox.git_in(&worktree, &["status", "--porcelain"]).stdout, staged, "its own index is left alone");
    std::fs::remove_file(worktree.join("new.txt")).unwrap();
    std::fs::write(worktree.join("a.txt"), "one\n2\n").unwrap();
    sandbox.git(&["worktree", "remove", &worktree.display().to_string()]);
    let shown = sandbox.ralph(&["diff", &id]).ok();
    assert!(shown.contains("+2") && !shown.contains("three"), "the branch, without a worktree: {shown}");
}

/// The code blocks of the README under a heading.
fn typed(heading: &str) -> Vec<String> {
    let readme = include_str!("../../README.md");
    let section = readme.split(&format!("## {heading}\n")).nth(1).unwrap().split("\n### ").next().unwrap();
    section.split("```sh\n").skip(1).map(|block| block.split("\n```").next().unwrap().to_owned()).collect()
}

/// A person follows the README in a fresh repository: no line is refused.
#[test]
fn the_tutorial_of_the_readme_has_no_refusal() {
    let sandbox = bare();
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "--allow-empty", "-m", "base"]);
    let blocks = typed("Your first task");
    assert_eq!(blocks.len(), 1, "{blocks:?}");
    assert!(blocks[0].lines().filter(|line| !line.starts_with("cd ")).count() <= 6, "{}", blocks[0]);
    let mut folder = sandbox.root();
    let mut ids: Vec<(&str, String)> = Vec::new();
    for line in blocks.iter().flat_map(|block| block.lines()) {
        let line = ids.iter().fold(line.to_owned(), |line, (name, id)| line.replace(name, id));
        let bin = std::path::Path::new(RALPH).parent().unwrap().display().to_string();
        let mut shell = sandbox.command("bash", &folder);
        shell.env("PATH", format!("{bin}:{}", std::env::var("PATH").unwrap()));
        // A removed working folder shows up in the next line.
        let said = finish(shell.arg("-ec").arg(format!("{line}\necho \"now in $PWD\"")));
        assert_eq!(said.code, 0, "{line}: {said}");
        assert!(!said.stderr.contains("error:"), "{line}: {said}");
        if line.starts_with("ralph add") {
            let name = ["x7kq", "3hqd", "none"][ids.len()];
            let id = said.stdout.split_whitespace().next().unwrap().trim_start_matches("t-").to_owned();
            ids.push((name, id));
        }
        let now = said.stdout.lines().rev().find_map(|line| line.strip_prefix("now in ")).unwrap();
        folder = std::path::PathBuf::from(now);
        assert!(folder.exists(), "the folder of the next line is gone: {line}");
    }
    let done = sandbox.ralph(&["task", "ls", "--all", "--state", "Done", "--json"]).json();
    assert_eq!(done[0]["title"], "Fix the login");
    assert!(sandbox.root().join("login.txt").exists());
}

#[test]
fn a_task_that_is_handed_out_again_and_again_without_progress_goes_to_a_person() {
    let sandbox = Sandbox::new();
    let (stuck, other) = (sandbox.add(&["x", "-p", "P0"]), sandbox.add(&["y"]));
    for id in [&stuck, &other] {
        sandbox.ralph(&["move", id, "Ready for Plan"]).ok();
    }
    let next = || sandbox.ralph(&["next", "--claim", "--as", "builder", "--json"]).json()["task"].clone();
    let given_back = || sandbox.ralph(&["release", &stuck, "--as", "builder"]).ok();
    for _ in 0..4 {
        assert_eq!(next(), stuck.as_str());
        given_back();
    }
    sandbox.ralph(&["note", &stuck, "it needs the schema", "--as", "builder"]).ok();
    for round in 0..5 {
        assert_eq!(next(), stuck.as_str(), "a note is progress, so the count starts again: {round}");
        if round % 2 == 0 {
            given_back();
        }
    }
    let said = sandbox.ralph(&["next", "--claim", "--as", "builder"]);
    says(&said, "claimed 5 times without progress");
    says(&said, &other);
    assert_eq!(state(&sandbox, &stuck), "Human Needed");
    says(&sandbox.ralph(&["inbox"]), "claimed this task 5 times (for builder) without progress");
    sandbox.ralph(&["release", &other, "--as", "builder"]).ok();
    sandbox.ralph(&["answer", &stuck, "look at schema.sql"]).ok();
    for _ in 0..8 {
        let chosen = sandbox.ralph(&["next", "--claim", "--json"]).json();
        assert_eq!(chosen["task"], stuck.as_str(), "claims by a person are not counted");
    }
}

#[test]
fn notes_are_changed_and_removed() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["x"]);
    for text in ["one", "two", "three"] {
        sandbox.ralph(&["note", &id, text]).ok();
    }
    sandbox.ralph(&["note", &id, "--edit", "2", "second"]).ok();
    sandbox.ralph(&["note", &id, "--rm", "1"]).ok();
    let texts = |sandbox: &Sandbox| -> Vec<String> {
        let notes = sandbox.ralph(&["show", &id, "--json"]).json()["notes"].clone();
        notes.as_array().unwrap().iter().map(|note| note["text"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(texts(&sandbox), ["second", "three"]);
    says(&sandbox.ralph(&["note", &id, "--rm", "3"]), "has no note 3: it has 2");
    says(&sandbox.ralph(&["note", &id, "--rm", "1", "--as", "builder"]), "written by another worker");
    sandbox.ralph(&["undo"]).ok();
    assert_eq!(texts(&sandbox), ["one", "second", "three"]);
}

#[test]
fn files_rescued_from_a_worktree_outlive_ralph() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["x"]);
    std::fs::write(sandbox.root().join(".gitignore"), "/worktrees/\n*.local\n").unwrap();
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "board"]);
    sandbox.ralph(&["worktree", "add", &id]).ok();
    std::fs::write(sandbox.root().join("worktrees").join(&id).join("keys.local"), "mine").unwrap();
    sandbox.ralph(&["worktree", "rm", &id]).ok();
    let said = sandbox.ralph(&["uninstall", "--yes"]).ok();
    assert!(said.contains("rescued"), "{said}");
    let local = sandbox.root().join(".git/ralph");
    let left: Vec<_> = std::fs::read_dir(&local).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["rescued"]);
    let folder = std::fs::read_dir(local.join("rescued")).unwrap().next().unwrap().unwrap().path();
    assert_eq!(std::fs::read_to_string(folder.join("keys.local")).unwrap(), "mine");
}

#[test]
fn what_was_set_up_is_removed_and_the_tasks_stay_unless_told_otherwise() {
    let sandbox = bare();
    std::fs::write(sandbox.root().join(".gitignore"), "/mine/\n").unwrap();
    sandbox.ralph(&["init"]).ok();
    sandbox.add(&["x"]);
    for host in ["claude", "codex", "gemini", "opencode"] {
        sandbox.ralph(&["setup", host]).ok();
    }
    assert!(sandbox.ralph(&["uninstall", "--dry-run"]).ok().contains("would remove"));
    assert!(sandbox.root().join(".claude").exists());
    assert!(sandbox.ralph(&["uninstall"]).fails(2).contains("--yes"));
    sandbox.ralph(&["uninstall", "--yes"]).ok();
    let left: Vec<String> = std::fs::read_dir(sandbox.root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| ![".git", ".ralph"].contains(&name.as_str()))
        .collect();
    assert_eq!(left, [".gitignore"], "{left:?}");
    assert_eq!(std::fs::read_to_string(sandbox.root().join(".gitignore")).unwrap(), "/mine/\n");
    assert!(!sandbox.git(&["config", "--list"]).contains("merge.ralph"));
    assert!(!sandbox.root().join(".git/ralph").exists() && sandbox.root().join(".ralph/tasks").exists());
    sandbox.ralph(&["uninstall", "--tasks", "--yes"]).ok();
    assert!(!sandbox.root().join(".ralph").exists());
}

#[test]
fn closing_a_blocker_says_whom_it_unblocks() {
    let sandbox = Sandbox::new();
    let ids = ["a", "b", "c", "d"].map(|title| sandbox.add(&[title]));
    for waiting in &ids[2..] {
        sandbox.ralph(&["block", waiting, "--on", &ids[0]]).ok();
    }
    sandbox.ralph(&["block", &ids[3], "--on", &ids[1]]).ok();
    assert!(sandbox.ralph(&["cancel", &ids[0]]).ok().contains(&format!("unblocks {}\n", ids[2])));
    assert_eq!(sandbox.ralph(&["done", &ids[1], "--json"]).json()["unblocked"], serde_json::json!([ids[3]]));
}

#[test]
fn settings_are_unset_and_the_first_page_of_help_is_in_groups() {
    let sandbox = Sandbox::new();
    sandbox.ralph(&["config", "set", "review.mode", "auto"]).ok();
    sandbox.ralph(&["config", "unset", "review.mode"]).ok();
    assert_eq!(sandbox.ralph(&["config", "get", "review.mode"]).ok().trim(), "skip");
    let page = sandbox.ralph(&["--help"]).ok();
    for group in ["Start", "Tasks", "Move and decide", "Code", "Agents", "Set up"] {
        assert!(page.contains(&format!("\n{group}\n")), "{page}");
    }
    assert!(sandbox.ralph(&["help", "merge"]).ok().contains("Examples:\n  ralph merge x7kq"));
}

#[test]
fn a_mistyped_key_of_a_task_is_named_by_every_command_and_ones_own_keys_are_not() {
    let sandbox = Sandbox::new();
    sandbox.write_task("a", "title = 'x'\nlables = ['bug']\nowners = ['me']\nmood = 3\n");
    for command in [&["ls"][..], &["show", "a"], &["status"]] {
        let read = sandbox.ralph(command);
        says(&read, ".ralph/tasks/a.toml:2:1: \"lables\" is not a field of a task (did you mean \"labels\"?)");
        assert!(!read.to_string().contains("owners\" is") && !read.to_string().contains("mood"), "{read}");
    }
}

#[test]
fn a_board_that_git_ignores_is_told() {
    let sandbox = bare();
    std::fs::write(sandbox.root().join(".gitignore"), ".ralph\n").unwrap();
    says(&sandbox.ralph(&["init"]), "git ignores .ralph");
    sandbox.add(&["x"]);
    says(&sandbox.ralph(&["commit"]), "git ignores .ralph");
    says(&sandbox.ralph(&["doctor"]), "git ignores .ralph");
}

#[test]
fn a_clone_without_the_merge_driver_says_so_once() {
    let sandbox = Sandbox::new();
    sandbox.git(&["config", "--remove-section", "merge.ralph"]);
    says(&sandbox.ralph(&["ls"]), "no merge driver");
    assert!(!sandbox.ralph(&["ls"]).to_string().contains("no merge driver"));
}

#[test]
fn a_file_that_was_renamed_gets_its_name_back_and_links_to_it_stay() {
    let sandbox = Sandbox::new();
    let (one, two) = (sandbox.add(&["One"]), sandbox.add(&["Two"]));
    sandbox.ralph(&["block", &two, "--on", &one]).ok();
    let renamed = sandbox.root().join(".ralph/tasks/the-one.toml");
    std::fs::rename(sandbox.task_file(&one), &renamed).unwrap();
    let said = sandbox.ralph(&["doctor"]).to_string();
    assert!(said.contains(&format!("the file of {one} was renamed to the-one.toml")), "{said}");
    assert!(sandbox.ralph(&["doctor", "--fix"]).to_string().contains(&one));
    assert!(sandbox.task_file(&one).exists() && !renamed.exists());
    let shown = sandbox.ralph(&["show", &two, "--json"]).json();
    assert_eq!(shown["blocked_by"], serde_json::json!([one]));
    assert!(sandbox.ralph(&["doctor"]).ok().contains("no problems"));
}

#[test]
fn a_task_that_is_closed_again_counts_once() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["One"]);
    for state in ["Done", "Backlog", "Done", "Backlog", "Done"] {
        sandbox.ralph(&["move", &id, state]).ok();
    }
    let status = sandbox.ralph(&["status", "--json"]).json();
    let finished: u64 = status["throughput"].as_array().unwrap().iter().map(|day| day.as_u64().unwrap()).sum();
    assert_eq!(finished, 1);
}

/// The requests of the page, on every workflow: columns, and a card dragged to each of them.
#[test]
fn the_web_board_works_on_every_workflow() {
    for workflow in WORKFLOWS {
        let sandbox = bare();
        sandbox.ralph(&["init", "--workflow", workflow, "--demo"]).ok();
        let served = crate::web::Served::new(&sandbox, &[]);
        let id = sandbox.add(&["One"]);
        let board = served.get("/api/board").json();
        let columns: Vec<&str> =
            board["columns"].as_array().unwrap().iter().map(|column| column["state"].as_str().unwrap()).collect();
        assert_eq!(columns, states(&sandbox), "{workflow}");
        for state in &columns {
            let moved = served.post(&format!("/api/task/{id}/save"), &serde_json::json!({ "state": state }));
            assert_eq!(moved.status, 200, "{workflow} {state}: {}", moved.body);
        }
        for path in ["/api/inbox", "/api/status", "/api/trends?days=7", "/api/workers", "/api/graph", "/api/workflow"] {
            assert_eq!(served.get(path).status, 200, "{workflow} {path}");
        }
        assert_eq!(served.get(&format!("/api/task/{id}/review")).status, 200);
    }
}

/// An agent cannot use `--force` or consent to anything, whatever name it gives: neither release another worker's claim
/// nor trust programs.
#[test]
fn a_program_forces_nothing_and_approves_nothing() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["x"]);
    sandbox.ralph(&["claim", &id, "--as", "Bob"]).ok();
    for (variable, name) in
        [("CLAUDECODE", "Ada"), ("CODEX_SANDBOX", "Ada"), ("GEMINI_CLI", "root"), ("OPENCODE", "Ada")]
    {
        let agent = |words: &[&str]| {
            let mut command = sandbox.command(RALPH, &sandbox.root());
            finish(command.args(words).env(variable, "1").args(["--as", name]))
        };
        for verb in ["claim", "release", "rm", "done"] {
            let said = agent(&[verb, &id, "--force"]);
            assert!(said.code == 1 || said.code == 3, "{variable} {verb}: {said}");
        }
        says(&agent(&["config", "set", "merge.checks", "[[\"true\"]]"]), "only a person can change this setting");
        let config = sandbox.root().join(".ralph/config.toml");
        std::fs::write(config, "format = 1\n[merge]\nchecks = [[\"true\"]]\n").unwrap();
        says(&agent(&["trust", "--yes"]), "only a person can trust programs");
    }
    assert_eq!(sandbox.ralph(&["show", &id, "--json"]).json()["owner"], "Bob");
    let forced = sandbox.ralph(&["done", &id, "--force"]);
    says(&forced, "forced, although Bob had claimed it");
    assert_eq!(sandbox.ralph(&["log", "--json", "-n", "1"]).json()[0]["verb"], "move --force");
}

#[test]
fn a_workflow_that_was_changed_is_not_undone_behind_its_back() {
    let sandbox = bare();
    sandbox.ralph(&["init", "--workflow", "simple"]).ok();
    let id = sandbox.add(&["x"]);
    sandbox.ralph(&["workflow", "use", "lite", "--yes"]).ok();
    let lite = state(&sandbox, &id);
    let said = sandbox.ralph(&["undo"]);
    assert!(said.fails(1).contains("ralph workflow use"));
    assert_eq!(state(&sandbox, &id), lite);
    sandbox.ralph(&["workflow", "use", "simple", "--yes"]).ok();
    assert_eq!(state(&sandbox, &id), "Todo");
}

#[test]
fn a_value_that_cannot_be_is_left_out_alone_and_is_corrected_with_config() {
    let sandbox = Sandbox::new();
    let config = sandbox.root().join(".ralph/config.toml");
    std::fs::write(&config, "format = 1\n[board]\nprefix = \"z-\"\n[review]\nmode = \"person\"\n").unwrap();
    let said = sandbox.ralph(&["add", "x"]);
    says(&said, ".ralph/config.toml:5");
    assert!(said.ok().starts_with("z-"), "the other settings count");
    assert!(
        finish(sandbox.command(RALPH, &sandbox.root()).args(["add", "y"]).env("CLAUDECODE", "1"))
            .fails(4)
            .contains("config.toml:5")
    );
    sandbox.ralph(&["config", "set", "review.mode", "auto"]).ok();
    assert!(!sandbox.ralph(&["ls"]).to_string().contains("config.toml"));
    std::fs::write(&config, "format = 1\n[review\n").unwrap();
    let said = sandbox.ralph(&["add", "x"]);
    says(&said, ".ralph/config.toml:2");
    assert!(said.ok().starts_with("z-"), "the last settings that could be read count");
    std::fs::remove_file(sandbox.root().join(".git/ralph/config.toml")).unwrap();
    assert!(sandbox.ralph(&["add", "x"]).fails(4).contains("config.toml:2"), "the intended settings are unknown");
    sandbox.ralph(&["ls"]).ok();
}

/// Without the workflow its states are unknown, so no state is reported as wrong.
#[test]
fn a_clone_with_a_broken_table_blames_no_task() {
    let sandbox = bare();
    sandbox.ralph(&["init", "--workflow", "simple"]).ok();
    let id = sandbox.add(&["x"]);
    std::fs::write(sandbox.root().join(".ralph/workflow.toml"), "name = \n").unwrap();
    std::fs::remove_file(sandbox.root().join(".git/ralph/workflow.toml")).unwrap();
    let said = sandbox.ralph(&["ls"]);
    says(&said, ".ralph/workflow.toml:1");
    assert!(!said.to_string().contains("is not a state") && said.to_string().contains(&id), "{said}");
    sandbox.ralph(&["move", &id, "Done"]).fails(4);
}

#[test]
fn finished_work_and_a_failed_merge_are_in_the_inbox() {
    let sandbox = Sandbox::new();
    let (id, other) = (sandbox.add(&["x"]), sandbox.add(&["y"]));
    sandbox.ralph(&["commit"]).ok();
    for (task, text) in [(&id, "one\n"), (&other, "two\n")] {
        sandbox.ralph(&["worktree", "add", task]).ok();
        let worktree = sandbox.root().join(format!("worktrees/{task}"));
        std::fs::write(worktree.join("a.txt"), text).unwrap();
        assert_eq!(sandbox.git_in(&worktree, &["add", "-A"]).code, 0);
        assert_eq!(sandbox.git_in(&worktree, &["commit", "-qm", "work"]).code, 0);
    }
    sandbox.ralph(&["move", &id, "In Review"]).ok();
    says(&sandbox.ralph(&["inbox"]), "work to review");
    sandbox.ralph(&["merge", &id]).ok();
    sandbox.ralph(&["merge", &other]).fails(1);
    let inbox = sandbox.ralph(&["inbox"]);
    says(&inbox, "merge failed");
    says(&inbox, "main: a.txt");
    std::fs::write(sandbox.root().join(format!("worktrees/{other}/a.txt")), "one\n").unwrap();
    let worktree = sandbox.root().join(format!("worktrees/{other}"));
    assert_eq!(sandbox.git_in(&worktree, &["commit", "-qam", "the same"]).code, 0);
    assert!(!sandbox.ralph(&["inbox"]).to_string().contains("merge failed"), "the branch has new commits");
    says(&sandbox.ralph(&["merge", &other]), "outside the workflow: skips");
}

#[test]
fn the_table_of_a_board_can_be_written_over_itself() {
    let sandbox = bare();
    sandbox.ralph(&["init"]).ok();
    let table = sandbox.root().join(".ralph/workflow.toml");
    let redirect = || {
        // As with a shell redirect: the file is emptied before ralph runs.
        std::fs::write(&table, "").unwrap();
        std::fs::write(&table, sandbox.ralph(&["workflow", "--toml"]).ok()).unwrap();
    };
    redirect();
    assert!(std::fs::read_to_string(&table).unwrap().contains("Plan in Review"));
    sandbox.ralph(&["workflow", "use", "lite", "--yes"]).ok();
    sandbox.ralph(&["add", "One"]).ok();
    redirect();
    let states = states(&sandbox);
    assert!(states.contains(&"Intake".to_owned()) && !states.contains(&"Plan in Review".to_owned()), "{states:?}");
    sandbox.ralph(&["add", "Two"]).ok();
}

#[test]
fn work_that_was_sent_back_on_lite_is_taken_up_again() {
    let sandbox = bare();
    sandbox.ralph(&["init", "--workflow", "lite"]).ok();
    let id = sandbox.add(&["One", "-e", "S"]);
    sandbox.ralph(&["move", &id, "In Review"]).ok();
    sandbox.ralph(&["reject", &id, "More of it."]).ok();
    assert_eq!(sandbox.ralph(&["next", "--role", "builder", "--json"]).json()["task"], id.as_str());
    let table = sandbox.ralph(&["workflow", "--toml"]).ok().replace("back = \"Backlog\"", "back = \"In Progress\"");
    let table = table.replace("ends = [\"Backlog\"]\nback", "ends = [\"In Progress\"]\nback");
    std::fs::write(sandbox.root().join(".ralph/workflow.toml"), table).unwrap();
    let said = sandbox.ralph(&["ls"]);
    assert!(said.stderr.contains("no command starts from this state"), "{said}");
}

#[test]
fn a_change_of_the_workflow_blames_no_task_and_ones_own_claim_is_no_obstacle() {
    let sandbox = bare();
    sandbox.ralph(&["init", "--workflow", "simple"]).ok();
    let id = sandbox.add(&["One"]);
    sandbox.ralph(&["add", "Two"]).ok();
    sandbox.ralph(&["claim", &id]).ok();
    let said = sandbox.ralph(&["workflow", "use", "lite", "--yes"]);
    assert_eq!(said.code, 0, "{said}");
    assert!(!said.stderr.contains("problem"), "{said}");
    assert_eq!(state(&sandbox, &id), "In Progress");
    sandbox.ralph(&["claim", &sandbox.add(&["Three", "--state", "Backlog"]), "--as", "builder"]).ok();
    let said = sandbox.ralph(&["workflow", "use", "simple", "--yes"]).fails(1);
    assert!(said.contains("while tasks are claimed"), "{said}");
}

#[test]
fn settings_that_break_leave_the_last_ones_that_could_be_read() {
    let sandbox = bare();
    sandbox.ralph(&["init"]).ok();
    sandbox.ralph(&["config", "set", "board.prefix", "job-"]).ok();
    sandbox.add(&["One"]);
    let path = sandbox.root().join(".ralph/config.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{text}x = [\n")).unwrap();
    let said = sandbox.ralph(&["add", "Two"]);
    assert_eq!(said.code, 0, "{said}");
    assert!(said.stdout.contains("job-") && said.stderr.contains(".ralph/config.toml:"), "{said}");
    let refused = sandbox.ralph(&["config", "set", "board.name", "Ours"]).fails(4);
    let line = text.lines().count() + 1;
    assert!(refused.contains(&format!(".ralph/config.toml:{line}")), "{refused}");
    // Agents are refused while the settings cannot be read.
    sandbox.ralph(&["next", "--claim", "--as", "builder"]).fails(4);
}

#[test]
fn a_question_on_a_board_without_a_state_for_people_is_not_handed_to_anybody() {
    let sandbox = bare();
    sandbox.ralph(&["init", "--workflow", "simple"]).ok();
    let id = sandbox.add(&["One"]);
    sandbox.ralph(&["claim", &id, "--as", "builder"]).ok();
    sandbox
        .ralph(&["ask", &id, "Which?", "--option", "A", "--option", "B", "--recommend", "B", "--as", "builder"])
        .ok();
    assert_eq!(sandbox.ralph(&["ls", "--ready", "--json"]).json(), serde_json::json!([]));
    sandbox.ralph(&["next"]).fails(5);
    assert!(sandbox.ralph(&["inbox"]).ok().contains(&format!("ralph answer {id} 2")));
    sandbox.ralph(&["answer", &id, "2"]).ok();
    assert_eq!(sandbox.ralph(&["next", "--json"]).json()["task"], id.as_str());
}

#[test]
fn a_comment_is_about_a_line_that_is_there() {
    let sandbox = bare();
    sandbox.ralph(&["init"]).ok();
    let id = sandbox.add(&["One", "--state", "In Review"]);
    std::fs::write(sandbox.root().join("a.txt"), "one\ntwo\n").unwrap();
    for (comment, why) in [
        ("none.txt:1:x", "no such file"),
        ("../home:1:x", "no such file"),
        ("a.txt:3:x", "has 2 lines"),
        ("a.txt:0:x", "line"),
    ] {
        let said = sandbox.ralph(&["reject", &id, "No.", "--comment", comment]).fails(2);
        assert!(said.contains(why), "{comment}: {said}");
    }
    assert_eq!(state(&sandbox, &id), "In Review");
    sandbox.ralph(&["reject", &id, "No.", "--comment", "a.txt:2:x"]).ok();
}

#[test]
fn a_program_does_not_loosen_what_holds_it() {
    let sandbox = bare();
    sandbox.ralph(&["init"]).ok();
    let set = |key: &str, value: &str| {
        let mut command = sandbox.command(RALPH, &sandbox.root());
        finish(command.env("CLAUDECODE", "1").args(["config", "set", key, value]))
    };
    for (key, value) in [("review.mode", "skip"), ("roles.builder.limit", "9"), ("claims.lease", "9h")] {
        let said = set(key, value);
        assert_eq!(said.code, 1, "{key}: {said}");
    }
    assert_eq!(set("board.name", "Ours").code, 0);
}

#[test]
fn a_plain_task_that_is_simply_done_is_within_the_workflow() {
    let sandbox = bare();
    sandbox.ralph(&["init", "--workflow", "simple"]).ok();
    let id = sandbox.add(&["One"]);
    let said = sandbox.ralph(&["done", &id]);
    assert!(!said.to_string().contains("outside"), "{said}");
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["One", "--state", "Ready for Plan"]);
    says(&sandbox.ralph(&["done", &id]), "outside the workflow");
}

/// A shell redirect empties the file before ralph writes the workflow into it.
#[test]
fn a_shipped_table_can_be_written_over_the_file_of_the_board() {
    let sandbox = bare();
    sandbox.ralph(&["init"]).ok();
    std::fs::write(sandbox.root().join(".ralph/workflow.toml"), "").unwrap();
    let said = sandbox.ralph(&["workflow", "--of", "simple", "--toml"]);
    assert!(said.stdout.contains("name = \"simple\"") && said.stderr.is_empty(), "{said}");
}

#[test]
fn people_cancel_and_take_back_within_the_workflow_of_lite() {
    let sandbox = bare();
    sandbox.ralph(&["init", "--workflow", "lite"]).ok();
    let id = sandbox.add(&["One", "--state", "Backlog"]);
    for args in [["cancel", &id].as_slice(), &["move", &id, "Backlog"], &["escalate", &id], &["move", &id, "In Review"]]
    {
        let said = sandbox.ralph(args).ok();
        assert!(!said.contains("outside the workflow"), "{args:?}: {said}");
    }
}

#[test]
fn a_pull_request_needs_a_branch_also_where_there_is_no_github() {
    let sandbox = bare();
    sandbox.ralph(&["init"]).ok();
    let id = sandbox.add(&["One", "--state", "In Review"]);
    let said = sandbox.ralph(&["pr", &id]).fails(1);
    assert!(said.contains(&format!("{id} has no branch feature/{id}")), "{said}");
}
