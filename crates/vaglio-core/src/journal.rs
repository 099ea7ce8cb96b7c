//! Finished work that a later run of the same configuration need not do again.
//!
//! The journal of a search keeps the answers that took long (`AnswerLog`). A later run gets them again while it makes the changes of the
//! subset for real, so that caches are what they were. Trials whose answers are kept leave no lasting trace (`Evaluator::trace`); others are
//! made again, which also compares. Above searches, what is repeated is kept as pieces (`Journal::once`). What is kept must not depend on
//! threads: a key that comes out otherwise than it is there ends the run.

use crate::{ProcessGroup, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The process that does a piece of work, where several share the work of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JournalOwner {
    /// Whoever needs it.
    #[default]
    Anyone,
    /// This process, which keeps it whatever it took.
    Own,
    /// Another process: this one goes on without it.
    Others,
}

/// A store of pieces of finished work, each under a key of its own.
pub trait JournalStore: Send + Sync {
    /// The piece that an earlier run of the same configuration kept under this key.
    fn recall(&self, key: &str) -> Option<String>;

    /// Keeps one whole piece of work, which is one line of JSON.
    fn keep(&self, key: &str, value: &str);

    /// Who does the piece of this key, which is not there yet.
    fn owner(&self, _key: &str) -> JournalOwner {
        JournalOwner::Anyone
    }

    /// Whether pieces are kept that took no time at all, as tests want it.
    fn keeps_all(&self) -> bool {
        false
    }

    /// The processes that make the search on all rows together, where there are several.
    fn process_group(&self) -> Option<Arc<dyn ProcessGroup>> {
        None
    }
}

/// A part of what a [`JournalStore`] keeps: keys below a path. The default keeps nothing and knows nothing.
///
/// What is kept must follow from the configuration and the data alone, and reading it back must give the same bits.
#[derive(Clone, Default)]
pub struct Journal(Option<Below>);

#[derive(Clone)]
struct Below {
    keeper: Arc<dyn JournalStore>,
    path: String,
    begun: Instant,
    is_top: bool,
}

/// Work that takes less is done again rather than kept.
const LEAST: Duration = Duration::from_millis(5);
/// Shortest work that is kept inside of a piece: early in a run, and late in a run.
const LEAST_INSIDE: [Duration; 2] = [Duration::from_micros(500), Duration::from_millis(50)];
/// Inside of a piece, work that takes less than this share of the run so far is done again: some 20 000 lines while a run
/// grows threefold.
const LEAST_SHARE: u32 = 20_000;
/// Inside of a piece, work that takes less for each byte of what it made is done again: the journal grows by a megabyte a
/// second and thread at most.
const LEAST_OF_BYTE: Duration = Duration::from_micros(1);

impl Below {
    /// Work that takes less is not worth a line.
    fn least(&self) -> Duration {
        let [young, long] = LEAST_INSIDE;
        if self.is_top { LEAST } else { (self.begun.elapsed() / LEAST_SHARE).clamp(young, long) }
    }
}

impl Journal {
    /// All that a keeper keeps.
    pub fn new(keeper: Arc<dyn JournalStore>) -> Self {
        Journal(Some(Below { keeper, path: String::new(), begun: Instant::now(), is_top: true }))
    }

    /// The part below a name.
    #[must_use]
    pub fn under(&self, part: impl fmt::Display) -> Self {
        Journal(self.0.as_ref().map(|below| Below { path: format!("{}{part}/", below.path), ..below.clone() }))
    }

    /// The part inside of a piece of that name, which is kept itself once it is whole: only what takes long is kept.
    #[must_use]
    pub fn within(&self, piece: impl fmt::Display) -> Self {
        let Journal(inside) = self.under(piece);
        Journal(inside.map(|below| Below { is_top: false, ..below }))
    }

    /// The processes that make the search on all rows together, where this is all that is kept.
    pub fn process_group(&self) -> Option<Arc<dyn ProcessGroup>> {
        let all = self.0.as_ref().filter(|below| below.is_top && below.path.is_empty());
        all.and_then(|below| below.keeper.process_group())
    }

    /// The prefix of keys.
    pub(crate) fn path(&self) -> &str {
        self.0.as_ref().map_or("", |below| &below.path)
    }

    /// Whether anything is kept.
    pub fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    /// Whether this is no part of a piece.
    pub fn is_top(&self) -> bool {
        self.0.as_ref().is_some_and(|below| below.is_top)
    }

    /// The value that an earlier run kept under this key; `None` if it has another form.
    pub fn recall<T: DeserializeOwned>(&self, key: impl fmt::Display) -> Option<T> {
        let below = self.0.as_ref()?;
        serde_json::from_str(&below.keeper.recall(&format!("{}{key}", below.path))?).ok()
    }

    /// Keeps a piece, whatever it took.
    pub fn keep<T: Serialize + ?Sized>(&self, key: impl fmt::Display, piece: &T) {
        self.keep_if(key, piece, |_, _| true);
    }

    /// Keeps a piece whose work was begun then, unless doing it again costs less than its bytes.
    pub fn keep_of<T: Serialize + ?Sized>(&self, begun: Instant, key: impl fmt::Display, piece: &T) {
        let took = begun.elapsed();
        self.keep_if(key, piece, |below, bytes| {
            let least = LEAST_OF_BYTE.saturating_mul(u32::try_from(bytes).unwrap_or(u32::MAX));
            below.is_top || below.keeper.keeps_all() || took >= least
        });
    }

    /// Keeps a piece whose work was begun then, where it is worth a line and its bytes.
    pub fn keep_worth<T: Serialize + ?Sized>(&self, begun: Instant, key: impl fmt::Display, piece: &T) {
        if self.is_worth(begun, 1) {
            self.keep_of(begun, key, piece);
        }
    }

    fn keep_if<T: Serialize + ?Sized>(
        &self,
        key: impl fmt::Display,
        piece: &T,
        is_worth: impl FnOnce(&Below, usize) -> bool,
    ) {
        let Some(below) = &self.0 else { return };
        // What cannot be written is done again.
        if let Ok(value) = serde_json::to_string(piece)
            && is_worth(below, value.len())
        {
            below.keeper.keep(&format!("{}{key}", below.path), &value);
        }
    }

    /// Whether work that was begun then is worth `lines`, in multiples of a short one.
    pub fn is_worth(&self, begun: Instant, lines: usize) -> bool {
        let least =
            |below: &Below| below.least().max(Duration::from_micros(5) * u32::try_from(lines).unwrap_or(u32::MAX));
        self.0.as_ref().is_some_and(|below| below.keeper.keeps_all() || begun.elapsed() >= least(below))
    }

    /// Who does a piece that is not there yet; what is inside of a piece is of whoever does that.
    fn owner(&self, key: &impl fmt::Display) -> JournalOwner {
        let shared = self.0.as_ref().filter(|below| below.is_top);
        shared.map_or(JournalOwner::Anyone, |below| below.keeper.owner(&format!("{}{key}", below.path)))
    }

    /// Recalls a piece, or does the work and keeps what comes of it; `None` is work that was stopped, or is another process's.
    ///
    /// # Errors
    /// Those of the work.
    pub fn once<T: Serialize + DeserializeOwned>(
        &self,
        key: impl fmt::Display,
        work: impl FnOnce() -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        if let Some(piece) = self.recall(&key) {
            return Ok(Some(piece));
        }
        let whose = self.owner(&key);
        if whose == JournalOwner::Others {
            return Ok(None);
        }
        let begun = Instant::now();
        let piece = work()?;
        match &piece {
            Some(piece) if whose == JournalOwner::Own => self.keep(key, piece),
            Some(piece) => self.keep_worth(begun, key, piece),
            None => {}
        }
        Ok(piece)
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Journal").field(&self.0.as_ref().map(|below| &below.path)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::sync::Mutex;

    #[derive(Default)]
    struct Notebook(Mutex<BTreeMap<String, String>>);

    impl JournalStore for Notebook {
        fn recall(&self, key: &str) -> Option<String> {
            self.0.lock().unwrap().get(key).cloned()
        }

        fn keep(&self, key: &str, value: &str) {
            self.0.lock().unwrap().insert(key.into(), value.into());
        }

        fn keeps_all(&self) -> bool {
            true
        }

        fn owner(&self, key: &str) -> JournalOwner {
            if key.ends_with("elsewhere") { JournalOwner::Others } else { JournalOwner::Anyone }
        }
    }

    #[test]
    fn a_piece_of_another_process_is_left_to_it() {
        let journal = Journal::new(Arc::new(Notebook::default())).under("nested");
        let done = |journal: &Journal, key: &str| journal.once(key, || Ok(Some(1))).unwrap();
        assert_eq!((done(&journal, "elsewhere"), done(&journal, "here")), (None, Some(1)));
        assert_eq!(done(&journal.within("here"), "elsewhere"), Some(1));
        journal.keep("elsewhere", &2);
        assert_eq!(done(&journal, "elsewhere"), Some(2));
    }

    #[test]
    fn a_piece_is_done_once() {
        let notebook = Arc::new(Notebook::default());
        let journal = Journal::new(notebook.clone()).under("choose").within(3);
        let mut done = 0;
        for _ in 0..2 {
            let piece = journal.once("trail", || {
                done += 1;
                Ok(Some(vec![0.1, 0.2]))
            });
            assert_eq!(piece.unwrap(), Some(vec![0.1, 0.2]));
        }
        assert_eq!(done, 1);
        assert_eq!(notebook.0.lock().unwrap().keys().collect::<Vec<_>>(), ["choose/3/trail"]);
        assert!(!journal.is_top() && journal.is_kept() && !Journal::default().is_kept());
    }

    #[test]
    fn inside_of_a_piece_what_costs_less_than_its_bytes_is_done_again() {
        #[derive(Default)]
        struct Frugal(Notebook);
        impl JournalStore for Frugal {
            fn recall(&self, key: &str) -> Option<String> {
                self.0.recall(key)
            }
            fn keep(&self, key: &str, value: &str) {
                self.0.keep(key, value);
            }
        }
        let journal = Journal::new(Arc::new(Frugal::default()));
        let inside = journal.within("nested");
        let long = "x".repeat(1_000_000);
        for (journal, expected) in [(&journal, true), (&inside, false)] {
            journal.keep_of(Instant::now(), "long", &long);
            assert_eq!(journal.recall::<String>("long").is_some(), expected);
        }
        inside.keep_of(Instant::now() - Duration::from_secs(2), "long", &long);
        assert!(inside.recall::<String>("long").is_some());
    }
}
