//! Predicts data files with a saved model, whole or in batches.

#[cfg(feature = "parquet")]
use super::parquet_files;
use super::predictions::{FileModel, PredictOptions, Predictions};
use super::table_prediction::take_rows_alone;
use super::unseen_levels::UnseenLevels;
use ndarray::Axis;
use std::ops::ControlFlow;
use std::path::Path;
use vaglio_core::{Error, Result, Table};
use vaglio_tables::disk::{Destination, check_apart};
use vaglio_tables::read::{Hint, ReadRequest, TableSource, expand_path};

impl FileModel<'_> {
    /// Default number of rows that are predicted at a time.
    pub const ROWS: usize = 1 << 16;

    /// Predicts the rows of a table that has at least the columns `sources`, `series` and `time`; others are ignored.
    ///
    /// Predictions are in the order of the table's rows, whatever the order of time.
    ///
    /// # Errors
    /// Fails for: a missing column; a cell that the maps were not prepared for; times that are text or repeat within a
    /// series.
    pub fn predict(&self, table: Table) -> Result<Predictions> {
        self.predict_table(table, false)
    }

    /// Predicts the rows of a data file, columns matched by name, with the further outputs that `options` asks for.
    ///
    /// # Errors
    /// Returns the errors of reading the file and of [`FileModel::predict`]; [`Error::Setting`] for outputs that the
    /// model cannot give; [`Error::UnknownName`] for columns that the file does not have.
    pub fn predict_file(&self, path: &Path, options: &PredictOptions) -> Result<Predictions> {
        let wanted = self.reads(options.intervals);
        let source =
            TableSource::open(&[path.to_owned()], &self.read_spec())?.with_columns(wanted.iter().map(String::as_str));
        self.predict_source(&source, path, options)
    }

    /// Like [`FileModel::predict_file`], for an open table, called `path` in messages.
    ///
    /// # Errors
    /// Returns the errors of [`FileModel::predict_file`].
    pub fn predict_source(&self, source: &TableSource, path: &Path, options: &PredictOptions) -> Result<Predictions> {
        let (wanted, hints) = self.columns_to_read(path, source.names(), options)?;
        let in_file = |error: Error| error.in_file(path);
        let notations = self.notations(&wanted);
        let (table, profile) = source.read(&ReadRequest { hints, notations, ..ReadRequest::only(wanted) })?;
        let mut predictions = self.predict_with_options(table, &profile, options).map_err(in_file)?;
        warn_of_unseen_levels(&predictions.unseen);
        if options.evaluate {
            let observed = self.observe(source, Some(&predictions.rows));
            let compared = observed.and_then(|observed| self.compare(observed, &predictions));
            predictions.judged = Some(compared.map_err(in_file)?);
        }
        if !options.keep.is_empty() {
            let hints = self.kept_hints(options, source.is_typed()).into_iter().collect();
            let wanted = ReadRequest { hints, ..ReadRequest::only(options.keep.clone()) };
            let mut kept = source.read(&wanted).map_err(in_file)?.0.select_rows(&predictions.rows);
            predictions.kept = options.keep.iter().filter_map(|name| Some((name.clone(), kept.take(name)?))).collect();
            // A key column that is also kept is written once.
            predictions.keys.retain(|(name, _)| !options.keep.contains(name));
        }
        Ok(predictions)
    }

    /// Predicts at most `rows` rows of a data file at a time, and passes them to `sink` in order. Returns the figures
    /// as a short table if predictions are compared with targets.
    ///
    /// Predictions equal those of [`FileModel::predict_file`] to the last bit. Memory does not grow with the file,
    /// except for figures: they keep predictions, and targets that are read before. All rows come at once if: the model
    /// uses several rows (series, lags); it is not a readout of unchanged columns; there are several files; the
    /// encoding is not UTF-8; the model is of an earlier version.
    ///
    /// # Errors
    /// Returns the errors of [`FileModel::predict_file`]; batches before a fault that is not of the targets were already
    /// passed on.
    pub fn predict_in_batches(
        &self,
        path: &Path,
        options: &PredictOptions,
        rows: usize,
        sink: Sink<'_>,
    ) -> Result<Option<String>> {
        if self.takes_rows_alone(options)
            && let Some(source) = TableSource::on_disk(path, &self.read_spec())?
            && let Some(predictions) = self.predict_from_disk(&source, path, options, rows, sink)?
        {
            return Ok(predictions.table());
        }
        let predictions = self.predict_file(path, options)?;
        // After the only batch there is nothing to end.
        let _enough = sink(&predictions)?;
        Ok(predictions.table())
    }

    /// Predicts the rows of a data file into another file, in batches: Parquet if its name ends in `.parquet`, else
    /// CSV. Returns the figures as a short table if predictions are compared with targets.
    ///
    /// Follows symbolic links. A regular file appears whole or not at all; devices and pipes are written directly.
    ///
    /// # Errors
    /// Returns the errors of [`FileModel::predict_in_batches`]; [`Error::Unwritable`];
    /// [`Error::Setting`] if `out` is a file of the data.
    pub fn predict_to_file(&self, data: &Path, options: &PredictOptions, out: &Path) -> Result<Option<String>> {
        check_apart_from_tables(out, [data])?;
        let is_parquet = out.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"));
        #[cfg(not(feature = "parquet"))]
        if is_parquet {
            let message = "this program was built without Parquet; write .csv or build with the feature `parquet`";
            return Err(Error::setting("--out", message));
        }
        #[cfg(feature = "parquet")]
        if is_parquet {
            let mut file = None;
            let options = PredictOptions { typed: true, ..options.clone() };
            let figures = self.predict_in_batches(data, &options, Self::ROWS, &mut |predictions| {
                parquet_files::put(&mut file, out, predictions)
            })?;
            file.map_or(Ok(()), |file| parquet_files::finish(file, out))?;
            return Ok(figures);
        }
        let mut file: Option<Destination> = None;
        let figures = self.predict_in_batches(data, options, Self::ROWS, &mut |predictions| {
            let rows = predictions.to_csv(file.is_none())?;
            let file = match &mut file {
                Some(file) => file,
                None => file.insert(Destination::open(out)?),
            };
            file.put(rows.as_bytes())
        })?;
        file.map_or(Ok(()), Destination::finish)?;
        Ok(figures)
    }
}

