//! Pool of running programs.

use crate::child::Child;
use crate::program::ExternalProgram;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};
use vaglio_core::{Error, Result};

/// A program with its purpose and settings.
pub(crate) struct ProgramUse<'p> {
    pub program: &'p ExternalProgram,
    pub part: &'static str,
    pub settings: &'p Map<String, Value>,
}

impl ProgramUse<'_> {
    fn key(&self) -> Key {
        (self.program.clone(), self.part, self.settings.clone())
    }
}

/// Program, part and settings.
type Key = (ExternalProgram, &'static str, Map<String, Value>);

/// Idle programs: of each key as many as were used at once.
static WAITING: LazyLock<Mutex<HashMap<Key, Vec<Child>>>> = LazyLock::new(Mutex::default);

/// Asks an idle program, preferably one that holds these data, or starts another.
///
/// After an error the program is ended, since its state is unknown.
pub(crate) fn ask<T>(of: &ProgramUse, data: u64, questions: impl FnOnce(&mut Child) -> Result<T>) -> Result<T> {
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

/// Errors that occurred where none can be returned.
static FAILED: LazyLock<Mutex<HashMap<Key, Error>>> = LazyLock::new(Mutex::default);

/// The number in an answer, or NaN. The first error is kept until [`failure`] takes it; until then nothing is asked.
pub(crate) fn number_or_failure(of: &ProgramUse, questions: impl FnOnce(&mut Child) -> Result<f64>) -> f64 {
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

/// Takes the error that was kept.
pub(crate) fn failure(of: &ProgramUse) -> Option<Error> {
    FAILED.lock().unwrap_or_else(PoisonError::into_inner).remove(&of.key())
}
