//! Tokens for access over HTTP. The web board has one token per clone, in a file that only its user can read.

use crate::app::{Code, Failure, Workspace};
use crate::fs;

/// The token survives a restart, so that open pages keep working. Anyone who can read its file can edit the board's
/// files too.
pub fn serve_token(ws: &Workspace) -> Result<String, Failure> {
    let path = ws.store.local().join("serve.token");
    let kept = fs::read_text(&path).ok().flatten().map(|text| text.trim().to_owned());
    if let Some(token) = kept.filter(|token| token.len() == LENGTH * 2) {
        return Ok(token);
    }
    let token = fresh_token()?;
    // In a read-only clone, the token lasts as long as the server.
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

/// Compares in constant time, so that the time does not show how much of a guess is right.
pub fn is_same_token(shown: &str, token: &str) -> bool {
    let differ = shown.bytes().zip(token.bytes()).fold(0, |differ, (a, b)| differ | (a ^ b));
    shown.len() == token.len() && differ == 0
}
