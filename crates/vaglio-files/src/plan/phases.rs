//! What each phase of a run takes, in time and memory.
//!
//! Reading is timed as it is done here, the search and its pace are tried, and what stands beside them is operations over the
//! rates of this machine.

use super::final_fit::FinalFit;
use super::forecast::{Walk, Walks};
use super::span::Span;
use crate::Prepared;
use crate::importance::{SHARE, slower};
use crate::memory::Memory;
use std::fmt;
use vaglio_core::{Choose, Design, Measure, Outline};
use vaglio_kernels::machine::Machine;
use vaglio_pipeline::fdr::EXPERIMENTS;
use vaglio_pipeline::selector::ValidSelector;
use vaglio_tables::budget::{Budget, shown};

/// One phase of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Phase {
    /// Its name in the record's seconds.
    pub name: &'static str,
    /// Seconds; NaN where the work is not known.
    pub seconds: f64,
    /// The factor by which they may be off.
    pub doubt: f64,
    /// Bytes that it asks for beside the data; of reading those of the data.
    pub bytes: Option<f64>,
}

/// What was timed and counted before.
pub(super) struct Measured<'p> {
    pub selector: &'p ValidSelector,
    pub prepared: &'p Prepared,
    /// With all λ of the run.
    pub design: &'p Design,
    pub walk: &'p Walk,
    pub walks: Walks,
    pub memory: Memory,
    pub budget: Budget,
    pub machine: Machine,
    pub threads: f64,
    /// Seconds of reading all rows, and of the maps.
    pub read: f64,
    /// Seconds of making the design, its λ included.
    pub made: f64,
    /// Seconds of making the problem and the design of a fold that has all rows.
    pub of_fold: f64,
    /// Flops of what the chosen columns are worth, at most.
    pub worth: f64,
    /// Flops of the shares of the chosen columns.
    pub shares: f64,
    /// The learner that is trained on the chosen columns, if there is one.
    pub final_fit: Option<FinalFit>,
    /// Seconds of tuning once.
    pub tuned: f64,
    /// Seconds of one thread of experiments with dummies: those that choose, and those of `evaluate`.
    pub dummies: [f64; 2],
}

/// Seconds that what the chosen columns are worth may take whatever the search took.
const LEAST_WORTH: f64 = 0.05;

/// The factor by which what was timed itself may be off; and what is extrapolated.
const SURE: f64 = 1.4;
const UNSURE: f64 = 1.7;
/// Seconds to start the program, and to write its files.
const STARTING: f64 = 0.004;
const WRITING: f64 = 0.004;
/// Columns of a result, as far as is known before the size is.
const RESULT: usize = 10;
/// Bytes of a report and a record that are made a second.
const TEXT: f64 = 1e8;
/// Doubles that take as long to be read as telling a prediction's loss by clusters.
const TALLIED: f64 = 12.0;
/// Exponentials of each row and output that making probabilities of scores takes.
const CALIBRATED: f64 = 40.0;

/// What one walk leaves to be judged: training rows, rows that are predicted, the size and how many λ share the reduction.
struct JudgedWalk {
    rows: f64,
    held: f64,
    size: usize,
    lambdas: usize,
}

