//! `claims ls`: lists the claims of this and other machines.

use jiff::Timestamp;
use serde::Serialize;

use crate::app::workspace::remote::publish_missing;
use crate::app::{Code, Failure, Hint, Workspace};
use crate::board::{Board, Claim, Scope};
use crate::task::{TaskId, Worker};

#[derive(Debug, Serialize)]
pub struct ClaimLine {
    pub task: TaskId,
    pub title: String,
    pub worker: Worker,
    pub host: String,
    pub command: Option<String>,
    pub since: Timestamp,
    pub until: Timestamp,
    /// Lasts as long as a process does.
    pub held: bool,
    pub live: bool,
    /// `here`, `not published` if it is not on the remote yet, or `elsewhere`.
    pub place: &'static str,
    /// The files of the task's plan, which no other claim may cover.
    pub paths: Scope,
}

impl ClaimLine {
    /// Those of its paths that overlap with a file or folder.
    pub fn bearing_on(&self, path: &str) -> Vec<String> {
        let asked = Scope::new([path]);
        let meets = |own: &&String| Scope::new([own.as_str()]).overlap(&asked).is_some();
        self.paths.paths().iter().filter(meets).cloned().collect()
    }
}

/// Claims, and when those of other machines were last fetched.
#[derive(Debug)]
pub struct ClaimList {
    pub claims: Vec<ClaimLine>,
    pub seen: Option<Timestamp>,
}

/// Every known claim; with `ask`, those on the remote are fetched first.
pub fn list_claims(ws: &Workspace, ask: bool) -> Result<ClaimList, Failure> {
    if ask {
        if ws.claims_remote().is_none() {
            return Err(Failure::refused(Code::NoRemote, "this board does not share its claims between machines")
                .hint(Hint::set("claims.remote", "origin", "to share them")));
        }
        publish_missing(ws)?;
    }
    let board = ws.board()?;
    let several = ws.claims_remote().is_some();
    let line = |(id, claim): (&TaskId, &Claim)| claim_line(&board, several, id, claim);
    let seen = ws.store.sightings().at.filter(|_| several);
    Ok(ClaimList { claims: board.claims().iter().map(line).collect(), seen })
}

/// One line of the list; `several` says whether claims are shared between machines.
pub(super) fn claim_line(board: &Board, several: bool, id: &TaskId, claim: &Claim) -> ClaimLine {
    ClaimLine {
        task: id.clone(),
        title: board.get(id).map(|task| task.title.clone()).unwrap_or_default(),
        worker: claim.worker.clone(),
        host: claim.host.clone(),
        command: claim.command.clone(),
        since: claim.since,
        until: claim.until,
        held: claim.held,
        live: claim.live,
        place: match (claim.foreign, &claim.remote) {
            (true, _) => "elsewhere",
            (false, None) if several => "not published",
            _ => "here",
        },
        paths: claim.paths.clone(),
    }
}
