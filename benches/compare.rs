//! Ratios of ralph to programs that mark the lower limit, and to other task trackers on the PATH, all in one run.
//!
//!     cargo bench --bench compare                 boards of 100, 1,000, 10,000 and 100,000 tasks
//!     cargo bench --bench compare -- 1000 10000   boards of these sizes
//!     RALPH_BEFORE=/path/of/an/older/ralph cargo bench --bench compare    compares each row with that one, too
//!
//! Runs are interleaved and their medians compared, so that noise of the machine affects all rows alike.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// Copied programs: a file straight from the linker loads more slowly than a copy, which would distort the comparison.
static RALPH: LazyLock<String> = LazyLock::new(|| copied("now", env!("CARGO_BIN_EXE_ralph")));
static BEFORE: LazyLock<Option<String>> =
    LazyLock::new(|| Some(copied("before", &std::env::var("RALPH_BEFORE").ok()?)));

fn copied(name: &str, program: &str) -> String {
    let copy = std::env::temp_dir().join(format!("ralph-bench-{}-{name}", std::process::id()));
    std::fs::copy(program, &copy).unwrap();
    copy.display().to_string()
}

/// A folder to run in, and a copy of it for the older ralph, because each has its own index and claims.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("now")).unwrap();
        Self { folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("now")
    }

    /// The older ralph and its folder, which is copied at the first call.
    fn before(&self) -> Option<(String, PathBuf)> {
        let ralph = BEFORE.clone()?;
        let copy = self.folder.path().join("before");
        if !copy.exists() {
            assert!(sh(self.folder.path(), "cp -a now before"));
        }
        Some((ralph, copy))
    }
}

/// The median of a row, and the median with the older ralph.
struct Timed {
    now: Duration,
    before: Option<Duration>,
}

impl Timed {
    fn over(&self, floor: &Self) -> f64 {
        self.now.as_secs_f64() / floor.now.as_secs_f64()
    }
}

struct Board {
    folder: Place,
    size: usize,
    one: String,
}

/// What is timed: a name, a program with its arguments, and a shell command that prepares each run.
struct Row {
    name: &'static str,
    run: Vec<String>,
    before: Option<String>,
    /// Exit codes other than 0 that are no failure.
    also: &'static [i32],
}

fn main() {
    let sizes: Vec<usize> = std::env::args().filter_map(|arg| arg.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![100, 1_000, 10_000, 100_000] } else { sizes };
    let boards: Vec<Board> = sizes.iter().map(|&size| board(size)).collect();
    for board in &boards {
        against_floors(board);
        against_peers(board);
    }
    growth(&boards);
    worktrees(10_000);
    bootstrap(10_000);
    commits(10_000);
    watching(10_000);
    for copy in [Some(RALPH.clone()), BEFORE.clone()].into_iter().flatten() {
        let _ = std::fs::remove_file(copy);
    }
}

/// A repository with a board, one task, and `files` committed files of `lines` lines each.
fn repository(files: usize, lines: usize) -> Place {
    let folder = Place::new();
    let root = &folder.path();
    assert!(sh(
        root,
        "git init -q -b main . && git config user.name b && git config user.email b@example.org && git config gc.auto 0 && git config maintenance.auto false && \"$RALPH\" init"
    ));
    for n in 0..files {
        let path = root.join(format!("src/{}/file{n}.txt", n % 100));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("line {n}\n").repeat(lines)).unwrap();
    }
    std::fs::write(root.join(".ralph/tasks/x.toml"), "title = 'x'\n").unwrap();
    assert!(sh(root, "git add -A && git commit -qm base"));
    folder
}

/// Commits the board of a repository with a large index, with ralph and with git.
fn commits(files: usize) {
    let folder = repository(files, 1);
    let change = "echo \"# $(date +%N)\" >> .ralph/tasks/x.toml";
    let rows = [
        Row {
            before: Some(change.into()),
            ..row("git commit --only", &["git", "commit", "-qnm", "x", "--only", "--", ".ralph"])
        },
        Row { before: Some(change.into()), ..row("ralph commit", &["ralph", "commit"]) },
    ];
    let found = medians(&folder, &rows, 15);
    println!("\nthe board committed beside {files} files");
    print_times(&rows, &found);
    println!("  {:<28} {:>9.2} × git commit --only", "ralph commit", found[1].over(&found[0]));
}

