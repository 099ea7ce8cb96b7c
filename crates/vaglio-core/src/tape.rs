//! What a search was answered, for one that is begun again where it left its subset.
//!
//! A search is a function of the answers that it gets. One that was paused is called again from its start: the tape gives
//! the answers that it had, in their order, while the evaluator, which is where the search paused, is asked nothing; what
//! comes after is asked as ever. So any search goes on at the cost of its own loops, and its bits are those of one that
//! never paused.

use crate::{Diagnostics, Error, Feature, Result, Trials};
use serde::{Deserialize, Serialize};
use std::any::Any;

/// Kinds of questions and changes on a tape, beside the four of trials.
pub(crate) const SCORE: u64 = 4;
pub(crate) const STANDARD_ERROR: u64 = 5;
pub(crate) const LAMBDAS: u64 = 6;
pub(crate) const ADD: u64 = 7;
pub(crate) const REMOVE: u64 = 8;
pub(crate) const RESET: u64 = 9;
pub(crate) const SCORE_WITH: u64 = 10;
pub(crate) const SETTLED: u64 = 11;

/// Answers in their order, each with a digest of its question.
#[derive(Default)]
pub(crate) struct Tape {
    answers: Vec<(u64, Box<dyn Any + Send>)>,
    /// How many were given to the search that goes on.
    played: usize,
    /// Whether the search was told to pause.
    is_paused: bool,
    /// Whether it went on all the same, so that the evaluator is elsewhere.
    is_overrun: bool,
}

impl Tape {
    /// The next answer; `None` once all were given.
    ///
    /// # Errors
    /// [`Error::Shape`] where something else is asked than was.
    pub fn play<T: Clone + 'static>(&mut self, digest: u64) -> Option<Result<T>> {
        let (asked, answer) = self.answers.get(self.played)?;
        self.played += 1;
        let answer = answer.downcast_ref::<T>().filter(|_| *asked == digest);
        let unlike = || Error::Shape("a search that goes on asks otherwise than it did before it paused".into());
        Some(answer.cloned().ok_or_else(unlike))
    }

    /// Keeps an answer that was asked for.
    pub fn keep<T: Send + 'static>(&mut self, digest: u64, answer: T) {
        self.is_overrun |= self.is_paused;
        self.answers.push((digest, Box::new(answer)));
        self.played = self.answers.len();
    }

    /// The search is told to pause.
    pub fn pause(&mut self) {
        self.is_paused = true;
    }

    /// Whether answers are left that the evaluator gave before.
    pub fn is_playing(&self) -> bool {
        self.played < self.answers.len()
    }

    /// From the start again, and whether the evaluator is where the last answer left it.
    pub fn rewind(&mut self) -> bool {
        (self.played, self.is_paused) = (0, false);
        !self.is_overrun
    }
}

/// FNV-1a over words: of a kind of question, and the columns that it is about.
pub(crate) fn digest(kind: u64, columns: [&[usize]; 2]) -> u64 {
    let mixed = |digest: u64, word: u64| (digest ^ word).wrapping_mul(0x100_0000_01b3);
    let all = columns.iter().flat_map(|columns| columns.iter().map(|&column| column as u64).chain([u64::MAX]));
    all.fold(mixed(0xcbf2_9ce4_8422_2325, kind), mixed)
}

/// What an evaluator was asked, in short, and its answer.
#[derive(Serialize, Deserialize)]
pub(crate) struct Answered<T> {
    pub asked: String,
    pub answer: T,
    /// Whether the trials have to be made again for what they leave behind.
    pub again: bool,
    #[serde(default, rename = "health", skip_serializing_if = "Option::is_none")]
    pub diagnostics: Option<Diagnostics>,
}

/// The kind of trials.
pub(crate) fn kind_of(trials: Trials<'_>) -> u64 {
    match trials {
        Trials::Additions(_) => 0,
        Trials::Removals(_) => 1,
        Trials::BestAddition(_) => 2,
        Trials::BestRemoval(_) => 3,
    }
}

/// A question in short: what is tried, at what size, of how many, and a digest of subset and candidates.
pub(crate) fn question(selected: &[Feature], trials: Trials<'_>) -> String {
    let (kind, candidates) = (kind_of(trials), trials.candidates());
    let what = ["additions", "removals", "addition", "removal"][kind as usize];
    let digest = digest(kind, [selected, candidates]);
    format!("{what} {}/{} {digest:016x}", selected.len(), candidates.len())
}