/// Rejects an output that is one of the input tables, which may be patterns or folders.
///
/// # Errors
/// [`Error::Setting`] for `--out`; errors for a table that does not exist.
pub fn check_apart_from_tables(out: &Path, tables: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<()> {
    let mut files = tables.into_iter().map(|table| expand_path(table.as_ref()));
    files.try_for_each(|files| check_apart(out, files?.into_iter().map(|file| ("the table", file))))
}

/// Receives the predictions of some rows; may end the prediction.
pub type Sink<'s> = &'s mut dyn FnMut(&Predictions) -> Result<ControlFlow<()>>;

impl FileModel<'_> {
    /// Whether rows can be predicted in batches.
    fn takes_rows_alone(&self, options: &PredictOptions) -> bool {
        let folds = self.intervals.iter().filter(|_| options.intervals).flat_map(|intervals| &intervals.folds);
        let mut parts = folds.map(|fold| (&fold.maps, &fold.model)).chain([(&self.maps, &self.model)]);
        self.series.is_none() && self.time.is_none() && parts.all(|(maps, model)| take_rows_alone(maps, model))
    }

    /// Predicts the rows of an open file in batches; `None` if the type of a column depends on all of its cells. The
    /// predictions of all rows are returned if they are compared with targets.
    fn predict_from_disk(
        &self,
        source: &TableSource,
        path: &Path,
        options: &PredictOptions,
        rows: usize,
        sink: Sink<'_>,
    ) -> Result<Option<Predictions>> {
        let in_file = |error: Error| error.in_file(path);
        let header = source.names();
        let (wanted, hints) = self.columns_to_read(path, header, options)?;
        let hint = |name: &String| hints.get(name).copied().unwrap_or_default();
        let wanted = header.iter().filter(|name| wanted.contains(name)).map(|name| (name.clone(), hint(name)));
        let columns: Vec<(String, Hint)> = wanted.chain(self.kept_hints(options, source.is_typed())).collect();
        let notations = self.notations(columns.iter().map(|(name, _)| name));
        let observed = options.evaluate.then(|| self.observe(source, None)).transpose().map_err(in_file)?;
        let mut all = None;
        let mut unseen = UnseenLevels::default();
        let is_read = source.read_in_batches(&columns, &notations, rows, &mut |first, mut columns, profile| {
            let kept = columns.split_off(columns.len() - options.keep.len());
            let table = Table::new(columns).map_err(in_file)?.with_offset(first);
            let mut predictions = self.predict_with_options(table, &profile, options).map_err(in_file)?;
            if predictions.dropped {
                let message = "a map dropped rows, and it says that it takes rows alone";
                return Err(in_file(Error::Shape(message.into())));
            }
            predictions.kept = kept;
            let flow = sink(&predictions)?;
            unseen.add(std::mem::take(&mut predictions.unseen));
            match &mut all {
                _ if !options.evaluate => return Ok(flow),
                Some(all) => Predictions::append(all, predictions)?,
                None => all = Some(Predictions { counts: None, ..predictions }),
            }
            Ok(ControlFlow::Continue(()))
        })?;
        if !is_read {
            return Ok(None);
        }
        warn_of_unseen_levels(&unseen);
        let mut all = all.unwrap_or_default();
        if let Some(observed) = observed {
            all.judged = Some(self.compare(observed, &all).map_err(in_file)?);
        }
        Ok(Some(all))
    }
}

/// Warns of levels that no training row has.
fn warn_of_unseen_levels(unseen: &UnseenLevels) {
    if let Some(sentence) = unseen.sentence() {
        tracing::warn!("{sentence}");
    }
}

impl Predictions {
    /// Appends the values and intervals of further rows.
    fn append(&mut self, more: Predictions) -> Result<()> {
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
