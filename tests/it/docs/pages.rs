//! Runs every command block of the pages, page by page, in a new repository, as a newcomer would.
//!
//! Invisible comments before a block say how it is run, see [`Order`]. A `sh` block must succeed; the commands of a
//! `console` block must print the output that it shows. `RALPH_BLESS=1` writes the current output into the page.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::markdown::{Block, Order, commands, console, parse};
use super::outputs::{Names, fits, is_as_shown, lines};
use super::{all_pages, blesses, checkout, read};
use crate::sandbox::{RALPH, SOON, Sandbox, eventually, is_watching};

/// A person who reads a page and types its commands.
struct Reader {
    sandbox: Sandbox,
    /// The current folder after the last command.
    folder: PathBuf,
    names: Names,
    repositories: usize,
}

/// The output of a command on both streams, and its exit code.
struct Said {
    text: String,
    code: i32,
}

impl Reader {
    fn new() -> Self {
        let sandbox = Sandbox::bare();
        std::fs::write(
            sandbox.home().join(".gitconfig"),
            "[user]\nname = Anna\nemail = anna@example.org\n[init]\ndefaultBranch = main\n",
        )
        .unwrap();
        let folder = sandbox.root();
        let mut reader = Self { sandbox, folder, names: Names::default(), repositories: 0 };
        reader.open_repository();
        reader
    }

    /// A repository with one commit.
    fn open_repository(&mut self) {
        self.repositories += 1;
        self.folder = self.sandbox.outside(&format!("{}/shop", self.repositories));
        self.names = Names::default();
        std::fs::create_dir_all(&self.folder).unwrap();
        let said = self.run("git init -q && echo shop > README.md && git add README.md && git commit -qm Start");
        assert_eq!(said.code, 0, "{}", said.text);
    }

    fn command(&self, script: &str) -> Command {
        let mut command = self.sandbox.command("sh", &self.folder);
        let folder = Path::new(RALPH).parent().unwrap().display().to_string();
        let path = std::env::var("PATH").unwrap_or_default();
        // The real clock and random seed, and the name from git's settings, as for a person.
        for name in [
            "RALPH_NOW",
            "RALPH_SEED",
            "GIT_AUTHOR_NAME",
            "GIT_AUTHOR_EMAIL",
            "GIT_COMMITTER_NAME",
            "GIT_COMMITTER_EMAIL",
        ] {
            command.env_remove(name);
        }
        command.env("PATH", format!("{folder}:{path}")).env("CHECKOUT", checkout()).args(["-c", script]);
        command
    }

    /// Runs a line of the page with the real ids.
    fn run(&mut self, line: &str) -> Said {
        let left = self.sandbox.outside("folder");
        let typed = self.names.typed(line);
        let script = format!("exec 2>&1\n{typed}\nstatus=$?\npwd >'{}'\nexit $status", left.display());
        let done = self.command(&script).output().unwrap();
        if let Ok(folder) = std::fs::read_to_string(left) {
            self.folder = PathBuf::from(folder.trim_end());
        }
        let said = Said { text: String::from_utf8(done.stdout).unwrap(), code: crate::system::exit_code(done.status) };
        self.names.learn_from_comment(line, &said.text);
        said
    }

    fn prepare(&mut self, script: &str, place: &str) {
        for (_, line) in commands(script) {
            let said = self.run(&line);
            assert_eq!(said.code, 0, "{place}: before the block: {line}\n{}", said.text);
        }
    }

