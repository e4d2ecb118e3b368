//! Provides the origin of the build (commit and target) that `ralph --version` prints.
#![allow(clippy::disallowed_methods, clippy::print_stdout)]

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=RALPH_COMMIT");
    let target = std::env::var("TARGET").unwrap_or_default();
    let commit = std::env::var("RALPH_COMMIT").ok().or_else(packaged).or_else(checked_out);
    let commit = commit.map(|commit| format!("{} ", commit.get(..9).unwrap_or(&commit))).unwrap_or_default();
    println!("cargo:rustc-env=RALPH_BUILT_FROM={commit}{target}");
}

/// The commit of a crate from the registry, which cargo records in `.cargo_vcs_info.json`.
fn packaged() -> Option<String> {
    println!("cargo:rerun-if-changed=.cargo_vcs_info.json");
    let text = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = text.split_once("\"sha1\": \"")?;
    rest.split('"').next().map(str::to_owned)
}

/// The commit of the clone. Only for release builds: a debug build would be recompiled after every commit.
fn checked_out() -> Option<String> {
    if std::env::var("PROFILE").as_deref() != Ok("release") {
        return None;
    }
    println!("cargo:rerun-if-changed=.git/logs/HEAD");
    let output = Command::new("git").args(["rev-parse", "HEAD"]).output().ok().filter(|said| said.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
