//! What a shell command line calls, and where: enough of the shell's grammar that no call is missed.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::rc::Rc;

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

/// Why a command line could not be read. Its calls are unknown, so a gate must block it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    #[error("a quote is not closed")]
    OpenQuote,
    #[error("a parenthesis or back-tick is not closed")]
    OpenList,
    #[error("it ends with a backslash")]
    OpenEscape,
    #[error("a here-document begins in parentheses that end on the same line")]
    HereDocument,
    #[error("it is nested more than {DEEPEST} levels deep")]
    TooDeep,
}

/// Every call of the line, in order; also those in subshells, substitutions and scripts for another shell.
pub fn calls(text: &str, cwd: &Path) -> Result<Vec<Call>, Unreadable> {
    let mut found = Vec::new();
    let mut dir = Some(cwd.to_owned());
    run(&Scanner::read(text)?, &mut dir, &mut found, 0)?;
    Ok(found)
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
    Command { text: String, fed: Rc<[String]> },
    Sub(Vec<Piece>),
}

struct Scanner {
    chars: Vec<char>,
    at: usize,
    depth: usize,
    /// Here-documents whose text begins at the next line.
    awaited: Vec<String>,
    /// Here-strings of this line.
    fed: Vec<String>,
}

/// Where one command ends and the next begins, besides blanks.
const OPERATORS: &str = "\n;&|()<>";

