//! Builds a problem from files in four steps: reads the files, types the columns, splits the rows, fits the maps.

use super::condensed;
use super::data_checks::check_data;
use super::holdout::set_aside;
use super::memory::with_scratch;
use super::roles::DataSettings;
use super::rows::{RawTable, merge_left_out};
use super::rows_with_lags::{RowsWithLags, history_rows};
use super::train_test::TrainTest;
use super::unseen_levels::UnseenLevels;
use std::collections::HashSet;
use std::mem::take;
use std::path::Path;
use std::sync::Arc;
use vaglio_core::{Error, Problem, Result, RowLabels, Table, Task};
use vaglio_pipeline::pipeline::{SavedIntervals, SavedReadOptions, ValidPipeline};
use vaglio_pipeline::preprocess::Preprocessing;
use vaglio_pipeline::resampling::{Sample, clusters};
use vaglio_report::record::{ColumnRun, Evaluate, Warning, WarningKind};
use vaglio_tables::InferredType;
use vaglio_tables::read::{Digest, ReadRequest};

/// Reads, codes, splits and preprocesses the data of a pipeline.
///
/// # Errors
/// Fails for: unreadable files; non-finite values; names and labels that the data do not have; text columns that no map
/// accepts.
pub fn prepare(pipeline: &ValidPipeline, folder: &Path) -> Result<TrainTest> {
    let (data, scratch) = with_scratch(pipeline, folder, || TrainTest::read(pipeline, folder, false))?;
    Ok(TrainTest { scratch, ..data })
}

/// Like [`prepare`], for the beginning of large files. Reads everything if the beginning is rejected, since a class or
/// value may come later.
pub fn prepare_sample(pipeline: &ValidPipeline, folder: &Path) -> Result<TrainTest> {
    TrainTest::read(pipeline, folder, true).or_else(|_| prepare(pipeline, folder))
}

impl TrainTest {
    /// Prepares the data of a pipeline from whole tables, or from the beginning of large files.
    fn read(pipeline: &ValidPipeline, folder: &Path, is_sample: bool) -> Result<Self> {
        let mut training = TrainingTable::read(DataSettings::new(pipeline, folder, is_sample)?)?;
        training.type_columns()?;
        let (test, test_file) = training.split()?;
        training.fit(test, test_file, pipeline)
    }

    /// Prepares the test rows like the training rows.
    fn add_test(&mut self, settings: &DataSettings<'_>, recipe: &Preprocessing, side: RowsWithLags) -> Result<()> {
        let mut rows = side.label_rows(settings, recipe, "data.test")?;
        let RowLabels { weights, groups, counts, .. } = rows.labels;
        rows.labels = RowLabels { weights, counts, clusters: groups, ..RowLabels::default() };
        let numbers: Vec<usize> = (0..rows.table.rows()).map(|row| rows.table.origin(row)).collect();
        let unseen = UnseenLevels::new(&self.maps, &rows.table).sentence();
        let warning = |said: String| Warning::new(WarningKind::UnseenLevels, format!("test rows: {said}"));
        self.data_warnings.extend(unseen.map(warning));
        let problem = recipe.apply(rows, &self.maps, self.train.names())?;
        let labels = problem.labels().clone();
        let clusters = clusters(problem.rows(), labels.clusters.as_deref(), problem.series(), settings.is_ordered());
        let problem = problem.with_labels(RowLabels { clusters: Some(clusters.into()), ..labels })?;
        self.test_numbers = (numbers.len() == problem.rows()).then_some(numbers);
        self.test = Some(problem);
        Ok(())
    }
}

/// The table of the training files.
struct TrainingTable<'p> {
    settings: DataSettings<'p>,
    raw: RawTable,
    /// Names of all columns of the files.
    header: Vec<String>,
    reading: SavedReadOptions,
    digest: Digest,
    /// Inferred use of the columns, once they are typed.
    columns: Vec<ColumnRun>,
}

