//! One process's share of a distributed run.

use super::parts::SearchParts;
use super::plan::ShardPlan;
use crate::journal::RunJournal;
use crate::work_units::{PARTS, SEARCH};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use vaglio_core::ProcessGroup;
use vaglio_search::{JournalOwner, JournalStore};

/// Value of a unit that needed no separate computation.
pub(super) const NOTHING: &str = "null";

/// A journal that owns the units of one index.
pub(super) struct ShardJournal {
    pub book: Arc<RunJournal>,
    plan: ShardPlan,
    pub index: usize,
    /// Pieces published for others: the own units, and of the search on all rows everything except single answers.
    pieces: Mutex<BTreeMap<String, String>>,
    /// Pieces published by other indexes.
    others: Mutex<BTreeMap<String, String>>,
    /// Process group for the search on all rows.
    pub process_group: Option<Arc<SearchParts>>,
}

fn held<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ShardJournal {
    pub fn new(book: Arc<RunJournal>, plan: &ShardPlan, index: usize, process_group: Option<Arc<SearchParts>>) -> Self {
        let (pieces, others) = (Mutex::default(), Mutex::default());
        let share = ShardJournal { book, plan: plan.clone(), index, pieces, others, process_group };
        let known = share.book.known.iter().filter(|(key, _)| share.is_given(key));
        let pieces: BTreeMap<String, String> = known.map(|(key, value)| (key.clone(), value.clone())).collect();
        *held(&share.pieces) = pieces;
        share
    }

    /// Whether a unit belongs to this index.
    pub fn is_own(&self, key: &str) -> bool {
        self.owner(key) == JournalOwner::Own
    }

    fn is_given(&self, key: &str) -> bool {
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
    pub fn learn(&self, pieces: BTreeMap<String, String>) {
        *held(&self.others) = pieces;
    }

    /// Published pieces.
    pub fn pieces(&self) -> BTreeMap<String, String> {
        held(&self.pieces).clone()
    }

    /// Own units that are not done.
    pub fn missing(&self) -> Vec<String> {
        let pieces = held(&self.pieces);
        self.plan.missing(self.index, |key| pieces.contains_key(key))
    }

    /// Whether own units with this key prefix are not done.
    pub fn lacks(&self, prefix: &str) -> bool {
        self.missing().iter().any(|key| key.starts_with(prefix))
    }
}

impl JournalStore for ShardJournal {
    fn recall(&self, key: &str) -> Option<String> {
        let own = self.book.recall(key).or_else(|| held(&self.pieces).get(key).cloned());
        own.or_else(|| held(&self.others).get(key).cloned())
    }

    fn keep(&self, key: &str, value: &str) {
        self.book.keep(key, value);
        if self.is_given(key) {
            held(&self.pieces).insert(key.to_owned(), value.to_owned());
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
