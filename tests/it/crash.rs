//! Killed at any point: the board loads, acknowledged changes are kept, and no command is half done.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::sandbox::{Output, RALPH, Sandbox, finish};

/// Runs a command that is killed when it enters its `nth` system call that changes or reads files.
pub fn killed_at(sandbox: &Sandbox, folder: &Path, nth: usize, args: &[&str]) -> Output {
    let calls = "openat,write,fsync,fdatasync,rename,renameat2,unlink,unlinkat,rmdir,link,linkat,symlink,mkdir,chmod,fchmodat,pread64,flock,read,close";
    let mut command = sandbox.command("strace", folder);
    command.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={calls}")]);
    command.args(["-e", &format!("inject={calls}:signal=SIGKILL:when={nth}"), RALPH]);
    finish(command.args(args))
}

/// The parts of the board that a removal changes, as one string.
fn state(sandbox: &Sandbox) -> String {
    let tasks = sandbox.ralph(&["task", "ls", "--all", "--sort", "id", "--json"]).json();
    let brief = |task: &serde_json::Value| {
        format!("{} {} {} {}", task["id"], task["parent"], task["blocked_by"], task["labels"])
    };
    let listed: Vec<String> = tasks.as_array().unwrap().iter().map(brief).collect();
    listed.join("\n")
}

/// Removing a task that two others refer to changes several files: all or none of it happens, wherever it is killed.
#[test]
fn a_verb_of_several_files_is_never_half_done() {
    let sandbox = Sandbox::new();
    let mut seen_before = false;
    let mut seen_after = false;
    let mut nth = 1;
    loop {
        for (id, text) in [
            ("a", "title = 'A'\n"),
            ("b", "title = 'B'\nblocked_by = ['a'] # why\n"),
            ("c", "title = 'C'\nparent = 'a'\n"),
        ] {
            sandbox.write_task(id, text);
        }
        let before = state(&sandbox);
        let lines = sandbox.ralph(&["log", "--json", "-n", "100000"]).json().as_array().unwrap().len();
        let output = killed_at(&sandbox, &sandbox.root(), nth, &["task", "rm", "a", "--force"]);
        let after = state(&sandbox);
        let logged = sandbox.ralph(&["log", "--json", "-n", "100000"]).json().as_array().unwrap().len() - lines;
        if after == before {
            assert_eq!(logged, 0, "call {nth}: nothing happened, yet the journal says it did");
            assert_ne!(output.code, 0, "call {nth}: acknowledged, but missing");
            seen_before = true;
        } else {
            assert_eq!(after.lines().count(), 2, "call {nth}: half done\n{after}");
            assert!(!after.contains("\"a\""), "call {nth}: half done\n{after}");
            assert_eq!(logged, 1, "call {nth}");
            seen_after = true;
        }
        assert!(sandbox.read_task("b").contains("# why"));
        if output.code == 0 {
            break;
        }
        nth += 1;
        assert!(nth < 2_000, "the command never ends");
    }
    assert!(seen_before && seen_after && nth > 20, "{nth}");
    let stray = sandbox.ralph(&["doctor"]).stdout;
    assert!(!stray.contains("cycle") && !stray.contains("dangling"), "{stray}");
    sandbox.ralph(&["doctor", "--fix"]).ok();
}

/// A thousand writes, each killed after a random time.
#[test]
fn sigkill_at_random_points_of_a_thousand_writes() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["Counter", "--body", "a description that stays"]);
    // The shortest of several times: with a longer one, every write would end before its kill.
    let typical = (0..8)
        .map(|n| {
            let start = Instant::now();
            sandbox.ralph(&["task", "set", &id, &format!("owner=x{n}")]).ok();
            start.elapsed()
        })
        .min()
        .unwrap();
    sandbox.ralph(&["task", "set", &id, "owner=w0"]).ok();
    let mut rng = fastrand::Rng::with_seed(7);
    let (mut acknowledged, mut killed) = (0, 0);
    for n in 1..=1_000_u32 {
        let mut command = sandbox.command(RALPH, &sandbox.root());
        command.args(["task", "set", &id, &format!("owner=w{n}")]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(Duration::from_nanos(rng.u64(0..typical.as_nanos() as u64 * 5 / 4)));
        let _ = child.kill();
        if child.wait().unwrap().success() {
            acknowledged = n;
        } else {
            killed += 1;
        }
        if n % 20 == 0 {
            let task = sandbox.ralph(&["task", "show", &id, "--json"]).json();
            let owner: u32 = task["owner"].as_str().unwrap()[1..].parse().unwrap();
            assert!(owner >= acknowledged && owner <= n, "{owner} after {acknowledged} was acknowledged");
            assert!(task["description"].as_str().unwrap().contains("that stays"));
            let log = sandbox.ralph(&["log", "--json", "-n", "1"]).json();
            assert_eq!(log[0]["changes"][0]["new"], task["owner"], "the journal and the file agree");
        }
    }
    assert!(killed > 100 && acknowledged > 0, "{killed} killed: the test kills too early or too late");
    sandbox.ralph(&["doctor", "--fix"]).ok();
}

#[test]
fn a_lock_dies_with_its_holder() {
    let sandbox = Sandbox::new();
    let lock = sandbox.root().join(".git/ralph/lock");
    sandbox.add(&["x"]);
    let mut holder = Command::new("flock").arg(&lock).args(["sleep", "600"]).spawn().unwrap();
    // The holder has the lock once a try for it fails.
    while finish(Command::new("flock").arg("-n").arg(&lock).arg("true")).code == 0 {}
    let mut command = sandbox.command(RALPH, &sandbox.root());
    let mut waiting = command.args(["task", "add", "y"]).stdout(Stdio::null()).spawn().unwrap();
    assert!(waiting.try_wait().unwrap().is_none());
    let _ = Command::new("pkill").args(["-P", &holder.id().to_string()]).status();
    let _ = holder.kill();
    holder.wait().unwrap();
    assert!(waiting.wait().unwrap().success());
    assert_eq!(sandbox.ids().len(), 2);
}
