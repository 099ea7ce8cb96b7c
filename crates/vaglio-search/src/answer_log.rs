//! A log of the answers that a search got from its evaluator.
//!
//! A search is a function of its answers, so a search that is called again gets the recorded ones: after a pause from
//! memory, in a later run from the journal. After a pause the evaluator is where the search left it, and is not called
//! until the recorded answers end. In a later run the changes of the subset are made again, so that caches follow.

use crate::Journal;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::time::Instant;
use vaglio_core::{Action, Diagnostics, Error, Feature, Result, Trials};

/// A question about the current subset, or a change of it.
#[derive(Clone, Copy, Hash)]
pub(crate) enum Question<'q> {
    Trials(Trials<'q>),
    Score,
    Details,
    Change(Action, Feature),
    Reset(&'q [Feature]),
    ScoreWith(&'q [Feature]),
    /// The columns of a subset whose weights have a wrong sign.
    WrongSigns(&'q [Feature]),
}

impl Question<'_> {
    /// Digest of the question at a subset, equal within a run.
    fn digest(&self, selected: &[Feature]) -> u64 {
        BuildHasherDefault::<DefaultHasher>::default().hash_one((self, selected))
    }
}

/// Describes trials: their kind, the subset's size, the number of candidates, and the FNV-1a digest of all.
pub(crate) fn describe(selected: &[Feature], trials: Trials<'_>) -> String {
    let Trials { change, candidates, is_best } = trials;
    let kind = usize::from(change == Action::Remove) + 2 * usize::from(is_best);
    let what = ["additions", "removals", "addition", "removal"][kind];
    let mixed = |digest: u64, word: u64| (digest ^ word).wrapping_mul(0x100_0000_01b3);
    let lists = [selected, candidates];
    let words = lists.iter().flat_map(|list| list.iter().map(|&column| column as u64).chain([u64::MAX]));
    let digest = words.fold(mixed(0xcbf2_9ce4_8422_2325, kind as u64), mixed);
    format!("{what} {}/{} {digest:016x}", selected.len(), candidates.len())
}

/// Trials and their answer, as written to the journal.
#[derive(Serialize, Deserialize)]
pub(crate) struct KeptAnswer<T> {
    pub asked: String,
    pub answer: T,
    #[serde(default, rename = "health", skip_serializing_if = "Option::is_none")]
    pub diagnostics: Option<Diagnostics>,
}

/// Answers that a search got, in the order of its questions.
#[derive(Default)]
pub(crate) struct AnswerLog {
    journal: Journal,
    /// Number of questions about trials so far.
    asked: usize,
    /// All answers, if the search may pause.
    memory: Option<Memory>,
}

impl AnswerLog {
    /// A log that keeps answers of trials in a journal.
    pub fn new(journal: Journal) -> Self {
        AnswerLog { journal, ..AnswerLog::default() }
    }

    /// Keeps all answers in memory from now on, so that the search can pause.
    pub fn keep_all(&mut self) {
        self.memory = Some(Memory::default());
    }

    /// Marks the search as paused; returns false if it keeps no answers in memory.
    pub fn pause(&mut self) -> bool {
        self.memory.as_mut().map(|memory| memory.is_paused = true).is_some()
    }

    /// Whether the search is paused.
    pub fn is_paused(&self) -> bool {
        self.memory.as_ref().is_some_and(|memory| memory.is_paused)
    }

    /// Rewinds to the first answer; returns false if the evaluator moved after the pause.
    pub fn rewind(&mut self) -> bool {
        self.asked = 0;
        let Some(memory) = &mut self.memory else { return false };
        (memory.given, memory.is_paused) = (0, false);
        !memory.is_overrun
    }

    /// Drops the answers in memory, since the next question has no answer that can be kept. The search can no longer
    /// pause.
    ///
    /// # Errors
    /// [`Error::Shape`] if recorded answers were not all replayed.
    pub fn keep_no_more(&mut self) -> Result<()> {
        match self.memory.take() {
            Some(memory) if memory.given < memory.answers.len() => Err(unlike()),
            _ => Ok(()),
        }
    }

    /// Replays the next answer from before the pause; `None` if none is left.
    ///
    /// # Errors
    /// [`Error::Shape`] if the search asks another question than before the pause.
    pub fn replay<T: Clone + 'static>(&mut self, question: Question<'_>, selected: &[Feature]) -> Result<Option<T>> {
        self.asked += usize::from(matches!(question, Question::Trials(_)));
        let Some(memory) = &mut self.memory else { return Ok(None) };
        let Some((asked, answer)) = memory.answers.get(memory.given) else { return Ok(None) };
        memory.given += 1;
        let answer = answer.downcast_ref::<T>().filter(|_| *asked == question.digest(selected));
        answer.cloned().map(Some).ok_or_else(unlike)
    }

    /// Records an answer, to be replayed after a pause.
    pub fn remember<T: Clone + Send + 'static>(&mut self, question: Question<'_>, selected: &[Feature], answer: &T) {
        if let Some(memory) = &mut self.memory {
            memory.is_overrun |= memory.is_paused;
            memory.answers.push((question.digest(selected), Box::new(answer.clone())));
            memory.given = memory.answers.len();
        }
    }

    /// Position of the most recent trials among all trials of the search.
    fn place(&self) -> usize {
        self.asked.saturating_sub(1)
    }

    /// Recalls the answer to the most recent trials from an earlier run, if these were `asked` there.
    pub fn recall<T: DeserializeOwned>(&self, asked: &str) -> Option<KeptAnswer<T>> {
        let known: KeptAnswer<T> = self.journal.recall(format_args!("answer/{}", self.place()))?;
        Some(known).filter(|known| known.asked == asked)
    }

    /// Journals an answer of `lines` short lines if the most recent trials, which began at `begun`, took long.
    pub fn keep<T: Serialize>(&self, begun: Instant, lines: usize, kept: &KeptAnswer<T>) {
        if self.journal.is_worth(begun, lines) {
            self.journal.keep_of(begun, format_args!("answer/{}", self.place()), kept);
        }
    }
}

fn unlike() -> Error {
    Error::Shape("a search that goes on asks otherwise than it did before it paused".into())
}

/// Answers in order, each with the digest of its question.
#[derive(Default)]
struct Memory {
    answers: Vec<(u64, Box<dyn Any + Send>)>,
    /// Number of answers already replayed.
    given: usize,
    is_paused: bool,
    /// Whether questions were answered after the pause, so that the evaluator has moved.
    is_overrun: bool,
}
