//! `ralph sync init`.

use super::Mirror;
use crate::fake::Level;
use crate::system::make_program;

#[test]
fn init_makes_the_project_and_its_fields_and_writes_the_settings() {
    let mirror = Mirror::unset(Level::Dotcom);
    let said = mirror.ralph(&["sync", "init", "--title", "Our work"]);
    assert!(said.stdout.contains("created project 1, \"Our work\", for acme/app, as octocat"), "{said}");
    assert!(said.stderr.contains("Item closed"), "{said}");
    let names = mirror.world(|world| {
        let names =
            |field: &str| world.field(1, field).options.iter().map(|option| option.name.clone()).collect::<Vec<_>>();
        [names("Workflow State"), names("Priority"), names("Estimate")]
    });
    assert_eq!(names[0].len(), 11);
    assert_eq!((names[0][0].as_str(), names[0][10].as_str()), ("Backlog", "Human Needed"));
    assert_eq!((names[1].join(" "), names[2].join(" ")), ("P0 P1 P2 P3".into(), "XS S M L XL".into()));
    let config = std::fs::read_to_string(mirror.sandbox.root().join(".ralph/config.toml")).unwrap();
    assert!(config.contains("[github]\nrepo = \"acme/app\"\nproject = 1\n"), "{config}");
    // A second run finds the same project by its number and adds nothing.
    mirror.requests();
    let again = mirror.ralph(&["sync", "init", "--json"]).json();
    assert_eq!((again["created"].as_bool(), again["fields"].clone()), (Some(false), serde_json::json!([])));
    assert!(mirror.requests().iter().all(|name| !name.starts_with("Create") && name != "UpdateField"));
}

#[test]
fn a_project_of_that_title_is_found_before_one_is_made() {
    let mirror = Mirror::unset(Level::Dotcom);
    mirror.world(|world| world.create_project("acme", "Our work"));
    let said = mirror.ralph(&["sync", "init", "--title", "Our work"]).ok();
    assert!(said.starts_with("found project 1"), "{said}");
}

#[test]
fn options_that_are_there_stay_with_what_items_say() {
    let mirror = Mirror::unset(Level::Dotcom);
    let number = mirror.world(|world| {
        world.create_project("acme", "Old");
        world.add_single_select(1, "Priority", &["Urgent", "P1"]);
        let number = world.add_issue("acme/app", "Old issue", "");
        world.add_to_project(1, number);
        world.set_field(number, "Priority", Some("Urgent"));
        number
    });
    let said = mirror.ralph(&["sync", "init", "--project", "1"]).ok();
    assert!(said.contains("Priority: P0, P2, P3"), "{said}");
    assert_eq!(mirror.world(|world| world.value(number, "Priority")).as_deref(), Some("Urgent"));
    // An unknown option counts as no priority, and is not changed.
    mirror.sync();
    let task = mirror.sandbox.ids().remove(0);
    assert_eq!(mirror.field(&task, "priority"), "null");
    mirror.ralph(&["task", "set", &task, "title=New title"]).ok();
    mirror.sync();
    assert_eq!(mirror.world(|world| world.value(number, "Priority")).as_deref(), Some("Urgent"));
}

#[test]
fn a_server_that_would_wipe_the_items_is_not_asked_to_add_options() {
    let mirror = Mirror::unset(Level::Ghes317);
    let number = mirror.world(|world| {
        world.create_project("acme", "Old");
        world.add_single_select(1, "Priority", &["Urgent"]);
        let number = world.add_issue("acme/app", "Old issue", "");
        world.add_to_project(1, number);
        world.set_field(number, "Priority", Some("Urgent"));
        number
    });
    let said = mirror.ralph(&["sync", "init", "--project", "1"]).fails(1);
    assert!(said.contains("would clear the field of every item") && said.contains("to add them by hand"), "{said}");
    assert_eq!(mirror.world(|world| world.value(number, "Priority")).as_deref(), Some("Urgent"));
}

#[test]
fn an_older_server_is_mirrored_without_what_it_lacks() {
    let mirror = Mirror::unset(Level::Ghes317);
    let said = mirror.ralph(&["sync", "init"]);
    assert!(said.stderr.contains("blocked_by is not mirrored"), "{said}");
    let (a, b) = (mirror.add(&["A"]), mirror.add(&["B"]));
    mirror.ralph(&["block", &b, "--on", &a]).ok();
    mirror.sync();
    let number = mirror.number(&a);
    assert_eq!(mirror.world(|world| world.value(number, "Workflow State")).as_deref(), Some("Backlog"));
    // Archived items are not listed by this server, so the issue itself is read.
    mirror.world(|world| world.close_issue(number, "COMPLETED"));
    mirror.sync();
    mirror.world(|world| world.archive_item(number));
    mirror.sync();
    assert!(mirror.sandbox.root().join(format!(".ralph/archive/{a}.toml")).exists());
    mirror.sync();
}

