//! Which steps a team has, their blockers and owners, and how they end.

use super::*;
use crate::board::testing::{Sample, claim, id, rules, rules_in, state, worker};
use crate::task::{Estimate, Task};

/// A board with its steps, whose ids are numbered in the order of their creation.
struct Scene {
    board: Board,
    rules: Rules,
    asked: TeamAsk,
}

impl Scene {
    fn new(sample: Sample, teams: &[&str]) -> Self {
        let asked = TeamAsk { teams: teams.iter().map(|team| id(team)).collect(), ..TeamAsk::default() };
        Self { board: sample.build(), rules: rules(), asked }
    }

    fn reviewed(self, mode: ReviewMode) -> Self {
        Self { rules: rules_in(mode), ..self }
    }

    fn crew(mut self, role: &str, workers: &[&str]) -> Self {
        self.asked.crew.insert(role.into(), workers.iter().map(|name| worker(name)).collect());
        self
    }

    fn touching(mut self, files: &[(&str, &str)]) -> Self {
        let one = |(task, files): &(&str, &str)| (id(task), Scope::new(files.split(' ')));
        self.asked.touches = files.iter().map(one).collect();
        self
    }

    fn change(&mut self, name: &str, change: impl Fn(&mut Task)) {
        let mut tasks = self.board.tasks().to_vec();
        tasks.iter_mut().filter(|task| task.id == id(name)).for_each(change);
        self.board = Board::new(tasks, Vec::new(), Vec::new()).with_claims(self.board.claims().clone());
    }

    fn go(&mut self, name: &str, to: &str) {
        self.change(name, |task| task.state = state(to));
    }

    fn claim(&mut self, name: &str, by: &str) {
        let mut claims = self.board.claims().clone();
        claims.insert(id(name), claim(by));
        self.board = self.board.clone().with_claims(claims);
    }

    /// Brings the steps up to date, as the store would.
    fn restep(&mut self) {
        let plan = self.board.plan_steps(&self.asked, &self.rules).unwrap();
        let count = self.board.tasks().iter().filter(|task| task.step.is_some()).count();
        let ids: Vec<TaskId> = (count..count + plan.new.len()).map(|number| id(&format!("s{number:02}"))).collect();
        self.board = plan.applied(&self.board, &ids, &self.rules);
        assert!(self.board.plan_steps(&self.asked, &self.rules).unwrap().is_empty(), "once is enough");
    }

    fn called(&self, id: &TaskId) -> String {
        match &self.board.get(id).unwrap().step {
            Some(step) => format!("{} {}", step.command, step.of[0]),
            None => id.to_string(),
        }
    }

    /// Open steps as `command of < blockers`.
    fn open(&self) -> Vec<String> {
        let is_open = |id: &&TaskId| self.board.get(id).is_some_and(|task| task.state.as_str() != "Completed");
        let steps = self.board.tasks().iter().filter(|task| task.step.is_some() && is_open(&&task.id));
        let line = |task: &Task| {
            let after: Vec<String> = task.blocked_by.iter().filter(is_open).map(|id| self.called(id)).collect();
            let name = self.called(&task.id);
            if after.is_empty() { name } else { format!("{name} < {}", after.join(", ")) }
        };
        steps.map(line).collect()
    }

    fn open_with(&self, command: &str) -> Vec<String> {
        self.open().into_iter().filter(|line| line.starts_with(command)).collect()
    }

    fn result(&self, command: &str) -> Vec<String> {
        let steps = self.board.tasks().iter().filter_map(|task| task.step.as_ref());
        steps.filter(|step| step.command == command).filter_map(|step| step.result.clone()).collect()
    }

    /// The owners of the open steps that have one, as `command of: owner`.
    fn owned(&self) -> Vec<String> {
        let open = self.board.tasks().iter().filter(|task| task.step.is_some() && task.state.as_str() != "Completed");
        let owned = open.filter_map(|task| Some((task, task.owner.as_ref()?)));
        owned.map(|(task, owner)| format!("{}: {owner}", self.called(&task.id))).collect()
    }

    fn state(&self, name: &str) -> &str {
        self.board.get(&id(name)).unwrap().state.as_str()
    }
}

fn tasks(rows: &[(&str, &str)]) -> Sample {
    Sample::board().tasks(rows)
}