impl<'p> TrainingTable<'p> {
    /// Opens and reads the training files.
    fn read(mut settings: DataSettings<'p>) -> Result<Self> {
        let source = settings.open_training()?;
        let header = source.names().to_vec();
        let (hints, doubles) = (settings.hints(), settings.is_single.then(|| settings.doubles()));
        let wanted = ReadRequest { hints, doubles, ..ReadRequest::except(settings.unread().cloned()) };
        let (table, profile, digest) = if settings.is_sample {
            source.read(&wanted).map(|(table, profile)| (table, profile, Digest::known(String::new())))?
        } else {
            source.read_and_hash(&wanted)?
        };
        let reading = settings.reading(&source, &profile);
        let row_factor = source.times(&profile);
        let raw =
            RawTable { table, profile, hints: wanted.hints, row_factor, is_training: true, ..RawTable::default() };
        Ok(TrainingTable { settings, raw, header, reading, digest, columns: Vec::new() })
    }

    /// Filters the rows, checks the inferred types of the columns, and puts the rows in order.
    fn type_columns(&mut self) -> Result<()> {
        let settings = &self.settings;
        let raw = &mut self.raw;
        let path = settings.path(&settings.spec.train);
        settings.filter_rows(raw).map_err(|error| error.in_file(&path))?;
        self.columns = settings.column_runs(&raw.profile, &self.header);
        self.columns.iter().for_each(|columns| tracing::info!("{}: {}", columns.names(), columns.words()));
        settings.check_complete(raw)?;
        settings.check_types(raw)?;
        raw.left_out.iter().for_each(|rows| tracing::info!("left out: {}", rows.words()));
        settings.arrange(raw).map_err(|error| error.in_file(&path))
    }

    /// Takes the test rows out of their own files, which are returned as well, or out of the training rows.
    fn split(&mut self) -> Result<(Option<Table>, Option<RawTable>)> {
        let Some(files) = &self.settings.spec.test else {
            return Ok((set_aside(&self.settings, &mut self.raw.table)?, None));
        };
        let mut file = self.read_test(files)?;
        Ok((Some(take(&mut file.table)), Some(file)))
    }

    /// Reads test rows with the columns and types of the training rows. Role columns may be missing, except those that
    /// order the rows.
    fn read_test(&self, files: &[String]) -> Result<RawTable> {
        let TrainingTable { settings, raw, header, reading, .. } = self;
        let source = settings.open(files, &reading.read)?;
        let spec = &settings.spec;
        condensed::check_weighted("data.test", source.names(), spec.weights.as_deref())?;
        let source = source.with_columns(header.iter().map(String::as_str));
        let columns = raw.profile.columns.iter();
        let filled = columns.clone().filter(|column| column.taken != InferredType::Empty);
        let wanted: Vec<String> = filled.map(|column| column.name.clone()).collect();
        let there: HashSet<&String> = source.names().iter().collect();
        let ordered = [spec.series.as_ref(), spec.time.as_ref()];
        let is_optional = |name: &String| settings.row_role(name).is_some() && !ordered.contains(&Some(name));
        if let Some(missing) = wanted.iter().find(|name| !there.contains(name) && !is_optional(name)) {
            return Err(Error::unknown("data.test", "column", missing, source.names().iter()));
        }
        let notations = columns.map(|column| (column.name.clone(), column.notation)).collect();
        let hints = settings.hints_like(&raw.profile);
        let wanted = ReadRequest { hints, notations, ..ReadRequest::only(wanted) };
        let (table, profile) = source.read(&wanted)?;
        let path = profile.files.first().map(|(path, _)| path.clone()).unwrap_or_default();
        let row_factor = source.times(&profile);
        let mut test = RawTable { table, profile, hints: wanted.hints, row_factor, ..RawTable::default() };
        settings.filter_rows(&mut test).map_err(|error| error.in_file(&path))?;
        settings.check_complete(&test)?;
        settings.arrange(&mut test).map_err(|error| error.in_file(&path))?;
        Ok(test)
    }

