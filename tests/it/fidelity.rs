//! What a person wrote in a task file is kept when ralph changes other parts.

use crate::sandbox::Sandbox;
use crate::system::symlink;

const ODD: &str = "# a comment on top\n\ntitle   =  'Odd  spacing'   # trailing\n\n  priority= \"P2\"\t# why P2\nx-mine = [ 1,2 , 3 ]\n\nlabels = [ 'b', # first\n  'a' ]\n\n\n[ custom . deep ] # header\n  a = { b = 1,c = [ 'x' ] }\n\n[[ list ]]\nk = 1979-05-27\n";

#[test]
fn only_the_changed_key_changes() {
    let sandbox = Sandbox::new();
    for ending in ["\n", "\r\n"] {
        let text = ODD.replace('\n', ending);
        sandbox.write_task("odd", &text);
        sandbox.ralph(&["task", "set", "odd", "priority=P1"]).ok();
        assert_eq!(sandbox.read_task("odd"), text.replace("\"P2\"", "\"P1\""));
    }
}

#[test]
fn a_new_key_is_the_only_new_line() {
    let sandbox = Sandbox::new();
    for ending in ["\n", "\r\n"] {
        let text = ODD.replace('\n', ending);
        sandbox.write_task("odd", &text);
        sandbox.ralph(&["task", "set", "odd", "owner=anna"]).ok();
        let now = sandbox.read_task("odd");
        let added = format!("owner = \"anna\"{ending}");
        assert_eq!(now.replacen(&added, "", 1).replace(['\r', '\n'], ""), text.replace(['\r', '\n'], ""), "{now}");
        sandbox.ralph(&["task", "set", "odd", "owner="]).ok();
        assert_eq!(sandbox.read_task("odd").replace(['\r', '\n'], ""), text.replace(['\r', '\n'], ""));
    }
}

#[test]
fn comments_in_a_list_stay_when_it_changes() {
    let sandbox = Sandbox::new();
    sandbox.write_task("odd", ODD);
    sandbox.ralph(&["task", "set", "odd", "labels+=c", "labels-=a"]).ok();
    let now = sandbox.read_task("odd");
    assert!(now.contains("# first") && now.contains("'b'") && now.contains("\"c\"") && !now.contains("'a'"), "{now}");
    assert!(now.ends_with(&ODD[ODD.find("\n\n\n[ custom").unwrap()..]), "{now}");
}

#[test]
fn a_file_with_a_bom_and_without_a_last_newline_keeps_both() {
    let sandbox = Sandbox::new();
    sandbox.write_task("bom", "\u{feff}title = 'x'\npriority = 'P3'");
    sandbox.ralph(&["task", "set", "bom", "priority=P0"]).ok();
    assert_eq!(sandbox.read_task("bom"), "\u{feff}title = 'x'\npriority = \"P0\"");
}

#[test]
fn a_custom_key_needs_to_be_meant() {
    let sandbox = Sandbox::new();
    sandbox.write_task("a", "title = 'x'\n");
    assert!(sandbox.ralph(&["task", "set", "a", "prioritty=P0"]).fails(2).contains("priority"));
    sandbox.ralph(&["task", "set", "a", "--custom", "team.size=3"]).ok();
    assert_eq!(sandbox.read_task("a"), "title = 'x'\n\n[team]\nsize = 3\n");
}

#[test]
fn an_edit_by_the_editor_is_checked_before_it_counts() {
    let sandbox = Sandbox::new();
    sandbox.write_task("a", "title = 'x' # mine\n");
    let edit = |script: &str| {
        let mut command = sandbox.command(crate::sandbox::RALPH, &sandbox.root());
        crate::sandbox::finish(command.args(["task", "edit", "a"]).env("EDITOR", script))
    };
    edit("sed -i s/x/y/").ok();
    assert_eq!(sandbox.read_task("a"), "title = 'y' # mine\n");
    let said = edit("sed -i s/title/title=/").fails(4);
    assert!(said.contains("a.toml:1:") && said.contains("your text is in"), "{said}");
    let kept = said.rsplit("your text is in ").next().unwrap().trim();
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "title= = 'y' # mine\n");
    std::fs::remove_dir_all(std::path::Path::new(kept).parent().unwrap()).unwrap();
    assert_eq!(sandbox.read_task("a"), "title = 'y' # mine\n");
    assert!(edit("true").ok().is_empty());
    assert!(edit("false").code != 0);
}

#[test]
fn an_edit_loses_to_a_save_in_between() {
    let sandbox = Sandbox::new();
    sandbox.write_task("a", "title = 'x'\n");
    let file = sandbox.task_file("a").display().to_string();
    let mut command = sandbox.command(crate::sandbox::RALPH, &sandbox.root());
    // The editor changes its own copy while another process saves the real file.
    let editor = format!("sh -c 'echo \"# theirs\" >> {file}; sed -i s/x/mine/ \"$1\"' -");
    let said = crate::sandbox::finish(command.args(["task", "edit", "a"]).env("EDITOR", editor)).fails(3);
    assert!(said.contains("changed by another process") && said.contains("your text is in"), "{said}");
    assert_eq!(sandbox.read_task("a"), "title = 'x'\n# theirs\n");
}

#[test]
fn a_task_behind_a_link_is_changed_where_it_lies() {
    let sandbox = Sandbox::new();
    let real = sandbox.root().join("real.toml");
    std::fs::write(&real, "title = 'x'\n").unwrap();
    symlink("../../real.toml", sandbox.task_file("sym")).unwrap();
    sandbox.ralph(&["task", "set", "sym", "priority=P1"]).ok();
    assert!(sandbox.task_file("sym").is_symlink());
    assert_eq!(std::fs::read_to_string(real).unwrap(), "title = 'x'\npriority = \"P1\"\n");
}

#[test]
fn what_was_typed_in_an_editor_is_never_thrown_away() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["x"]);
    let run = |args: &[&str], editor: &str| {
        let mut command = sandbox.command(crate::sandbox::RALPH, &sandbox.root());
        crate::sandbox::finish(command.args(args).env("EDITOR", editor))
    };
    let kept = |said: &str| {
        let path = std::path::PathBuf::from(said.rsplit("your text is in ").next().unwrap().trim());
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let failing = run(&["task", "edit", &id], "sh -c 'echo \"# mine\" >> \"$1\"; exit 1' -").fails(4);
    assert!(kept(&failing).contains("# mine"), "{failing}");
    let latin = run(&["task", "edit", &id], "sh -c 'printf \"# caf\\351\\n\" >> \"$1\"' -").fails(4);
    assert!(kept(&latin).contains("# caf"), "{latin}");
}

#[test]
fn comments_inside_a_value_that_goes_stay() {
    let sandbox = Sandbox::new();
    sandbox.write_task("a", "title = 'x'\nlabels = [\n  'a', # about a\n  'c', # about c\n]\n");
    sandbox.ralph(&["task", "set", "a", "labels+=b"]).ok();
    assert!(
        sandbox.read_task("a").contains("'a', # about a\n  \"b\",\n  'c', # about c\n"),
        "{}",
        sandbox.read_task("a")
    );
    sandbox.ralph(&["task", "set", "a", "labels="]).ok();
    assert_eq!(sandbox.read_task("a"), "title = 'x'\n# about a\n# about c\n");
}
