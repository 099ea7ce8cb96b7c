//! The rows of the files, which models predict in a pass once more.

use super::means::Filled;
use super::pass::{Mapped, TablePass};
use super::pass_state::TEST;
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};
use vaglio_core::{Error, Result, StopSign};
use vaglio_pipeline::resample::behind::{Judge, ReadColumn, RowLabels, RowsBehind};
use vaglio_pipeline::resample::lockstep::OfLambda;
use vaglio_pipeline::resample::sample::StoodFor;
use vaglio_pipeline::resample::validated::Validation;
use vaglio_tables::read::{Batch, InferredType};

/// The part of the memory that columns may take which are read.
const PART: f64 = 0.25;
/// Bytes of a row that are there whatever is read: 36 of its target twice, its prediction, its places and its cell, and 8 for what is
/// computed of these for a while.
const OF_ROW: f64 = 44.0;
/// Rows that are predicted at once.
const AT_ONCE: usize = 512;

/// The rows of the files with what belongs to each.
#[derive(Debug)]
pub(super) struct TableRows {
    pass: TablePass,
    labels: RowLabels,
    /// Which labelled row each row of the files is.
    place: Vec<u32>,
    filled: Vec<(Filled, bool)>,
}

impl TableRows {
    /// What a pass reads, with the labels of the rows.
    pub fn new(pass: TablePass, (labels, place): (RowLabels, Vec<u32>), filled: &[(Filled, bool)]) -> Self {
        TableRows { pass, labels, place, filled: filled.to_vec() }
    }

    /// The columns of the files that some columns behind the maps are made of, and others.
    fn sources(&self, columns: &HashSet<&str>, as_read: &HashSet<&str>) -> Vec<String> {
        let mut names: HashSet<String> =
            columns.iter().filter_map(|name| name.split('\0').next()).map(str::to_owned).collect();
        for map in self.pass.first.maps.iter().rev() {
            names = names.iter().flat_map(|name| map.sources(name)).collect();
        }
        let mut own: Vec<String> = self
            .pass
            .features
            .iter()
            .filter(|name| names.contains(*name) || as_read.contains(name.as_str()))
            .cloned()
            .collect();
        if own.is_empty() {
            // Rows are counted by some column.
            own.extend(self.pass.features.first().cloned());
        }
        own
    }

    /// Lets the judges take the rows of a batch.
    fn take(
        &self,
        batch: Batch,
        (judges, is_judge): (&mut [Judge<'_>], &[Vec<bool>]),
        read: &mut [ReadColumn],
    ) -> Result<()> {
        for column in read {
            let cells =
                batch.columns.iter().find(|(name, _)| *name == column.name).and_then(|(_, cells)| cells.numbers());
            let Some(cells) = cells else { continue };
            let values = cells.values();
            let place = self.place.iter().skip(batch.first).zip(values.iter());
            place.filter(|(place, _)| **place < TEST).for_each(|(place, x)| column.values[*place as usize] = *x);
        }
        let mut filled = self.filled.clone();
        let Some(Mapped { columns, names, place, .. }) = self.pass.mapped(batch, &self.place, &mut filled)? else {
            return Ok(());
        };
        let at: HashMap<&str, usize> = names.iter().enumerate().map(|(k, name)| (name.as_str(), k)).collect();
        judges.par_iter_mut().zip(is_judge).try_for_each(|(judge, is_judge)| {
            let cell = |at: usize| self.labels.cells[place[at] as usize] as usize;
            let own: Vec<usize> = (0..place.len()).filter(|&row| is_judge[cell(row)]).collect();
            let lost = |name: &String| Error::Shape(format!("the column `{name}` is not there"));
            let known: Vec<usize> = judge
                .models
                .columns
                .iter()
                .map(|name| at.get(name.as_str()).copied().ok_or_else(|| lost(name)))
                .collect::<Result<_>>()?;
            for rows in own.chunks(AT_ONCE) {
                let entries = known.iter().map(|&k| columns.column(k).gathered(rows)).collect();
                let predictions = judge.models.predictions(entries, rows.len());
                let places: Vec<usize> = rows.iter().map(|&row| place[row] as usize).collect();
                (judge.take)(&places, &predictions);
            }
            Ok(())
        })
    }
}

impl StoodFor for TableRows {
    fn count(&self) -> usize {
        self.labels.cells.len()
    }

    fn judge(
        &self,
        validation: &Validation<'_, '_>,
        lambdas: &[Option<f64>],
        walks: &mut Vec<OfLambda>,
    ) -> Result<bool> {
        validation.judged_behind(lambdas, walks, self)
    }
}

impl RowsBehind for TableRows {
    fn labels(&self) -> &RowLabels {
        &self.labels
    }

    fn number(&self, row: usize) -> usize {
        1 + self.place.iter().position(|place| *place as usize == row).unwrap_or(row)
    }

    fn room(&self) -> f64 {
        // Beside what is kept of all rows; half of what is left is for what is made of the columns.
        let limit = self.pass.budget.limit() as f64;
        (PART * limit).min(0.5 * (limit - OF_ROW * self.labels.cells.len() as f64)).max(0.0)
    }

    fn holds_numbers(&self, name: &str) -> bool {
        let mut known = self.pass.first.survey.iter();
        known.find(|column| column.name == name).is_none_or(|column| column.taken == InferredType::Number)
    }

    fn judged(&self, judges: &mut [Judge<'_>], read: &mut [ReadColumn], stop: &StopSign) -> Result<bool> {
        let is_judge: Vec<Vec<bool>> = judges.iter().map(|judge| self.labels.members(&judge.cells)).collect();
        let wanted: HashSet<String> = judges.iter().flat_map(|judge| judge.models.columns.iter().cloned()).collect();
        let as_read: HashSet<&str> = read.iter().map(|column| column.name.as_str()).collect();
        let sources = self.sources(&wanted.iter().map(String::as_str).collect(), &as_read);
        let mut reader = self.pass.files.reader(&self.pass.hinted(&sources), &[])?;
        let mut batch = reader.next_rows()?;
        while let Some(now) = batch {
            if stop.reason().is_some() {
                return Ok(false);
            }
            // The next rows are read meanwhile.
            let (next, done) =
                rayon::join(|| reader.next_rows(), || self.take(now, (&mut *judges, &is_judge), &mut *read));
            done?;
            batch = next?;
        }
        Ok(true)
    }
}