    /// Checks the table, codes the targets, and fits the maps on the training rows.
    fn fit(self, test: Option<Table>, test_file: Option<RawTable>, pipeline: &ValidPipeline) -> Result<TrainTest> {
        let TrainingTable { settings, raw, reading, digest, columns, .. } = self;
        let data_warnings = match settings.counts {
            Some(_) => Vec::new(),
            None => check_data(&settings, &raw, test.as_ref()),
        };
        let RawTable { table, all, profile, mut left_out, row_factor, .. } = raw;
        test_file.iter().for_each(|file| merge_left_out(&mut left_out, &file.left_out));
        // Test rows of the training table follow the training rows, which maps use as lags.
        let hidden = test.as_ref().filter(|_| test_file.is_none());
        let rows = table.rows();
        let test_rows = hidden.map(numbers_in_file);
        let past = all.as_ref().filter(|_| !settings.lags.targets.is_empty());
        let history = past.map(|all| history_rows(all, &table, hidden));
        let train = RowsWithLags::new(&settings, table, all.as_ref(), hidden)?;
        let all_of_test = test_file.as_ref().map_or(&all, |file| &file.all).as_ref();
        let test = test.map(|test| RowsWithLags::new(&settings, test, all_of_test, None)).transpose()?;
        let assignment = settings.fold_of_each_row(&train.table)?;
        let task = train.task(&settings)?;
        let names = task.output_names(&settings.outputs()).to_vec();
        let recipe = pipeline.recipe(task, names)?;
        let recipe = Arc::new(Preprocessing { lagged: settings.lags.targets.clone(), ..recipe });
        let mut labeled = train.label_rows(&settings, &recipe, "data.target")?;
        labeled.labels.assignment = assignment.map(Into::into);
        let origins = labeled.table.origins().map(<[usize]>::to_vec);
        let located = |error: Error| profile.locate(error);
        let sample = Sample::new(labeled, Arc::clone(&recipe), settings.is_ordered()).map_err(located)?;
        let fitted = sample.fit().map_err(located)?;
        check_candidates(pipeline.evaluation(), &fitted.problem)?;
        let mut data = TrainTest {
            train: fitted.problem,
            test: None,
            maps: fitted.maps,
            target_units: fitted.units,
            rows,
            digest,
            targets: settings.spec.target.names().to_vec(),
            horizons: settings.lags.horizons.clone(),
            test_rows,
            left_out,
            columns,
            data_warnings,
            reading,
            row_factors: [row_factor, test_file.as_ref().map_or(row_factor, |file| file.row_factor)],
            history,
            sample,
            origins,
            test_numbers: None,
            scratch: None,
        };
        if let Some(counts) = &data.train.labels().counts {
            data.data_warnings.push(condensed::notice(data.rows, counts));
        }
        if let Some(test) = test {
            let profile = test_file.as_ref().map_or(&profile, |file| &file.profile);
            let path = settings.path(settings.spec.test.as_ref().unwrap_or(&settings.spec.train));
            data.add_test(&settings, &recipe, test).map_err(|error| profile.locate(error).in_file(&path))?;
        }
        Ok(data)
    }
}

/// Rejects a problem without candidates, and intervals that it does not support.
///
/// # Errors
/// [`Error::Setting`], for intervals if targets are classes or rows are too few.
fn check_candidates(evaluate: &Evaluate, problem: &Problem) -> Result<()> {
    if problem.names().is_empty() {
        return Err(Error::setting("data", "no column is left to select from"));
    }
    let Some(level) = evaluate.intervals else { return Ok(()) };
    if *problem.task() != Task::Regression {
        let message = format!(
            "intervals are of numbers, and the task is {}; leave it out, and `vaglio predict --proba` gives probabilities",
            problem.task().name()
        );
        return Err(Error::setting("evaluate.intervals", message));
    }
    let weights = problem.weights().map_or_else(|| vec![1.0; problem.rows()], <[f64]>::to_vec);
    SavedIntervals::unit_weight(level, &weights).map(drop)
}

/// Row numbers in the file, from 1, in increasing order.
fn numbers_in_file(table: &Table) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..table.rows()).map(|row| table.origin(row) + 1).collect();
    rows.sort_unstable();
    rows
}
