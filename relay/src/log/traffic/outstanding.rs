//! Commands that have no answer yet, so that the log knows what an answer is about.

use std::collections::BTreeMap;

use relay_core::ClientId;

/// More are never waited for at once in earnest. What was asked before is forgotten, and its answer
/// then not shown.
const LIMIT: usize = 4096;

/// A command without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) client: Option<ClientId>,
    pub(crate) is_secret: bool,
}

#[derive(Debug)]
pub(crate) struct Outstanding<K>(BTreeMap<K, Asked>);

impl<K: Ord> Outstanding<K> {
    pub(crate) fn add(&mut self, key: K, asked: Asked) {
        if self.0.len() >= LIMIT {
            self.0.pop_first();
        }
        self.0.insert(key, asked);
    }

    pub(crate) fn take(&mut self, key: &K) -> Option<Asked> {
        self.0.remove(key)
    }

    pub(crate) fn forget(&mut self, gone: impl Fn(&K) -> bool) {
        self.0.retain(|key, _| !gone(key));
    }
}

impl<K> Default for Outstanding<K> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_gets_an_answer_is_forgotten_in_the_end() {
        let mut outstanding = Outstanding::default();
        let asked = Asked { client: None, is_secret: true };
        for id in 0..=LIMIT {
            outstanding.add(id, asked);
        }
        assert_eq!(outstanding.0.len(), LIMIT);
        assert_eq!(outstanding.take(&0), None);
        assert_eq!(outstanding.take(&LIMIT), Some(asked));
    }
}
