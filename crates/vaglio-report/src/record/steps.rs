//! Steps of a search, and the best subset of each size.

use super::Record;
use crate::page::finite;
use vaglio_core::{Action, Feature, record};
use vaglio_search::{Path, PathEntry};

/// One step of the search.
#[record]
pub struct StepRecord {
    /// Number, from 1.
    pub step: usize,
    /// Addition or removal.
    pub action: Action,
    /// Index of the column, or of the first of a block.
    pub index: Feature,
    /// Name of the column.
    pub name: String,
    /// Columns of a block that moved together; empty for a single column.
    #[optional]
    pub columns: Vec<Feature>,
    /// Score after the step.
    pub score: f64,
    /// Standard error of the score, if this step led to the best subset of its size.
    pub standard_error: Option<f64>,
    /// λ of the score.
    pub lambda: Option<f64>,
    /// Size after the step.
    pub size: usize,
    /// Other columns with exactly this score at this step.
    pub tied: Vec<Feature>,
    /// Decrease of the common correlation of a least-angle path until the next step.
    #[optional]
    pub mu: Option<f64>,
    /// Coefficients of a least-angle path at the next step, in order of entry.
    #[optional]
    pub alpha: Option<Vec<f64>>,
}

/// The best subset of one size.
#[record]
#[derive(Default)]
pub struct EntryRecord {
    /// Number of columns.
    pub size: usize,
    /// Step that led to the subset; 0 for the starting subset of the search.
    pub step: Option<usize>,
    /// Columns of the subset, if no step led to it.
    #[optional]
    pub subset: Option<Vec<Feature>>,
    /// Score of the subset.
    pub score: f64,
    /// Standard error of the score, if it has one.
    pub standard_error: Option<f64>,
    /// λ of the score.
    pub lambda: Option<f64>,
    /// λ of each output, if outputs have separate ones.
    #[optional]
    pub lambdas: Option<Vec<f64>>,
    /// Cross-validated loss of the selection with this size.
    pub cross_validated: Option<f64>,
    /// Standard error of the cross-validated loss.
    pub cross_validated_error: Option<f64>,
    /// Standard error of the difference to the lowest cross-validated loss, on the same rows.
    #[optional]
    pub difference_error: Option<f64>,
    /// Loss of the model on the training rows.
    pub train: Option<f64>,
    /// Mean squared error on the training rows, in the units of the data, for regression.
    #[optional]
    pub mse: Option<f64>,
    /// R² on the training rows, for regression.
    #[optional]
    pub r2: Option<f64>,
    /// Adjusted R² = 1 − (1 − R²)·(n − 1)/(n − size − 1) on the n training rows, for regression. Shrinkage by λ is not
    /// considered.
    #[optional]
    pub adjusted_r2: Option<f64>,
    /// Effective degrees of freedom d, intercept included, for regression by a ridge readout.
    #[optional]
    pub freedom: Option<f64>,
    /// AICc: N ln E + 2kN/(N − k − 1), with the mean squared error E, k = d + 1 and N training rows.
    #[optional]
    pub aicc: Option<f64>,
    /// BIC: N ln E + k ln N.
    #[optional]
    pub bic: Option<f64>,
    /// Mallows's Cp in the units of E: E + 2 σ̂² d/N, with σ̂² from the model of all candidate columns.
    #[optional]
    pub cp: Option<f64>,
    /// Loss of the model on the test rows.
    pub test: Option<f64>,
    /// Total cost of the columns, if columns have costs.
    #[optional]
    pub cost: Option<f64>,
}

impl StepRecord {
    /// Columns that were added or removed.
    pub fn moved_columns(&self) -> &[Feature] {
        if self.columns.is_empty() { std::slice::from_ref(&self.index) } else { &self.columns }
    }
}