/// Runs a watcher on a board of `size` tasks: how soon it reports a saved file, and how much CPU time it uses when idle.
fn watching(size: usize) {
    use std::io::BufRead as _;
    let board = board(size);
    let root = &board.folder.path();
    let mut command = command(root, &RALPH, &["ralph", "watch", "--json", "--event", "changed"].map(str::to_owned));
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
    let path = root.join(format!(".ralph/tasks/{}.toml", board.one));
    let text = std::fs::read_to_string(&path).unwrap();
    std::thread::sleep(Duration::from_secs(3));
    let mut times: Vec<Duration> = (0..40)
        .map(|n| {
            let start = Instant::now();
            std::fs::write(&path, format!("{text}n = {n}\n")).unwrap();
            lines.next().unwrap().unwrap();
            let time = start.elapsed();
            std::thread::sleep(Duration::from_millis(50));
            time
        })
        .collect();
    times.sort();
    let stat = |name: &str| std::fs::read_to_string(format!("/proc/{}/{name}", child.id())).unwrap();
    let ticks = || {
        let text = stat("stat");
        let fields: Vec<&str> = text.rsplit(')').next().unwrap().split_whitespace().collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    };
    let before = ticks();
    std::thread::sleep(Duration::from_secs(10));
    let idle = ticks() - before;
    let resident = stat("status").lines().find(|line| line.starts_with("VmHWM")).unwrap().to_owned();
    let _ = child.kill();
    let _ = child.wait();
    println!("\nwatch, {size} tasks");
    let at = |part: usize| times[times.len() * part / 100].as_secs_f64() * 1e3;
    println!("  a save to its event: median {:.0} ms, 95 % {:.0} ms (bar 200 ms)", at(50), at(95));
    println!("  most memory: {} (bar 100 MiB)", resident.trim_start_matches("VmHWM:").trim());
    println!("  processor while nothing happens: {idle} ticks of 10 ms in 10 s (bar about 0)");
}

/// Makes a worktree of a repository with `files` files, with ralph and with git.
fn worktrees(files: usize) {
    let folder = repository(files, 200);
    let clear = "\"$RALPH\" worktree rm x --force; git worktree remove --force worktrees/by-git; git branch -D by-git; sync; true";
    let rows = [
        Row {
            before: Some(clear.into()),
            ..row("git worktree add", &["git", "worktree", "add", "-q", "-b", "by-git", "worktrees/by-git"])
        },
        Row { before: Some(clear.into()), ..row("ralph worktree add", &["ralph", "worktree", "add", "x"]) },
    ];
    let found = medians(&folder, &rows, 7);
    println!("\n{files} files in a worktree");
    print_times(&rows, &found);
    println!("  {:<28} {:>9.2} × git worktree add (bar 1)", "ralph worktree add", found[1].over(&found[0]));
}

/// Makes a worktree with as many ignored files as tracked ones: copied (reflinked where the file system can), and as links.
fn bootstrap(files: usize) {
    let folder = repository(files, 200);
    let root = &folder.path();
    for n in 0..files {
        let path = root.join(format!("node_modules/p{}/file{n}.js", n % 100));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("line {n}\n").repeat(200)).unwrap();
    }
    std::fs::write(root.join(".gitignore"), "node_modules/\nworktrees/\n").unwrap();
    std::fs::write(root.join(".worktreeinclude"), "node_modules/\n").unwrap();
    let clear = |how: &str| {
        Some(format!("\"$RALPH\" worktree rm x --force; \"$RALPH\" config set worktree.include {how}; sync; true"))
    };
    let add = ["ralph", "worktree", "add", "x"];
    let rows = [
        Row { before: clear("off"), ..row("ralph worktree add", &add) },
        Row { before: clear("copy"), ..row("with ignored files copied", &add) },
        Row { before: clear("link"), ..row("with ignored files as links", &add) },
    ];
    let found = medians(&folder, &rows, 7);
    println!("\n{files} tracked and {files} ignored files in a worktree");
    print_times(&rows, &found);
    for at in [1, 2] {
        println!(
            "  {:<28} {:>9.2} × ralph worktree add (bar 1.5 by reflink or link)",
            rows[at].name,
            found[at].over(&found[0])
        );
    }
}

