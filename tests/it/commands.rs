//! Snapshots of commands as a person or an agent types them.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

fn demo() -> Sandbox {
    let sandbox = Sandbox::bare();
    sandbox.git(&["init", "-q", "-b", "main"]);
    sandbox.ralph(&["init", "--demo"]).ok();
    sandbox
}

fn id_of(sandbox: &Sandbox, title: &str) -> String {
    let found = sandbox.ralph(&["task", "search", "--all", "--json", title]).json();
    found[0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn the_demo_has_every_state_an_epic_and_a_chain() {
    let sandbox = demo();
    let tasks = sandbox.ralph(&["task", "ls", "--all", "--json"]).json();
    let states: std::collections::BTreeSet<&str> =
        tasks.as_array().unwrap().iter().map(|t| t["state"].as_str().unwrap()).collect();
    assert_eq!(states.len(), 11);
    assert_snapshot!(sandbox.ralph(&["task", "ls"]));
    assert_snapshot!(sandbox.ralph(&["task", "tree"]));
    assert_snapshot!(sandbox.ralph(&["task", "graph"]));
    assert_snapshot!(sandbox.ralph(&["task", "ls", "--compact", "--ready"]));
    assert!(sandbox.ralph(&["init", "--demo"]).fails(1).contains("already has tasks"));
    sandbox.ralph(&["doctor"]).ok();
}

#[test]
fn a_task_is_shown_with_all_that_is_known() {
    let sandbox = demo();
    let id = id_of(&sandbox, "Charge a saved card");
    assert_snapshot!(sandbox.ralph(&["task", "show", &id]));
    let mut json = sandbox.ralph(&["task", "show", &id, "--json"]).json();
    let mut keys: Vec<String> = json.as_object_mut().unwrap().keys().cloned().collect();
    keys.sort();
    assert_snapshot!(keys.join(" "));
}

#[test]
fn the_graph_is_drawn_for_other_programs_too() {
    let sandbox = demo();
    let id = id_of(&sandbox, "Forgive typing errors");
    assert_snapshot!(sandbox.ralph(&["task", "graph", &id, "--dot"]));
    assert_snapshot!(sandbox.ralph(&["task", "graph", &id, "--mermaid"]));
}

#[test]
fn init_does_only_what_is_not_done() {
    let sandbox = Sandbox::bare();
    assert!(sandbox.ralph(&["init"]).fails(4).contains("ralph init --git"));
    std::fs::write(sandbox.root().join(".gitattributes"), "*.bin binary").unwrap();
    sandbox.ralph(&["init", "--git"]).ok();
    let attributes = std::fs::read_to_string(sandbox.root().join(".gitattributes")).unwrap();
    assert!(attributes.starts_with("*.bin binary\n.ralph/tasks/*.toml merge=ralph\n"), "{attributes}");
    std::fs::write(sandbox.root().join(".ralph/config.toml"), "# mine\nformat = 1\n").unwrap();
    assert!(sandbox.ralph(&["init"]).ok().contains("nothing to do"));
    assert_eq!(std::fs::read_to_string(sandbox.root().join(".ralph/config.toml")).unwrap(), "# mine\nformat = 1\n");
    assert_eq!(std::fs::read_to_string(sandbox.root().join(".gitattributes")).unwrap(), attributes);
    sandbox.git(&["fsck"]);
}

#[test]
fn without_a_board_every_command_says_how_to_get_one() {
    let sandbox = Sandbox::bare();
    sandbox.git(&["init", "-q"]);
    for args in [&["task", "ls"][..], &["task", "add", "x"], &["doctor"], &["log"]] {
        let said = sandbox.ralph(args).fails(4);
        assert!(said.contains("no board in") && said.contains("`ralph init` to create one"), "{said}");
    }
}

#[test]
fn a_task_is_added_from_wherever_its_text_comes() {
    let sandbox = Sandbox::new();
    let described =
        |id: &str| sandbox.ralph(&["task", "show", id, "--json"]).json()["description"].as_str().unwrap().to_owned();
    assert_eq!(described(&sandbox.add(&["A", "--body", "text"])), "text\n");
    let json =
        sandbox.ralph_with(&["task", "add", "B", "--body-file", "-", "--json"], "\"quoted\" $x `y`\n\nmore").json();
    assert_eq!(described(json["tasks"][0]["id"].as_str().unwrap()), "\"quoted\" $x `y`\n\nmore\n");
    // When a script is piped into a shell, its remaining lines must not become the description.
    let json = sandbox.ralph_with(&["add", "Named", "--json"], "git push --force\n").json();
    assert_eq!(described(json["tasks"][0]["id"].as_str().unwrap()), "");
    let json = sandbox.ralph_with(&["task", "add", "--json"], "Title from stdin\n\nand a body\n").json();
    assert_eq!(json["tasks"][0]["title"], "Title from stdin");
    let mut command = sandbox.command("script", &sandbox.root());
    let typed = format!("{} task add", crate::sandbox::RALPH);
    command.args(["-qec", &typed, "/dev/null"]).env("EDITOR", "printf 'From the editor\\n\\nbody\\n' >");
    assert!(crate::sandbox::finish(&mut command).ok().contains("From the editor"));
    assert!(sandbox.ralph_with(&["task", "add"], " \n").fails(2).contains("needs a title"));
}

#[test]
fn many_tasks_are_added_all_or_none() {
    let sandbox = Sandbox::new();
    let good = "[[task]]\nref = 'a'\ntitle = 'First'\n[[task]]\ntitle = 'Second'\nblocked_by = ['a']\n";
    let added = sandbox.ralph_with(&["task", "add", "--from", "-", "--json"], good).json();
    assert_eq!(added["tasks"][1]["blocked_by"][0], added["tasks"][0]["id"]);
    let count = sandbox.ids().len();
    for bad in [
        "{\"title\":\"x\"}\n{\"title\":\"\"}\n",
        "{\"title\":\"x\"}\n{\"title\":\"y\",\"blocked_by\":[\"nope\"]}\n",
        "{\"title\":\"x\"}\n{\"title\":\"y\",\"priority\":\"P7\"}\n",
        "[[task]]\nref='a'\ntitle='x'\nblocked_by=['b']\n[[task]]\nref='b'\ntitle='y'\nblocked_by=['a']\n",
    ] {
        let output = sandbox.ralph_with(&["task", "add", "--from", "-"], bad);
        assert!(output.code == 1 || output.code == 2, "{output}");
    }
    assert_eq!(sandbox.ids().len(), count);
}

#[test]
fn blocking_refuses_a_ring_and_prints_it() {
    let sandbox = Sandbox::new();
    for (id, rest) in
        [("a", ""), ("b", "blocked_by = ['a']"), ("c", "blocked_by = ['b']"), ("p", ""), ("k", "parent = 'p'")]
    {
        sandbox.write_task(id, format!("title = '{id}'\n{rest}\n"));
    }
    assert_snapshot!(sandbox.ralph(&["block", "a", "--on", "c"]));
    assert!(sandbox.ralph(&["block", "p", "--on", "k"]).fails(1).contains("k → p → k"));
    assert!(sandbox.ralph(&["task", "set", "a", "blocked_by=a"]).fails(1).contains("a → a"));
    assert!(sandbox.ralph(&["task", "set", "p", "parent=k"]).fails(1).contains("create a cycle"));
    assert_snapshot!(sandbox.ralph(&["block", "k", "--on", "a", "b"]));
    assert_eq!(sandbox.ralph(&["block", "k", "--on", "a"]).stderr, "nothing to do: these blockers are already set\n");
    assert_snapshot!(sandbox.ralph(&["unblock", "k", "--from", "a"]));
}

#[test]
fn a_reference_that_is_wrong_or_unclear_says_what_was_meant() {
    let sandbox = Sandbox::new();
    for (id, title) in [("t-x7kq", "Sync drops labels"), ("t-x7mm", "Quick start"), ("t-b2cd", "Login fails")] {
        sandbox.write_task(id, format!("title = '{title}'\n"));
    }
    assert_snapshot!(sandbox.ralph(&["task", "show", "x7"]));
    assert_snapshot!(sandbox.ralph(&["task", "show", "t-b2ce"]));
    assert_snapshot!(sandbox.ralph(&["task", "show", "zzz", "--json"]));
    assert!(sandbox.ralph(&["task", "show", "B2"]).ok().contains("Login fails"));
    sandbox.write_task("t-gh", "title = 'Mirrored'\n[github]\nnumber = 44\n");
    for typed in ["#44", "44", "GH-44"] {
        assert!(sandbox.ralph(&["task", "show", typed]).ok().contains("Mirrored"));
    }
}

#[test]
fn filters_and_sorts_of_the_list() {
    let sandbox = demo();
    let count = |args: &[&str]| {
        let mut all = vec!["task", "ls", "--json"];
        all.extend(args);
        sandbox.ralph(&all).json().as_array().unwrap().len()
    };
    assert_eq!((count(&[]), count(&["--all"])), (11, 14));
    assert_eq!(
        (count(&["--state", "backlog"]), count(&["-s", "done"]), count(&["-s", "plan-in-p", "-s", "human"])),
        (3, 2, 2)
    );
    assert_eq!((count(&["--ready"]), count(&["--blocked"]), count(&["--role", "integrator"])), (4, 3, 1));
    assert_eq!((count(&["--owner", "builder-2"]), count(&["--mine", "--as", "analyst"])), (1, 1));
    assert_eq!(
        (count(&["--label", "api"]), count(&["--label", "api", "--label", "checkout"]), count(&["-p", "p0"])),
        (2, 1, 1)
    );
    assert_eq!(
        (count(&["--estimate", "M"]), count(&["--kind", "epic"]), count(&["--search", "SEARCH"]), count(&["-n", "2"])),
        (1, 1, 3, 2)
    );
    let epic = id_of(&sandbox, "Payments that people finish");
    assert_eq!((count(&["--parent", &epic]), count(&["--parent", &epic, "--all"])), (3, 4));
    let titles = sandbox.ralph(&["task", "ls", "--sort", "-title", "-n", "1", "--compact"]).ok();
    assert!(titles.contains("Write the payment guide"), "{titles}");
    for (args, said) in [
        (["--state", "nowhere"], "is not a state"),
        (["--role", "cook"], "is not a role: use analyst"),
        (["--sort", "colour"], "cannot sort by"),
        (["--priority", "9"], "is not a priority"),
    ] {
        assert!(sandbox.ralph(&["task", "ls", args[0], args[1]]).fails(2).contains(said));
    }
}

#[test]
fn a_compact_line_is_about_fifty_bytes() {
    let sandbox = demo();
    let text = sandbox.ralph(&["task", "ls", "--all", "--compact"]).ok();
    let average = text.len() / text.lines().count();
    assert!((35..70).contains(&average), "{average}");
}

#[test]
fn search_ranks_titles_before_notes_and_needs_every_word() {
    let sandbox = demo();
    assert_snapshot!(sandbox.ralph(&["task", "search", "search"]));
    assert_snapshot!(sandbox.ralph(&["task", "search", "idempotency", "bank"]));
    assert_eq!(sandbox.ralph(&["task", "search", "xyzzy"]).stderr, "no tasks match\n");
}

#[test]
fn notes_come_from_words_files_and_pipes() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["x"]);
    sandbox.ralph(&["note", &id, "two", "words", "--as", "builder-2"]).ok();
    sandbox.ralph_with(&["note", &id], "from a pipe\n\nwith 'quotes'\n").ok();
    assert!(sandbox.ralph_with(&["note", &id], "  \n").fails(2).contains("cannot be empty"));
    let notes = sandbox.ralph(&["task", "show", &id, "--json"]).json()["notes"].clone();
    assert_eq!((&notes[0]["text"], &notes[0]["by"]), (&"two words".into(), &"builder-2".into()));
    assert_eq!((&notes[1]["text"], &notes[1]["by"]), (&"from a pipe\n\nwith 'quotes'".into(), &"Ada".into()));
}

