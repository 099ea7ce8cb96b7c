//! What laws say when they do not hold.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use vaglio_core::{Criterion, Design, Score};

/// A law that does not hold, as one sentence: which law, on what, what was expected and what was found. Where several were
/// tried, the first of those that do not hold, with the others.
#[derive(Clone, PartialEq, Eq)]
pub struct Broken {
    /// The law, by the name of its function.
    pub law: &'static str,
    /// The data, the subset and the candidate on which it failed.
    pub on: String,
    /// What the law asks for.
    pub expected: String,
    /// What there was instead.
    pub found: String,
    /// Other laws that do not hold either.
    pub others: Vec<Broken>,
}

/// A sentence for each law, on lines of their own.
impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the law `{}` fails on {}: expected {}, found {}", self.law, self.on, self.expected, self.found)?;
        self.others.iter().try_for_each(|other| write!(f, "\n{other}"))
    }
}

/// The same as [`Display`](std::fmt::Display), since that is what a test prints that returns it.
impl std::fmt::Debug for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

impl std::error::Error for Broken {}

impl Broken {
    /// The same, said of a larger thing: a data set, a component.
    #[must_use]
    pub fn within(mut self, what: &str) -> Self {
        self.on = format!("{what}, {}", self.on);
        self.others = self.others.into_iter().map(|other| other.within(what)).collect();
        self
    }

    /// Every law that does not hold, by the first of the outcomes in which it does not.
    pub(crate) fn among(outcomes: impl IntoIterator<Item = Result<(), Broken>>) -> Result<(), Broken> {
        let mut known = HashSet::new();
        Self::gathered(outcomes.into_iter().flat_map(Broken::each).filter(|broken| known.insert(broken.law)))
    }

    /// Whatever does not hold.
    pub(crate) fn of_each(outcomes: impl IntoIterator<Item = Result<(), Broken>>) -> Result<(), Broken> {
        Self::gathered(outcomes.into_iter().flat_map(Broken::each))
    }

    fn each(outcome: Result<(), Broken>) -> impl Iterator<Item = Broken> {
        let mut first = outcome.err();
        let others = first.as_mut().map(|first| std::mem::take(&mut first.others));
        first.into_iter().chain(others.into_iter().flatten())
    }

    fn gathered(mut all: impl Iterator<Item = Broken>) -> Result<(), Broken> {
        match all.next() {
            Some(first) => Err(Broken { others: all.collect(), ..first }),
            None => Ok(()),
        }
    }
}

