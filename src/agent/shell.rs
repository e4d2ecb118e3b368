//! What a line for the shell calls, and where: enough of the shell's grammar that no call is missed.

use std::path::{Path, PathBuf};

/// One program with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Where it runs; none where only the shell could say.
    pub dir: Option<PathBuf>,
    pub words: Vec<String>,
}

/// A call of git, with its own options taken off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitCall {
    pub dir: Option<PathBuf>,
    pub verb: String,
    pub args: Vec<String>,
}

/// Every call of the line, in order; also those in subshells, substitutions and scripts for another shell.
pub fn calls(text: &str, cwd: &Path) -> Vec<Call> {
    let mut found = Vec::new();
    let mut dir = Some(cwd.to_owned());
    run(&Scanner::new(text).list(None), &mut dir, &mut found, 0);
    found
}

impl Call {
    pub fn program(&self) -> &str {
        self.words.first().map_or("", |word| word.rsplit('/').next().unwrap_or(word))
    }

    pub fn git(&self) -> Option<GitCall> {
        if self.program() != "git" {
            return None;
        }
        let mut dir = self.dir.clone();
        let mut words = self.words[1..].iter();
        while let Some(word) = words.next() {
            let (name, joined) =
                word.split_once('=').map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
            match name {
                "-C" => dir = into(dir.as_deref(), words.next().map_or("", String::as_str)),
                // Another repository than the folder says: only git can tell which.
                "--git-dir" => dir = None,
                "--work-tree" => {
                    let path = joined.map(str::to_owned).or_else(|| words.next().cloned()).unwrap_or_default();
                    dir = into(self.dir.as_deref(), &path);
                }
                "-c" | "--namespace" | "--config-env" | "--exec-path" | "--super-prefix" if joined.is_none() => {
                    words.next();
                }
                "-c" => {}
                _ if word.starts_with('-') => {}
                _ => return Some(GitCall { dir, verb: word.clone(), args: words.cloned().collect() }),
            }
        }
        None
    }
}

/// A part of a line: one simple command with the texts that are fed to it, or a list of its own.
enum Piece {
    Command { text: String, fed: Vec<String> },
    Sub(Vec<Piece>),
}

struct Scanner {
    chars: Vec<char>,
    at: usize,
    /// Here-documents whose text begins at the next line.
    awaited: Vec<String>,
}

impl Scanner {
    fn new(text: &str) -> Self {
        Self { chars: text.chars().collect(), at: 0, awaited: Vec::new() }
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    /// Pieces up to a closing character, or the end.
    fn list(&mut self, until: Option<char>) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut text = String::new();
        while let Some(c) = self.peek(0) {
            self.at += 1;
            if Some(c) == until {
                break;
            }
            match c {
                '\n' => {
                    let fed = self.here_documents();
                    finish(&mut pieces, &mut text, fed);
                }
                // A bracket that closes nothing ends a pattern of `case`.
                ';' | '|' | ')' => finish(&mut pieces, &mut text, Vec::new()),
                '&' if text.ends_with(['>', '<']) || self.peek(0) == Some('>') => text.push(c),
                '&' => finish(&mut pieces, &mut text, Vec::new()),
                '(' => {
                    finish(&mut pieces, &mut text, Vec::new());
                    pieces.push(Piece::Sub(self.list(Some(')'))));
                }
                '#' if text.is_empty() || text.ends_with(char::is_whitespace) => self.skip_line(),
                '<' if self.peek(0) == Some('<') && self.peek(1) != Some('<') => self.here_marker(),
                '<' if self.peek(0) == Some('<') => {
                    self.at += 2;
                    text.push_str(" <<< ");
                }
                _ => self.part_of_word(c, &mut text, &mut pieces),
            }
        }
        let fed = self.here_documents();
        finish(&mut pieces, &mut text, fed);
        pieces
    }

    /// Quotes stay as they are, for the splitter; what they substitute becomes a list of its own.
    fn part_of_word(&mut self, c: char, text: &mut String, pieces: &mut Vec<Piece>) {
        match c {
            '\\' if self.peek(0) == Some('\n') => self.at += 1,
            '\\' => {
                text.push(c);
                text.extend(self.peek(0));
                self.at += 1;
            }
            '\'' => {
                text.push(c);
                while let Some(quoted) = self.peek(0) {
                    self.at += 1;
                    text.push(quoted);
                    if quoted == '\'' {
                        break;
                    }
                }
            }
            '"' => {
                text.push(c);
                while let Some(quoted) = self.peek(0).filter(|quoted| *quoted != '"') {
                    self.at += 1;
                    if quoted == '\\' {
                        text.push(quoted);
                        text.extend(self.peek(0));
                        self.at += 1;
                    } else if !self.substitution(quoted, text, pieces) {
                        text.push(quoted);
                    }
                }
                self.at += 1;
                text.push('"');
            }
            _ if self.substitution(c, text, pieces) => {}
            _ => text.push(c),
        }
    }