    /// Runs a command that does not end by itself, and stops it once it has printed the page's output.
    fn follow(&mut self, line: &str, meanwhile: &str, expected: &[String], place: &str) -> Said {
        let typed = self.names.typed(line);
        let mut child = self.command(&format!("exec 2>&1\nexec {typed}")).stdout(Stdio::piped()).spawn().unwrap();
        let mut out = child.stdout.take().unwrap();
        let (sender, pieces) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(length @ 1..) = out.read(&mut piece) {
                let _ = sender.send(String::from_utf8_lossy(&piece[..length]).into_owned());
            }
        });
        if !meanwhile.is_empty() {
            let running = child.id();
            eventually("it follows the files", || is_watching(running));
            self.prepare(meanwhile, place);
        }
        let mut text = String::new();
        let start = std::time::Instant::now();
        while !self.shows(expected, &text) && start.elapsed() < SOON {
            if let Ok(piece) = pieces.recv_timeout(std::time::Duration::from_millis(50)) {
                text.push_str(&piece);
            }
        }
        stop(&mut child);
        Said { text, code: 0 }
    }

    /// Whether a text matches the page, after mapping its ids.
    fn shows(&mut self, expected: &[String], text: &str) -> bool {
        self.names.learn(expected, text);
        is_as_shown(expected, &self.as_shown(text))
    }

    /// An output as a page would show it.
    fn as_shown(&self, text: &str) -> Vec<String> {
        let folder = self.sandbox.outside("");
        let folder = folder.display().to_string();
        let inside = folder.trim_end_matches('/');
        let mut shown = self.names.shown(text);
        for number in 1..=self.repositories {
            shown = shown.replace(&format!("{inside}/{number}/"), "…/");
        }
        lines(&shown.replace(&format!("{inside}/home"), "~"))
    }
}

