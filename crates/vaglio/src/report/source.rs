//! The record with what the page asks of it in several places.

use crate::record::{PerOutput, Record, SizePoint, StepRecord};
use std::collections::HashMap;
use vaglio_core::Action;

/// The best subset of one size.
pub struct Entry {
    pub size: usize,
    pub subset: Vec<usize>,
    pub score: Option<f64>,
    pub lambda: Option<f64>,
    pub standard_error: Option<f64>,
    pub train: Option<f64>,
    pub test: Option<f64>,
    pub rates: SizePoint,
}

/// A record, its path in increasing size, and the names that it holds.
pub struct Source<'r> {
    pub record: &'r Record,
    pub path: Vec<Entry>,
    names: HashMap<usize, &'r str>,
}

impl<'r> Source<'r> {
    pub fn new(record: &'r Record) -> Self {
        let steps = record.steps.iter().map(|s| (s.index, s.name.as_str()));
        let selected = record.selected.iter().map(|s| (s.index, s.name.as_str()));
        let excluded = record.excluded.iter().map(|e| (e.index, e.name.as_str()));
        let curve: HashMap<usize, SizePoint> = record.report.curve.iter().map(|point| (point.size, *point)).collect();
        let entry = |(entry, subset): (&'r crate::record::EntryRecord, Vec<usize>)| Entry {
            size: entry.size,
            subset,
            score: finite(entry.score),
            lambda: entry.lambda,
            standard_error: entry.standard_error.and_then(finite),
            train: entry.train.and_then(finite),
            test: entry.test.and_then(finite),
            rates: curve.get(&entry.size).copied().unwrap_or_default(),
        };
        let mut path: Vec<Entry> = record.path.iter().zip(record.subsets()).map(entry).collect();
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
    pub fn chosen_entry(&self) -> Option<&Entry> {
        self.path.iter().find(|entry| entry.size == self.record.selected.len())
    }

    /// The entry of the lowest score, the smallest among equals.
    pub fn best_entry(&self) -> Option<&Entry> {
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