#[test]
fn finished_tasks_are_archived_and_still_found() {
    let sandbox = Sandbox::new();
    let done = sandbox.add(&["Old", "--state", "done"]);
    let open = sandbox.add(&["Open", "--blocked-by", &done]);
    assert!(sandbox.ralph(&["task", "archive"]).stderr.contains("nothing to do"));
    assert!(sandbox.ralph(&["task", "archive", &open]).fails(1).contains("only finished"));
    sandbox.ralph(&["task", "archive", "--older", "0s"]).ok();
    assert_eq!(sandbox.ids(), [open.as_str()]);
    assert_eq!(sandbox.ralph(&["task", "show", &done, "--json"]).json()["archived"], true);
    assert_eq!(sandbox.ralph(&["task", "show", &open, "--json"]).json()["blocked"], false);
    sandbox.ralph(&["doctor"]).ok();
    sandbox.ralph(&["undo"]).ok();
    assert_eq!(sandbox.ids().len(), 2);
}

#[test]
fn doctor_finds_everything_and_mends_what_is_safe() {
    let sandbox = Sandbox::new();
    sandbox
        .write_task("a", "title = 'A'\nblocked_by = ['gone', 'b']\nparent = 'nobody'\n[artifacts]\nplan = 'nope.md'\n");
    sandbox.write_task("b", "title = 'B'\nblocked_by = ['c']\n");
    sandbox.write_task("c", "title = 'C'\nblocked_by = ['b']\n");
    sandbox.write_task("A", "title = 'same title'\n");
    sandbox.write_task("e", "title = 'Same Title'\nid = 'f'\n");
    sandbox.write_task("bad", "title");
    std::fs::write(sandbox.root().join(".ralph/tasks/.x.toml.op.tmp"), "").unwrap();
    std::fs::create_dir_all(sandbox.root().join(".ralph/notes/ghost")).unwrap();
    std::fs::write(sandbox.root().join(".ralph/config.toml"), "format = 1\n[future]\nkey = 1\n").unwrap();
    std::fs::write(sandbox.root().join(".gitattributes"), "").unwrap();
    let foreign = sandbox.outside("bin");
    std::fs::create_dir(&foreign).unwrap();
    std::fs::write(foreign.join("ralph"), "#!/bin/sh\necho ralph-cli 2.10\n").unwrap();
    crate::sandbox::finish(std::process::Command::new("chmod").arg("+x").arg(foreign.join("ralph"))).ok();
    let mut command = sandbox.command(crate::sandbox::RALPH, &sandbox.root());
    let path = format!("{}:{}", foreign.display(), std::env::var("PATH").unwrap());
    let found = crate::sandbox::finish(command.args(["doctor", "--json"]).env("PATH", path));
    assert_eq!(found.code, 1);
    let json: serde_json::Value = serde_json::from_str(&found.stdout).unwrap();
    let mut codes: Vec<&str> =
        json["findings"].as_array().unwrap().iter().map(|f| f["code"].as_str().unwrap()).collect();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(
        codes.join(" "),
        "bad-file cycle dangling-blocker dangling-parent duplicate-id foreign-ralph missing-artifact no-attributes orphan-notes \
         renamed-file same-title stray-file unknown-setting"
    );
    let fixed = sandbox.ralph(&["doctor", "--fix", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&fixed.stdout).unwrap();
    let of =
        |code: &str| json["findings"].as_array().unwrap().iter().find(|f| f["code"] == code).unwrap()["fixed"] == true;
    assert!(of("dangling-blocker") && of("dangling-parent") && of("stray-file") && of("no-attributes") && !of("cycle"));
    assert_eq!(sandbox.read_task("a"), "title = 'A'\nblocked_by = [\"b\"]\n[artifacts]\nplan = 'nope.md'\n");
}

#[test]
fn settings_know_where_they_come_from() {
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.home().join(".config/ralph")).unwrap();
    std::fs::write(sandbox.home().join(".config/ralph/config.toml"), "[ui]\ncolor = \"never\"\n").unwrap();
    sandbox.ralph(&["config", "set", "board.prefix", "b-"]).ok();
    let listed = sandbox.ralph(&["config", "list", "--origin", "--config", "board.name=Flag"]).ok();
    let rows: Vec<Vec<&str>> = listed.lines().map(|line| line.split_whitespace().take(3).collect()).collect();
    let user = sandbox.home().join(".config/ralph/config.toml").display().to_string();
    assert!(rows.contains(&vec!["board.name", "Flag", "--config"]), "{listed}");
    assert!(rows.contains(&vec!["board.prefix", "b-", ".ralph/config.toml"]), "{listed}");
    assert_eq!(rows.last().unwrap(), &["ui.color", "never", user.as_str()]);
    assert!(sandbox.add(&["x"]).starts_with("b-"));
    assert_eq!(sandbox.ralph(&["config", "get", "board.prefix"]).ok(), "b-\n");
    let text = std::fs::read_to_string(sandbox.root().join(".ralph/config.toml")).unwrap();
    assert!(text.starts_with("# Settings of this board") && text.contains("[board]\nprefix = \"b-\"\n"), "{text}");
    assert!(sandbox.ralph(&["config", "set", "board.prefx", "x"]).fails(2).contains("board.prefix"));
    assert!(sandbox.ralph(&["config", "set", "ui.color", "pink"]).fails(2).contains("use auto, always, never"));
}

