//! The progress of a checkout: gix counts files on its own threads, and the waiting thread reads the count.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gix::progress::{Count, Id, MessageLevel, NestedProgress, Progress, Step, StepShared, UNKNOWN, Unit};

/// The number of files that are checked out, and the total; both are zero before the checkout begins.
#[derive(Debug, Clone, Default)]
pub(super) struct CheckoutProgress {
    files: StepShared,
    of: Arc<AtomicUsize>,
}

impl CheckoutProgress {
    pub fn read(&self) -> (usize, usize) {
        (self.files.load(Ordering::Relaxed), self.of.load(Ordering::Relaxed))
    }
}

impl Count for CheckoutProgress {
    fn set(&self, step: Step) {
        self.files.store(step, Ordering::Relaxed);
    }

    fn step(&self) -> Step {
        self.files.load(Ordering::Relaxed)
    }

    fn inc_by(&self, step: Step) {
        self.files.fetch_add(step, Ordering::Relaxed);
    }

    fn counter(&self) -> StepShared {
        self.files.clone()
    }
}

impl Progress for CheckoutProgress {
    fn init(&mut self, max: Option<Step>, _: Option<Unit>) {
        self.of.store(max.unwrap_or_default(), Ordering::Relaxed);
    }

    fn set_name(&mut self, _: String) {}

    fn name(&self) -> Option<String> {
        None
    }

    fn id(&self) -> Id {
        UNKNOWN
    }

    fn message(&self, _: MessageLevel, _: String) {}
}

impl NestedProgress for CheckoutProgress {
    type SubProgress = Self;

    /// Only files are counted; otherwise bytes would be added to them.
    fn add_child(&mut self, name: impl Into<String>) -> Self {
        if name.into() == "checkout" { self.clone() } else { Self::default() }
    }

    fn add_child_with_id(&mut self, name: impl Into<String>, _: Id) -> Self {
        self.add_child(name)
    }
}
