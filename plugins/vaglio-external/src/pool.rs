//! Pool of running programs.

use crate::child::Child;
use crate::program::ExternalProgram;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};
use vaglio_core::{Result, lock};

/// A program with its purpose and settings.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct ProgramUse {
    pub program: ExternalProgram,
    pub part: &'static str,
    pub settings: Map<String, Value>,
}

/// Idle programs: of each use as many as were running at once.
static WAITING: LazyLock<Mutex<HashMap<ProgramUse, Vec<Child>>>> = LazyLock::new(Mutex::default);

/// Asks an idle program, preferably one that holds these data, or starts another.
///
/// After an error the program is ended, since its state is unknown.
pub(crate) fn ask<T>(program: &ProgramUse, data: u64, questions: impl FnOnce(&mut Child) -> Result<T>) -> Result<T> {
    let waiting = || lock(&WAITING);
    let has_data = |child: &Child| child.holds.as_ref().is_some_and(|(held, _)| *held == data);
    let idle = waiting().get_mut(program).and_then(|idle| match idle.iter().position(has_data) {
        Some(at) => Some(idle.swap_remove(at)),
        None => idle.pop(),
    });
    let mut child = idle.map_or_else(|| Child::start(program), Ok)?;
    let answer = questions(&mut child)?;
    waiting().entry(program.clone()).or_default().push(child);
    Ok(answer)
}
