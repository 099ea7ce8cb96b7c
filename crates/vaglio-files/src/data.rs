//! Builds a problem from files: columns by name, coded targets, maps fitted on training rows only.

use super::data_checks::table_with_roles::TableWithRoles;
use super::data_checks::{findings, steps};
use super::holdout::set_aside;
use super::lags::{LagSpec, outputs};
use super::roles::{Roles, assignment};
use super::rows::{taking_part, together};
use super::rows_with_lags::{RowsWithLags, history_rows};
use super::scratch::with_scratch;
use super::train_test::TrainTest;
use super::{column_types, target_file};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use vaglio_core::{Error, Problem, Result, RowLabels, Table, Task};
use vaglio_pipeline::maps::UnseenLevels;
use vaglio_pipeline::pipeline::{
    ColumnType, DataSpec, DateOrder, Evaluate, Names, Precision, ReadSpec, SavedIntervals, SavedReadOptions,
    ValidPipeline,
};
use vaglio_pipeline::preprocess::Preprocessing;
use vaglio_pipeline::resampling::{FittedProblem, Sample, clusters};
use vaglio_report::record::{LeftOutReason, LeftOutRows, Warning, WarningKind};
use vaglio_tables::read::{
    ColumnFilter, ColumnProfile, DAY_FIRST, Digest, InferredType, MONTH_FIRST, Notation, ReadRequest, TableProfile,
    TableSource,
};

/// Reads, codes, splits and preprocesses the data of a pipeline.
///
/// # Errors
/// Fails for: unreadable files; non-finite values; names and labels that the data do not have; text columns that no map
/// accepts.
pub fn prepare(pipeline: &ValidPipeline, folder: &Path) -> Result<TrainTest> {
    let (data, scratch) = with_scratch(pipeline, folder, || prepared(pipeline, folder, false))?;
    Ok(TrainTest { scratch, ..data })
}

/// Like [`prepare`], for the beginning of large files. Reads everything if the beginning is rejected, since a class or
/// value may come later.
///
/// # Errors
/// Returns the errors of [`prepare`].
pub(super) fn prepare_sample(pipeline: &ValidPipeline, folder: &Path) -> Result<TrainTest> {
    prepared(pipeline, folder, true).or_else(|_| prepare(pipeline, folder))
}