#[test]
fn what_the_token_lacks_is_named_with_what_grants_it() {
    let mirror = Mirror::unset(Level::Dotcom);
    mirror.world(|world| world.scopes = vec!["repo".into()]);
    let said = mirror.ralph(&["sync", "init"]).fails(6);
    assert!(
        said.contains("the token lacks the scope project") && said.contains("`gh auth refresh -s project`"),
        "{said}"
    );
    mirror.world(|world| world.scopes = vec!["project".into(), "public_repo".into()]);
    mirror.world(|world| world.repo_mut("acme/app").permission = "READ".into());
    let said = mirror.ralph(&["sync", "init"]);
    assert_eq!(said.code, 6, "{said}");
}

#[test]
fn without_a_token_or_a_github_the_next_step_is_named() {
    let mirror = Mirror::unset(Level::Dotcom);
    let mut command = mirror.command(&mirror.sandbox.root());
    let said = crate::sandbox::finish(command.env_remove("GH_TOKEN").args(["sync", "init"])).fails(6);
    assert!(said.contains("no token for github.com") && said.contains("gh auth login"), "{said}");
    mirror.sandbox.git(&["remote", "set-url", "origin", "/srv/somewhere.git"]);
    let said = mirror.ralph(&["sync", "init"]).fails(1);
    assert!(said.contains("--repo OWNER/NAME"), "{said}");
    let said = mirror.ralph(&["sync"]).fails(1);
    assert!(said.contains("ralph sync init"), "{said}");
}

#[test]
fn a_board_that_came_with_a_clone_does_not_choose_who_gets_the_token() {
    let mirror = Mirror::new();
    let config = mirror.sandbox.root().join(".ralph/config.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, text.replace("[github]\n", "[github]\napi = \"https://evil.example/graphql\"\n")).unwrap();
    let mut command = mirror.command(&mirror.sandbox.root());
    let said = crate::sandbox::finish(command.env_remove("RALPH_GITHUB_API").arg("sync")).fails(1);
    assert!(said.contains("github.api is ignored in the board's own settings"), "{said}");
    std::fs::write(&config, text.replace("[github]\n", "[github]\nhost = \"evil.example\"\n")).unwrap();
    let said = mirror.ralph(&["sync"]).fails(1);
    assert!(said.contains("no git remote uses it"), "{said}");
}

#[test]
fn a_token_is_asked_of_gh_where_the_environment_has_none() {
    let mirror = Mirror::unset(Level::Dotcom);
    let gh = mirror.sandbox.outside("gh");
    std::fs::write(
        &gh,
        format!("#!/bin/sh\n[ \"$*\" = 'auth token --hostname github.com' ] && echo {}\n", mirror.fake.token()),
    )
    .unwrap();
    make_program(&gh);
    let path = format!("{}:{}", gh.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut command = mirror.command(&mirror.sandbox.root());
    let said = crate::sandbox::finish(command.env_remove("GH_TOKEN").env("PATH", path).args(["sync", "init"])).ok();
    assert!(said.starts_with("created project 1"), "{said}");
}

#[test]
fn a_proxy_of_the_environment_is_used_and_never_sees_the_token() {
    use std::io::{Read as _, Write as _};
    let mirror = Mirror::unset(Level::Dotcom);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let proxy = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut seen = String::new();
        let mut buffer = [0; 4_096];
        while !seen.ends_with("\r\n\r\n") {
            let read = stream.read(&mut buffer).unwrap();
            seen.push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
        let _ = stream.write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n");
        seen
    });
    let mut command = mirror.command(&mirror.sandbox.root());
    let said = crate::sandbox::finish(
        command.env_remove("RALPH_GITHUB_API").env("HTTPS_PROXY", address).args(["sync", "init"]),
    )
    .fails(6);
    let seen = proxy.join().unwrap();
    assert!(seen.starts_with("CONNECT api.github.com:443"), "{seen}\n{said}");
    assert!(!seen.contains(&mirror.fake.token()) && said.contains("cannot reach"), "{said}");
}