/// A law by its name, which makes the sentences.
#[derive(Clone, Copy)]
pub(crate) struct Law(pub(crate) &'static str);

impl Law {
    /// The sentence.
    pub(crate) fn broken(
        self,
        on: impl Into<String>,
        expected: impl ToString,
        found: impl std::fmt::Display,
    ) -> Broken {
        Broken {
            law: self.0,
            on: on.into(),
            expected: expected.to_string(),
            found: found.to_string(),
            others: Vec::new(),
        }
    }

    /// Refuses a value unless `holds`.
    pub(crate) fn must(
        self,
        holds: bool,
        on: impl FnOnce() -> String,
        expected: impl ToString,
        found: impl std::fmt::Debug,
    ) -> Result<(), Broken> {
        self.unless(holds, on, expected, format_args!("{found:?}"))
    }

    /// Refuses, in words, unless `holds`.
    pub(crate) fn unless(
        self,
        holds: bool,
        on: impl FnOnce() -> String,
        expected: impl ToString,
        found: impl std::fmt::Display,
    ) -> Result<(), Broken> {
        if holds { Ok(()) } else { Err(self.broken(on(), expected, found)) }
    }

    /// Refuses what is not equal.
    pub(crate) fn equal<T: PartialEq + std::fmt::Debug + ?Sized>(
        self,
        on: impl FnOnce() -> String,
        expected: &T,
        found: &T,
    ) -> Result<(), Broken> {
        self.must(expected == found, on, format!("{expected:?}"), found)
    }

    /// The value of a call that must neither fail nor panic.
    pub(crate) fn ran<T>(
        self,
        on: impl Fn() -> String,
        call: impl FnOnce() -> vaglio_core::Result<T>,
    ) -> Result<T, Broken> {
        match catch_unwind(AssertUnwindSafe(call)) {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => Err(self.broken(on(), "a result", format!("the error `{error}`"))),
            Err(_) => Err(self.broken(on(), "a result", "a panic")),
        }
    }

    /// The outcome of a call that may fail, but not panic.
    pub(crate) fn calm<T>(
        self,
        on: impl FnOnce() -> String,
        call: impl FnOnce() -> vaglio_core::Result<T>,
    ) -> Result<vaglio_core::Result<T>, Broken> {
        catch_unwind(AssertUnwindSafe(call)).map_err(|_| self.broken(on(), "a result or an error", "a panic"))
    }

    /// The outcome of a whole law, whose own panic, and that of a part where nothing else catches it, is one that fails.
    pub(crate) fn tried<T>(self, law: impl FnOnce() -> Result<T, Broken>) -> Result<T, Broken> {
        match catch_unwind(AssertUnwindSafe(law)) {
            Ok(outcome) => outcome,
            Err(_) => Err(self.broken("the part", "an outcome", "a panic")),
        }
    }

    /// Refuses numbers that are not equal to a tolerance.
    pub(crate) fn near(self, near: Near, on: impl FnOnce() -> String, expected: f64, found: f64) -> Result<(), Broken> {
        self.must(near.holds(expected, found), on, format!("{expected:?} to {:e}", near.tolerance), found)
    }

    /// Refuses scores that are not equal to a tolerance, or of which one alone has a λ.
    pub(crate) fn same(self, near: Near, on: impl Fn() -> String, expected: Score, found: Score) -> Result<(), Broken> {
        self.near(near, &on, expected.loss, found.loss)?;
        let both = expected.lambda.is_some() == found.lambda.is_some();
        self.must(both, on, format!("lambda {:?}", expected.lambda), found.lambda)
    }

    /// Refuses scores that differ in a bit.
    pub(crate) fn bits(self, on: impl FnOnce() -> String, expected: Score, found: Score) -> Result<(), Broken> {
        let same = expected.loss.to_bits() == found.loss.to_bits() && expected.lambda == found.lambda;
        self.must(same, on, format!("{expected:?} bit for bit"), found)
    }

    /// Refuses NaN.
    pub(crate) fn number(self, on: impl FnOnce() -> String, found: f64) -> Result<(), Broken> {
        self.must(!found.is_nan(), on, "a number", found)
    }
}

/// A relative tolerance, with the size below which numbers count as rounding of larger ones.
#[derive(Debug, Clone, Copy)]
pub struct Near {
    /// Of the larger of two numbers.
    pub tolerance: f64,
    /// Smaller numbers count as that large.
    pub least: f64,
}

impl Near {
    /// Relative, however small the numbers are.
    pub const fn relative(tolerance: f64) -> Self {
        Near { tolerance, least: 0.0 }
    }

    /// For scores: relative, but not below a millionth of the score of the empty subset.
    pub(crate) fn scores(criterion: &dyn Criterion, design: &Design, tolerance: f64) -> Self {
        // What fails or panics here does so under the law as well, which says so.
        let empty = catch_unwind(AssertUnwindSafe(|| criterion.evaluate(design, &[])));
        let empty = empty.ok().and_then(Result::ok).map_or(0.0, |score| score.loss.abs());
        Near { tolerance, least: if empty.is_finite() { 1e-6 * empty } else { 0.0 } }
    }

    /// The same to a millionth at least, for what is told of a score beside it.
    pub(crate) fn loosely(self) -> Self {
        Near { tolerance: self.tolerance.max(1e-6), ..self }
    }

    /// Whether two numbers are equal to the tolerance; infinities equal themselves and NaN nothing.
    pub fn holds(self, a: f64, b: f64) -> bool {
        a == b || (a - b).abs() <= self.tolerance * a.abs().max(b.abs()).max(self.least) && (a - b).is_finite()
    }

    /// Panics unless two numbers are equal to the tolerance.
    #[track_caller]
    pub fn assert(self, expected: f64, found: f64, on: impl std::fmt::Display) {
        assert!(self.holds(expected, found), "{on}: {found} is not {expected} to {:e}", self.tolerance);
    }
}
