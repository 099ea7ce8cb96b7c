//! Reports of violated laws, and the assertions that make them.

use std::collections::HashSet;
use std::fmt::{Debug, Display};
use std::panic::{AssertUnwindSafe, catch_unwind};
use vaglio_core::serde::{Serialize, de::DeserializeOwned};
use vaglio_core::{Criterion, Design, Score};

/// A violated law: its name, the test data, and the expected and actual result. After a run of several laws, `others`
/// has the further violations.
#[derive(Clone, PartialEq, Eq)]
pub struct LawViolation {
    /// Name of the law's function.
    pub law: &'static str,
    /// Data, subset and candidate on which the law failed.
    pub on: String,
    /// Expected result.
    pub expected: String,
    /// Actual result.
    pub found: String,
    /// Further violated laws.
    pub others: Vec<LawViolation>,
}

/// Outcome of a law.
pub type LawResult<T = ()> = Result<T, LawViolation>;

/// Prints one sentence per law, each on its own line.
impl Display for LawViolation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the law `{}` fails on {}: expected {}, found {}", self.law, self.on, self.expected, self.found)?;
        self.others.iter().try_for_each(|other| write!(f, "\n{other}"))
    }
}

/// Prints like [`Display`](std::fmt::Display), since a test that returns this error prints it with `Debug`.
impl Debug for LawViolation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

impl std::error::Error for LawViolation {}

impl LawViolation {
    /// Adds the data set or component in which the law failed.
    #[must_use]
    pub fn within(mut self, what: &str) -> Self {
        self.on = format!("{what}, {}", self.on);
        self.others = self.others.into_iter().map(|other| other.within(what)).collect();
        self
    }

    /// Names the violations that have no name yet.
    fn named(mut self, law: &'static str) -> Self {
        self.law = if self.law.is_empty() { law } else { self.law };
        self.others = self.others.into_iter().map(|other| other.named(law)).collect();
        self
    }

    /// Returns the first violation of each law.
    pub(crate) fn among(outcomes: impl IntoIterator<Item = LawResult>) -> LawResult {
        let mut known = HashSet::new();
        Self::gather(outcomes.into_iter().flat_map(LawViolation::each).filter(|broken| known.insert(broken.law)))
    }

    /// Returns all violations.
    pub(crate) fn all(outcomes: impl IntoIterator<Item = LawResult>) -> LawResult {
        Self::gather(outcomes.into_iter().flat_map(LawViolation::each))
    }

    fn each(outcome: LawResult) -> impl Iterator<Item = LawViolation> {
        let mut first = outcome.err();
        let others = first.as_mut().map(|first| std::mem::take(&mut first.others));
        first.into_iter().chain(others.into_iter().flatten())
    }

    fn gather(mut all: impl Iterator<Item = LawViolation>) -> LawResult {
        match all.next() {
            Some(first) => Err(LawViolation { others: all.collect(), ..first }),
            None => Ok(()),
        }
    }
}

/// Runs a whole law and names its violation; a panic of the law or the component counts as one.
pub(crate) fn law<T>(name: &'static str, check: impl FnOnce() -> LawResult<T>) -> LawResult<T> {
    let outcome = catch_unwind(AssertUnwindSafe(check));
    let outcome = outcome.unwrap_or_else(|_| Err(violation("the part", "an outcome", "a panic")));
    outcome.map_err(|broken| broken.named(name))
}

/// Builds a violation report; [`law`] adds the name.
pub(crate) fn violation(on: impl Display, expected: impl ToString, found: impl Display) -> LawViolation {
    LawViolation {
        law: "",
        on: on.to_string(),
        expected: expected.to_string(),
        found: found.to_string(),
        others: Vec::new(),
    }
}

/// Fails unless `holds`, with `found` in debug format.
pub(crate) fn must(holds: bool, on: impl Display, expected: impl ToString, found: impl Debug) -> LawResult {
    unless(holds, on, expected, format_args!("{found:?}"))
}

/// Fails unless `holds`, with `found` in display format.
pub(crate) fn unless(holds: bool, on: impl Display, expected: impl ToString, found: impl Display) -> LawResult {
    if holds { Ok(()) } else { Err(violation(on, expected, found)) }
}

/// Fails unless the two values are equal.
pub(crate) fn equals<T: PartialEq + Debug + ?Sized>(on: impl Display, expected: &T, found: &T) -> LawResult {
    must(expected == found, on, format_args!("{expected:?}"), found)
}

/// Makes a call that must succeed, and returns its value.
pub(crate) fn attempt<T>(on: impl Display, call: impl FnOnce() -> vaglio_core::Result<T>) -> LawResult<T> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(violation(on, "a result", format!("the error `{error}`"))),
        Err(_) => Err(violation(on, "a result", "a panic")),
    }
}

/// Makes a call that may fail but must not panic.
pub(crate) fn no_panic<T>(
    on: impl Display,
    call: impl FnOnce() -> vaglio_core::Result<T>,
) -> LawResult<vaglio_core::Result<T>> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|_| violation(on, "a result or an error", "a panic"))
}

