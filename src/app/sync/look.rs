//! Reads GitHub: the project, its changes, and issues of interrupted syncs. Changes nothing there.

use std::collections::BTreeSet;
use std::time::Instant;

use super::SyncStep;
use super::local::Locals;
use super::memory::{CreateIntent, intents, knowledge_path};
use super::run::SyncPass;
use crate::app::{Code, Failure, Hint};
use crate::github::{Item, Knowledge, Node, Project, Slug, Wanted, read_issue_body};
use crate::task::Kind;

impl SyncPass<'_> {
    /// Reads the current project, and every issue that has changed since it was last read.
    pub fn look(&mut self, number: u64, tell: &mut dyn FnMut(SyncStep<'_>)) -> Result<(), Failure> {
        let lookup = self.client.project(&self.target.owner, number, &self.target.slug)?;
        let owner = &self.target.owner;
        let project = lookup.project.ok_or_else(|| {
            Failure::refused(
                Code::NoProject,
                format!("project {number} of {owner} does not exist, or this token has no access to it"),
            )
            .hint(Hint::run("sync init", "to find or create one; nothing was changed"))
            .hint(Hint::run("sync doctor", "to check the token"))
        })?;
        if project.closed {
            return Err(Failure::refused(Code::ClosedProject, format!("the project {:?} is closed", project.title))
                .hint(Hint::open(&project.url, "to reopen it"))
                .hint(Hint::run("sync init", "to set up another one")));
        }
        self.refuse_unfit(&project)?;
        if self.known.project.as_ref() != Some(&project.id) {
            self.known = Knowledge { project: Some(project.id.clone()), ..Knowledge::default() };
        }
        // The repository may have been renamed or moved, so use the name that GitHub reports.
        if let Some(slug) = lookup.repo.as_deref().and_then(Slug::parse) {
            self.target.slug = slug;
        }
        self.viewer = lookup.viewer;
        self.features = self.client.features(&mut self.known)?;
        let mut told = |done, of| tell(SyncStep::Scanning { done, of });
        self.scanned = Instant::now();
        self.known.items = self.client.scan(&project.id, &self.target.names, self.features, &mut told)?;
        self.map_columns()?;
        self.known.scanned_at = self.client.server_now();
        self.project = Some(project);
        let mut told = |done, of| tell(SyncStep::Reading { done, of });
        self.read(&mut told)?;
        self.recover()?;
        Ok(self.known.save(&knowledge_path(self.ws))?)
    }

    /// Translates columns that people have named differently to states, according to the settings.
    fn map_columns(&mut self) -> Result<(), Failure> {
        let mut mapped = std::collections::BTreeMap::new();
        for (column, state) in &self.ws.settings.github_states {
            let state = self.ws.flow().find_state(Kind::Issue, state)?;
            mapped.insert(column.as_str(), state.name.to_string());
        }
        for item in &mut self.known.items {
            let state = item.state.as_deref().and_then(|column| mapped.get(column));
            if let Some(state) = state.cloned() {
                item.state = Some(state);
            }
        }
        Ok(())
    }

    /// Refuses unless every state has its option; otherwise a missing option could not be told from a missing state.
    fn refuse_unfit(&self, project: &Project) -> Result<(), Failure> {
        let all = super::init::wanted(self.ws.flow(), &self.target.names);
        for Wanted { name, .. } in &all {
            if project.field(name).is_none() {
                return Err(Failure::refused(
                    Code::NoField,
                    format!("the project {:?} has no field {name:?}", project.title),
                )
                .hint(Hint::run("sync init", "to create it; nothing was changed")));
            }
        }
        let lacking = all.iter().filter_map(|wanted| Some((wanted, project.field(&wanted.name)?)));
        let Some((wanted, field)) = lacking.into_iter().find(|(wanted, field)| !field.lacks(wanted).is_empty()) else {
            return Ok(());
        };
        let known: Vec<&str> = wanted.options.iter().map(|(name, _)| name.as_str()).collect();
        let strange = field.options.iter().map(|option| option.name.as_str()).filter(|name| !known.contains(name));
        let strange: Vec<&str> = strange.collect();
        let renamed = if strange.is_empty() { String::new() } else { format!("; it has {}", strange.join(", ")) };
        let message = format!("the field {} has no option {}{renamed}", wanted.name, field.lacks(wanted).join(", "));
        Err(Failure::refused(Code::NoOption, message)
            .hint(Hint::open(&project.url, "to restore its name, if it was renamed; nothing was changed"))
            .hint(Hint::run("sync init", "to add the missing options and keep the rest")))
    }

    /// Reads changed issues, linked issues that the scan does not list, and issues of interrupted syncs.
    fn read(&mut self, tell: &mut dyn FnMut(usize, usize)) -> Result<(), Failure> {
        let locals = Locals::read(self.ws)?;
        let rows: BTreeSet<&Node> = self.known.items.iter().map(|item| &item.id).collect();
        let shown: BTreeSet<&Node> = self.known.items.iter().map(|item| &item.issue).collect();
        let hidden =
            locals.tasks.values().filter(|local| !local.link.item.as_ref().is_some_and(|item| rows.contains(item)));
        let mut wanted: BTreeSet<Node> =
            hidden.filter_map(|local| local.link.node.clone()).filter(|node| !shown.contains(node)).collect();
        self.waiting = intents(self.ws)?;
        let noted = self.waiting.iter().filter(|intent| intent.note.is_some());
        wanted.extend(noted.filter_map(|intent| locals.tasks.get(&intent.task)?.link.node.clone()));
        self.client.refresh(&mut self.known, self.features, &wanted, self.ask.full, tell)?;
        let keep: BTreeSet<Node> =
            self.known.items.iter().map(|item| item.issue.clone()).chain(wanted.iter().cloned()).collect();
        self.known.issues.retain(|node, _| keep.contains(node));
        // An item that the scan does not list, because it is archived or was moved meanwhile, is still listed by its
        // issue.
        let project = self.project().id.clone();
        for node in &wanted {
            let Some(issue) = self.known.issues.get(node) else { continue };
            let row = issue.items.iter().find(|(_, of, _)| *of == project).cloned();
            if let Some((item, _, archived)) = row.filter(|_| self.known.item_of(node).is_none()) {
                self.known.items.push(Item::unlisted(item, issue, archived));
            }
        }
        Ok(())
    }

    /// Finds issues that an interrupted sync may have created, and reads them completely.
    fn recover(&mut self) -> Result<(), Failure> {
        let issues: Vec<&CreateIntent> = self.waiting.iter().filter(|intent| intent.note.is_none()).collect();
        let Some(oldest) = issues.iter().map(|intent| intent.at).min() else { return Ok(()) };
        let since = oldest.checked_sub(jiff::SignedDuration::from_hours(1)).unwrap_or(oldest);
        let listed = self.client.created_since(&self.target.slug, &self.viewer, since)?;
        let ours = |body: &str| {
            let marker = read_issue_body(body).1;
            marker.is_some_and(|marker| issues.iter().any(|intent| intent.task == marker.task))
        };
        let rowless = listed.into_iter().filter(|(node, _, body)| ours(body) && self.known.item_of(node).is_none());
        self.recovered = rowless.map(|(node, _, _)| node).collect();
        if !self.recovered.is_empty() {
            let wanted = self.recovered.clone();
            self.client.refresh(&mut self.known, self.features, &wanted, false, &mut |_, _| {})?;
        }
        Ok(())
    }
}