impl Measured<'_> {
    /// The phases in the order of a run.
    pub fn phases(&self) -> Vec<Phase> {
        let [chooses, judges] = self.dummies.map(|seconds| self.shared(seconds, EXPERIMENTS));
        let (search, choose) = (self.search(), self.choose() + chooses);
        let known = if self.walk.is_known { SURE } else { UNSURE };
        let memory = &self.memory;
        let held = |count: usize| (count > 0).then(|| Memory { repetitions: count, ..*memory }.held(self.budget));
        let of_folds = held(self.walks.folds);
        let of_repeats = held(if self.walks.around() > 0 { memory.repetitions } else { 0 });
        let text = self.text();
        let phase = |name, seconds, doubt, bytes| Phase { name, seconds, doubt, bytes };
        vec![
            phase("read", STARTING + self.read, SURE, Some(memory.data)),
            phase("search", search + self.tuned, known, memory.search),
            phase("choose", choose, UNSURE, of_folds),
            phase("evaluate", self.evaluate(search + self.tuned + choose) + judges, UNSURE, of_repeats),
            phase("fit", self.fit(), UNSURE, Some(memory.fit + memory.exchanges)),
            phase("report", WRITING + text / TEXT, SURE, Some(2.0 * text)),
        ]
    }

    /// Work of so many pieces, which threads share.
    fn shared(&self, seconds: f64, pieces: usize) -> f64 {
        seconds / self.threads.min(pieces.max(1) as f64).powf(0.85)
    }

    /// The design and the walks on all rows.
    fn search(&self) -> f64 {
        // Where sizes are compared, the walk on all rows goes as far as those on folds.
        let one = if self.walks.folds > 0 { self.walk.in_folds } else { self.walk.seconds };
        let walks = self.shared(one * self.walks.whole as f64, usize::MAX);
        self.made + self.memory.data / self.machine.fresh + walks
    }

    /// The walks on folds, with what is made for them and what they lose on the rows held out.
    fn choose(&self) -> f64 {
        let Walks { folds, lambdas, .. } = self.walks;
        if folds == 0 {
            return 0.0;
        }
        let part = self.walks.part_of_fold();
        let rows = self.rows() * part;
        let walks = lambdas as f64 * self.walk.in_folds * part;
        let judged =
            self.judged(&JudgedWalk { rows, held: self.rows() - rows, size: self.walk.size_in_folds, lambdas });
        let one = self.of_fold * part + walks + judged + self.all_columns(rows);
        let pairs = self.walks.pairs;
        let of_pair = self.of_fold * part
            + self.walk.in_folds * part
            + self.judged_once(rows, self.rows() - rows, self.of_result());
        self.shared(folds as f64 * one, folds * lambdas) + self.shared(pairs as f64 * of_pair, pairs)
    }

    /// All of it again in outer folds, on shuffled targets and halves; and the rows held out predicted once more.
    fn evaluate(&self, one: f64) -> f64 {
        let Walks { folds, outer, .. } = self.walks;
        let again = one * (self.walks.repetitions() - 1.0);
        let Walks { outer_pairs, parts, shuffled, halves, .. } = self.walks;
        let made = self.of_fold * (outer + outer_pairs + parts + shuffled + halves) as f64;
        let halves = self.shared(0.5 * self.walk.seconds * self.walks.halves as f64, self.walks.halves);
        let is_classes = self.design.classes().is_some();
        let predicted = match folds > 0 && outer == 0 && (is_classes || self.prepared.test.is_none()) {
            true => {
                let rows = self.rows() * self.walks.part_of_fold();
                let size = self.of_result();
                let one = self.of_fold + self.made + self.judged_once(rows, self.rows() - rows, size);
                self.shared(folds as f64 * one, folds)
            }
            false => 0.0,
        };
        let scores =
            if is_classes { CALIBRATED * self.rows() * self.outputs() / self.machine.exponentials } else { 0.0 };
        // Of a criterion of unknown work there is no pace.
        let shares = if self.shares == 0.0 { 0.0 } else { self.shared(self.shares / self.walk.pace, usize::MAX) };
        again + made + halves + predicted + scores + shares
    }

    /// The final fit, the losses of every size on training and test rows, and what each chosen column is worth.
    fn fit(&self) -> f64 {
        let test = self.prepared.test.as_ref().map_or(0, |test| test.rows()) as f64;
        let test = test * self.prepared.times.map_or(1.0, |times| times[1]);
        let held = self.rows() + test;
        let curve = match self.is_one() {
            true => self.judged_once(self.rows(), held, self.walk.size),
            false => self.judged(&JudgedWalk { rows: self.rows(), held, size: self.walk.size, lambdas: 1 }),
        };
        let result = self.of_result() as f64;
        let correlations = self.rows() * result.min(200.0).powi(2) / self.machine.products;
        let slower = slower(self.walk.estimate.engine);
        let fresh = (self.memory.fit + self.memory.exchanges) / self.machine.fresh;
        let worth = self.worth * slower / self.walk.pace;
        // Of unknown work as much as it may take beside the search.
        let worth = if worth.is_nan() { (SHARE * self.walk.seconds).max(LEAST_WORTH) } else { worth };
        curve + correlations + fresh + worth
    }

    /// What the models of all columns take in a fold, one for each λ, where the run makes them.
    fn all_columns(&self, rows: f64) -> f64 {
        let columns = self.design.candidates().len() as f64;
        let lambdas = self.design.lambdas().len() as f64;
        let work = lambdas * rows * rows * columns;
        let is_made = !self.is_one() && self.design.readout().is_some() && columns > rows;
        if is_made && self.walks.folds as f64 * work <= 3e10 { 2.0 * work / self.machine.reducing } else { 0.0 }
    }

    /// The columns of all walks reduced to a triangle, the models of every size with their predictions, and their losses.
    fn judged(&self, judged: &JudgedWalk) -> f64 {
        let JudgedWalk { rows, held, size, lambdas } = *judged;
        if self.is_one() {
            // Models at other λ are solved with the first, and corrected by the same reads of the rows.
            let (others, columns) = (lambdas as f64 - 1.0, size as f64);
            let of_another = held * self.outputs() * (columns + TALLIED) / self.machine.stream
                + 4.0 * rows * columns * self.outputs() / self.machine.reducing
                + self.loss(held) * self.outputs()
                + self.final_fit.map_or(0.0, |fit| fit.of(rows));
            return self.judged_once(rows, held, size) + others * of_another;
        }
        let (candidates, outputs, lambdas) = (self.design.candidates().len() as f64, self.outputs(), lambdas as f64);
        let size = size as f64;
        // Walks at λ that are near each other take many of the same columns.
        let union = (size * (1.0 + lambdas.ln())).min(candidates);
        let triangle = 2.0 * rows * union * union.min(rows) + lambdas * size * size * (union + 2.0 * size);
        let predictions = lambdas * held * outputs * (size * size / 2.0 + TALLIED * size) / self.machine.stream;
        let last = self.final_fit.map_or(0.0, |fit| fit.of(rows));
        triangle / self.machine.reducing + predictions + lambdas * size * (self.loss(held) * outputs + last)
    }

    /// The same of one subset.
    fn judged_once(&self, rows: f64, held: f64, size: usize) -> f64 {
        let size = size as f64;
        let triangle = 2.0 * rows * size * size.min(rows) + size.min(rows).powi(3);
        self.final_fit.map_or(0.0, |fit| fit.of(rows))
            + triangle / self.machine.reducing
            + held * self.outputs() * (size + TALLIED) / self.machine.stream
            + self.loss(held) * self.outputs()
    }

    /// Seconds of what so many rows lose, beside reading them.
    fn loss(&self, rows: f64) -> f64 {
        let loss = self.selector.loss(self.prepared.train.task());
        match loss.measure() {
            Measure::Squared
            | Measure::BalancedSquared
            | Measure::Absolute
            | Measure::ZeroOne
            | Measure::BalancedError => 0.0,
            Measure::Rows => 2.0 * rows / self.machine.exponentials,
            Measure::Auc | Measure::Whole => rows * rows.max(2.0).log2() / self.machine.comparisons,
        }
    }

    /// Bytes of the record and the report: names, subsets, the losses of sizes and λ, and predictions.
    fn text(&self) -> f64 {
        let names: usize = self.design.names().iter().map(|name| name.len() + 8).sum();
        let sizes = if self.is_one() { 1.0 } else { self.walk.size as f64 };
        let cells = if self.walks.folds > 0 { 80.0 * self.walks.lambdas as f64 * sizes } else { 0.0 };
        names as f64 + sizes * (300.0 + 8.0 * sizes.min(1000.0)) + 3.0 * cells + 60.0 * self.rows().min(2000.0) + 3e4
    }

    fn rows(&self) -> f64 {
        self.design.planned_rows() as f64
    }

    fn outputs(&self) -> f64 {
        self.design.targets().nrows() as f64
    }

    /// Whether the search has all columns at once for its result.
    fn is_one(&self) -> bool {
        let Outline { start, largest, steps, .. } = self.walk.outline;
        start == largest && steps == 0
    }

    fn of_result(&self) -> usize {
        let is_set = matches!(self.selector.search().choose(), Choose::Last | Choose::Size(_));
        if self.is_one() || is_set { self.walk.size } else { self.walk.size.min(RESULT) }
    }
}

/// The phases one after another.
pub(super) fn total(phases: &[Phase]) -> Span {
    phases.iter().fold(Span::default(), |sum, phase| sum.and(phase.span()))
}

impl Phase {
    fn span(&self) -> Span {
        Span::about(self.seconds, self.doubt)
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<8}  ", self.name)?;
        match self.seconds {
            seconds if seconds.is_nan() => write!(f, "unknown")?,
            _ => write!(f, "{}", self.span())?,
        }
        match self.bytes {
            Some(bytes) => write!(f, ", {}", shown(bytes)),
            None => Ok(()),
        }
    }
}