fn stop(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// The directives of a block.
#[derive(Default)]
struct Way {
    not_run: bool,
    exit: i32,
    until_stopped: Option<String>,
}

fn obey(reader: &mut Reader, block: &Block, place: &str) -> Way {
    let mut way = Way::default();
    for order in &block.orders {
        match order {
            Order::NotRun(reason) => {
                assert!(!reason.is_empty(), "{place}: say why it is not run");
                way.not_run = true;
            }
            Order::Exit(code) => way.exit = *code,
            Order::NewRepository(script) => {
                reader.open_repository();
                reader.prepare(script, place);
            }
            Order::First(script) => reader.prepare(script, place),
            Order::UntilStopped(script) => way.until_stopped = Some(script.clone()),
        }
    }
    way
}

/// Runs a block; returns the problems, and the new text if the output differs.
fn run(reader: &mut Reader, block: &Block, name: &str) -> (Vec<String>, Option<String>) {
    let place = |line: usize| format!("{name}:{}", block.line + line);
    let way = obey(reader, block, &place(0));
    let mut wrong = Vec::new();
    if way.not_run {
        return (wrong, None);
    }
    if block.language.as_deref() == Some("sh") {
        for (line, command) in commands(&block.text) {
            let said = reader.run(&command);
            if said.code != 0 {
                wrong.push(format!("{}: {command}\n{}--- exit {}", place(line), said.text, said.code));
            }
        }
        return (wrong, None);
    }
    let all = console(&block.text);
    let (mut text, mut changed) = (String::new(), false);
    for (at, typed) in all.iter().enumerate() {
        let said = match &way.until_stopped {
            Some(script) => reader.follow(&typed.command, script, &typed.output, &place(typed.line)),
            None => reader.run(&typed.command),
        };
        let exit = if at + 1 == all.len() { way.exit } else { 0 };
        let expected: Vec<String> = lines(&typed.output.join("\n"));
        // A page may leave out the output of a command.
        let fine = typed.output.is_empty() || reader.shows(&expected, &said.text);
        if !fine || said.code != exit {
            let now = reader.as_shown(&said.text).join("\n");
            wrong.push(format!("{}: {}\n{now}\n--- exit {}", place(typed.line), typed.command, said.code));
        }
        changed |= !fine;
        text.push_str(&format!("$ {}\n", typed.command));
        let kept = if fine { typed.output.clone() } else { blessed(&expected, reader.as_shown(&said.text)) };
        text.extend(kept.iter().map(|line| format!("{line}\n")));
    }
    (wrong, changed.then_some(text))
}

/// The new lines, keeping those of the page that still match.
fn blessed(expected: &[String], actual: Vec<String>) -> Vec<String> {
    let keep =
        |line: String| expected.iter().find(|old| fits(old, &line) && old.trim() != "…").cloned().unwrap_or(line);
    actual.into_iter().map(keep).collect()
}

#[track_caller]
fn follow_page(name: &str) {
    let mut text = read(name);
    let mut reader = Reader::new();
    let (mut wrong, mut new) = (Vec::new(), Vec::new());
    let page = parse(&text);
    let blocks = page.blocks.iter().filter(|block| matches!(block.language.as_deref(), Some("sh" | "console")));
    for block in blocks {
        let (found, change) = run(&mut reader, block, name);
        wrong.extend(found);
        new.extend(change.map(|change| (block.place.clone(), change)));
    }
    if blesses() && !new.is_empty() {
        for (place, change) in new.into_iter().rev() {
            let fence = &text[place.clone()];
            let indent = " ".repeat(fence.lines().last().unwrap_or_default().find('`').unwrap_or(0));
            let body: String = change.lines().map(|line| format!("{indent}{line}\n")).collect();
            let start = place.start + fence.find('\n').unwrap() + 1;
            let end = place.start + fence.rfind("```").unwrap() - indent.len();
            text.replace_range(start..end, &body);
        }
        std::fs::write(checkout().join(name), &text).unwrap();
    }
    assert!(wrong.is_empty(), "{} commands of {name} do not match the page:\n\n{}", wrong.len(), wrong.join("\n\n"));
}

/// One test per page, so that they run in parallel.
macro_rules! pages {
    ($($name:ident = $page:literal),+ $(,)?) => {
        const PAGES: &[&str] = &[$($page),+];
        $(#[test] fn $name() { follow_page($page); })+
    };
}

pages! {
    readme = "README.md",
    agents = "docs/agents.md",
    architecture = "docs/architecture.md",
    boards = "docs/boards.md",
    ci = "docs/ci.md",
    commands_at_a_glance = "docs/commands.md",
    concepts = "docs/concepts.md",
    contributing = "docs/contributing.md",
    delivery = "docs/delivery.md",
    faq = "docs/faq.md",
    github = "docs/github.md",
    guarantees = "docs/guarantees.md",
    hooks = "docs/hooks.md",
    inbox = "docs/inbox.md",
    install = "docs/install.md",
    mcp = "docs/mcp.md",
    moving = "docs/moving.md",
    performance = "docs/performance.md",
    several_machines = "docs/several-machines.md",
    tutorial = "docs/tutorial.md",
    uninstall = "docs/uninstall.md",
    workflows = "docs/workflows.md",
}

#[test]
fn every_page_with_commands_is_run() {
    let has_commands = |page: &String| {
        parse(&read(page)).blocks.iter().any(|block| matches!(block.language.as_deref(), Some("sh" | "console")))
    };
    // In packaging/README.md, every step needs a build or a registry.
    let left = all_pages().into_iter().filter(|page| !PAGES.contains(&page.as_str()) && page != "packaging/README.md");
    assert_eq!(left.filter(has_commands).collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn files_that_pages_show_can_be_read() {
    for name in all_pages() {
        for block in parse(&read(&name)).blocks {
            let place = format!("{name}:{}", block.line);
            match block.language.as_deref() {
                Some("toml") => {
                    _ = block.text.parse::<toml::Table>().unwrap_or_else(|error| panic!("{place}: {error}"));
                }
                Some("json") => {
                    _ = serde_json::from_str::<serde_json::Value>(&block.text)
                        .unwrap_or_else(|error| panic!("{place}: {error}"));
                }
                _ => {}
            }
        }
    }
}

#[test]
fn a_page_that_is_wrong_is_found() {
    let mut reader = Reader::new();
    let block = |language: &str, text: &str| Block {
        language: Some(language.into()),
        text: text.into(),
        line: 7,
        place: 0..0,
        orders: Vec::new(),
    };
    let (wrong, _) = run(&mut reader, &block("sh", "true\nralph frobnicate\n"), "x.md");
    assert!(wrong.len() == 1 && wrong[0].starts_with("x.md:8: ralph frobnicate"), "{wrong:?}");
    let (wrong, new) = run(&mut reader, &block("console", "$ echo one\none\n$ echo two\n2\n"), "x.md");
    assert!(wrong.len() == 1 && wrong[0].starts_with("x.md:9: echo two"), "{wrong:?}");
    assert_eq!(new.as_deref(), Some("$ echo one\none\n$ echo two\ntwo\n"));
}