fn command(folder: &Path, ralph: &str, run: &[String]) -> Command {
    let mut command = Command::new(if run[0] == "ralph" { ralph } else { &run[0] });
    command.args(&run[1..]).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.env("GIT_AUTHOR_NAME", "bench").env("RALPH", ralph);
    command
}

fn sh(folder: &Path, line: &str) -> bool {
    sh_with(folder, &RALPH, line)
}

fn sh_with(folder: &Path, ralph: &str, line: &str) -> bool {
    command(folder, ralph, &["sh", "-c", line].map(str::to_owned)).status().is_ok_and(|status| status.success())
}

/// A board that is always the same for one size: 60 % done, up to two blockers among the previous twenty, short descriptions.
fn board(size: usize) -> Board {
    let folder = Place::new();
    let root = &folder.path();
    assert!(sh(root, "git init -q . && $RALPH init"));
    let mut rng = fastrand::Rng::with_seed(42);
    let ids: Vec<String> = (0..size).map(|n| format!("t-{}{n:05}", char::from(b'b' + (n % 13) as u8))).collect();
    let body = "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor.\n".repeat(5);
    let states =
        ["Done", "Done", "Done", "Done", "Done", "Done", "In Progress", "Backlog", "Ready for Plan", "Research Needed"];
    for (n, id) in ids.iter().enumerate() {
        let mut blockers: Vec<&String> =
            (0..rng.usize(..3).min(n)).map(|_| &ids[n - 1 - rng.usize(..n.min(20))]).collect();
        blockers.sort();
        blockers.dedup();
        let state = states[rng.usize(..10)];
        let text = format!(
            "id = \"{id}\"\ntitle = \"Task {n} of a generated board\"\n\nstate = \"{state}\"\n\npriority = \"P{}\"\n\nestimate = \
             \"S\"\n\nlabels = [\n    \"area-{}\",\n    \"kind-{}\",\n]\n\nblocked_by = {blockers:?}\n\ncreated = \
             2026-11-15T09:30:00Z\n\ndescription = \"\"\"\n{body}\"\"\"\n",
            rng.u8(..4),
            n % 17,
            n % 5,
        );
        std::fs::write(root.join(format!(".ralph/tasks/{id}.toml")), text).unwrap();
    }
    assert!(sh(root, "$RALPH task ls --json"));
    Board { one: ids[size / 2].clone(), folder, size }
}

/// Runs are interleaved, so that a slow moment affects every row and both programs.
fn medians(place: &Place, rows: &[Row], rounds: usize) -> Vec<Timed> {
    let mut programs = vec![(RALPH.clone(), place.path())];
    programs.extend(place.before());
    let mut times: Vec<Vec<Vec<Duration>>> = vec![vec![Vec::new(); programs.len()]; rows.len()];
    for round in 0..=rounds {
        for (row, times) in rows.iter().zip(&mut times) {
            // The second program finds warm caches, so the two alternate.
            for turn in 0..programs.len() {
                let at = (turn + round) % programs.len();
                let (ralph, folder) = &programs[at];
                let time = once(row, ralph, folder);
                // The first round only warms the caches.
                if round > 0 {
                    times[at].push(time);
                }
            }
        }
    }
    let median = |times: &mut Vec<Duration>| {
        times.sort();
        times[times.len() / 2]
    };
    let timed =
        |times: &mut Vec<Vec<Duration>>| Timed { now: median(&mut times[0]), before: times.get_mut(1).map(median) };
    times.iter_mut().map(timed).collect()
}

fn once(row: &Row, ralph: &str, folder: &Path) -> Duration {
    if let Some(before) = &row.before {
        sh_with(folder, ralph, before);
    }
    let mut command = command(folder, ralph, &row.run);
    let start = Instant::now();
    let status = command.status().unwrap();
    let time = start.elapsed();
    let answered = status.success() || status.code().is_some_and(|code| row.also.contains(&code));
    assert!(answered, "{}: {status}", row.name);
    time
}

