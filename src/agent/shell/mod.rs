//! Finds the programs that a shell command line calls, and the files that it writes.
//!
//! This protects against mistakes, not against malice: a program can do things that its command line does not show.
//!
//! ```text
//! scan.rs     splits a line into its parts
//! runners.rs  programs that only run another one
//! git.rs      a call of git
//! writes.rs   files that a call writes
//! ```

mod git;
mod runners;
mod scan;
mod writes;

use std::path::{Path, PathBuf};

pub use git::GitCall;
use runners::bare;
use scan::{Piece, Scanner, Simple};

/// One program with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The folder it runs in; none if it depends on values that only the shell knows.
    pub dir: Option<PathBuf>,
    pub words: Vec<String>,
}

/// Why a command line could not be parsed. Its calls are unknown, so a policy check must block it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    #[error("unclosed quote")]
    OpenQuote,
    #[error("unclosed parenthesis or backtick")]
    OpenList,
    #[error("it ends with a backslash")]
    OpenEscape,
    #[error("a here-document starts inside parentheses that end on the same line")]
    HereDocument,
    #[error("nested more than {DEEPEST} levels deep")]
    TooDeep,
}

/// Deep enough for any real command line, and not too deep for the stack.
const DEEPEST: usize = 16;

/// Stands for a script whose text is unknown.
const UNSEEN: &str = "$script";

const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish"];

/// Programs whose argument can be a program of their own language.
const INTERPRETERS: &[&str] =
    &["python", "python2", "python3", "perl", "ruby", "node", "deno", "bun", "php", "lua", "awk"];

/// Every call of the line, in order; also those in subshells, substitutions and scripts for another shell.
pub fn calls(text: &str, cwd: &Path) -> Result<Vec<Call>, Unreadable> {
    let mut reader = Reader { found: Vec::new() };
    reader.script(text, &mut Some(cwd.to_owned()), 0)?;
    Ok(reader.found)
}

impl Call {
    pub fn program(&self) -> &str {
        self.words.first().map_or("", |word| word.rsplit('/').next().unwrap_or(word))
    }

    /// Whether the program is unknown: its name is in a variable, or its script comes from elsewhere.
    pub fn is_unknown(&self) -> bool {
        self.words.first().is_some_and(|word| word.contains(['$', '`']))
    }

    /// Whether this is a script in another language that mentions git: what it does cannot be determined.
    pub fn hides_git(&self, verbs: &[&str]) -> bool {
        let word = |text: &str, word: &str| {
            text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').any(|part| part == word)
        };
        let hides = |text: &String| word(text, "git") && verbs.iter().any(|verb| word(text, verb));
        INTERPRETERS.contains(&self.program()) && self.words[1..].iter().any(hides)
    }
}

struct Reader {
    found: Vec<Call>,
}

impl Reader {
    fn script(&mut self, text: &str, dir: &mut Option<PathBuf>, depth: usize) -> Result<(), Unreadable> {
        if depth > DEEPEST {
            return Err(Unreadable::TooDeep);
        }
        self.list(&Scanner::read(text)?, dir, depth)
    }

    fn list(&mut self, pieces: &[Piece], dir: &mut Option<PathBuf>, depth: usize) -> Result<(), Unreadable> {
        if depth > DEEPEST {
            return Err(Unreadable::TooDeep);
        }
        for piece in pieces {
            match piece {
                Piece::Sub(inner) => self.list(inner, &mut dir.clone(), depth + 1)?,
                Piece::Command(simple) => {
                    let words = shlex::split(&simple.text).ok_or(Unreadable::OpenQuote)?;
                    self.command(words, simple, dir, depth)?;
                }
                Piece::Write(target) => self.found.push(Call::write(dir.as_deref(), target)),
            }
        }
        Ok(())
    }