fn group(rows: &[(&str, &str)]) -> Sample {
    Sample::board().task("p", "Backlog").atomic().children("p", rows)
}

#[test]
fn a_task_has_the_rest_of_its_pipeline_and_nothing_twice() {
    let mut scene = Scene::new(tasks(&[("a", "Backlog")]), &["a"]);
    scene.restep();
    let whole = [
        "triage a",
        "research a < triage a",
        "plan a < research a",
        "implement a < plan a",
        "pr a < implement a",
        "merge a < pr a",
    ];
    assert_eq!(scene.open(), whole);
    scene.go("a", "Plan in Review");
    scene.restep();
    assert_eq!(scene.open(), ["implement a", "pr a < implement a", "merge a < pr a"]);
    scene.go("a", "Done");
    scene.restep();
    assert!(scene.open().is_empty() && scene.board.tasks().len() == 7);
    let results = (scene.result("pr"), scene.result("merge"));
    assert_eq!(results, (vec!["nothing to do: no issue on GitHub".to_owned()], vec!["Done".to_owned()]));
}

#[test]
fn a_rejection_ends_the_review_and_makes_a_new_plan_and_review_before_the_rest() {
    let mut scene = Scene::new(tasks(&[("a", "Plan in Review")]), &["a"]).reviewed(ReviewMode::Interactive);
    scene.restep();
    assert_eq!(scene.open()[..2], ["review a", "implement a < review a"]);
    scene.go("a", "Ready for Plan");
    scene.change("a", |task| task.rejections = 1);
    scene.restep();
    assert_eq!(scene.result("review"), ["needs-iteration: rejection 1 of 3"]);
    assert_eq!(
        scene.open(),
        ["implement a < review a", "pr a < implement a", "merge a < pr a", "plan a", "review a < plan a"]
    );
}

#[test]
fn work_that_a_merge_sends_back_is_implemented_again_before_it_is_merged() {
    let mut scene = Scene::new(tasks(&[("a", "In Review")]), &["a"]);
    scene.restep();
    assert_eq!(scene.open(), ["merge a"]);
    scene.go("a", "In Progress");
    scene.restep();
    assert_eq!(scene.open(), ["merge a < pr a", "implement a", "pr a < implement a"]);
}

#[test]
fn a_group_is_researched_by_member_and_planned_as_one() {
    let sample = group(&[("b", "Research Needed"), ("a", "Research Needed")]).blocked_by(&["b"]);
    let mut scene = Scene::new(sample, &["p"]);
    scene.restep();
    let wanted = [
        "research b",
        "research a",
        "plan b < research b, research a",
        "implement b < plan b",
        "pr b < implement b",
        "merge b < pr b",
    ];
    assert_eq!(scene.open(), wanted);
}

#[test]
fn a_task_that_waits_for_another_begins_after_its_merge() {
    let waits = |state: &str| tasks(&[("a", "In Review"), ("b", state)]).blocked_by(&["a"]);
    let mut scene = Scene::new(waits("Backlog"), &["a", "b"]);
    scene.restep();
    assert_eq!(scene.open()[..4], ["merge a", "triage b", "research b < merge a, triage b", "plan b < research b"]);
    let mut later = Scene::new(waits("Ready for Plan"), &["a", "b"]);
    later.restep();
    assert_eq!(later.open()[..3], ["merge a", "plan b < merge a", "implement b < plan b"]);
    let mut large = Scene::new(waits("Backlog").estimate(Estimate::L), &["a", "b"]);
    large.restep();
    assert_eq!(large.open(), ["merge a", "split b"], "to split it, nobody has to wait");
}

#[test]
fn a_task_that_waits_for_a_parent_begins_after_the_last_step_of_its_children() {
    let sample = tasks(&[("p", "Backlog")]).children("p", &[("a", "In Review"), ("b", "In Review")]);
    let sample = sample.task("c", "Ready for Plan").blocked_by(&["p"]);
    let mut scene = Scene::new(sample, &["p", "c"]);
    scene.restep();
    assert_eq!(scene.open()[..3], ["merge a", "merge b", "plan c < merge a, merge b"]);
}

