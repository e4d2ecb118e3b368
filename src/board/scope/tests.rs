//! Which scopes overlap, who is refused because of it, and who is only warned.

use proptest::prelude::*;

use super::*;
use crate::board::testing::{Sample, at, claim, id, laws, rules, worker};
use crate::board::{Actor, Admission, ClaimEffect, Goal, Request};
use crate::workflow::Workflow;

fn scope(paths: &str) -> Scope {
    Scope::new(paths.split_whitespace())
}

#[test]
fn folders_cover_what_is_in_them_by_whole_components() {
    let own = scope("./src/sync/ README.md");
    assert_eq!(own.paths(), ["README.md", "src/sync"]);
    for inside in ["src/sync", "src/sync/", "src/sync/mod.rs", "src/sync/a/b.rs", "README.md", "./README.md"] {
        assert!(own.covers(inside), "{inside}");
    }
    for outside in
        ["src", "src/synchronous.rs", "src/sync.rs", "readme.md", "src/Sync/mod.rs", "../src/sync", "/src/sync"]
    {
        assert!(!own.covers(outside), "{outside}");
    }
}

#[test]
fn paths_that_lead_out_of_the_repository_are_left_out() {
    assert_eq!(scope("/etc/passwd ~/x a/../../b .. src//a.rs src/a.rs lib/../src/a.rs").paths(), ["src/a.rs"]);
    assert!(scope("").is_empty() && !scope("").covers("src/a.rs"));
}

#[test]
fn a_pattern_stands_for_the_folder_that_has_all_that_it_matches() {
    assert_eq!(
        scope("src/**/*.rs docs/{a,b}.md tests/*_test.py app/[id]/{x}.tsx").paths(),
        ["app/[id]/{x}.tsx", "docs", "src", "tests"]
    );
    assert_eq!(scope("*.md").paths(), ["."]);
    assert!(scope("/etc/* ../*").is_empty());
    assert_eq!(scope("src/*.rs").overlap(&scope("src/sync/mod.rs")), Some("src/sync/mod.rs"));
}

#[test]
fn the_root_covers_everything_and_no_scope_covers_nothing() {
    assert_eq!(scope("./ src/a.rs").paths(), ["."]);
    assert_eq!(scope(".").overlap(&scope("src/a.rs")), Some("src/a.rs"));
    assert_eq!(Scope::default().overlap(&scope(".")), None);
}

#[test]
fn an_overlap_is_named_by_the_narrower_path() {
    assert_eq!(scope("src/sync/").overlap(&scope("docs src/sync/mod.rs")), Some("src/sync/mod.rs"));
    assert_eq!(scope("src/sync/mod.rs").overlap(&scope("src")), Some("src/sync/mod.rs"));
    assert_eq!(scope("src/a.rs src/b").overlap(&scope("src/b.rs src/a")), None);
}

/// Short paths up to three levels deep, so that they often overlap.
fn any_scope() -> impl Strategy<Value = Scope> {
    let part = || proptest::sample::select(vec!["a", "b", "ab"]);
    let path = proptest::collection::vec(part(), 1..4).prop_map(|parts| parts.join("/"));
    proptest::collection::vec(path, 0..4).prop_map(Scope::new)
}

proptest! {
    #![proptest_config(laws(600))]

    #[test]
    fn scopes_overlap_exactly_where_some_file_is_in_both(one in any_scope(), two in any_scope()) {
        // Every file that a path of either scope could cover, one level below the deepest.
        let parts = ["a", "b", "ab"];
        let mut files: Vec<String> = parts.map(str::to_owned).to_vec();
        for _ in 0..3 {
            let longer = files.iter().flat_map(|file| parts.map(|part| format!("{file}/{part}")));
            files.extend(longer.collect::<Vec<_>>());
        }
        let shared = files.iter().any(|file| one.covers(file) && two.covers(file));
        prop_assert_eq!(one.overlap(&two).is_some(), shared);
        prop_assert_eq!(one.overlap(&two), two.overlap(&one).filter(|_| shared).and(one.overlap(&two)));
        if let Some(path) = one.overlap(&two) {
            prop_assert!(one.covers(path) && two.covers(path));
        }
        prop_assert_eq!(one.covers_all(&two), files.iter().all(|file| one.covers(file) || !two.covers(file)));
    }
}

/// `b` is being built by builder-2 with the paths `src/sync`.
fn board() -> Board {
    let paths = scope("src/sync");
    let held = Claim { command: Some("implement".into()), paths, ..claim("builder-2") };
    planned("a").task("b", "In Progress").document("plan", "p").claimed(held).owner("builder-2").build()
}

fn planned(name: &str) -> Sample {
    Sample::board().task(name, "Plan in Review").document("plan", "p")
}

fn claims(board: &Board, who: &str, mode: ScopeMode, paths: &str, force: bool) -> Result<Admission, Refusal> {
    let (task, rules) = (id("a"), Rules { scopes: mode, ..rules() });
    let request = Request { scope: scope(paths), force, ..Request::claim(&task, Some("implement")) };
    board.admit(&rules, &Actor::named(worker(who)), &request)
}

