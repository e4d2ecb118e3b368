//! What somebody shows to be let in over HTTP; for the web board one secret for each clone, kept where only its user
//! reads it.

use crate::app::{Code, Failure, Workspace};
use crate::fs;

/// The same after a restart, so that pages that are open go on. Who may read it may change the board's files anyway.
pub fn serve_token(ws: &Workspace) -> Result<String, Failure> {
    let path = ws.store.local().join("serve.token");
    let kept = fs::read_text(&path).ok().flatten().map(|text| text.trim().to_owned());
    if let Some(token) = kept.filter(|token| token.len() == LENGTH * 2) {
        return Ok(token);
    }
    let token = fresh_token()?;
    // Where nothing may be written, it lasts as long as the server.
    let _ = fs::make_dir(ws.store.local());
    let _ = fs::write_secret(&path, token.as_bytes());
    Ok(token)
}

/// In bytes.
const LENGTH: usize = 24;

pub fn fresh_token() -> Result<String, Failure> {
    let mut bytes = [0_u8; LENGTH];
    getrandom::fill(&mut bytes)
        .map_err(|_| Failure::broken(Code::NoRandom, "cannot get random bytes from the system"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Takes as long for a token that is nearly right as for one that is not.
pub fn is_same_token(shown: &str, token: &str) -> bool {
    let differ = shown.bytes().zip(token.bytes()).fold(0, |differ, (a, b)| differ | (a ^ b));
    shown.len() == token.len() && differ == 0
}
