//! No command blocks on a prompt that cannot be answered.

use std::process::Stdio;
use std::time::Duration;

use super::processes::{Ended, left_at, within};
use super::servers::{Server, Transport};
use super::{Fleet, Machine, Plan};
use crate::sandbox::RALPH;
use crate::system::make_program;

const LIMIT: Duration = Duration::from_secs(30);

fn fleet(transport: Transport) -> Option<Fleet> {
    (Plan { machines: 1, timeout: "2s", ..Plan::of(transport) }).fleet()
}

/// A program that logs its arguments and sleeps.
fn endless(fleet: &Fleet) -> (String, std::path::PathBuf) {
    let (program, asked) = (fleet.sandbox.outside("endless"), fleet.sandbox.outside("asked"));
    std::fs::write(&program, format!("#!/bin/sh\necho \"$@\" >> '{}'\nsleep 600\n", asked.display())).unwrap();
    make_program(&program);
    (program.display().to_string(), asked)
}

#[track_caller]
fn it_ends(machine: &Machine, ended: &Ended) {
    assert!(ended.by_itself, "still running after {LIMIT:?}: {}", ended.output);
    assert_eq!(ended.output.code, 6, "{}", ended.output);
    assert_eq!(left_at(&machine.home), Vec::<String>::new(), "{}", ended.output);
}

#[track_caller]
fn every_command_ends(machine: &Machine) {
    for args in [&["next", "--claim", "--as", "builder"][..], &["pull"], &["push"], &["claims", "ls", "--remote"]] {
        it_ends(machine, &machine.within(LIMIT, args));
    }
}

#[test]
fn an_askpass_program_that_never_ends_is_not_waited_for() {
    let Some(fleet) = fleet(Transport::Http) else { return };
    let machine = &fleet.machines[0];
    let server = Server::unauthorized(&fleet.sandbox);
    machine.go_to(&server.url());
    let (program, _) = endless(&fleet);
    machine.configure(&format!("[core]\n\taskPass = {program}\n"));
    every_command_ends(machine);
    for name in ["GIT_ASKPASS", "SSH_ASKPASS"] {
        let mut command = machine.command(&["next", "--claim", "--as", "builder"]);
        it_ends(machine, &within(LIMIT, command.env(name, &program)));
    }
}

/// A credential helper authenticates git without a prompt, so it is run, but not forever.
#[test]
fn a_credential_helper_that_never_ends_is_not_waited_for() {
    let Some(fleet) = fleet(Transport::Http) else { return };
    let machine = &fleet.machines[0];
    let server = Server::unauthorized(&fleet.sandbox);
    machine.go_to(&server.url());
    let (program, asked) = endless(&fleet);
    machine.configure(&format!("[credential]\n\thelper = {program}\n"));
    every_command_ends(machine);
    assert!(std::fs::read_to_string(asked).unwrap().contains("get"));
}

/// Runs `ralph` in a terminal without input.
fn at_a_terminal(machine: &Machine, args: &str, environment: &[(&str, &str)]) -> Ended {
    let mut command = machine.program("script", &machine.clone);
    command.args(["-qec", &format!("{RALPH} {args}"), "/dev/null"]).envs(environment.iter().copied());
    command.env("TERM", "xterm-256color").stdin(Stdio::piped());
    within(LIMIT, &mut command)
}

#[test]
fn an_ssh_command_that_reads_from_the_terminal_is_not_waited_for() {
    let Some(fleet) = fleet(Transport::Ssh) else { return };
    let machine = &fleet.machines[0];
    let script = fleet.sandbox.outside("asking");
    std::fs::write(&script, "#!/bin/sh\nprintf 'passphrase: ' > /dev/tty\nread answer < /dev/tty\nexit 1\n").unwrap();
    make_program(&script);
    let script = script.display().to_string();
    it_ends(machine, &at_a_terminal(machine, "next --claim --as builder", &[("GIT_SSH_COMMAND", &script)]));
    machine.configure(&format!("[core]\n\tsshCommand = {script}\n"));
    for args in ["next --claim --as builder", "pull", "push", "claims ls --remote"] {
        it_ends(machine, &at_a_terminal(machine, args, &[]));
    }
}

/// ssh would ask at the terminal whether to trust a host, and for the passphrase of a key.
#[test]
fn ssh_itself_asks_nothing_at_the_terminal() {
    let Some(fleet) = fleet(Transport::Ssh) else { return };
    let machine = &fleet.machines[0];
    let folder = fleet.server.folder();
    let settings = std::fs::read_to_string(folder.join("ssh_config")).unwrap();
    let known = settings.replace("known_hosts", "nobody").replace("Checking yes", "Checking ask");
    std::fs::write(folder.join("ssh_config"), known).unwrap();
    let ended = at_a_terminal(machine, "next --claim --as builder", &[]);
    it_ends(machine, &ended);
    assert!(ended.said().contains("ost key"), "the message names the cause: {}", ended.said());
    std::fs::write(folder.join("ssh_config"), settings).unwrap();
    let mut locked = machine.program("ssh-keygen", folder);
    let locked = locked.args(["-q", "-p", "-P", "", "-N", "secret words", "-f", "user_key"]);
    assert!(locked.status().unwrap().success());
    it_ends(machine, &at_a_terminal(machine, "pull", &[]));
}

/// The options that disable prompts are passed to a person's own ssh wrapper as well.
#[test]
fn a_persons_own_ssh_command_is_still_used() {
    let Some(fleet) = fleet(Transport::Ssh) else { return };
    let machine = &fleet.machines[0];
    let (wrapper, used) = (fleet.sandbox.outside("bin/ssh"), fleet.sandbox.outside("used"));
    std::fs::create_dir_all(wrapper.parent().unwrap()).unwrap();
    std::fs::write(&wrapper, format!("#!/bin/sh\necho \"$@\" >> '{}'\nexec ssh \"$@\"\n", used.display())).unwrap();
    make_program(&wrapper);
    let config = fleet.server.folder().join("ssh_config");
    machine.git(&["config", "core.sshCommand", &format!("{} -F {}", wrapper.display(), config.display())]);
    machine.ralph(&["next", "--claim", "--as", "builder"]).ok();
    let used = std::fs::read_to_string(used).unwrap();
    assert!(used.contains("ssh_config") && used.contains("BatchMode=yes"), "{used}");
}
