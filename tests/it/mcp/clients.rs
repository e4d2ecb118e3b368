//! The official clients, the published conformance suite and the inspector, each with its own board.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::mcp_client::ralph;
use crate::sandbox::{Output, RALPH, Sandbox, finish};

/// A path inside the folder that `tests/clients/setup` fills.
fn installed(path: &str) -> PathBuf {
    let found = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/clients").join(path);
    assert!(found.exists(), "{} is missing: run tests/clients/setup", found.display());
    found
}

fn driver(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(name).display().to_string()
}

/// Runs a program in the sandbox with the real clock and a timeout of two minutes.
fn run(sandbox: &Sandbox, args: &[&str]) -> Output {
    let mut command = sandbox.command("timeout", &sandbox.root());
    command.env_remove("RALPH_NOW").env_remove("RALPH_SEED").args(["-k", "5", "120"]).args(args);
    finish(&mut command)
}

#[track_caller]
fn javascript(way: &str) {
    let sandbox = Sandbox::new();
    installed("node_modules/@modelcontextprotocol/client");
    let said = run(&sandbox, &["node", &driver("drive.mjs"), RALPH, &sandbox.root().display().to_string(), way]);
    assert!(said.stdout.contains("no problems") && said.code == 0, "{said}");
    ralph(&sandbox, &["doctor"]).ok();
}

#[track_caller]
fn python(way: &str) {
    let sandbox = Sandbox::new();
    let python = installed("venv/bin/python").display().to_string();
    let root = sandbox.root().display().to_string();
    let said = run(&sandbox, &[&python, "-W", "ignore", &driver("drive.py"), RALPH, &root, way]);
    assert!(said.stdout.contains("no problems") && said.code == 0, "{said}");
    ralph(&sandbox, &["doctor"]).ok();
}

#[test]
fn the_python_client_uses_all_of_it_over_pipes() {
    python("stdio");
}

#[test]
fn the_python_client_of_2026_uses_all_of_it_over_pipes() {
    python("stdio-2026");
}

#[test]
fn the_python_client_over_http() {
    python("http");
}

#[test]
fn the_python_client_of_2026_over_http() {
    python("http-2026");
}

#[test]
fn the_first_javascript_client_uses_all_of_it_over_pipes() {
    javascript("v1-stdio");
}

#[test]
fn the_second_javascript_client_in_the_old_way_over_pipes() {
    javascript("v2-legacy");
}

#[test]
fn the_second_javascript_client_of_2026_uses_all_of_it_over_pipes() {
    javascript("v2-stdio");
}

#[test]
fn the_first_javascript_client_over_http() {
    javascript("v1-http");
}

#[test]
fn the_second_javascript_client_of_2026_over_http() {
    javascript("v2-http");
}

#[test]
fn the_conformance_suite_passes_in_all_that_applies() {
    let sandbox = Sandbox::new();
    installed("node_modules/@modelcontextprotocol/conformance");
    let said = run(&sandbox, &["node", &driver("conformance.mjs"), RALPH, &sandbox.root().display().to_string()]);
    assert!(said.stdout.contains("no problems") && said.code == 0, "{said}");
}

#[test]
fn the_inspector_lists_and_calls() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["One"]);
    let inspector = installed("node_modules/@modelcontextprotocol/inspector-cli/build/index.js").display().to_string();
    let ask = |args: &[&str]| -> Value { run(&sandbox, &[&["node", &inspector, RALPH, "mcp"], args].concat()).json() };
    let list = |what: &str| ask(&["--method", what]);
    assert_eq!(list("tools/list")["tools"].as_array().unwrap().len(), super::lists::TOOLS.len());
    assert_eq!(list("prompts/list")["prompts"].as_array().unwrap().len(), 8);
    assert_eq!(list("resources/list")["resources"].as_array().unwrap().len(), 3);
    let called = ask(&["--method", "tools/call", "--tool-name", "get", "--tool-arg", &format!("task={id}")]);
    assert_eq!(called["structuredContent"]["id"], json!(id));
    let read = ask(&["--method", "resources/read", "--uri", &format!("ralph://task/{id}")]);
    assert!(read["contents"][0]["text"].as_str().unwrap().contains("\"One\""));
}