    fn command(
        &mut self,
        words: Vec<String>,
        simple: &Simple,
        dir: &mut Option<PathBuf>,
        depth: usize,
    ) -> Result<(), Unreadable> {
        let bare = bare(words.into(), dir.as_deref());
        if bare.moves_repository {
            *dir = None;
        }
        for script in &bare.scripts {
            self.script(script, &mut bare.dir.clone(), depth + 1)?;
        }
        let call = Call { dir: bare.dir, words: bare.words.into() };
        match call.program() {
            "" => {}
            "cd" | "pushd" => {
                let to = call.words[1..].iter().find(|word| !["--", "-P", "-L", "-e"].contains(&word.as_str()));
                *dir = to.and_then(|to| into(dir.as_deref(), to));
            }
            "popd" => *dir = None,
            "eval" => self.script(&call.words[1..].join(" "), dir, depth + 1)?,
            "trap" => self.script(call.words.get(1).map_or("", String::as_str), &mut dir.clone(), depth + 1)?,
            "alias" if call.words[1..].iter().any(|word| word.contains("git")) => {
                self.found.push(Call { dir: call.dir, words: vec![UNSEEN.into()] });
            }
            name if SHELLS.contains(&name) => self.shell(call, simple, depth)?,
            "find" | "fd" => {
                let runs = |word: &String| {
                    ["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"]
                        .contains(&word.as_str())
                };
                for words in call.words.split(runs).skip(1) {
                    let mut words = words.to_vec();
                    words.push("$_".into());
                    self.command(words, simple, &mut call.dir.clone(), depth + 1)?;
                }
                self.found.push(call);
            }
            name if INTERPRETERS.contains(&name) => {
                let words = [&call.words[..], &simple.fed].concat();
                self.found.push(Call { words, ..call });
            }
            _ => self.found.push(call),
        }
        Ok(())
    }

    fn shell(&mut self, call: Call, simple: &Simple, depth: usize) -> Result<(), Unreadable> {
        let (script, file) = script_of(&call.words[1..]);
        if let Some(script) = &script {
            self.script(script, &mut call.dir.clone(), depth + 1)?;
        } else if !file {
            for script in simple.fed.iter() {
                self.script(script, &mut call.dir.clone(), depth + 1)?;
            }
            if simple.fed.is_empty() && simple.piped {
                self.found.push(Call { dir: None, words: vec![UNSEEN.into()] });
            }
        }
        self.found.push(call);
        Ok(())
    }
}

/// The script among the arguments of a shell, and whether the shell runs a file instead.
fn script_of(words: &[String]) -> (Option<String>, bool) {
    let mut words = words.iter();
    let (mut given, mut read) = (false, false);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--rcfile" | "--init-file" | "-o" | "+o" | "-O" | "+O" => _ = words.next(),
            "--" | "-" => {}
            long if long.starts_with("--") => {}
            short if short.starts_with(['-', '+']) => {
                given |= short.contains('c');
                read |= short.contains('s');
            }
            other => return (given.then(|| other.to_owned()), !given && !read),
        }
    }
    (None, false)
}

