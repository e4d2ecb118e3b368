//! What is computed once for all who ask, as long as the board has not changed.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::app::Failure;

/// Answers that are kept; pages mostly ask for the same few.
const KEPT: usize = 8;

pub struct Memo<T> {
    kept: Mutex<VecDeque<(u64, String, Arc<T>)>>,
}

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Self { kept: Mutex::default() }
    }
}

impl<T> Memo<T> {
    /// Whoever asks for what somebody else is computing waits for that.
    pub fn get(
        &self,
        version: u64,
        key: &str,
        compute: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<Arc<T>, Failure> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(known, ..)| *known == version);
        if let Some((.., answer)) = kept.iter().find(|(_, known, _)| known == key) {
            return Ok(Arc::clone(answer));
        }
        let answer = Arc::new(compute()?);
        kept.push_front((version, key.to_owned(), Arc::clone(&answer)));
        kept.truncate(KEPT);
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_kept_until_the_board_changes() {
        let memo = Memo::default();
        let ask = |version, value: u32| *memo.get(version, "a", || Ok(value)).unwrap();
        assert_eq!([ask(1, 10), ask(1, 11), ask(2, 12), ask(2, 13)], [10, 10, 12, 12]);
        assert!(memo.get(2, "b", || Err(Failure::usage("no", "no"))).is_err());
        assert_eq!(*memo.get(2, "b", || Ok(5)).unwrap(), 5);
    }
}
