//! Provides the origin of the build (commit and target) that `ralph --version` prints, and makes release builds smaller where the linker
//! can.
#![allow(clippy::disallowed_methods, clippy::print_stdout)]

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=RALPH_COMMIT");
    let target = std::env::var("TARGET").unwrap_or_default();
    let commit = std::env::var("RALPH_COMMIT").ok().or_else(packaged).or_else(checked_out);
    let commit = commit.map(|commit| format!("{} ", commit.get(..9).unwrap_or(&commit))).unwrap_or_default();
    println!("cargo:rustc-env=RALPH_BUILT_FROM={commit}{target}");
    if is_release() {
        make_smaller(&target);
    }
}

/// Drops the unwind tables: a panic ends a release build, which is stripped, so a backtrace would have no names anyway.
const WITHOUT_UNWINDING: &str = "SECTIONS { /DISCARD/ : { *(.eh_frame) *(.eh_frame_hdr) } } INSERT AFTER .text;\n";

/// Passes to the linker what makes the program smaller, if the linker knows it.
fn make_smaller(target: &str) {
    let folder = std::path::PathBuf::from(variable("OUT_DIR"));
    let (script, source) = (folder.join("without-unwinding.ld"), folder.join("probe.rs"));
    let written = std::fs::write(&script, WITHOUT_UNWINDING).and_then(|()| std::fs::write(&source, "fn main() {}"));
    if variable("CARGO_CFG_TARGET_OS") != "linux" || written.is_err() {
        return;
    }
    // Identical functions only once.
    let folded = "-Wl,--icf=all".to_owned();
    // Relocations in a form that takes a tenth of the space, which the C library must know.
    let packed = "-Wl,-z,pack-relative-relocs".to_owned();
    let dropped = format!("-Wl,-T,{}", script.display());
    for (flag, must_run) in [(folded, false), (dropped, false), (packed, true)] {
        let program = folder.join("probe");
        if links(&flag, target, &source, &program) && (!must_run || succeeds(&mut Command::new(&program))) {
            println!("cargo:rustc-link-arg-bins={flag}");
        }
    }
}

/// Whether the linker of this build accepts the flag.
fn links(flag: &str, target: &str, source: &std::path::Path, program: &std::path::Path) -> bool {
    let mut rustc = Command::new(variable("RUSTC"));
    rustc
        .args(["--target", target, "-C", "panic=abort", "-C", &format!("link-arg={flag}"), "-o"])
        .arg(program)
        .arg(source);
    rustc.args(variable("CARGO_ENCODED_RUSTFLAGS").split('\u{1f}').filter(|flag| !flag.is_empty()));
    let linker = variable("RUSTC_LINKER");
    if !linker.is_empty() {
        rustc.arg(format!("-Clinker={linker}"));
    }
    succeeds(&mut rustc)
}

fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

fn is_release() -> bool {
    std::env::var("PROFILE").as_deref() == Ok("release")
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
    if !is_release() {
        return None;
    }
    println!("cargo:rerun-if-changed=.git/logs/HEAD");
    let output = Command::new("git").args(["rev-parse", "HEAD"]).output().ok().filter(|said| said.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
