//! Journal of finished work, so that a later run of the same configuration need not repeat it.
//!
//! A search is a function of the answers that it gets, and journals those that took long. A later run reads them back,
//! but makes the changes of the subset again, so that caches follow. Trials with journaled answers leave no lasting trace
//! (`Evaluator::trace`). Others run again, which also checks them. Work above searches is journaled as pieces
//! (`Journal::once`). Journaled values must not depend on threads: if a key differs from the journaled one, the run ends.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use vaglio_core::{ProcessGroup, Result, serde_json};

/// A store of pieces of finished work, each under its own key.
pub trait JournalStore: Send + Sync {
    /// The piece that an earlier run of the same configuration kept under this key.
    fn recall(&self, key: &str) -> Option<String>;

    /// Stores one complete piece of work, as one line of JSON.
    fn keep(&self, key: &str, value: &str);

    /// Whether a piece is this process's own, if several share the work of a run. It is stored however short its work
    /// was.
    fn is_own(&self, _key: &str) -> bool {
        false
    }

    /// Whether another process does a piece, so that this one continues without it.
    fn is_others(&self, _key: &str) -> bool {
        false
    }

    /// Whether to store pieces however short their work was, as tests need.
    fn keeps_all(&self) -> bool {
        false
    }

    /// The processes that search all rows together, if there are several.
    fn process_group(&self) -> Option<Arc<dyn ProcessGroup>> {
        None
    }
}

/// A view of a [`JournalStore`]: its keys below a path. The default stores nothing and recalls nothing.
///
/// Stored values must follow from the configuration and the data alone, and must be read back to the same bits.
#[derive(Clone)]
pub struct Journal {
    store: Option<Arc<dyn JournalStore>>,
    /// Start of all keys.
    path: String,
    /// Start of the run.
    begun: Instant,
    /// Whether this view is outside of any piece.
    is_top: bool,
}

/// Shortest work that is stored; shorter work is repeated.
const LEAST: Duration = Duration::from_millis(5);
/// Shortest work that is stored inside a piece: early in a run, and late in a run.
const LEAST_INSIDE: [Duration; 2] = [Duration::from_micros(500), Duration::from_millis(50)];
/// Divisor of the run's duration so far: work inside a piece must take at least that share to be stored. This gives
/// some 20 000 lines while a run grows threefold.
const LEAST_SHARE: u32 = 20_000;
/// Shortest work per byte of its result that is stored inside a piece. It limits growth to a megabyte a second and
/// thread.
const LEAST_OF_BYTE: Duration = Duration::from_micros(1);

impl Default for Journal {
    fn default() -> Self {
        Journal { store: None, path: String::new(), begun: Instant::now(), is_top: true }
    }
}

impl Journal {
    /// Creates a view of a whole store.
    pub fn new(store: Arc<dyn JournalStore>) -> Self {
        Journal { store: Some(store), ..Journal::default() }
    }

    /// The part of the journal below a name.
    #[must_use]
    pub fn under(&self, part: impl fmt::Display) -> Self {
        Journal { path: format!("{}{part}/", self.path), ..self.clone() }
    }

    /// The part inside a piece of that name. Only long work is stored there, since the complete piece is stored itself.
    #[must_use]
    pub fn within(&self, piece: impl fmt::Display) -> Self {
        Journal { is_top: false, ..self.under(piece) }
    }

    /// The processes that search all rows together, if this view is the whole store.
    pub fn process_group(&self) -> Option<Arc<dyn ProcessGroup>> {
        let is_whole = self.is_top && self.path.is_empty();
        self.store.as_ref().filter(|_| is_whole)?.process_group()
    }

    /// Whether this view of a store is outside of any piece.
    pub fn is_top(&self) -> bool {
        self.store.is_some() && self.is_top
    }

    /// The value that an earlier run stored under this key; `None` if it has another form.
    pub fn recall<T: DeserializeOwned>(&self, key: impl fmt::Display) -> Option<T> {
        serde_json::from_str(&self.store.as_ref()?.recall(&format!("{}{key}", self.path))?).ok()
    }

    /// Stores a piece however short its work was.
    pub fn keep<T: Serialize + ?Sized>(&self, key: impl fmt::Display, piece: &T) {
        self.write(None, key, piece);
    }

    /// Stores a piece whose work began at `begun`, unless the work was short, or short for the piece's bytes.
    pub fn keep_worth<T: Serialize + ?Sized>(&self, begun: Instant, key: impl fmt::Display, piece: &T) {
        if self.is_worth(begun, 1) {
            self.write(Some(begun.elapsed()), key, piece);
        }
    }

    fn write<T: Serialize + ?Sized>(&self, took: Option<Duration>, key: impl fmt::Display, piece: &T) {
        let Some(store) = &self.store else { return };
        // A piece that cannot be serialized is computed again.
        let Ok(value) = serde_json::to_string(piece) else { return };
        let least = LEAST_OF_BYTE.saturating_mul(u32::try_from(value.len()).unwrap_or(u32::MAX));
        if self.is_top || store.keeps_all() || took.is_none_or(|took| took >= least) {
            store.keep(&format!("{}{key}", self.path), &value);
        }
    }

    /// Whether work since `begun` took long enough to store a result as long as `lines` short lines.
    pub(crate) fn is_worth(&self, begun: Instant, lines: usize) -> bool {
        let is_long = || {
            let [young, long] = LEAST_INSIDE;
            let least = if self.is_top { LEAST } else { (self.begun.elapsed() / LEAST_SHARE).clamp(young, long) };
            let written = Duration::from_micros(5) * u32::try_from(lines).unwrap_or(u32::MAX);
            begun.elapsed() >= least.max(written)
        };
        self.store.as_ref().is_some_and(|store| store.keeps_all() || is_long())
    }

    /// Recalls a piece, or does the work and stores its result. `None` if the work was stopped or belongs to another
    /// process.
    pub fn once<T: Serialize + DeserializeOwned>(
        &self,
        key: impl fmt::Display,
        work: impl FnOnce() -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        if let Some(piece) = self.recall(&key) {
            return Ok(Some(piece));
        }
        // Work inside a piece is done by the process of the piece.
        let shared = self.store.as_ref().filter(|_| self.is_top);
        let shared = shared.map(|store| (store, format!("{}{key}", self.path)));
        if shared.as_ref().is_some_and(|(store, key)| store.is_others(key)) {
            return Ok(None);
        }
        let begun = Instant::now();
        let piece = work()?;
        match &piece {
            Some(piece) if shared.as_ref().is_some_and(|(store, key)| store.is_own(key)) => self.keep(key, piece),
            Some(piece) => self.keep_worth(begun, key, piece),
            None => {}
        }
        Ok(piece)
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal").field("path", &self.path).finish_non_exhaustive()
    }
}
