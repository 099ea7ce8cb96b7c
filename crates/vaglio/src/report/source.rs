//! The record with what the page asks of it in several places.

use crate::record::{PerOutput, Record, SizePoint, StepRecord};
use std::collections::HashMap;
use vaglio_core::Action;

/// The best subset of one size.
pub struct Entry<'r> {
    pub size: usize,
    pub subset: &'r [usize],
    pub score: Option<f64>,
    pub lambda: Option<f64>,
    pub standard_error: Option<f64>,
    pub curve: SizePoint,
}

/// A record, its path in increasing size, and the names that it holds.
pub struct Source<'r> {
    pub record: &'r Record,
    pub path: Vec<Entry<'r>>,
    names: HashMap<usize, &'r str>,
}

impl<'r> Source<'r> {
    pub fn new(record: &'r Record) -> Self {
        let steps = record.steps.iter().map(|s| (s.index, s.name.as_str()));
        let selected = record.selected.iter().map(|s| (s.index, s.name.as_str()));
        let excluded = record.excluded.iter().map(|e| (e.index, e.name.as_str()));
        let curve: HashMap<usize, SizePoint> = record.report.curve.iter().map(|point| (point.size, *point)).collect();
        let entry = |(entry, error): (&'r crate::record::EntryRecord, &Option<f64>)| Entry {
            size: entry.size,
            subset: &entry.subset,
            score: finite(entry.score),
            lambda: entry.lambda,
            standard_error: error.and_then(finite),
            curve: curve.get(&entry.size).map(|point| tidy(*point)).unwrap_or_default(),
        };
        let mut path: Vec<Entry<'r>> = record.path.iter().zip(&record.report.standard_errors).map(entry).collect();
        path.sort_by_key(|entry| entry.size);
        Source { record, path, names: steps.chain(selected).chain(excluded).collect() }
    }

    /// The name of a column, or its index where no name is known.
    pub fn name(&self, index: usize) -> String {
        self.names.get(&index).map_or_else(|| format!("column {index}"), |name| (*name).to_owned())
    }

    /// The score of the result.
    pub fn score(&self) -> Option<f64> {
        finite(self.record.score)
    }

    /// The score of the empty subset.
    pub fn empty_score(&self) -> Option<f64> {
        finite(self.record.empty_score)
    }

    /// The intercept of each output.
    pub fn intercepts(&self) -> &[f64] {
        self.record.intercept.as_ref().map_or(&[], PerOutput::values)
    }

    /// The entry of the path that is the result.
    pub fn chosen_entry(&self) -> Option<&Entry<'r>> {
        self.path.iter().find(|entry| entry.size == self.record.selected.len())
    }

    /// The entry of the lowest score, the smallest among equals.
    pub fn best_entry(&self) -> Option<&Entry<'r>> {
        self.path
            .iter()
            .filter_map(|entry| Some((entry.score?, entry)))
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.size.cmp(&b.1.size)))
            .map(|(_, entry)| entry)
    }

    /// The step with which a column last entered.
    pub fn entry_step(&self, index: usize) -> Option<&StepRecord> {
        self.record.steps.iter().rev().find(|step| step.action == Action::Add && step.moved().contains(&index))
    }
}

/// The number, unless it is +∞ or no number.
pub fn finite(number: f64) -> Option<f64> {
    Some(number).filter(|number| number.is_finite())
}

fn tidy(point: SizePoint) -> SizePoint {
    let SizePoint { size, train, test, train_error, test_error } = point;
    let keep = |x: Option<f64>| x.and_then(finite);
    SizePoint {
        size,
        train: keep(train),
        test: keep(test),
        train_error: keep(train_error),
        test_error: keep(test_error),
    }
}