#[test]
fn a_ring_of_parents_above_a_task_ends() {
    let ring = Sample::board().task("p", "Backlog").parent("q").task("q", "Backlog").parent("p");
    let sample = ring.children("p", &[("a", "In Review")]).task("b", "In Progress").blocked_by(&["gone"]);
    let mut scene = Scene::new(sample, &["a", "b"]);
    scene.restep();
    assert_eq!(scene.open()[..2], ["merge a", "implement b"]);
}

#[test]
fn plans_that_touch_the_same_file_wait_for_each_other_unless_one_needs_a_person() {
    let rows = [("a", "Plan in Review"), ("b", "Plan in Review"), ("c", "Plan in Review")];
    let mut scene = Scene::new(tasks(&rows), &["a", "b", "c"]).touching(&[("a", "x z"), ("b", "x"), ("c", "y")]);
    scene.restep();
    assert_eq!(scene.open_with("implement"), ["implement a", "implement b < merge a", "implement c"]);
    // The unit that has begun comes first.
    scene.go("b", "In Progress");
    scene.restep();
    assert_eq!(scene.open_with("implement"), ["implement a < merge b", "implement b", "implement c"]);
    scene.go("b", "Human Needed");
    scene.restep();
    assert_eq!(scene.open_with("implement"), ["implement a", "implement b", "implement c"]);
}

#[test]
fn a_stuck_task_does_not_delay_others_that_touch_its_files() {
    let second = |first: Sample| {
        let sample = first.task("b", "Plan in Review");
        let mut scene = Scene::new(sample, &["a", "b"]).touching(&[("a", "x"), ("b", "x")]);
        scene.restep();
        scene.open_with("implement b").remove(0)
    };
    let first = || Sample::board().task("a", "Plan in Review");
    for (sample, expected) in [
        (first(), "implement b < merge a"),
        (first().owner("builder-2"), "implement b < merge a"),
        (first().owner("anna"), "implement b"),
        (first().blocked_by(&["gone"]), "implement b"),
        (first().blocked_by(&["x"]).task("x", "Done"), "implement b < merge a"),
    ] {
        assert_eq!(second(sample.clone()), expected, "{sample:?}");
    }
}

#[test]
fn of_two_that_touch_the_same_file_the_one_that_is_waited_for_is_built_first() {
    let sample = Sample::board().task("a", "Plan in Review").blocked_by(&["b"]).task("b", "Plan in Review");
    let mut scene = Scene::new(sample, &["a", "b"]).touching(&[("a", "x"), ("b", "x")]);
    scene.restep();
    assert_eq!(scene.open_with("implement"), ["implement a < merge b", "implement b"]);
}

#[test]
fn a_plan_in_review_does_not_count_as_begun() {
    let rows = [("a", "Plan in Review"), ("b", "In Review"), ("c", "Ready for Plan")];
    let touched = [("a", "x"), ("b", "x"), ("c", "x")];
    let mut scene = Scene::new(tasks(&rows), &["a", "b", "c"]).touching(&touched);
    scene.restep();
    assert_eq!(scene.open_with("implement"), ["implement a < merge b", "implement c < merge a, merge b, plan c"]);
}

#[test]
fn a_step_whose_worker_is_gone_waits_for_another() {
    let mut scene = Scene::new(tasks(&[("a", "Research Needed")]), &["a"]);
    scene.restep();
    scene.go("s00", "In Progress");
    scene.change("s00", |task| task.owner = Some(worker("analyst")));
    let mut held = Scene { board: scene.board.clone(), rules: scene.rules.clone(), asked: scene.asked.clone() };
    scene.restep();
    assert_eq!((scene.state("s00"), scene.owned()), ("Pending", vec![]));
    held.claim("a", "analyst");
    held.restep();
    assert_eq!((held.state("s00"), held.owned()), ("In Progress", vec!["research a: analyst".to_owned()]));
}

#[test]
fn steps_of_other_teams_change_only_when_they_are_over() {
    let mut scene = Scene::new(tasks(&[("a", "Research Needed"), ("b", "Research Needed")]), &["a"]);
    scene.restep();
    scene.go("s00", "In Progress");
    let before = scene.open();
    scene.asked.teams = vec![id("b")];
    scene.restep();
    assert_eq!(scene.state("s00"), "In Progress");
    assert_eq!(scene.open()[..before.len()], before);
    scene.go("a", "Done");
    scene.restep();
    assert!(scene.open().iter().all(|line| !line.contains(" a")), "{:?}", scene.open());
}