#[test]
fn the_board_is_the_main_worktrees_from_everywhere() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["Shared"]);
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "board"]);
    let linked = sandbox.outside("linked");
    sandbox.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    std::fs::create_dir_all(linked.join("deep/er")).unwrap();
    sandbox.ralph_in(&linked.join("deep/er"), &["task", "set", &id, "priority=P0"]).ok();
    assert!(sandbox.read_task(&id).contains("P0"));
    assert!(!std::fs::read_to_string(linked.join(format!(".ralph/tasks/{id}.toml"))).unwrap().contains("P0"));
    let root = sandbox.root().display().to_string();
    assert!(sandbox.ralph_in(&sandbox.home(), &["task", "ls", "--board", &root]).ok().contains("Shared"));
    assert!(sandbox.ralph_in(&sandbox.home(), &["task", "ls"]).fails(4).contains("not inside a git repository"));
}

#[test]
fn colour_is_for_terminals_and_can_be_forced() {
    let sandbox = demo();
    assert!(!sandbox.ralph(&["task", "ls"]).ok().contains('\u{1b}'));
    assert!(sandbox.ralph(&["task", "ls", "--color", "always"]).ok().contains('\u{1b}'));
    let on_terminal = |name: &str| {
        let mut command = sandbox.command("script", &sandbox.root());
        command.args(["-qec", &format!("{} task ls --no-pager", crate::sandbox::RALPH), "/dev/null"]);
        crate::sandbox::finish(command.env("TERM", "xterm").env(name, "1")).ok()
    };
    assert!(on_terminal("SOMETHING").contains('\u{1b}'));
    assert!(!on_terminal("NO_COLOR").contains("\u{1b}["));
}