fn print_times(rows: &[Row], found: &[Timed]) {
    for (row, timed) in rows.iter().zip(found) {
        let ratio = timed.before.map(|before| timed.now.as_secs_f64() / before.as_secs_f64());
        let ratio = ratio.map(|ratio| format!("   {ratio:>5.2} × before")).unwrap_or_default();
        println!("  {:<28} {:>9.2} ms{ratio}", row.name, timed.now.as_secs_f64() * 1e3);
    }
}

fn row(name: &'static str, run: &[&str]) -> Row {
    Row { name, run: run.iter().map(|word| (*word).to_owned()).collect(), before: None, also: &[] }
}

/// Rows for commands that write. Their values differ each time, so that every run writes.
fn verbs(board: &Board) -> Vec<Row> {
    let one = board.one.as_str();
    let free = format!(
        "\"$RALPH\" release {one} --force --as anna; \"$RALPH\" move {one} ready-for-plan --force --as anna; true"
    );
    let review = format!("\"$RALPH\" move {one} human-needed --force --as anna; true");
    vec![
        row("task show", &["ralph", "task", "show", one]),
        row("task set", &["sh", "-c", &format!("exec \"$RALPH\" task set {one} owner=w$(date +%N)")]),
        row("note", &["ralph", "note", one, "text"]),
        Row { before: Some(free), ..row("claim", &["ralph", "claim", one, "--for", "plan", "--as", "builder"]) },
        Row { before: Some(review), ..row("move", &["ralph", "move", one, "backlog", "--as", "anna"]) },
    ]
}

fn against_floors(board: &Board) {
    let find = ["find", ".ralph/tasks", "-printf", "%s %T@ %i\\n"];
    let drop_index = Some("rm -f .git/ralph/index".to_owned());
    // Releases all claims before each run, so that every run makes a new claim.
    let give_back = "for f in .git/ralph/claims/*.toml; do t=$(basename $f .toml); \"$RALPH\" release $t --force --as anna; done; \"$RALPH\" task ls; true";
    let mut rows = vec![
        row("true", &["true"]),
        row("find -printf", &find),
        row("task ls --json", &["ralph", "task", "ls", "--json"]),
        row("task ls --all --json", &["ralph", "task", "ls", "--all", "--json"]),
        Row { before: Some(give_back.into()), ..row("next --claim", &["ralph", "next", "--claim", "--as", "analyst"]) },
        row("cat *.toml", &["find", ".ralph/tasks", "-name", "*.toml", "-exec", "cat", "{}", "+"]),
        Row { before: drop_index, ..row("task ls --json, no index", &["ralph", "task", "ls", "--json"]) },
        row("git --version", &["git", "--version"]),
        row("ralph --version", &["ralph", "--version"]),
    ];
    rows.extend(verbs(board));
    let rounds = if board.size > 20_000 { 6 } else { 16 };
    let found = medians(&board.folder, &rows, rounds);
    let of = |name: &str| &found[rows.iter().position(|row| row.name == name).unwrap()];
    println!("\n{} tasks", board.size);
    print_times(&rows, &found);
    for (what, over, bar) in [
        ("task ls --json", "find -printf", Some(3.0)),
        ("task ls --all --json", "find -printf", None),
        ("task ls --json, no index", "cat *.toml", Some(4.0)),
        ("next --claim", "task ls --json", Some(1.5)),
        ("ralph --version", "git --version", Some(3.0)),
        ("task show", "ralph --version", Some(3.0)),
        ("task set", "ralph --version", None),
        ("note", "ralph --version", None),
        ("claim", "ralph --version", None),
        ("move", "ralph --version", None),
    ] {
        let bar = bar.map(|bar: f64| format!("(bar {bar})")).unwrap_or_default();
        println!("  {what:<28} {:>9.2} × {over} {bar}", of(what).over(of(over)));
    }
}

/// Checks that commands on one task take no longer on a larger board.
fn growth(boards: &[Board]) {
    let (Some(small), Some(large)) = (boards.first(), boards.last()) else { return };
    if small.size == large.size {
        return;
    }
    println!("\nfrom {} to {} tasks", small.size, large.size);
    let times = [small, large].map(|board| {
        let rows = verbs(board);
        medians(&board.folder, &rows, 25)
    });
    for (at, row) in verbs(small).iter().enumerate() {
        println!("  {:<28} {:>9.2} ×", row.name, times[1][at].over(&times[0][at]));
    }
}

