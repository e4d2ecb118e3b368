//! The GitHub host, repository and project that a board is mirrored to, and the client for it.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::app::repo::worktree::Place;
use crate::app::{Code, Failure, Hint, Workspace};
use crate::board::Board;
use crate::config::Source;
use crate::github::{Client, FieldNames, Host, Pace, Patience, Slug, Wait, endpoint, find_token};
use crate::os::Signal;
use crate::os::signals::{SignalListener, exit_by};

/// The mirror's settings.
#[derive(Debug, Clone)]
pub struct Target {
    pub host: Host,
    pub slug: Slug,
    pub owner: String,
    pub number: Option<u64>,
    pub names: FieldNames,
}

impl Target {
    /// From the settings, or else the git remote; `None` if neither names a GitHub repository.
    pub fn of(ws: &Workspace) -> Result<Option<Self>, Failure> {
        let set = |key: &'static str| Some(ws.settings.text(key)).filter(|text| !text.is_empty());
        let slug = match set("github.repo") {
            Some(text) => Some(Slug::parse(text).ok_or_else(|| {
                Failure::usage(Code::BadRepo, format!("{text:?} is not a repository")).hint(Hint::set(
                    "github.repo",
                    "OWNER/NAME",
                    "to correct it",
                ))
            })?),
            None => remote(ws).map(|(_, slug)| slug),
        };
        let Some(slug) = slug else { return Ok(None) };
        Ok(Some(Self::named(ws, &slug)?))
    }

    /// A given repository, with all other values from the settings.
    pub fn named(ws: &Workspace, slug: &Slug) -> Result<Self, Failure> {
        let set = |key: &'static str| Some(ws.settings.text(key)).filter(|text| !text.is_empty());
        let remote = ws.repository.remote_urls().iter().find_map(|url| Host::of_remote(url)).map(|(host, _)| host);
        let host =
            set("github.host").map(|host| Host(host.to_lowercase())).or_else(|| environment().map(Host)).or(remote);
        let field = |key: &'static str| ws.settings.text(key).to_owned();
        let host = host.unwrap_or_else(|| Host("github.com".into()));
        refuse_strange_host(ws, &host)?;
        Ok(Self {
            host,
            slug: slug.clone(),
            owner: set("github.owner").map_or_else(|| slug.owner.clone(), str::to_owned),
            number: ws.settings.number("github.project").map(u64::from),
            names: FieldNames {
                state: field("github.state_field"),
                priority: field("github.priority_field"),
                estimate: field("github.estimate_field"),
            },
        })
    }

    /// The target that `sync init` has set up.
    pub fn ready(ws: &Workspace) -> Result<(Self, u64), Failure> {
        match Self::of(ws)? {
            Some(target) if target.number.is_some() => {
                let number = target.number.expect("it was just seen");
                Ok((target, number))
            }
            _ => Err(Failure::refused(Code::NotSetUp, "this board is not mirrored to GitHub")
                .hint(Hint::run("sync init", "to find or create the project and save it in the settings"))),
        }
    }

    /// The number of a task's pull request on this GitHub, if any. Refuses a pull request of another repository, so
    /// that it is not merged locally by mistake.
    pub fn pull_of(ws: &Workspace, board: &Board, place: &Place) -> Result<Option<(Self, u64)>, Failure> {
        let Some(url) = board.get(&place.task).and_then(|task| task.artifacts.get("pr")) else { return Ok(None) };
        let Some(target) = Self::of(ws)? else { return Ok(None) };
        let start = format!("https://{}/{}/pull/", target.host.0, target.slug);
        let number = url.strip_prefix(&start).and_then(|number| number.trim_matches('/').parse().ok());
        let message = format!("the pull request of {}, {url}, does not belong to {}", place.task, target.slug);
        let elsewhere = || {
            Failure::refused(Code::OtherPullRequest, message).hint(Hint::set(
                "github.repo",
                "OWNER/NAME",
                "if this is the wrong repository; else correct artifacts.pr of the task",
            ))
        };
        number.map(|number| Some((target, number))).ok_or_else(elsewhere)
    }

    pub fn client<'a>(&self, ws: &Workspace, patience: &'a dyn Patience) -> Result<Client<'a>, Failure> {
        let api = ws.settings.get("github.api")?;
        if !api.value.is_empty() && matches!(api.source, Source::Board(_)) {
            return Err(Failure::refused(Code::StrangeEndpoint, "github.api is ignored in the board's own settings")
                .hint(Hint::run(
                    "config set --user github.api URL",
                    "to set it in your own settings, if you trust it with your token",
                )));
        }
        let url = endpoint(&self.host, &api.value)?;
        let token = find_token(&self.host, &|name| std::env::var(name).ok())?;
        let pace = ws.settings.duration("github.pace");
        Ok(Client::new(url, token, Pace::new(pace.unsigned_abs()), patience))
    }
}

/// The first git remote that is a GitHub host, by its name or according to the settings.
fn remote(ws: &Workspace) -> Option<(Host, Slug)> {
    let named = [Some(ws.settings.text("github.host").to_owned()), environment()];
    let is_it = |host: &Host| host.is_github() || named.iter().flatten().any(|name| *name == host.0);
    ws.repository.remote_urls().iter().filter_map(|url| Host::of_remote(url)).find(|(host, _)| is_it(host))
}

fn environment() -> Option<String> {
    std::env::var("GH_HOST").ok().filter(|host| !host.is_empty())
}

/// Refuses a host that only the board's settings name: a cloned board must not choose which server receives the token.
fn refuse_strange_host(ws: &Workspace, host: &Host) -> Result<(), Failure> {
    if !host.is_valid() {
        return Err(Failure::usage(Code::BadHost, format!("{:?} is not a host name", host.0)).hint(Hint::set(
            "github.host",
            "HOST",
            "to a plain host name",
        )));
    }
    let from_board = ws.settings.get("github.host").is_ok_and(|setting| matches!(setting.source, Source::Board(_)));
    let urls = ws.repository.remote_urls();
    let known = |host: &Host| urls.iter().filter_map(|url| Host::of_remote(url)).any(|(there, _)| there == *host);
    if !from_board || host.is_dotcom() || environment().as_ref() == Some(&host.0) || known(host) {
        return Ok(());
    }
    Err(Failure::refused(
        Code::StrangeHost,
        format!("the board's settings name the host {}, but no git remote uses it", host.0),
    )
    .hint(Hint::variable("GH_HOST", &format!("to {} if you trust it", host.0))))
}

/// Set by the first Ctrl-C; the second one ends the program at once.
pub fn interrupted() -> &'static AtomicBool {
    static OVER: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    OVER.get_or_init(|| {
        let over = Arc::new(AtomicBool::new(false));
        if let Ok(signals) = SignalListener::new(&[Signal::Interrupt, Signal::Terminate]) {
            let first = Arc::clone(&over);
            std::thread::spawn(move || {
                for signal in signals {
                    if first.swap(true, Ordering::Relaxed) {
                        exit_by(signal);
                    }
                }
            });
        }
        over
    })
}

/// Ctrl-C ends a wait, but lets the current request finish. Waits are reported to `tell`.
pub struct Calm<'a> {
    over: &'static AtomicBool,
    tell: RefCell<&'a mut dyn FnMut(&Wait)>,
}

impl<'a> Calm<'a> {
    pub fn new(tell: &'a mut dyn FnMut(&Wait)) -> Self {
        Self { over: interrupted(), tell: RefCell::new(tell) }
    }
}

impl Patience for Calm<'_> {
    fn waiting(&self, wait: &Wait) {
        (self.tell.borrow_mut())(wait);
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
}