#[test]
fn completions_know_the_board() {
    let sandbox = demo();
    let complete = |words: &[&str]| {
        let mut command = sandbox.command(crate::sandbox::RALPH, &sandbox.root());
        command.env("COMPLETE", "fish").arg("--").args(words);
        crate::sandbox::finish(&mut command).ok()
    };
    let id = id_of(&sandbox, "Charge a saved card");
    assert!(complete(&["ralph", "task", "show", "t-"]).contains(&format!("{id}\tCharge a saved card")));
    assert!(complete(&["ralph", "task", "ls", "--state", "ready"]).contains("ready-for-plan"));
    assert!(complete(&["ralph", "task", "ls", "--label", ""]).contains("checkout"));
    for shell in ["bash", "zsh", "fish"] {
        assert!(sandbox.ralph(&["completions", shell]).ok().contains("COMPLETE"), "{shell}");
    }
    assert!(sandbox.ralph(&["man"]).ok().starts_with(".ie"));
    let pages = sandbox.outside("man");
    sandbox.ralph(&["man", "--dir", pages.to_str().unwrap()]).ok();
    assert!(pages.join("ralph-task-ls.1").exists());
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let sandbox = demo();
    let mut command = sandbox.command("sh", &sandbox.root());
    command
        .args(["-c", &format!("{} task ls --all --json | head -c 10; echo ${{PIPESTATUS:-}}", crate::sandbox::RALPH)]);
    let output = crate::sandbox::finish(&mut command);
    assert_eq!(output.stderr, "");
}

