//! One process's share of a distributed run.

use super::parts::SearchParts;
use super::plan::ShardPlan;
use crate::journal::{Pieces, RunJournal};
use crate::work_units::{PARTS, SEARCH};
use std::sync::{Arc, Mutex, MutexGuard};
use vaglio_core::{ProcessGroup, lock};
use vaglio_search::{JournalOwner, JournalStore};

/// Value of a unit that needed no separate computation.
pub const NOTHING: &str = "null";

/// A journal that owns the units of one index.
pub struct ShardJournal {
    pub book: Arc<RunJournal>,
    plan: ShardPlan,
    pub index: usize,
    /// New pieces to publish, and pieces of other indexes.
    known: Mutex<Pieces>,
    /// Process group for the search on all rows.
    pub process_group: Option<Arc<SearchParts>>,
}

impl ShardJournal {
    pub fn new(book: Arc<RunJournal>, plan: &ShardPlan, index: usize, process_group: Option<Arc<SearchParts>>) -> Self {
        ShardJournal { book, plan: plan.clone(), index, known: Mutex::default(), process_group }
    }

    fn known(&self) -> MutexGuard<'_, Pieces> {
        lock(&self.known)
    }

    /// Whether a unit belongs to this index.
    pub fn is_own(&self, key: &str) -> bool {
        self.owner(key) == JournalOwner::Own
    }

    /// Whether a piece is published for others: an own unit, or part of an own search on all rows, except single
    /// answers.
    fn is_published(&self, key: &str) -> bool {
        self.is_own(key) || self.is_own(SEARCH) && !self.plan.units.is_inside(key) && !key.contains("/answer/")
    }

    pub fn knows(&self, key: &str) -> bool {
        self.recall(key).is_some()
    }

    /// Marks this index's parts of the search on all rows as done.
    pub fn give_parts(&self) {
        let missing = self.missing();
        missing.iter().filter(|key| key.starts_with(PARTS)).for_each(|key| self.keep(key, NOTHING));
    }

    /// Stores pieces that other indexes have found.
    pub fn learn(&self, pieces: Pieces) {
        self.known().extend(pieces);
    }

    /// Pieces to publish.
    pub fn pieces(&self) -> Pieces {
        let mut pieces = self.book.known.clone();
        pieces.extend(self.known().clone());
        pieces.retain(|key, _| self.is_published(key));
        pieces
    }

    /// Own units that are not done.
    pub fn missing(&self) -> Vec<String> {
        self.plan.missing(self.index, |key| self.knows(key))
    }

    /// Whether own units with this key prefix are not done.
    pub fn lacks(&self, prefix: &str) -> bool {
        self.missing().iter().any(|key| key.starts_with(prefix))
    }
}

impl JournalStore for ShardJournal {
    fn recall(&self, key: &str) -> Option<String> {
        self.book.recall(key).or_else(|| self.known().get(key).cloned())
    }

    fn keep(&self, key: &str, value: &str) {
        self.book.keep(key, value);
        if self.is_published(key) {
            self.known().insert(key.to_owned(), value.to_owned());
        }
    }

    fn owner(&self, key: &str) -> JournalOwner {
        match self.plan.units.number(key) {
            None => JournalOwner::Anyone,
            Some(number) if number % self.plan.of == self.index => JournalOwner::Own,
            Some(_) => JournalOwner::Others,
        }
    }

    fn keeps_all(&self) -> bool {
        self.book.keeps_all()
    }

    fn process_group(&self) -> Option<Arc<dyn ProcessGroup>> {
        self.process_group.as_ref().map(|process_group| Arc::clone(process_group) as Arc<dyn ProcessGroup>)
    }
}