fn installed(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|paths| std::env::split_paths(&paths).any(|folder| folder.join(program).is_file()))
}

/// Compares with the peers on the PATH, each with a board of the same size in its own format.
fn against_peers(board: &Board) {
    let peers: [(&'static str, Filler); 5] =
        [("task", taskwarrior), ("backlog", backlog), ("brd", braid), ("bea", bears), ("lotar", lotar)];
    let root = board.folder.path().display().to_string();
    let mut rows = vec![row("task ls --all --json", &["ralph", "task", "ls", "--all", "--json", "--board", &root])];
    let folder = Place::new();
    for (program, fill) in peers.iter().filter(|(program, _)| installed(program)) {
        match fill(&folder.path(), board.size) {
            Some(run) => rows.push(row(program, &["sh", "-c", &run])),
            None => println!("  {program}: could not be filled, left out"),
        }
    }
    if rows.len() == 1 {
        println!("  no peers on the PATH (task, backlog, brd, bea, lotar)");
        return;
    }
    let found = medians(&folder, &rows, 3);
    for (row, timed) in rows.iter().zip(&found).skip(1) {
        println!("  {:<28} {:>9.2} × ralph's list", row.name, timed.over(&found[0]));
    }
}

/// Makes a board of that size for a peer, and returns the command that lists it.
type Filler = fn(&Path, usize) -> Option<String>;

fn subfolder(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn taskwarrior(folder: &Path, size: usize) -> Option<String> {
    let home = subfolder(folder, "taskwarrior");
    let tasks = (0..size)
        .map(|n| format!("{{\"description\":\"Task {n}\",\"status\":\"pending\",\"entry\":\"20261115T093000Z\"}}\n"));
    std::fs::write(home.join("tasks.json"), tasks.collect::<String>()).unwrap();
    let base = format!("TASKDATA={home} TASKRC=/dev/null task rc.confirmation=no", home = home.display());
    sh(folder, &format!("{base} import {}/tasks.json", home.display())).then(|| format!("{base} export"))
}

fn backlog(folder: &Path, size: usize) -> Option<String> {
    let home = subfolder(folder, "backlog");
    let ready = sh(
        &home,
        "git init -q . && git config user.email b@example.org && git config user.name b && backlog init bench --defaults",
    );
    let tasks = home.join("backlog/tasks");
    if !ready || !tasks.is_dir() {
        return None;
    }
    for n in 1..=size {
        let text = format!(
            "---\nid: TASK-{n}\ntitle: Task {n}\nstatus: To Do\nassignee: []\ncreated_date: '2026-11-15'\nlabels: []\ndependencies: []\n---\n\n## Description\n\nLorem ipsum\n"
        );
        std::fs::write(tasks.join(format!("task-{n} - Task-{n}.md")), text).unwrap();
    }
    Some(format!("cd {} && backlog task list --plain", home.display()))
}

fn by_commands(folder: &Path, name: &str, size: usize, init: &str, add: &str, list: &str) -> Option<String> {
    let home = subfolder(folder, name);
    // With some peers, adding takes quadratic time: larger boards would take hours.
    let filled = size <= 1_000
        && sh(&home, &format!("git init -q . && {init}"))
        && sh(&home, &format!("i=0; while [ $i -lt {size} ]; do {add} || exit 1; i=$((i+1)); done"));
    filled.then(|| format!("cd {} && {list}", home.display()))
}

fn braid(folder: &Path, size: usize) -> Option<String> {
    by_commands(folder, "brd", size, "brd init", "brd add \"Task $i\"", "brd ls")
}

fn bears(folder: &Path, size: usize) -> Option<String> {
    by_commands(folder, "bea", size, "bea init", "bea create \"Task $i\"", "bea list")
}

fn lotar(folder: &Path, size: usize) -> Option<String> {
    by_commands(folder, "lotar", size, "true", "lotar add \"Task $i\"", "lotar list")
}