#[test]
fn a_link_may_be_taken_out_even_in_a_ring_and_long_chains_are_quick() {
    let sandbox = Sandbox::new();
    for (id, on) in [("a", "[]"), ("r1", "['r2', 'a']"), ("r2", "['r1', 'gone']")] {
        sandbox.write_task(id, format!("title = '{id}'\nblocked_by = {on}\n"));
    }
    sandbox.ralph(&["unblock", "r1", "--from", "a"]).ok();
    sandbox.ralph(&["task", "set", "r2", "blocked_by-=gone"]).ok();
    assert!(sandbox.ralph(&["doctor"]).stdout.contains("r1 → r2 → r1"));
    let chain: String = (0..3_000)
        .map(|n| {
            if n == 0 {
                "{\"title\":\"0\",\"ref\":\"0\"}\n".to_owned()
            } else {
                format!("{{\"title\":\"{n}\",\"ref\":\"{n}\",\"blocked_by\":[\"{}\"]}}\n", n - 1)
            }
        })
        .collect();
    sandbox.ralph_with(&["task", "add", "--from", "-"], &chain).ok();
    for n in 0..3_000 {
        sandbox.write_task(&format!("d{n}"), format!("title = '{n}'\nparent = 'd{}'\n", n + 1));
    }
    assert_eq!(sandbox.ralph(&["task", "tree", "--json"]).code, 0);
    assert_eq!(sandbox.ralph(&["doctor"]).code, 1);
}

