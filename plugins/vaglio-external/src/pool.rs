//! Programs that run and wait for the next question.

use crate::child::Child;
use crate::program::ExternalProgram;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};
use vaglio_core::{Error, Result};

/// What a program is started for.
pub(crate) struct Started<'p> {
    pub program: &'p ExternalProgram,
    pub part: &'static str,
    pub settings: &'p Map<String, Value>,
}

impl Started<'_> {
    fn key(&self) -> Key {
        (self.program.clone(), self.part, self.settings.clone())
    }
}

/// By program, part and settings.
type Key = (ExternalProgram, &'static str, Map<String, Value>);

/// Programs that wait: of each as many as were asked at once.
static WAITING: LazyLock<Mutex<HashMap<Key, Vec<Child>>>> = LazyLock::new(Mutex::default);

/// Asks one of the programs that wait, the one with these data where there is one, or another that is started.
///
/// After an error the program is ended: where it stands is not known.
pub(crate) fn ask<T>(of: &Started, data: u64, questions: impl FnOnce(&mut Child) -> Result<T>) -> Result<T> {
    let key = of.key();
    let waiting = {
        let mut all = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
        let of_key = all.entry(key.clone()).or_default();
        let with_data = of_key.iter().position(|child| child.holds.as_ref().is_some_and(|(held, _)| *held == data));
        match with_data {
            Some(at) => Some(of_key.swap_remove(at)),
            None => of_key.pop(),
        }
    };
    let mut child = waiting.map_or_else(|| Child::start(of.program, of.part, of.settings), Ok)?;
    let answer = questions(&mut child)?;
    WAITING.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().push(child);
    Ok(answer)
}

/// What failed where no error can be given.
static FAILED: LazyLock<Mutex<HashMap<Key, Error>>> = LazyLock::new(Mutex::default);

/// The value of an answer, or NaN, and the first error is kept until it is asked for; until then nothing is asked.
pub(crate) fn number_or_failure(of: &Started, questions: impl FnOnce(&mut Child) -> Result<f64>) -> f64 {
    let key = of.key();
    let failed = || FAILED.lock().unwrap_or_else(PoisonError::into_inner);
    if failed().contains_key(&key) {
        return f64::NAN;
    }
    ask(of, 0, questions).unwrap_or_else(|error| {
        failed().entry(key).or_insert(error);
        f64::NAN
    })
}

/// The error that was kept.
pub(crate) fn failure(of: &Started) -> Option<Error> {
    FAILED.lock().unwrap_or_else(PoisonError::into_inner).remove(&of.key())
}
