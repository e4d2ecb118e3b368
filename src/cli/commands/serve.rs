//! `ralph serve` and `ralph report`: the board for a browser.

use std::path::Path;
use std::process::Stdio;

use serde_json::json;

use super::worker::team_on;
use crate::app::{Code, Failure, Hint};
use crate::cli::args::{ReportArgs, ServeArgs};
use crate::cli::{Answer, Outcome, Session};
use crate::fs::{self, FsError};
use crate::task::TaskId;
use crate::web;

pub fn serve(session: &Session<'_>, args: &ServeArgs) -> Answer {
    let wanted = web::Wanted {
        address: args.addr,
        read_only: args.read_only,
        allow_remote: args.allow_remote,
        hosts: args.hosts.clone(),
    };
    let options = session.options.clone();
    let start_team = Box::new(move |task: &TaskId| team_on(&options, task));
    web::serve(&session.options, &wanted, start_team, &|address| {
        tell(session, args, address);
        if args.open {
            open(session, &address.url);
        }
    })?;
    Ok(Outcome::Done)
}

fn tell(session: &Session<'_>, args: &ServeArgs, address: &web::Address) {
    if session.out.json {
        return session.out.json(&json!({ "url": address.url }));
    }
    session.out.line(&format!("serving the board at {}", address.url));
    if address.nameless {
        session.out.say(
            "on other machines, replace 127.0.0.1 by an address of this machine, or by a name given with `--host NAME`",
        );
    }
    let may = match args.read_only {
        true => "read-only",
        false => "anyone with this URL can edit the board",
    };
    session.out.say(&format!("{may}; press Ctrl-C to stop"));
}

/// The URL with the token is an argument of the browser, which other users of this machine can see for a moment. Therefore it
/// is opened only with `--open`.
fn open(session: &Session<'_>, url: &str) {
    let mut browser = crate::os::terminal::browser(url);
    if browser.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().is_err() {
        session.out.say(&format!("cannot open the browser: {} was not found", browser.get_program().display()));
    }
}

pub fn report(session: &Session<'_>, args: &ReportArgs) -> Answer {
    let text = session.with(web::report)?;
    if args.html == Path::new("-") {
        session.out.text(&text);
        return Ok(Outcome::Done);
    }
    let folder = args.html.parent().is_none_or(|folder| folder.as_os_str().is_empty() || folder.is_dir());
    if args.html.is_dir() || !folder {
        let message = format!("cannot write {}", args.html.display());
        return Err(Failure::usage(Code::BadFile, message).hint(Hint::step("name a file in an existing folder")));
    }
    write(&args.html, text.as_bytes())?;
    if session.out.json {
        session.out.json(&json!({ "file": args.html, "bytes": text.len() }));
    } else {
        session.out.say(&format!("wrote {}", args.html.display()));
    }
    Ok(Outcome::Done)
}

/// Replaces a file as a whole. A pipe or a device is written to instead.
fn write(path: &Path, text: &[u8]) -> Result<(), FsError> {
    match fs::metadata(path)? {
        Some(there) if !there.is_file() => fs::write_device(path, text),
        _ => fs::replace(&fs::followed(path.to_owned()), text, false),
    }
}
