//! Predicts files in batches, so that they may exceed memory.

use super::file_model::FileModel;
use super::predictions::{PredictOptions, Predictions};
use super::table_prediction::take_rows_alone;
use ndarray::Axis;
use std::ops::ControlFlow;
use std::path::Path;
use vaglio_core::{Error, Result, Table};
use vaglio_tables::read::{Batch, Batches, Hint};

/// Receives the predictions of some rows; may end the prediction.
pub type Sink<'s> = &'s mut dyn FnMut(&Predictions) -> Result<ControlFlow<()>>;

impl FileModel<'_> {
    /// Whether rows can be predicted in batches.
    fn takes_rows_alone(&self, beside: &PredictOptions) -> bool {
        let folds = self.intervals.iter().filter(|_| beside.intervals).flat_map(|intervals| &intervals.folds);
        let mut parts = folds.map(|fold| (&fold.maps, &fold.model)).chain([(&self.maps, &self.model)]);
        self.series.is_none() && self.time.is_none() && parts.all(|(maps, model)| take_rows_alone(maps, model))
    }

    /// Opens the file in batches; `None` if it must be read as a whole.
    pub(super) fn start(&self, path: &Path, beside: &PredictOptions, rows: usize) -> Result<Option<Batches>> {
        if !self.takes_rows_alone(beside) {
            return Ok(None);
        }
        let Some(batches) = Batches::open(path, &self.read_spec())? else { return Ok(None) };
        let header = batches.names();
        self.check_beside(beside, header)?;
        let (wanted, hints) = self.wanted(path, header, beside)?;
        let hint = |name: &String| hints.get(name).copied().unwrap_or_default();
        let wanted = header.iter().filter(|name| wanted.contains(name)).map(|name| (name.clone(), hint(name)));
        let kept = beside.keep.iter().map(|name| (name.clone(), self.kept_hint(name, beside, batches.is_typed())));
        let columns: Vec<(String, Hint)> = wanted.chain(kept).collect();
        let gathered: Vec<String> = match beside.evaluate {
            true => {
                let named = self.judged_by()?;
                header.iter().filter(|name| named.contains_key(*name)).cloned().collect()
            }
            false => Vec::new(),
        };
        let notations = self.notations(columns.iter().map(|(name, _)| name).chain(&gathered));
        batches.start(&columns, &gathered, notations, rows)
    }

    pub(super) fn predict_batch(&self, batch: Batch, beside: &PredictOptions) -> Result<Predictions> {
        let Batch { first, mut columns, profile } = batch;
        let kept = columns.split_off(columns.len() - beside.keep.len());
        let mut predictions = self.predicted_beside(Table::new(columns)?.with_offset(first), &profile, beside)?.0;
        if predictions.dropped {
            return Err(Error::Shape("a map dropped rows, and it says that it takes rows alone".into()));
        }
        predictions.kept = kept;
        Ok(predictions)
    }

    /// Compares the predictions of all rows with the targets that were read meanwhile.
    pub(super) fn compared(&self, all: Predictions, reader: Batches) -> Result<Predictions> {
        let (hints, rows) = (self.judged_by()?, (0..all.values.ncols()).collect());
        let all = Predictions { rows, ..all };
        let (table, profile) = reader.gathered(|name| hints.get(name).copied().unwrap_or_default())?;
        let judged = Some(self.judged(table, &profile, &all, None)?);
        Ok(Predictions { judged, ..all })
    }
}

impl Predictions {
    /// Appends the values and intervals of further rows.
    pub(super) fn append(&mut self, more: Predictions) -> Result<()> {
        let mut arrays = vec![(&mut self.values, more.values)];
        if let (Some(own), Some(more)) = (&mut self.intervals, more.intervals) {
            arrays.extend([(&mut own.lower, more.lower), (&mut own.upper, more.upper)]);
        }
        for (own, more) in arrays {
            own.append(Axis(1), more.view()).map_err(|error| Error::failed("predictions", error))?;
        }
        Ok(())
    }
}
