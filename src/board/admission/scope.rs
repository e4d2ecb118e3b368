//! The paths of a claim: granted with the claim, and kept apart from the paths of other claims.

use super::case::Case;
use super::{Admission, Request};
use crate::board::{Refusal, ScopeMode};

impl Case<'_> {
    /// Gives a claim for work in a worktree the files of its plan, unless another live claim covers some of them.
    ///
    /// If one does, a worker is refused, and in strict mode also a person who does not use force; others are only warned. A claim
    /// that is renewed is never refused: if its plan now overlaps another claim, it keeps the paths it has.
    pub(super) fn grant_paths(&self, admission: &mut Admission, request: &Request<'_>) -> Result<(), Refusal> {
        let command = admission.command.as_deref().and_then(|name| self.rules.flow.command(name).ok());
        if !self.rules.has_scope(self.task, command, &admission.to) {
            return Ok(());
        }
        let own = self.own_claim().filter(|claim| claim.command == admission.command).map(|claim| &claim.paths);
        admission.paths = request.scope.clone();
        if own.is_some_and(|own| own.covers_all(&request.scope)) {
            return Ok(());
        }
        let Err(refusal) = self.board.refuse_overlap(&self.task.id, &request.scope) else { return Ok(()) };
        let strict = self.rules.scopes == ScopeMode::Strict;
        match own {
            Some(own) => admission.paths = own.clone(),
            None if self.insists(request.force) => admission.forced |= strict,
            None if self.is_held() || strict => return Err(refusal),
            None => {}
        }
        admission.overlap = Some(refusal);
        Ok(())
    }
}