    fn substitution(&mut self, c: char, text: &mut String, pieces: &mut Vec<Piece>) -> bool {
        let inner = match c {
            '$' | '<' | '>' if self.peek(0) == Some('(') => {
                self.at += 1;
                self.list(Some(')'))
            }
            '`' => self.list(Some('`')),
            _ => return false,
        };
        pieces.push(Piece::Sub(inner));
        text.push_str("$_");
        true
    }

    fn skip_line(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    /// `<<EOF`, `<<-'EOF'`.
    fn here_marker(&mut self) {
        self.at += 1;
        while self.peek(0).is_some_and(|c| c == '-' || c == ' ' || c == '\t') {
            self.at += 1;
        }
        let mut word = String::new();
        while let Some(c) = self.peek(0).filter(|c| !c.is_whitespace() && !";&|()<>".contains(*c)) {
            self.at += 1;
            if !"'\"\\".contains(c) {
                word.push(c);
            }
        }
        self.awaited.push(word);
    }

    fn here_documents(&mut self) -> Vec<String> {
        let mut texts = Vec::new();
        for end in std::mem::take(&mut self.awaited) {
            let mut text = String::new();
            while self.at < self.chars.len() {
                let line: String = self.chars[self.at..].iter().take_while(|c| **c != '\n').collect();
                self.at = (self.at + line.chars().count() + 1).min(self.chars.len());
                if line.trim_start_matches('\t').trim_end_matches('\r') == end {
                    break;
                }
                text.push_str(&line);
                text.push('\n');
            }
            texts.push(text);
        }
        texts
    }
}

fn finish(pieces: &mut Vec<Piece>, text: &mut String, fed: Vec<String>) {
    let text = std::mem::take(text);
    if !text.trim().is_empty() || !fed.is_empty() {
        pieces.push(Piece::Command { text, fed });
    }
}

/// Deep enough for anything that somebody means; a line that quotes itself ends.
const DEEPEST: usize = 8;

fn run(pieces: &[Piece], dir: &mut Option<PathBuf>, found: &mut Vec<Call>, depth: usize) {
    if depth > DEEPEST {
        return;
    }
    for piece in pieces {
        match piece {
            Piece::Sub(inner) => run(inner, &mut dir.clone(), found, depth + 1),
            Piece::Command { text, fed } => command(text, fed, dir, found, depth),
        }
    }
}

fn command(text: &str, fed: &[String], dir: &mut Option<PathBuf>, found: &mut Vec<Call>, depth: usize) {
    let words = shlex::split(text).unwrap_or_else(|| text.split_whitespace().map(str::to_owned).collect());
    let (words, at) = bare(without_redirections(words), dir.as_deref());
    let call = Call { dir: at, words };
    let mut inner = |script: &str, dir: &mut Option<PathBuf>| {
        run(&Scanner::new(script).list(None), dir, found, depth + 1);
    };
    match call.program() {
        "" => {}
        "cd" | "pushd" => {
            let to = call.words[1..].iter().find(|word| !["--", "-P", "-L", "-e"].contains(&word.as_str()));
            *dir = to.and_then(|to| into(dir.as_deref(), to));
        }
        "popd" => *dir = None,
        "eval" => inner(&call.words[1..].join(" "), dir),
        "sh" | "bash" | "zsh" | "dash" | "ksh" => {
            let script = call.words.iter().position(|word| word.starts_with('-') && word.contains('c'));
            let script = script.and_then(|at| call.words.get(at + 1)).cloned();
            script.iter().chain(fed.iter().filter(|_| script.is_none())).for_each(|s| inner(s, &mut call.dir.clone()));
            found.push(call);
        }
        "find" => {
            let runs = |word: &String| ["-exec", "-execdir", "-ok", "-okdir"].contains(&word.as_str());
            let parts = call.words.split(runs).skip(1).map(<[String]>::to_vec);
            found.extend(parts.map(|words| Call { dir: call.dir.clone(), words }));
            found.push(call);
        }
        _ => found.push(call),
    }
}

/// A folder from another; none where the shell would have to say what it is called.
fn into(dir: Option<&Path>, path: &str) -> Option<PathBuf> {
    if path.is_empty() || path == "-" || path.starts_with('~') || path.contains(['$', '`', '*', '?']) {
        return None;
    }
    if Path::new(path).is_absolute() { Some(path.into()) } else { dir.map(|dir| dir.join(path)) }
}

fn without_redirections(words: Vec<String>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
        let rest = if rest.starts_with(['>', '<']) { rest } else { word.strip_prefix('&').unwrap_or("") };
        if !rest.starts_with(['>', '<']) {
            kept.push(word);
        } else if rest.trim_start_matches(['>', '<', '|']).is_empty() {
            words.next();
        }
    }
    kept
}