#[test]
fn a_ring_of_parents_is_listed_like_everything_else() {
    let sandbox = Sandbox::new();
    sandbox.write_task("p1", "title = 'one'\nparent = 'p2'\n");
    sandbox.write_task("p2", "title = 'two'\nparent = 'p1'\n");
    let tree = sandbox.ralph(&["task", "tree"]).ok();
    assert!(tree.contains("one") && tree.contains("two"), "{tree}");
}

#[test]
fn wrong_calls_are_json_too_when_json_is_asked_for() {
    let sandbox = Sandbox::new();
    for args in
        [&["--json", "task", "ls", "--bogus"][..], &["task", "show", "--json"], &["--json", "task", "ls", "-n", "x"]]
    {
        let said = sandbox.ralph(args).fails(2);
        let json: serde_json::Value = serde_json::from_str(&said).unwrap();
        assert_eq!(json["error"]["kind"], "usage", "{said}");
    }
    assert!(sandbox.ralph(&["completions", "bash", "--json"]).json()["script"].as_str().unwrap().contains("COMPLETE"));
}

#[test]
fn no_text_is_dropped_in_silence() {
    let sandbox = Sandbox::new();
    let json = sandbox.ralph_with(&["task", "add", "Title", "-F", "-", "--json"], "one\r\ntwo\r\n").json();
    let id = json["tasks"][0]["id"].as_str().unwrap();
    assert_eq!(sandbox.ralph(&["task", "show", id, "--json"]).json()["description"], "one\ntwo\n");
    for args in [
        &["note", id, "words", "-b", "body"][..],
        &["task", "set", id, "-b", "x", "description=y"],
        &["task", "add", "--from", "x", "-p", "P1"],
    ] {
        sandbox.ralph(args).fails(2);
    }
}

#[test]
fn the_board_that_is_named_beats_the_environment() {
    let (one, other) = (Sandbox::new(), Sandbox::new());
    other.add(&["The other"]);
    let mut command = one.command(crate::sandbox::RALPH, &one.root());
    command.args(["task", "ls", "--board", other.root().to_str().unwrap()]).env("GIT_DIR", one.root().join(".git"));
    assert!(crate::sandbox::finish(&mut command).ok().contains("The other"));
}

#[test]
fn narrow_terminals_and_odd_titles_keep_their_lines() {
    let sandbox = demo();
    sandbox.write_task("esc", "title = \"\\u001b]0;pwn\\u0007 日本語 a title that is much longer than the terminal is wide\"\nlabels = ['\\u001b[2J']\ndescription = \"\\u001b[31mred\"\n".replace("'\\u001b[2J'", "\"\\u001b[2J\""));
    for width in ["40", "60", "80", "200"] {
        for args in ["task ls", "task tree", "task graph", "task show esc", "status"] {
            let mut command = sandbox.command("script", &sandbox.root());
            command.args(["-qec", &format!("{} {args} --no-pager --color never", crate::sandbox::RALPH), "/dev/null"]);
            let text = crate::sandbox::finish(command.env("COLUMNS", width).env("TERM", "xterm")).ok();
            assert!(!text.contains('\u{1b}') && !text.contains('\u{7}'), "{args}: {text:?}");
            let room: usize = width.parse().unwrap();
            if args == "task ls" && room >= 60 {
                let widest = text
                    .lines()
                    .take_while(|line| !line.trim().is_empty())
                    .map(|line| unicode_width::UnicodeWidthStr::width(line.trim_end()))
                    .max()
                    .unwrap();
                assert!(widest <= room, "{widest} > {room}\n{text}");
            }
        }
    }
}

#[test]
fn a_chain_of_two_is_drawn_with_a_line_between_them() {
    let sandbox = Sandbox::new();
    sandbox.write_task("a", "title = 'First'\n");
    sandbox.write_task("b", "title = 'Second'\nblocked_by = ['a']\n");
    let drawn = sandbox.ralph(&["task", "graph"]).ok();
    let lines: Vec<&str> = drawn.lines().map(str::trim_end).collect();
    assert_eq!((lines.len(), lines[1]), (3, "│"), "{drawn}");
}