#[test]
fn a_worker_cannot_claim_work_whose_files_another_claim_covers() {
    let refused = claims(&board(), "builder", ScopeMode::Tell, "docs src/sync/mod.rs", false).unwrap_err();
    assert_eq!(refused.to_string(), "a overlaps with b, which is claimed by builder-2: both change src/sync/mod.rs");
    for paths in ["src/sync.rs docs", ""] {
        let admission = claims(&board(), "builder", ScopeMode::Tell, paths, false).unwrap();
        assert_eq!((admission.claim, admission.paths), (ClaimEffect::Taken, scope(paths)));
    }
}

#[test]
fn only_live_claims_of_other_tasks_stand_in_the_way() {
    let board = board();
    let with = |change: fn(&mut Claim)| {
        let mut held = board.claim(&id("b")).unwrap().clone();
        change(&mut held);
        let claims_now = board.clone().with_claims([(id("b"), held)].into());
        claims(&claims_now, "builder", ScopeMode::Tell, "src/sync", false)
    };
    assert!(with(|_| {}).is_err());
    assert!(with(|held| held.live = false).is_ok());
    assert!(with(|held| held.paths = Scope::default()).is_ok());
    let elsewhere = with(|held| held.foreign = true).unwrap_err().to_string();
    assert!(elsewhere.contains("builder-2 in another clone on h: both"), "{elsewhere}");
}

#[test]
fn people_are_warned_and_strict_scopes_refuse_them_too() {
    let told = claims(&board(), "anna", ScopeMode::Tell, "src/sync", false).unwrap();
    assert!(told.overlap.is_some() && !told.forced && told.paths == scope("src/sync"));
    assert!(matches!(claims(&board(), "anna", ScopeMode::Strict, "src/sync", false), Err(Refusal::Overlaps { .. })));
    let forced = claims(&board(), "anna", ScopeMode::Strict, "src/sync", true).unwrap();
    assert!(forced.forced && forced.overlap.is_some());
    assert!(claims(&board(), "builder", ScopeMode::Tell, "src/sync", true).is_err(), "workers cannot force");
}

#[test]
fn without_scopes_claims_carry_no_paths() {
    let admission = claims(&board(), "builder", ScopeMode::Off, "src/sync", false).unwrap();
    assert_eq!((admission.paths, admission.overlap), (Scope::default(), None));
}

#[test]
fn a_move_into_the_lock_is_held_to_the_same_rule_as_a_claim() {
    let (board, task) = (board(), id("a"));
    let ask = |goal: Goal| {
        let request = Request { scope: scope("src/sync"), command: Some("implement"), ..Request::new(&task, goal) };
        board.admit(&rules(), &Actor::named(worker("builder")), &request)
    };
    for goal in [Goal::State(StateName::new("In Progress")), Goal::Intent(crate::workflow::Intent::Lock)] {
        assert!(matches!(ask(goal), Err(Refusal::Overlaps { .. })));
    }
}

#[test]
fn only_work_in_a_worktree_has_a_scope() {
    let (task, rules) = (id("a"), rules());
    let board = board().with_state(&task, &StateName::new("Ready for Plan"));
    let request = Request { scope: scope("src/sync"), ..Request::claim(&task, Some("plan")) };
    let admission = board.admit(&rules, &Actor::named(worker("builder")), &request).unwrap();
    assert_eq!(admission.paths, Scope::default());
}

#[test]
fn a_claim_that_is_renewed_grows_with_its_plan_unless_another_claim_has_the_files() {
    let own = Claim { command: Some("implement".into()), paths: scope("docs"), ..claim("builder") };
    let mut claims_now = board().claims().clone();
    claims_now.insert(id("a"), own);
    let board = board().with_state(&id("a"), &StateName::new("In Progress")).with_claims(claims_now);
    let renewed = |paths: &str| claims(&board, "builder", ScopeMode::Strict, paths, false).unwrap();
    assert_eq!((renewed("docs tests").paths, renewed("docs tests").overlap), (scope("docs tests"), None));
    let kept = renewed("docs src/sync/mod.rs");
    assert_eq!((kept.claim, &kept.paths), (ClaimEffect::Renewed, &scope("docs")));
    assert!(kept.overlap.is_some());
    assert_eq!(renewed("").paths, Scope::default(), "a plan that shrinks gives its files up");
}

#[test]
fn a_plain_claim_has_a_scope_where_it_leads_to_work_in_a_worktree() {
    let rules = Rules::of(Workflow::shipped("simple").unwrap());
    let task = Task::new(id("a"), "a", StateName::new("Todo"));
    assert!(rules.has_scope(&task, None, &StateName::new("Doing")));
    assert!(!rules.has_scope(&task, None, &StateName::new("Todo")));
}

#[test]
fn work_that_overlaps_a_live_claim_is_not_handed_out() {
    let board = board().with_scopes([(id("a"), scope("src"))]);
    let choose = |board: &Board, role| board.choose(role, None, &rules()).map(|choice| choice.task);
    assert_eq!(choose(&board, Some("builder")), None);
    assert_eq!(choose(&board, None), Some(id("a")), "people are free");
    let strict = Rules { scopes: ScopeMode::Strict, ..rules() };
    assert_eq!(board.choose(None, None, &strict), None);
    assert!(board.overlap_at(at(&board, "a"), &rules()).is_some());
    let apart = board.with_scopes([(id("a"), scope("docs"))]);
    assert_eq!(choose(&apart, Some("builder")), Some(id("a")));
}
