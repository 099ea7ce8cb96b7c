//! The steps of a search, and the subsets that they lead to.

use super::Record;
use crate::infinity;
use serde::{Deserialize, Serialize};
use vaglio_core::{Action, Feature, Path, PathEntry, Step};

/// One step of the search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepRecord {
    /// Number, from 1.
    pub step: usize,
    /// Addition or removal.
    pub action: Action,
    /// To which column; to the first of a block.
    pub index: Feature,
    /// The name of the column.
    pub name: String,
    /// The columns of a block that moved together; empty for a column alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<Feature>,
    /// The score after the step.
    #[serde(with = "infinity")]
    pub score: f64,
    /// The standard error of the score of the best subset of its size, where this step led to it.
    pub standard_error: Option<f64>,
    /// Λ.
    pub lambda: Option<f64>,
    /// The size after the step.
    pub size: usize,
    /// Other columns that would have given exactly this score.
    pub tied: Vec<Feature>,
    /// How far the common correlation of a least-angle path falls until the next step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mu: Option<f64>,
    /// The coefficients of a least-angle path at the next step, in order of entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<Vec<f64>>,
}

/// The best subset of one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntryRecord {
    /// Size.
    pub size: usize,
    /// The step after which it stood; 0 for the subset that the walk started from.
    pub step: Option<usize>,
    /// Columns, where no step leads to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subset: Option<Vec<Feature>>,
    /// Score.
    #[serde(with = "infinity")]
    pub score: f64,
    /// The standard error of the score, where it has one.
    pub standard_error: Option<f64>,
    /// Λ.
    pub lambda: Option<f64>,
    /// The λ of each output, where each has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lambdas: Option<Vec<f64>>,
    /// The cross-validated loss of the whole selection cut at this size.
    #[serde(default, with = "infinity::optional")]
    pub cross_validated: Option<f64>,
    /// Standard error.
    pub cross_validated_error: Option<f64>,
    /// The standard error of what it and the lowest of all sizes and λ differ by, on the same rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference_error: Option<f64>,
    /// The loss of its model on the training rows.
    #[serde(default, with = "infinity::optional")]
    pub train: Option<f64>,
    /// The mean squared error of its model on the training rows, in the units of the data, for numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mse: Option<f64>,
    /// R² of its model on the training rows, for numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r2: Option<f64>,
    /// 1 − (1 − R²)·(n − 1)/(n − size − 1) of its model on the n training rows, for numbers: every column counts whole, also
    /// where λ shrinks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adjusted_r2: Option<f64>,
    /// The effective degrees of freedom d of its model, that of an intercept included, for numbers by a ridge readout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freedom: Option<f64>,
    /// Akaike's criterion for few rows: N ln E + 2kN/(N − k − 1) with E the mean squared error, k = d + 1 and N training rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aicc: Option<f64>,
    /// Schwarz's criterion: N ln E + k ln N.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bic: Option<f64>,
    /// Mallows's Cp in the units of the error: E + 2 σ̂² d/N with σ̂² of the model of all candidate columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cp: Option<f64>,
    /// The loss of its model on the test rows.
    #[serde(default, with = "infinity::optional")]
    pub test: Option<f64>,
    /// Total cost of the columns, if columns have costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

impl StepRecord {
    /// Step `number`, from 1, that moved the column of that name.
    pub fn new(number: usize, step: &Step, name: String) -> Self {
        StepRecord {
            step: number,
            action: step.action,
            index: step.feature,
            name,
            columns: if step.with.is_empty() { Vec::new() } else { [&[step.feature], &step.with[..]].concat() },
            score: step.score.loss,
            standard_error: None,
            lambda: step.score.lambda,
            size: step.size,
            tied: step.tied.clone(),
            mu: step.knot.as_ref().map(|knot| knot.mu),
            alpha: step.knot.as_ref().map(|knot| knot.alpha.clone()),
        }
    }

    /// The columns that moved.
    pub fn moved(&self) -> &[Feature] {
        if self.columns.is_empty() { std::slice::from_ref(&self.index) } else { &self.columns }
    }
}

/// The steps and the entries of a path, each entry by the step that led to it; in the order in which the walk came to
/// them. Cost O(steps · size).
pub fn recorded(path: &Path, name: impl Fn(Feature) -> String) -> (Vec<StepRecord>, Vec<EntryRecord>) {
    let mut steps: Vec<StepRecord> =
        (1..).zip(&path.steps).map(|(number, step)| StepRecord::new(number, step, name(step.feature))).collect();
    let place = |size: usize| path.entries.binary_search_by_key(&size, |entry| entry.subset.len()).ok();
    let mut subset = path.start();
    let is_backward = !subset.is_empty();
    let mut of_entry: Vec<Option<usize>> = vec![None; path.entries.len()];
    if let Some(all) = of_entry.last_mut().filter(|_| is_backward) {
        *all = Some(0);
    }
    for (step, taken) in steps.iter_mut().zip(&path.steps) {
        taken.follow(&mut subset);
        let Some(at) = place(step.size).filter(|&at| of_entry[at].is_none()) else { continue };
        let entry = &path.entries[at];
        if entry.score.loss == step.score && entry.subset == subset {
            of_entry[at] = Some(step.step);
            step.standard_error = entry.standard_error;
        }
    }
    let mut entries: Vec<EntryRecord> =
        path.entries.iter().zip(of_entry).map(|(entry, step)| EntryRecord::new(entry, step)).collect();
    if is_backward {
        entries.reverse();
    }
    (steps, entries)
}

impl EntryRecord {
    fn new(entry: &PathEntry, step: Option<usize>) -> Self {
        EntryRecord {
            size: entry.subset.len(),
            step,
            subset: if step.is_none_or(|step| step == 0) { Some(entry.subset.clone()) } else { None },
            score: entry.score.loss,
            standard_error: entry.standard_error,
            lambda: entry.score.lambda,
            lambdas: entry.lambdas().map(<[f64]>::to_vec),
            cross_validated: None,
            cross_validated_error: None,
            difference_error: None,
            train: None,
            mse: None,
            r2: None,
            adjusted_r2: None,
            freedom: None,
            aicc: None,
            bic: None,
            cp: None,
            test: None,
            cost: None,
        }
    }
}

impl Record {
    /// The columns of each entry of `path`, in order of entry. Cost O(steps · size).
    pub fn subsets(&self) -> Vec<Vec<Feature>> {
        let mut subsets: Vec<Vec<Feature>> =
            self.path.iter().map(|entry| entry.subset.clone().unwrap_or_default()).collect();
        let start = self.path.iter().position(|entry| entry.step == Some(0));
        let mut subset = start.map_or_else(Vec::new, |start| subsets[start].clone());
        for step in &self.steps {
            step.action.follow(step.moved(), &mut subset);
            let here = |entry: &EntryRecord| entry.step == Some(step.step);
            if let Some(at) = self.path.iter().position(here) {
                subsets[at].clone_from(&subset);
            }
        }
        subsets
    }
}