/// Resolves a path from a folder; none if the path depends on values that only the shell knows.
fn into(dir: Option<&Path>, path: &str) -> Option<PathBuf> {
    let home = || std::env::home_dir().and_then(|home| home.to_str().map(str::to_owned));
    let known = |name: &str, value: Option<String>| {
        let rest = path.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
        Some(format!("{}{rest}", value?))
    };
    let here = || dir.and_then(Path::to_str).map(str::to_owned);
    let expanded = known("$PWD", here())
        .or_else(|| known("${PWD}", here()))
        .or_else(|| known("$HOME", home()))
        .or_else(|| known("~", home()));
    let path = expanded.as_deref().unwrap_or(path);
    if path.is_empty() || path == "-" || path.starts_with('~') || path.contains(['$', '`', '*', '?']) {
        return None;
    }
    if Path::new(path).is_absolute() { Some(path.into()) } else { dir.map(|dir| dir.join(path)) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let show = |call: Call| {
            let dir = call.dir.map_or("?".into(), |dir| dir.display().to_string());
            format!("{dir}$ {}", call.words.join(" "))
        };
        calls(text, Path::new("/r")).unwrap().into_iter().map(show).collect()
    }

    fn git(text: &str) -> Vec<(Option<String>, String)> {
        let named = |call: GitCall| (call.dir.map(|dir| dir.display().to_string()), call.verb);
        calls(text, Path::new("/r")).unwrap().iter().filter_map(Call::git).map(named).collect()
    }

    #[test]
    fn no_spelling_hides_a_call() {
        for text in [
            "git commit -m x",
            "A=1 B='2 3' git commit",
            "true && git commit",
            "true;git commit",
            "true|git commit",
            "(git commit)",
            "sh -c 'git commit -m \"a b\"'",
            "bash -lc \"cd . && git commit\"",
            "bash <<EOF\ngit commit\nEOF",
            "eval git commit",
            "echo \"$(git commit)\"",
            "echo `git commit`",
            "if true; then git commit; fi",
            "env -u X A=1 git commit",
            "sudo -u me nice -n 5 timeout 10 git commit",
            "/usr/bin/git commit",
            "git -c user.name=x --no-pager commit",
            "true # a comment\ngit commit",
            "find . | xargs -n 1 git commit",
            "find . -name x -exec git commit {} \\;",
            "git commit 2>&1 | tee log",
            "git \\\n commit",
            "case x in y) git commit;; esac",
            "echo \\ #; git commit",
            "echo\u{a0}# && git commit",
            "echo $'it\\'s' ; git commit #'",
            "bash -c '>out git commit'",
            "bash <<< 'git commit'",
            "bash <<EOF | cat\ngit commit\nEOF",
            "> $(git commit) true",
            "(((((((((git commit)))))))))",
            "echo \"it's <(\"; git commit",
            "env -C a git commit",
            "env -S 'git commit'",
            "bash --norc -c 'git commit'",
            "bash --rcfile x -o pipefail -ec 'git commit'",
            "time -p git commit",
            "flock x git commit",
            "flock x -c 'git commit'",
            "script -qc 'git commit' /dev/null",
            "watch -n 1 'git commit'",
            "find . -exec sh -c 'git commit' \\;",
            "xargs -I {} sh -c 'git commit'",
            "trap 'git commit' EXIT",
            "git --git-dir x commit",
            "git --git-dir=x --work-tree y commit",
            "true || git commit",
        ] {
            assert!(git(text).iter().any(|(_, verb)| verb == "commit"), "{text}: {:?}", shown(text));
        }
    }

    #[test]
    fn words_in_quotes_comments_and_documents_are_no_calls() {
        for text in [
            "echo 'git commit'",
            "echo git commit",
            "# git commit",
            "cat > x <<'EOF'\ngit commit\ndon't\nEOF\ntrue",
            "grep -n \"git commit\" x && ls",
        ] {
            assert_eq!(git(text), [], "{text}");
        }
        let text = "git add . && git commit -m \"$(cat <<'EOF'\nIt doesn't; (git push)\nEOF\n)\" && git status";
        let verbs: Vec<String> = git(text).into_iter().map(|(_, verb)| verb).collect();
        assert_eq!(verbs, ["add", "commit", "status"]);
    }

    #[test]
    fn what_nobody_has_seen_is_unknown() {
        for text in [
            "echo 'git commit' | sh",
            "curl x | (cd a; bash -s)",
            "bash < script",
            "cat x | while read l; do sh; done",
            "X=git; $X commit",
            "$(which git) commit",
            "alias g=git",
        ] {
            assert!(calls(text, Path::new("/r")).unwrap().iter().any(Call::is_unknown), "{text}: {:?}", shown(text));
        }
        for text in ["bash script.sh < data", "cat x | grep y", "sh", "bash -c true < x", "true || sh", "X=1 make"] {
            assert!(!calls(text, Path::new("/r")).unwrap().iter().any(Call::is_unknown), "{text}: {:?}", shown(text));
        }
        assert_eq!(git("echo commit | xargs git"), [(Some("/r".into()), "$_".into())]);
        let hides = |text: &str| calls(text, Path::new("/r")).unwrap().iter().any(|call| call.hides_git(&["commit"]));
        assert!(hides("python3 -c \"import subprocess; subprocess.run(['git', '-C', '/r', 'commit'])\""));
        assert!(hides("python3 - <<EOF\nos.system('git commit')\nEOF"));
        assert!(!hides("python3 -m pytest tests/git") && !hides("echo 'git commit'"));
    }

    #[test]
    fn files_that_a_line_writes_are_known() {
        let written = |text: &str| -> Vec<String> {
            let calls = calls(text, Path::new("/r")).unwrap();
            calls.iter().flat_map(Call::writes).map(|path| path.display().to_string()).collect()
        };
        assert_eq!(written("echo x > a.txt 2>> b.log"), ["/r/a.txt", "/r/b.log"]);
        assert_eq!(written("cd d && sed -i s/a/b/ x.rs y.rs"), ["/r/d/x.rs", "/r/d/y.rs"]);
        assert_eq!(written("sed -n -i.bak -e s/a/b/ $PWD/x"), ["/r/x"]);
        assert_eq!(
            written("echo x | tee -a /t/x; cp a b c/; mv a b; dd if=a of=b"),
            ["/t/x", "/r/c/", "/r/a", "/r/b", "/r/b"]
        );
        assert_eq!(written("cargo test > /dev/null 2>&1; sed -n 1p x; ls > $OUT; diff <(ls) a"), [""; 0]);
        assert_eq!(written("cat > n.md <<'EOF'\nit's > here\nEOF"), ["/r/n.md"]);
        assert_eq!(written("perl -pi -e s/a/b/ f"), ["/r/f"]);
    }

    #[test]
    fn each_call_knows_its_folder() {
        let at = |text: &str| git(text)[0].0.clone();
        assert_eq!(at("git add"), Some("/r".into()));
        assert_eq!(at("cd a && cd b; git add"), Some("/r/a/b".into()));
        assert_eq!(at("(cd a); git add"), Some("/r".into()));
        assert_eq!(at("git -C a -C b add"), Some("/r/a/b".into()));
        assert_eq!(at("cd a && git -C /x add"), Some("/x".into()));
        assert_eq!(at("sh -c 'cd a && git add'"), Some("/r/a".into()));
        assert_eq!(at("env -C a git add"), Some("/r/a".into()));
        assert_eq!(at("env --chdir=/x git add"), Some("/x".into()));
        assert_eq!(at("cd $PWD && git add"), Some("/r".into()));
        assert_eq!(at("export GIT_DIR=x; git add"), None);
        assert_eq!(at("git -c core.hooksPath=/x add"), None);
        for unknown in ["cd $X && git add", "cd \"$(pwd)\" && git add", "git --git-dir=x add", "GIT_DIR=x git add"] {
            assert_eq!(at(unknown), None, "{unknown}");
        }
        assert_eq!(shown("ls > /dev/null 2>&1 < x &"), ["/r$ ls"]);
    }

    #[test]
    fn a_line_that_cannot_be_read_is_an_error_and_not_an_empty_list() {
        for (text, why) in [
            ("git commit -m 'x", Unreadable::OpenQuote),
            ("git commit -m \"it's", Unreadable::OpenQuote),
            ("echo $'a\\'", Unreadable::OpenQuote),
            ("(git commit", Unreadable::OpenList),
            ("echo $(git commit", Unreadable::OpenList),
            ("echo \"`git commit\"", Unreadable::OpenQuote),
            ("git commit \\", Unreadable::OpenEscape),
            ("(cat <<EOF) && git commit\nx\nEOF", Unreadable::HereDocument),
            ("bash -c 'git commit -m \"'", Unreadable::OpenQuote),
            (&"(".repeat(100_000), Unreadable::TooDeep),
            (&format!("{}true", "eval ".repeat(100)), Unreadable::TooDeep),
        ] {
            assert_eq!(calls(text, Path::new("/r")), Err(why), "{}", text.get(..40).unwrap_or(text));
        }
    }

    /// Random lines, with more shell syntax than plain words.
    fn lines() -> impl Strategy<Value = String> {
        const PARTS: &[&str] = &[
            "$(",
            "<<",
            "<<<",
            "$'",
            "&>",
            "2>&1",
            "\\\n",
            "EOF\n",
            "eval ",
            "sh -c ",
            "cd ",
            "env -u ",
            "find -exec ",
        ];
        let part = prop_oneof![
            "[ \t\n'\"\\\\`$()<>|&;#{}=a-c0-9-]",
            proptest::sample::select(PARTS).prop_map(str::to_owned),
            any::<char>().prop_map(String::from),
        ];
        proptest::collection::vec(part, 0..60).prop_map(|parts| parts.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

        #[test]
        fn no_line_panics_or_hangs(text in lines()) {
            if let Ok(found) = calls(&text, Path::new("/r")) {
                found.iter().for_each(|call| drop((call.program().len(), call.git())));
            }
        }

        #[test]
        fn quoted_words_come_back_as_they_were(words in proptest::collection::vec("[^\0]{0,12}", 0..8)) {
            let line = format!("prog {}", shlex::try_join(words.iter().map(String::as_str)).unwrap());
            let found = calls(&line, Path::new("/r")).unwrap();
            prop_assert_eq!(found.len(), 1);
            prop_assert_eq!(&found[0].words[1..], &words[..], "{}", line);
        }

        #[test]
        fn no_quoted_word_hides_the_next_command(words in proptest::collection::vec("[^\0]{0,12}", 0..8)) {
            let line = format!("echo {}; git commit", shlex::try_join(words.iter().map(String::as_str)).unwrap());
            prop_assert!(git(&line).iter().any(|(_, verb)| verb == "commit"), "{}", line);
        }
    }
}