/// The law `few_rows`: a call on the first one to four of some rows may fail but must not panic.
pub(crate) fn on_few_rows(rows: usize, mut call: impl FnMut(&[usize]) -> vaglio_core::Result<()>) -> LawResult {
    let first: Vec<usize> = (0..rows.min(4)).collect();
    law("few_rows", || {
        (1..=first.len()).try_for_each(|count| {
            no_panic(format_args!("the first {count} rows"), || call(&first[..count])).map(|_| ())
        })
    })
}

/// Runs work in a pool of `count` threads.
pub(crate) fn in_pool<T: Send>(count: usize, work: impl Fn() -> LawResult<T> + Sync) -> LawResult<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build();
    pool.map_err(|error| violation(format!("{count} threads"), "a pool", error))?.install(&work)
}

/// Runs the laws of a part on each standard data set that `accepts` it.
pub(crate) fn on_each<D>(
    all: Vec<(&'static str, D)>,
    mut accepts: impl FnMut(&D) -> bool,
    mut check: impl FnMut(&D) -> LawResult,
) -> LawResult {
    let mut taken = Vec::new();
    for (name, data) in all {
        let accepted = attempt(format_args!("{name}, a check"), || Ok(accepts(&data)))?;
        taken.extend(accepted.then_some((name, data)));
    }
    must(!taken.is_empty(), "the standard data", "a data set that is accepted", 0)?;
    LawViolation::among(taken.iter().map(|(name, data)| check(data).map_err(|broken| broken.within(name))))
}

/// Saves a value as JSON and loads it again.
pub(crate) fn reload<T: Serialize + DeserializeOwned>(on: impl Display, value: &T) -> LawResult<T> {
    let text = serde_json::to_string(value).map_err(|e| violation(&on, "to be saved", e))?;
    serde_json::from_str(&text).map_err(|e| violation(on, "to be loaded", e))
}

/// Fails unless two numbers are equal within a tolerance.
pub(crate) fn almost_equal(near: Tolerance, on: impl Display, expected: f64, found: f64) -> LawResult {
    must(near.holds(expected, found), on, format_args!("{expected:?} to {:e}", near.tolerance), found)
}

/// Fails unless two scores are equal within a tolerance and both or neither have a λ.
pub(crate) fn same_score(near: Tolerance, on: impl Display, expected: Score, found: Score) -> LawResult {
    almost_equal(near, &on, expected.loss, found.loss)?;
    let both = expected.lambda.is_some() == found.lambda.is_some();
    must(both, on, format_args!("lambda {:?}", expected.lambda), found.lambda)
}

/// Fails unless two scores have equal bits.
pub(crate) fn same_bits(on: impl Display, expected: Score, found: Score) -> LawResult {
    let same = expected.loss.to_bits() == found.loss.to_bits() && expected.lambda == found.lambda;
    must(same, on, format_args!("{expected:?} bit for bit"), found)
}

/// Fails on NaN.
pub(crate) fn no_nan(on: impl Display, found: f64) -> LawResult {
    must(!found.is_nan(), on, "a number", found)
}

/// A relative tolerance, with a floor for the size that it is relative to.
#[derive(Debug, Clone, Copy)]
pub struct Tolerance {
    /// Tolerance relative to the larger of two numbers.
    pub tolerance: f64,
    /// Floor: smaller numbers are treated as this large.
    pub least: f64,
}

impl Tolerance {
    /// Creates a purely relative tolerance.
    pub const fn relative(tolerance: f64) -> Self {
        Tolerance { tolerance, least: 0.0 }
    }

    /// Creates a tolerance for scores, with a millionth of the empty subset's score as the floor.
    pub(crate) fn scores(criterion: &dyn Criterion, design: &Design, tolerance: f64) -> Self {
        // A failure or panic here recurs under the law itself, which reports it.
        let empty = catch_unwind(AssertUnwindSafe(|| criterion.evaluate(design, &[])));
        let empty = empty.ok().and_then(Result::ok).map_or(0.0, |score| score.loss.abs());
        Tolerance { tolerance, least: if empty.is_finite() { 1e-6 * empty } else { 0.0 } }
    }

    /// Widens the tolerance to at least 1e−6, for statistics reported with a score.
    pub(crate) fn loosely(self) -> Self {
        Tolerance { tolerance: self.tolerance.max(1e-6), ..self }
    }

    /// Tests whether two numbers are equal within the tolerance; infinities equal themselves, NaN equals nothing.
    pub fn holds(self, a: f64, b: f64) -> bool {
        a == b || (a - b).abs() <= self.tolerance * a.abs().max(b.abs()).max(self.least) && (a - b).is_finite()
    }

    /// Panics unless two numbers are equal within the tolerance.
    #[track_caller]
    pub fn assert(self, expected: f64, found: f64, on: impl Display) {
        assert!(self.holds(expected, found), "{on}: {found} is not {expected} to {:e}", self.tolerance);
    }
}