/// Records of the steps and entries of a path, in the order of the search; an entry refers to the step that led to it.
/// Cost O(steps · size).
pub fn path_records(path: &Path, name: impl Fn(Feature) -> String) -> (Vec<StepRecord>, Vec<EntryRecord>) {
    let place = |size: usize| path.entries.binary_search_by_key(&size, |entry| entry.subset.len()).ok();
    let mut subset = path.start();
    let is_backward = !subset.is_empty();
    let mut step_of_entry: Vec<Option<usize>> = vec![None; path.entries.len()];
    if let Some(all) = step_of_entry.last_mut().filter(|_| is_backward) {
        *all = Some(0);
    }
    let mut steps = Vec::with_capacity(path.steps.len());
    for (number, step) in (1..).zip(&path.steps) {
        step.follow(&mut subset);
        let is_led_to = |entry: &PathEntry| entry.score.loss == step.score.loss && entry.subset == subset;
        let reached = place(step.size).filter(|&at| step_of_entry[at].is_none() && is_led_to(&path.entries[at]));
        if let Some(at) = reached {
            step_of_entry[at] = Some(number);
        }
        steps.push(StepRecord {
            step: number,
            action: step.action,
            index: step.feature,
            name: name(step.feature),
            columns: if step.with.is_empty() { Vec::new() } else { [&[step.feature], &step.with[..]].concat() },
            score: step.score.loss,
            standard_error: reached.and_then(|at| path.entries[at].standard_error),
            lambda: step.score.lambda,
            size: step.size,
            tied: step.tied.clone(),
            mu: step.knot.as_ref().map(|knot| knot.mu),
            alpha: step.knot.as_ref().map(|knot| knot.alpha.clone()),
        });
    }
    let entry = |(entry, step): (&PathEntry, Option<usize>)| EntryRecord {
        size: entry.subset.len(),
        step,
        subset: step.is_none_or(|step| step == 0).then(|| entry.subset.clone()),
        score: entry.score.loss,
        standard_error: entry.standard_error,
        lambda: entry.score.lambda,
        lambdas: entry.lambdas().map(<[f64]>::to_vec),
        ..EntryRecord::default()
    };
    let mut entries: Vec<EntryRecord> = path.entries.iter().zip(step_of_entry).map(entry).collect();
    if is_backward {
        entries.reverse();
    }
    (steps, entries)
}

impl Record {
    /// Entries of the path in order of increasing size.
    pub(crate) fn path_by_size(&self) -> Vec<&EntryRecord> {
        let mut path: Vec<&EntryRecord> = self.path.iter().collect();
        path.sort_by_key(|entry| entry.size);
        path
    }

    /// The entry of the path that is the result.
    pub(crate) fn chosen_entry(&self) -> Option<&EntryRecord> {
        self.path.iter().find(|entry| entry.size == self.selected.len())
    }

    /// Entry with the lowest finite value; of ties, the smallest subset.
    pub(crate) fn lowest(&self, value: fn(&EntryRecord) -> Option<f64>) -> Option<&EntryRecord> {
        let known = self.path.iter().filter_map(|entry| Some((value(entry).and_then(finite)?, entry)));
        known.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.size.cmp(&b.1.size))).map(|(_, entry)| entry)
    }

    /// Entry with the lowest score; of ties, the smallest subset.
    pub(crate) fn best_entry(&self) -> Option<&EntryRecord> {
        self.lowest(|entry| Some(entry.score))
    }

    /// Columns that the search began with.
    pub(crate) fn start_subset(&self) -> Vec<Feature> {
        let start = self.path.iter().find(|entry| entry.step == Some(0));
        start.and_then(|entry| entry.subset.clone()).unwrap_or_default()
    }

    /// Each step with the columns after it, in order of entry. Cost O(steps · size).
    pub(crate) fn steps_with_subsets(&self) -> impl Iterator<Item = (&StepRecord, Vec<Feature>)> {
        let mut subset = self.start_subset();
        self.steps.iter().map(move |step| {
            step.action.follow(step.moved_columns(), &mut subset);
            (step, subset.clone())
        })
    }

    /// Columns of each entry of `path`, in order of entry. Cost O(steps · size).
    pub fn subsets(&self) -> Vec<Vec<Feature>> {
        let mut subsets: Vec<Vec<Feature>> =
            self.path.iter().map(|entry| entry.subset.clone().unwrap_or_default()).collect();
        for (step, subset) in self.steps_with_subsets() {
            if let Some(at) = self.path.iter().position(|entry| entry.step == Some(step.step)) {
                subsets[at] = subset;
            }
        }
        subsets
    }
}