/// Prepares the data of a pipeline from whole tables, or from the beginning of large files.
fn prepared(pipeline: &ValidPipeline, folder: &Path, is_sample: bool) -> Result<TrainTest> {
    let own = pipeline.data.as_ref().ok_or_else(|| Error::setting("data", "it is missing"))?;
    let opened = |files: &Names, read: &ReadSpec| {
        let paths: Vec<PathBuf> = files.iter().map(|name| folder.join(name)).collect();
        TableSource::open_within(&paths, read, pipeline.limits.budget(), is_sample)
    };
    let source = opened(&own.train, &own.read)?;
    let (source, spec) = target_file::beside(source, own, folder)?;
    let spec = &*spec;
    let assignment = assignment(pipeline)?;
    let (lags, needs_order) = (LagSpec::new(pipeline)?, pipeline.selector().needs_order());
    let roles = Roles { spec, assignment: assignment.as_ref(), lags: lags.as_ref(), needs_order };
    let in_train = |error: Error| error.in_file(&folder.join(spec.train.first().map_or("", String::as_str)));
    let header = source.names().to_vec();
    roles.check_names(&header)?;
    let filter = ColumnFilter::except(roles.unread());
    let wanted = ReadRequest { filter, hints: column_types::hints(&roles), ..ReadRequest::default() };
    let source = in_precision(source, pipeline, &roles);
    let (table, mut profile, digest) = match is_sample {
        true => source.read(&wanted).map(|(table, profile)| (table, profile, Digest::known(String::new())))?,
        false => source.read_and_hash(&wanted)?,
    };
    let reading = reading(spec, &source.detected_settings(), &profile);
    let (mut table, mut left_out) = taking_part(&roles, table, &mut profile, &wanted.hints, true).map_err(in_train)?;
    let columns = column_types::taken(&roles, &profile, &header);
    columns.iter().for_each(|columns| tracing::info!("{}: {}", columns.names(), columns.words()));
    let mut times = [source.times(&profile); 2];
    drop(source);
    roles.check_complete(&table, &profile)?;
    column_types::check(&roles, &mut table, &profile)?;
    left_out.iter().for_each(|rows| tracing::info!("left out: {}", rows.words()));
    let has_gaps = left_out.iter().any(|rows| rows.reason != LeftOutReason::Filter);
    let table = roles.arrange(table).map_err(in_train)?;
    let mut test_profile = profile.clone();
    let whole = |table: &Table| lags.is_some().then(|| table.clone());
    let (all, table) = (whole(&table), roles.counting(table));
    let mut all_of_test = None;
    let (train, test) = match &spec.test {
        Some(test) => {
            let test_source = opened(test, &reading.read)?.widened(header.iter().map(String::as_str));
            let (test, of_test, left_out_of_test) = read_test(&roles, &test_source, &profile)?;
            left_out = together(left_out, left_out_of_test);
            times[1] = test_source.times(&of_test);
            test_profile = of_test;
            all_of_test = whole(&test);
            (table, Some(roles.counting(test)))
        }
        None => set_aside(spec, table, pipeline.seed)?,
    };
    let rows = train.rows();
    let test_rows = test.as_ref().filter(|_| spec.test.is_none()).map(numbers_in_file);
    let read = TableWithRoles { roles: &roles, profile: &profile, train: &train, test: test.as_ref() };
    let mut findings = findings(read, pipeline.limits.budget());
    findings.extend(steps::steps(read, pipeline, has_gaps, all.as_ref()));
    let lagged = lagged(pipeline)?;
    let targets = spec.target.names().to_vec();
    let horizons = lags.as_ref().map_or_else(Vec::new, |lags| lags.horizons.clone());
    let history = all.as_ref().filter(|_| !lagged.is_empty()).map(|all| history_rows(all, &train));
    // Test rows of the same table follow the training rows, which maps use as lags.
    let hidden = test.as_ref().filter(|_| spec.test.is_none());
    let train = RowsWithLags::new(&roles, train, all.as_ref(), hidden)?;
    let before = if spec.test.is_some() { all_of_test } else { all };
    let of_test = test.map(|test| RowsWithLags::new(&roles, test, before.as_ref(), None)).transpose()?;
    let assigned = roles.assigned(&train.table)?;
    let outputs = outputs(&targets, &horizons);
    let task = train.task(&roles, &outputs)?;
    let target_names = task.output_names(&outputs).to_vec();
    let recipe = Arc::new(Preprocessing { lagged, ..pipeline.recipe(task, target_names)? });
    let mut train_rows = train.labeled(&roles, &outputs, &recipe, "data.target")?;
    train_rows.labels.assignment = assigned.map(Into::into);
    let origins = train_rows.table.origins().map(<[usize]>::to_vec);
    let sample = Sample::new(train_rows, Arc::clone(&recipe), roles.is_ordered());
    let sample = sample.map_err(|error| profile.locate(error))?;
    let fitted = sample.fitted().map_err(|error| profile.locate(error))?;
    if fitted.problem.names().is_empty() {
        return Err(Error::setting("data", "no column is left to select from"));
    }
    check_intervals(pipeline.evaluation(), &fitted.problem)?;
    let FittedProblem { problem: train, maps, units } = fitted;
    let mut data = TrainTest {
        train,
        test: None,
        maps,
        target_units: units,
        rows,
        digest,
        targets,
        horizons,
        test_rows,
        left_out,
        columns,
        findings,
        reading,
        times,
        history,
        sample,
        origins,
        test_numbers: None,
        scratch: None,
    };
    if let Some(of_test) = of_test {
        let added = data.add_test(&roles, &recipe, of_test);
        let path = spec.test.as_ref().unwrap_or(&spec.train).first().map_or("", String::as_str);
        added.map_err(|error| test_profile.locate(error).in_file(&folder.join(path)))?;
    }
    Ok(data)
}

impl TrainTest {
    /// Prepares the test rows like the training rows.
    fn add_test(&mut self, roles: &Roles<'_>, recipe: &Preprocessing, side: RowsWithLags) -> Result<()> {
        let outputs = outputs(&self.targets, &self.horizons);
        let mut rows = side.labeled(roles, &outputs, recipe, "data.test")?;
        let RowLabels { weights, groups, .. } = rows.labels;
        rows.labels = RowLabels { weights, clusters: groups, ..RowLabels::default() };
        let numbers: Vec<usize> = (0..rows.table.rows()).map(|row| rows.table.origin(row)).collect();
        let mut unseen = UnseenLevels::default();
        unseen.count(&self.maps, &rows.table);
        let unseen = unseen.sentence().map(|said| format!("test rows: {said}"));
        self.findings.extend(unseen.map(|message| Warning::new(WarningKind::UnseenLevels, message)));
        let problem = recipe.apply(rows, &self.maps, self.train.names())?;
        let labels = problem.labels().clone();
        let clusters = clusters(problem.rows(), labels.clusters.as_deref(), problem.series(), roles.is_ordered());
        let problem = problem.with_labels(RowLabels { clusters: Some(clusters.into()), ..labels })?;
        self.test_numbers = (numbers.len() == problem.rows()).then_some(numbers);
        self.test = Some(problem);
        Ok(())
    }
}

