//! A cache of answers, valid until the board changes.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::app::Failure;

/// The number of answers that are kept; pages mostly request the same few.
const KEPT: usize = 16;

/// An answer, which is empty until it is computed.
type MemoSlot<T> = Arc<Mutex<Option<Arc<T>>>>;

pub struct Memo<T> {
    kept: Mutex<VecDeque<(u64, String, MemoSlot<T>)>>,
}

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Self { kept: Mutex::default() }
    }
}

impl<T> Memo<T> {
    /// The cached answer; none while it is being computed.
    pub fn peek(&self, version: u64, key: &str) -> Option<Arc<T>> {
        let kept = open(&self.kept);
        let (.., slot) = kept.iter().find(|(known, name, _)| *known == version && name == key)?;
        slot.try_lock().ok()?.clone()
    }

    /// Returns the cached answer, or computes it. Callers wait only while another one computes the same answer.
    pub fn get(
        &self,
        version: u64,
        key: &str,
        compute: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<Arc<T>, Failure> {
        let slot = self.slot(version, key);
        let mut answer = open(&slot);
        if let Some(known) = answer.as_ref() {
            return Ok(Arc::clone(known));
        }
        let made = Arc::new(compute()?);
        *answer = Some(Arc::clone(&made));
        Ok(made)
    }

    fn slot(&self, version: u64, key: &str) -> MemoSlot<T> {
        let mut kept = open(&self.kept);
        kept.retain(|(known, ..)| *known == version);
        if let Some((.., slot)) = kept.iter().find(|(_, known, _)| known == key) {
            return Arc::clone(slot);
        }
        let slot = MemoSlot::default();
        kept.push_front((version, key.to_owned(), Arc::clone(&slot)));
        kept.truncate(KEPT);
        slot
    }
}

/// Locks the data, which is valid even if a thread panicked while it held the lock.
fn open<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_kept_until_the_board_changes() {
        let memo = Memo::default();
        let ask = |version, value: u32| *memo.get(version, "a", || Ok(value)).unwrap();
        assert_eq!([ask(1, 10), ask(1, 11), ask(2, 12), ask(2, 13)], [10, 10, 12, 12]);
        assert_eq!((memo.peek(2, "a").as_deref(), memo.peek(1, "a"), memo.peek(2, "b")), (Some(&12), None, None));
        assert!(memo.get(2, "b", || Err(Failure::usage(crate::app::Code::BadValue, "no"))).is_err());
        assert_eq!(*memo.get(2, "b", || Ok(5)).unwrap(), 5);
    }
}