#[test]
fn steps_that_can_be_taken_up_now_go_to_the_crew_in_turn() {
    let rows = ["a", "b", "c", "d"].map(|name| (name, "Research Needed"));
    let sample = tasks(&rows).task("e", "Ready for Plan");
    let crew = ["analyst-1", "analyst-2", "analyst-3"];
    let mut scene = Scene::new(sample, &["a", "b", "c", "d", "e"]).crew("analyst", &crew);
    scene.restep();
    let expected = ["research a: analyst-1", "research b: analyst-2", "research c: analyst-3", "research d: analyst-1"];
    assert_eq!(scene.owned(), expected, "nobody is there to plan");
    let mut empty = Scene::new(tasks(&rows[..1]), &["a"]).crew("analyst", &[]);
    empty.restep();
    assert_eq!(empty.owned(), [""; 0]);
}

#[test]
fn a_step_of_a_worker_that_is_none_of_the_crew_is_nobodys() {
    let kept = |owner: &str, crew: &[&str]| {
        let mut scene = Scene::new(tasks(&[("a", "Research Needed")]), &["a"]);
        scene.restep();
        scene.change("s00", |task| task.owner = Some(worker(owner)));
        if !crew.is_empty() {
            scene = scene.crew("analyst", crew);
        }
        scene.restep();
        !scene.owned().is_empty()
    };
    assert!(kept("analyst-1", &["analyst-1"]) && !kept("analyst-9", &["analyst-1"]));
    assert!(kept("anna", &["analyst-1"]), "a person keeps what is theirs");
    assert!(kept("analyst-9", &[]), "without a crew nobody is a stranger");
}

#[test]
fn what_a_person_made_a_step_wait_for_stays() {
    let mut scene = Scene::new(tasks(&[("a", "Research Needed"), ("x", "Backlog")]), &["a"]);
    scene.restep();
    let wait = |name: &'static str| move |task: &mut Task| task.blocked_by.push(id(name));
    scene.change("s01", wait("x"));
    scene.change("s01", wait("gone"));
    scene.change("s02", wait("s00"));
    scene.restep();
    assert_eq!(scene.open_with("plan"), ["plan a < research a, x"]);
    assert_eq!(scene.open_with("implement"), ["implement a < plan a"], "between its own steps ralph decides");
    assert!(!scene.board.get(&id("s01")).unwrap().blocked_by.contains(&id("gone")));
    scene.go("a", "Ready for Plan");
    scene.restep();
    assert!(scene.board.get(&id("s01")).unwrap().blocked_by.contains(&id("s00")), "what is over stays");
}

#[test]
fn a_member_that_leaves_its_group_holds_nobody_up_and_goes_its_own_way() {
    let mut scene = Scene::new(group(&[("a", "Ready for Plan"), ("b", "Ready for Plan")]), &["p"]);
    scene.restep();
    assert_eq!(scene.open()[0], "plan a");
    // The tasks are no longer a group: each goes alone, and the existing steps continue with the first.
    scene.change("p", |task| task.atomic = false);
    scene.restep();
    assert_eq!(scene.open_with("plan").len(), 2, "{:?}", scene.open());
    scene.go("a", "Plan in Review");
    scene.restep();
    assert!(scene.open().contains(&"implement a".to_owned()), "{:?}", scene.open());
}

#[test]
fn the_steps_of_a_task_that_is_gone_are_completed() {
    let mut scene = Scene::new(tasks(&[("a", "Backlog"), ("b", "Backlog")]), &["a", "b"]);
    scene.restep();
    let left = scene.board.tasks().iter().filter(|task| task.id != id("a")).cloned().collect();
    scene.board = Board::new(left, Vec::new(), Vec::new());
    scene.restep();
    assert!(scene.open().iter().all(|line| line.contains(" b")), "{:?}", scene.open());
    assert!(scene.result("triage").contains(&"its task was removed".to_owned()));
}

#[test]
fn a_bough_grows_one_phase_at_a_time() {
    let mut scene = Scene::new(tasks(&[("a", "Research Needed")]), &["a"]);
    scene.asked.bough = true;
    scene.restep();
    assert_eq!(scene.open(), ["research a"]);
    scene.go("a", "Ready for Plan");
    scene.restep();
    assert_eq!(scene.open(), ["plan a"]);
}