/// Settings for reading further files alike, with the decimal mark and date order that were found.
fn reading(spec: &DataSpec, settled: &ReadSpec, profile: &TableProfile) -> SavedReadOptions {
    let noted = |note: &str| profile.columns.iter().any(|column| column.note.as_deref() == Some(note));
    let dates = match spec.read.dates {
        DateOrder::Auto if noted(DAY_FIRST) && !noted(MONTH_FIRST) => DateOrder::DayFirst,
        DateOrder::Auto if noted(MONTH_FIRST) && !noted(DAY_FIRST) => DateOrder::MonthFirst,
        known => known,
    };
    let kind = |column: &ColumnProfile| Some((column.name.clone(), ColumnType::from_profile(column)?));
    let special = profile.columns.iter().filter(|column| column.notation != Notation::default());
    SavedReadOptions {
        notations: Some(special.map(|column| (column.name.clone(), column.notation)).collect()),
        read: ReadSpec { decimal: settled.decimal, first_index: settled.first_index, dates, ..spec.read.clone() },
        types: profile.columns.iter().filter_map(kind).collect(),
    }
}

/// The training source, read in single precision from the start if the pipeline asks for it and there are no maps.
fn in_precision(source: TableSource, pipeline: &ValidPipeline, roles: &Roles<'_>) -> TableSource {
    if pipeline.engine.precision == Precision::Double || !pipeline.preprocess.is_empty() {
        return source;
    }
    let of_rows = roles.row_roles().into_iter().map(|(_, name)| name.to_owned());
    let filters = roles.spec.filters().map(|(_, filter)| filter.column.clone());
    source.in_single(&of_rows.chain(filters).chain(roles.spec.target.names().iter().cloned()).collect())
}

/// Rejects intervals that a problem does not support.
///
/// # Errors
/// [`Error::Setting`] for classes, and for too few rows.
fn check_intervals(evaluate: &Evaluate, problem: &Problem) -> Result<()> {
    let Some(level) = evaluate.intervals else { return Ok(()) };
    if *problem.task() != Task::Regression {
        let message = format!(
            "intervals are of numbers, and the task is {}; leave it out, and `vaglio predict --proba` gives probabilities",
            problem.task().name()
        );
        return Err(Error::setting("evaluate.intervals", message));
    }
    let counts = |weights: &[f64]| weights.iter().filter(|weight| **weight > 0.0).count();
    SavedIntervals::check_rows(level, problem.weights().map_or(problem.rows(), counts))
}

/// Row numbers in the file, from 1, in increasing order.
fn numbers_in_file(table: &Table) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..table.rows()).map(|row| table.origin(row) + 1).collect();
    rows.sort_unstable();
    rows
}

/// Names of the targets whose lags a map takes.
///
/// # Errors
/// [`Error::Setting`] if an earlier map would see the present value.
fn lagged(pipeline: &ValidPipeline) -> Result<Vec<String>> {
    let targets = pipeline.data.iter().flat_map(|data| data.target.names());
    let mut all = Vec::new();
    for name in targets {
        match pipeline.preprocess.iter().rposition(|map| map.traits().lags.contains_key(name)) {
            Some(0) => all.push(name.clone()),
            Some(place) => {
                let message = format!(
                    "the past of the target `{name}` is taken by the first map; those before it would see its present"
                );
                return Err(Error::setting(format!("preprocess[{place}]"), message));
            }
            None => {}
        }
    }
    Ok(all)
}

/// Reads test rows with the columns and types of the training rows. Role columns may be missing, except those that
/// order the rows.
fn read_test(
    roles: &Roles<'_>,
    source: &TableSource,
    train: &TableProfile,
) -> Result<(Table, TableProfile, Vec<LeftOutRows>)> {
    let header = source.names();
    let wanted = train.columns.iter().filter(|column| column.taken != InferredType::Empty);
    let wanted: Vec<String> = wanted.map(|column| column.name.clone()).collect();
    let there: HashSet<&String> = header.iter().collect();
    let ordered = [&roles.spec.series, &roles.spec.time];
    let optional = |name: &String| roles.is_row_role(name) && !ordered.contains(&&Some(name.clone()));
    if let Some(missing) = wanted.iter().find(|name| !there.contains(name) && !optional(name)) {
        return Err(Error::unknown("data.test", "column", missing, header.iter()));
    }
    let hints = column_types::hints_like(roles, train);
    let notations = train.columns.iter().map(|column| (column.name.clone(), column.notation)).collect();
    let wanted = ReadRequest { filter: ColumnFilter::only(wanted), hints, notations };
    let (table, mut profile) = source.read(&wanted)?;
    let path = profile.files.first().map(|(path, _)| path.clone()).unwrap_or_default();
    let in_test = |error: Error| error.in_file(&path);
    let (table, left_out) = taking_part(roles, table, &mut profile, &wanted.hints, false).map_err(in_test)?;
    roles.check_complete(&table, &profile)?;
    Ok((roles.arrange(table).map_err(in_test)?, profile, left_out))
}