/// Without the words of the grammar, assignments, and programs that only run another one.
fn bare(mut words: Vec<String>, dir: Option<&Path>) -> (Vec<String>, Option<PathBuf>) {
    const GRAMMAR: &[&str] =
        &["if", "then", "else", "elif", "do", "while", "until", "!", "{", "}", "time", "fi", "done", "esac"];
    const RUNNERS: &[&str] =
        &["command", "builtin", "exec", "nohup", "env", "sudo", "doas", "nice", "timeout", "xargs", "stdbuf", "setsid"];
    let mut dir = dir.map(Path::to_owned);
    loop {
        let Some(first) = words.first().cloned() else { return (words, dir) };
        let name = first.rsplit('/').next().unwrap_or(&first);
        if let Some((variable, value)) = assignment(&first) {
            if variable == "GIT_DIR" {
                dir = None;
            } else if variable == "GIT_WORK_TREE" {
                dir = into(dir.as_deref(), value);
            }
            words.remove(0);
        } else if GRAMMAR.contains(&first.as_str()) {
            words.remove(0);
        } else if RUNNERS.contains(&name) {
            words.remove(0);
            skip_options(name, &mut words);
        } else {
            return (words, dir);
        }
    }
}

fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let named = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    named.then_some((name, value))
}

/// The options of a program that runs another, with their values.
fn skip_options(runner: &str, words: &mut Vec<String>) {
    let valued: &[&str] = match runner {
        "env" => &["-u", "-C", "--unset", "--chdir"],
        "sudo" | "doas" => &["-u", "-g", "-h", "-p", "-C", "-D"],
        "nice" => &["-n"],
        "timeout" => &["-s", "-k", "--signal", "--kill-after"],
        "xargs" => &["-I", "-n", "-P", "-L", "-d", "-E", "-s", "-a"],
        "stdbuf" => &["-i", "-o", "-e"],
        "exec" => &["-a"],
        _ => &[],
    };
    while let Some(option) = words.first().filter(|word| word.starts_with('-')).cloned() {
        words.remove(0);
        if valued.contains(&option.as_str()) && !words.is_empty() {
            words.remove(0);
        }
    }
    if runner == "timeout" && !words.is_empty() {
        words.remove(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let show = |call: Call| {
            let dir = call.dir.map_or("?".into(), |dir| dir.display().to_string());
            format!("{dir}$ {}", call.words.join(" "))
        };
        calls(text, Path::new("/r")).into_iter().map(show).collect()
    }

    fn git(text: &str) -> Vec<(Option<String>, String)> {
        let named = |call: GitCall| (call.dir.map(|dir| dir.display().to_string()), call.verb);
        calls(text, Path::new("/r")).iter().filter_map(Call::git).map(named).collect()
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
    fn each_call_knows_its_folder() {
        let at = |text: &str| git(text)[0].0.clone();
        assert_eq!(at("git add"), Some("/r".into()));
        assert_eq!(at("cd a && cd b; git add"), Some("/r/a/b".into()));
        assert_eq!(at("(cd a); git add"), Some("/r".into()));
        assert_eq!(at("git -C a -C b add"), Some("/r/a/b".into()));
        assert_eq!(at("cd a && git -C /x add"), Some("/x".into()));
        assert_eq!(at("sh -c 'cd a && git add'"), Some("/r/a".into()));
        for unknown in ["cd $X && git add", "cd \"$(pwd)\" && git add", "git --git-dir=x add", "GIT_DIR=x git add"] {
            assert_eq!(at(unknown), None, "{unknown}");
        }
        assert_eq!(shown("ls > /dev/null 2>&1 < x &"), ["/r$ ls"]);
    }
}