#[test]
fn in_a_bough_a_step_whose_predecessors_are_not_made_yet_waits_for_the_tasks_blockers() {
    let sample = tasks(&[("a", "In Review"), ("b", "In Progress")]).blocked_by(&["a"]);
    let mut scene = Scene::new(sample, &["a", "b"]);
    scene.asked.bough = true;
    scene.restep();
    assert_eq!(scene.open(), ["merge a", "implement b < merge a"]);
    scene.go("b", "Backlog");
    scene.restep();
    assert_eq!(scene.open(), ["merge a", "implement b < merge a", "triage b"]);
}

#[test]
fn an_epic_is_split_before_anything_else_and_a_canceled_task_needs_nothing() {
    let mut scene = Scene::new(Sample::board().task("e", "Backlog").epic(), &["e"]);
    scene.restep();
    assert_eq!(scene.open(), ["split e"]);
    let mut tasks = scene.board.tasks().to_vec();
    tasks.extend(Sample::board().children("e", &[("f", "Backlog")]).build().into_tasks());
    scene.board = Board::new(tasks, Vec::new(), Vec::new());
    scene.restep();
    assert_eq!((scene.result("split"), scene.open()[0].as_str()), (vec!["f".to_owned()], "triage f"));
    scene.go("f", "Canceled");
    scene.restep();
    assert!(scene.open().is_empty(), "{:?}", scene.open());
}

#[test]
fn a_team_is_a_task_that_has_open_steps() {
    let board = Sample::board()
        .tasks(&[("a", "Backlog"), ("b", "Backlog"), ("c", "Backlog")])
        .step("s1", "Pending", "b", "plan", &["b"])
        .step("s2", "In Progress", "b", "merge", &["b"])
        .step("s3", "Pending", "a", "plan", &["a"])
        .step("s4", "Completed", "c", "plan", &["c"])
        .build();
    assert_eq!(board.teams(&rules()), [id("a"), id("b")]);
    let open = |teams: &[TaskId]| -> Vec<String> {
        let rules = rules();
        board.open_steps(teams, &rules).map(|(at, step)| format!("{} {}", board.tasks()[at].id, step.command)).collect()
    };
    assert_eq!(open(&[id("b")]), ["s1 plan", "s2 merge"]);
    assert_eq!(open(&[id("c")]), [""; 0]);
}

#[test]
fn a_crew_has_a_builder_for_each_stream_and_the_others_as_they_are_needed() {
    use ReviewMode::{Auto, Interactive, Skip};
    let family = |states: &[&str]| {
        let rows: Vec<(&str, &str)> = ["a", "b", "c", "d", "e", "f"].into_iter().zip(states.iter().copied()).collect();
        Sample::board().task("p", "Backlog").children("p", &rows)
    };
    for (sample, mode, crew) in [
        (family(&["Backlog"]), Skip, [1, 1, 0, 1]),
        (family(&["Research Needed", "Ready for Plan"]), Skip, [1, 2, 0, 1]),
        (family(&["Backlog"; 3]), Auto, [2, 3, 0, 1]),
        (family(&["Backlog"; 6]), Interactive, [3, 3, 1, 1]),
        (family(&["Plan in Review", "In Progress"]), Interactive, [0, 2, 1, 1]),
        (family(&["In Progress"]), Interactive, [0, 1, 0, 1]),
        (family(&["In Review", "In Review"]), Skip, [0, 0, 0, 1]),
        (family(&["Done", "Human Needed"]), Skip, [0, 0, 0, 0]),
        (family(&["Backlog", "Research Needed"]), Skip, [2, 2, 0, 1]),
        (group(&[("a", "Backlog"), ("b", "Ready for Plan")]), Skip, [1, 1, 0, 1]),
    ] {
        let roster = sample.clone().build().crew_for(&[id("p"), id("gone")], &rules_in(mode)).unwrap();
        assert_eq!(roster.by_role().map(|(_, count)| count), crew, "{mode:?} {sample:?}");
    }
    let limited = Rules { limits: BTreeMap::from([("builder".into(), 1)]), ..rules() };
    let roster = family(&["Backlog"; 3]).build().crew_for(&[id("p")], &limited).unwrap();
    assert_eq!(roster, Roster { builder: 1, ..Roster::default() });
}