impl Scanner {
    fn read(text: &str) -> Result<Vec<Piece>, Unreadable> {
        let chars = text.chars().collect();
        Self { chars, at: 0, depth: 0, awaited: Vec::new(), fed: Vec::new() }.list(None)
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    /// Pieces up to a closing character, or the end.
    fn list(&mut self, until: Option<char>) -> Result<Vec<Piece>, Unreadable> {
        let mut pieces = Vec::new();
        let mut text = String::new();
        // Where the pieces of this line begin, and whether a word does: only there a `#` begins a comment.
        let (mut line, mut fresh) = (0, true);
        loop {
            let c = self.peek(0);
            self.at += 1;
            if c == until {
                break;
            }
            let Some(c) = c else { return Err(Unreadable::OpenList) };
            match c {
                '\\' if self.peek(0) == Some('\n') => {
                    self.at += 1;
                    continue;
                }
                '\n' => {
                    finish(&mut pieces, &mut text);
                    self.feed(&mut pieces[line..]);
                    line = pieces.len();
                }
                '&' if self.peek(0) == Some('>') => self.redirection(&mut text, &mut pieces)?,
                // A parenthesis that closes nothing ends a pattern of `case`.
                ';' | '|' | '&' | ')' => finish(&mut pieces, &mut text),
                '(' => {
                    finish(&mut pieces, &mut text);
                    pieces.push(Piece::Sub(self.nested(')')?));
                }
                '#' if fresh => self.skip_line(),
                '<' | '>' if self.peek(0) != Some('(') => self.redirection(&mut text, &mut pieces)?,
                _ => self.part_of_word(c, &mut text, &mut pieces)?,
            }
            fresh = c == ' ' || c == '\t' || OPERATORS.contains(c);
        }
        finish(&mut pieces, &mut text);
        if until.is_some() && !self.awaited.is_empty() {
            return Err(Unreadable::HereDocument);
        }
        self.feed(&mut pieces[line..]);
        Ok(pieces)
    }

    fn nested(&mut self, until: char) -> Result<Vec<Piece>, Unreadable> {
        if self.depth == DEEPEST {
            return Err(Unreadable::TooDeep);
        }
        self.depth += 1;
        let pieces = self.list(Some(until))?;
        self.depth -= 1;
        Ok(pieces)
    }

    /// Quotes stay as they are, for the splitter; what they substitute becomes a list of its own.
    fn part_of_word(&mut self, c: char, text: &mut String, pieces: &mut Vec<Piece>) -> Result<(), Unreadable> {
        match c {
            '\\' => self.escaped(text)?,
            '$' if self.peek(0) == Some('\'') => self.ansi_quoted(text)?,
            '\'' => {
                let quoted = self.chars[self.at..].iter().position(|c| *c == '\'').ok_or(Unreadable::OpenQuote)?;
                text.push(c);
                text.extend(&self.chars[self.at..=self.at + quoted]);
                self.at += quoted + 1;
            }
            '"' => {
                text.push(c);
                while let Some(quoted) = self.peek(0).filter(|quoted| *quoted != '"') {
                    self.at += 1;
                    match quoted {
                        '\\' => self.escaped(text)?,
                        // `<(` and `>(` mean nothing in double quotes.
                        '$' | '`' if self.substitution(quoted, text, pieces)? => {}
                        _ => text.push(quoted),
                    }
                }
                text.push(self.peek(0).ok_or(Unreadable::OpenQuote)?);
                self.at += 1;
            }
            _ if self.substitution(c, text, pieces)? => {}
            _ => text.push(c),
        }
        Ok(())
    }

    fn escaped(&mut self, text: &mut String) -> Result<(), Unreadable> {
        text.extend(['\\', self.peek(0).ok_or(Unreadable::OpenEscape)?]);
        self.at += 1;
        Ok(())
    }

    /// `$'it\'s'`: a word that nobody needs to know exactly, but whose end matters.
    fn ansi_quoted(&mut self, text: &mut String) -> Result<(), Unreadable> {
        self.at += 1;
        let mut word = String::new();
        loop {
            let c = self.peek(0).ok_or(Unreadable::OpenQuote)?;
            self.at += 1;
            match c {
                '\'' => break,
                '\\' => {
                    word.extend(self.peek(0));
                    self.at += 1;
                }
                _ => word.push(c),
            }
        }
        text.push_str(&format!("'{}'", word.replace('\'', "_")));
        Ok(())
    }

    fn substitution(&mut self, c: char, text: &mut String, pieces: &mut Vec<Piece>) -> Result<bool, Unreadable> {
        let inner = match c {
            '$' | '<' | '>' if self.peek(0) == Some('(') => {
                self.at += 1;
                self.nested(')')?
            }
            '`' => self.nested('`')?,
            _ => return Ok(false),
        };
        pieces.push(Piece::Sub(inner));
        text.push_str("$_");
        Ok(true)
    }

    fn skip_line(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    fn skip_blanks(&mut self) {
        while self.peek(0).is_some_and(|c| c == ' ' || c == '\t') {
            self.at += 1;
        }
    }

    /// `2>&1`, `< file`, `<<EOF`, `<<< text`: neither the operator nor its word is an argument.
    fn redirection(&mut self, text: &mut String, pieces: &mut Vec<Piece>) -> Result<(), Unreadable> {
        let fd = text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        if text[..fd].is_empty() || text[..fd].ends_with([' ', '\t']) {
            text.truncate(fd);
        }
        let from = self.at - 1;
        while self.peek(0).is_some_and(|c| "<>|&".contains(c)) && self.peek(1) != Some('(') {
            self.at += 1;
        }
        let operator: String = self.chars[from..self.at].iter().collect();
        if operator == "<<" && self.peek(0) == Some('-') {
            self.at += 1;
        }
        self.skip_blanks();
        let mut word = String::new();
        while let Some(c) = self.peek(0).filter(|c| !" \t".contains(*c)) {
            let substitutes = "<>".contains(c) && self.peek(1) == Some('(');
            if OPERATORS.contains(c) && !substitutes {
                break;
            }
            self.at += 1;
            self.part_of_word(c, &mut word, pieces)?;
        }
        let word = || shlex::split(&word).unwrap_or_default().concat();
        match operator.as_str() {
            "<<" => self.awaited.push(word()),
            "<<<" => self.fed.push(word()),
            _ => {}
        }
        text.push(' ');
        Ok(())
    }

    /// Gives the texts of this line to all its commands: which of them reads one makes no difference to a gate.
    fn feed(&mut self, line: &mut [Piece]) {
        let mut texts = std::mem::take(&mut self.fed);
        for end in std::mem::take(&mut self.awaited) {
            texts.push(self.here_document(&end));
        }
        let texts: Rc<[String]> = texts.into();
        for piece in line {
            if let Piece::Command { fed, .. } = piece {
                *fed = Rc::clone(&texts);
            }
        }
    }

    fn here_document(&mut self, end: &str) -> String {
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
        text
    }
}

fn finish(pieces: &mut Vec<Piece>, text: &mut String) {
    let text = std::mem::take(text);
    if !text.trim().is_empty() {
        pieces.push(Piece::Command { text, fed: Rc::default() });
    }
}

/// Deep enough for anything that somebody means, and shallow enough for the stack.
const DEEPEST: usize = 16;

fn run(pieces: &[Piece], dir: &mut Option<PathBuf>, found: &mut Vec<Call>, depth: usize) -> Result<(), Unreadable> {
    if depth > DEEPEST {
        return Err(Unreadable::TooDeep);
    }
    for piece in pieces {
        match piece {
            Piece::Sub(inner) => run(inner, &mut dir.clone(), found, depth + 1)?,
            Piece::Command { text, fed } => command(text, fed, dir, found, depth)?,
        }
    }
    Ok(())
}

fn command(
    text: &str,
    fed: &[String],
    dir: &mut Option<PathBuf>,
    found: &mut Vec<Call>,
    depth: usize,
) -> Result<(), Unreadable> {
    let words = shlex::split(text).ok_or(Unreadable::OpenQuote)?;
    let (words, at) = bare(words.into(), dir.as_deref());
    let call = Call { dir: at, words: words.into() };
    let mut inner = |script: &str, dir: &mut Option<PathBuf>| run(&Scanner::read(script)?, dir, found, depth + 1);
    match call.program() {
        "" => {}
        "cd" | "pushd" => {
            let to = call.words[1..].iter().find(|word| !["--", "-P", "-L", "-e"].contains(&word.as_str()));
            *dir = to.and_then(|to| into(dir.as_deref(), to));
        }
        "popd" => *dir = None,
        "eval" => inner(&call.words[1..].join(" "), dir)?,
        "sh" | "bash" | "zsh" | "dash" | "ksh" => {
            let script = call.words.iter().position(|word| word.starts_with('-') && word.contains('c'));
            let script = script.and_then(|at| call.words.get(at + 1)).cloned();
            let fed = fed.iter().filter(|_| script.is_none());
            script.iter().chain(fed).try_for_each(|script| inner(script, &mut call.dir.clone()))?;
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
    Ok(())
}

/// A folder from another; none where the shell would have to say what it is called.
fn into(dir: Option<&Path>, path: &str) -> Option<PathBuf> {
    if path.is_empty() || path == "-" || path.starts_with('~') || path.contains(['$', '`', '*', '?']) {
        return None;
    }
    if Path::new(path).is_absolute() { Some(path.into()) } else { dir.map(|dir| dir.join(path)) }
}

/// Without the words of the grammar, assignments, and programs that only run another one.
fn bare(mut words: VecDeque<String>, dir: Option<&Path>) -> (VecDeque<String>, Option<PathBuf>) {
    const GRAMMAR: &[&str] =
        &["if", "then", "else", "elif", "do", "while", "until", "!", "{", "}", "time", "fi", "done", "esac"];
    const RUNNERS: &[&str] =
        &["command", "builtin", "exec", "nohup", "env", "sudo", "doas", "nice", "timeout", "xargs", "stdbuf", "setsid"];
    let mut dir = dir.map(Path::to_owned);
    loop {
        let Some(first) = words.front().cloned() else { return (words, dir) };
        let name = first.rsplit('/').next().unwrap_or(&first);
        if let Some((variable, value)) = assignment(&first) {
            if variable == "GIT_DIR" {
                dir = None;
            } else if variable == "GIT_WORK_TREE" {
                dir = into(dir.as_deref(), value);
            }
            words.pop_front();
        } else if GRAMMAR.contains(&first.as_str()) {
            words.pop_front();
        } else if RUNNERS.contains(&name) {
            words.pop_front();
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
fn skip_options(runner: &str, words: &mut VecDeque<String>) {
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
    while let Some(option) = words.front().filter(|word| word.starts_with('-')).cloned() {
        words.pop_front();
        if valued.contains(&option.as_str()) {
            words.pop_front();
        }
    }
    if runner == "timeout" {
        words.pop_front();
    }
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

    /// Characters and words that mean something to the shell, more often than plain ones.
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
