//! Builds a problem from files: columns by name, coded targets, maps fitted on training rows only.

use super::data_checks::table_with_roles::TableWithRoles;
use super::data_checks::{findings, steps};
use super::holdout::set_aside;
use super::lags::{LagSpec, RowsWithLags, SeriesTable};
use super::read_options::reading;
use super::role_columns::RoleColumns;
use super::roles::{Roles, assignment, check_weights};
use super::rows::{taking_part, together};
use super::scratch::with_scratch;
use super::train_test::TrainTest;
use super::{column_types, target_file};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use vaglio_core::{Error, MapFit, Problem, Result, Table, Task};
use vaglio_pipeline::maps::UnseenLevels;
use vaglio_pipeline::pipeline::{Evaluate, Names, Precision, ReadSpec, SavedIntervals, ValidPipeline};
use vaglio_pipeline::preprocess::{LabeledTable, Preprocessing};
use vaglio_pipeline::resampling::sample::clusters;
use vaglio_pipeline::resampling::{FittedProblem, Sample};
use vaglio_report::record::{LeftOutReason, LeftOutRows, Warning, WarningKind};
use vaglio_tables::read::{ColumnFilter, ColumnProfile, Digest, InferredType, ReadRequest, TableProfile, TableSource};

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
    let settings = pipeline.settings();
    let own = settings.data.as_ref().ok_or_else(|| Error::setting("data", "it is missing"))?;
    let opened = |files: &Names, read: &ReadSpec| {
        let paths: Vec<PathBuf> = files.iter().map(|name| folder.join(name)).collect();
        match is_sample {
            true => TableSource::open_sample(&paths, read, pipeline.budget()),
            false => TableSource::open_within(&paths, read, pipeline.budget()),
        }
    };
    let source = opened(&own.train, &own.read)?;
    let (source, spec) = target_file::beside(source, own, folder)?;
    let spec = &*spec;
    let assignment = assignment(settings)?;
    let words = assignment.as_ref().map_or(&[][..], |assignment| assignment.words);
    let looks = LagSpec::new(settings)?;
    let (looks_back, in_steps) = (looks.is_some(), looks.is_some() || pipeline.selector().needs_order());
    let roles = Roles { spec, assignment: assignment.as_ref(), words, looks_back, in_steps };
    let train_path = folder.join(spec.train.first().map_or("", String::as_str));
    let header = source.names().to_vec();
    roles.check_names(&header)?;
    let filter = ColumnFilter::except(roles.unread());
    let wanted = ReadRequest { filter, hints: column_types::hints(&roles), ..ReadRequest::default() };
    let source = in_precision(source, pipeline, &roles);
    let (table, mut profile, digest) = match is_sample {
        true => source.read(&wanted).map(|(table, profile)| (table, profile, Digest::known(String::new())))?,
        false => source.read_and_hash(&wanted)?,
    };
    let reading = reading(spec, &source.settled(), &profile);
    let (mut table, mut left_out) =
        taking_part(&roles, table, &mut profile, &wanted.hints, true).map_err(|error| error.in_file(&train_path))?;
    let columns = column_types::taken(&roles, &profile, &header);
    columns.iter().for_each(|columns| tracing::info!("{}: {}", columns.names(), columns.words()));
    let of_train = source.times(&profile);
    let mut of_test_rows = of_train;
    drop(source);
    roles.check_complete(&table, &profile)?;
    column_types::check(&roles, &mut table, &profile)?;
    check_weights(spec.weights.as_ref(), &table).map_err(|error| error.in_file(&train_path))?;
    left_out.iter().for_each(|rows| tracing::info!("left out: {}", rows.words()));
    let is_gone = left_out.iter().any(|rows| rows.reason != LeftOutReason::Filter);
    let table = roles.order().arrange(table).map_err(|error| error.in_file(&train_path))?;
    let mut test_profile = profile.clone();
    let whole = |table: &Table| {
        let (targets, time) = (spec.target.names(), spec.time.as_deref());
        looks.as_ref().map(|looks| SeriesTable { table: table.clone(), looks, targets, time })
    };
    let (all, table) = (whole(&table), roles.counting(table));
    let mut all_of_test = None;
    let (train, test) = match &spec.test {
        Some(test) => {
            let test_source = opened(test, &reading.read)?.widened(header.iter().map(String::as_str));
            let (test, of_test, left_out_of_test) = read_test(&roles, &test_source, &header, &profile)?;
            left_out = together(left_out, left_out_of_test);
            of_test_rows = test_source.times(&of_test);
            test_profile = of_test;
            all_of_test = whole(&test);
            (table, Some(roles.counting(test)))
        }
        None => set_aside(spec, table, settings.seed)?,
    };
    let rows = train.rows();
    let test_rows = test.as_ref().filter(|_| spec.test.is_none()).map(numbers_in_file);
    let read = TableWithRoles { roles: &roles, profile: &profile, train: &train, test: test.as_ref() };
    let mut findings = findings(read, pipeline.budget());
    findings.extend(steps::steps(read, pipeline, is_gone, all.as_ref().map(|all| &all.table)));
    let lagged = lagged(pipeline)?;
    let own = spec.target.names();
    let (outputs, horizons) = match &looks {
        Some(looks) => (looks.outputs(own), looks.horizons.clone()),
        None => (own.to_vec(), Vec::new()),
    };
    let history = all.as_ref().filter(|_| !lagged.is_empty()).map(|all| all.until_last(&train));
    let side = |own: Table, all: Option<&SeriesTable<'_>>, hidden| match all {
        Some(all) => all.side(&own, hidden),
        None => Ok(RowsWithLags::plain(own)),
    };
    let sides = match test {
        // Test rows of the same table follow the training rows, which maps use as lags.
        Some(test) => {
            let all = if spec.test.is_some() { all_of_test.as_ref() } else { all.as_ref() };
            Some((side(test.clone(), all, None)?, test))
        }
        None => None,
    };
    let hidden = sides.as_ref().filter(|_| spec.test.is_none()).map(|(_, test)| test);
    let train = side(train, all.as_ref(), hidden)?;
    let test = sides.map(|(side, _)| side);
    let parts = RoleColumns::take(&roles, train, &outputs, &lagged)?;
    let task = parts.task(&roles)?;
    let target_names = match &task {
        Task::Multiclass { labels } => labels.clone(),
        _ => outputs.clone(),
    };
    let recipe = Arc::new(Preprocessing { lagged: lagged.clone(), ..pipeline.recipe(task, target_names)? });
    let ordered = spec.time.is_some() || pipeline.selector().needs_order();
    let train_rows = parts.rows(&recipe.task, "data.target")?;
    let origins = train_rows.table.origins().map(<[usize]>::to_vec);
    let sample = Sample::new(train_rows, Arc::clone(&recipe), ordered).map_err(|error| profile.located(error))?;
    let fitted = sample.fitted().map_err(|error| profile.located(error))?;
    if fitted.problem.names().is_empty() {
        return Err(Error::setting("data", "no column is left to select from"));
    }
    check_intervals(settings.evaluation(), &fitted.problem)?;
    let has_intervals = settings.evaluation().intervals.is_some();
    let parts = ProblemParts {
        roles: &roles,
        recipe: &recipe,
        maps: &fitted.maps,
        names: fitted.problem.names(),
        ordered,
        outputs: &outputs,
        lagged: &lagged,
    };
    let of_test = test.map(|side| prepare_test(&parts, side, has_intervals, &test_profile, folder));
    let (mut test_source, mut test_clusters, mut test_numbers) = (None, Vec::new(), None);
    let test = of_test.transpose()?.map(|test| {
        (test_source, test_clusters, test_numbers) = (test.source, test.clusters, test.numbers);
        findings.extend(test.unseen);
        test.problem
    });
    let FittedProblem { problem: train, maps, units } = fitted;
    let targets = spec.target.names().to_vec();
    Ok(TrainTest {
        train,
        test,
        test_clusters,
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
        times: (of_train.is_some() || of_test_rows.is_some())
            .then(|| [of_train.unwrap_or(1.0), of_test_rows.unwrap_or(1.0)]),
        history,
        sample,
        origins,
        test_numbers,
        test_source,
        scratch: None,
    })
}

/// The training source, read in single precision from the start if the pipeline asks for it and there are no maps.
fn in_precision(source: TableSource, pipeline: &ValidPipeline, roles: &Roles<'_>) -> TableSource {
    let settings = pipeline.settings();
    if settings.engine.precision == Precision::Double || !settings.preprocess.is_empty() {
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
    SavedIntervals::check_rows(level, problem.weights().map_or(problem.rows(), |weights| counts(weights)))
}

/// Inputs for preparing the test rows.
pub(super) struct ProblemParts<'p> {
    pub roles: &'p Roles<'p>,
    pub recipe: &'p Arc<Preprocessing>,
    /// Fitted on the training rows.
    pub maps: &'p [MapFit],
    /// The candidate columns.
    pub names: &'p [String],
    pub ordered: bool,
    pub outputs: &'p [String],
    pub lagged: &'p [String],
}

/// Test rows with the columns of the training rows.
pub(super) struct TestRowsMade {
    pub problem: Problem,
    pub clusters: Vec<u32>,
    pub numbers: Option<Vec<usize>>,
    pub source: Option<(LabeledTable, Arc<Preprocessing>)>,
    /// Warning about levels that no training row has.
    pub unseen: Option<Warning>,
}

/// Row numbers in the file, from 1, in increasing order.
fn numbers_in_file(table: &Table) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..table.rows()).map(|row| table.origin(row) + 1).collect();
    rows.sort_unstable();
    rows
}

/// Prepares the test rows like the training rows; keeps their source if asked.
///
/// # Errors
/// Returns the errors of the rows, with the file and the position.
fn prepare_test(
    parts: &ProblemParts<'_>,
    side: RowsWithLags,
    is_kept: bool,
    profile: &TableProfile,
    folder: &Path,
) -> Result<TestRowsMade> {
    let spec = parts.roles.spec;
    let path = spec.test.as_ref().unwrap_or(&spec.train).first().map_or("", String::as_str);
    test_rows_made(parts, side, is_kept).map_err(|error| profile.located(error).in_file(&folder.join(path)))
}

fn test_rows_made(parts: &ProblemParts<'_>, side: RowsWithLags, is_kept: bool) -> Result<TestRowsMade> {
    let ProblemParts { roles, recipe, maps, names, ordered, outputs, lagged } = *parts;
    // Columns that assign rows to folds are not used for test rows.
    let roles = Roles { words: &[], ..*roles };
    let rows =
        RoleColumns::take(&roles, side, outputs, lagged).and_then(|parts| parts.rows(&recipe.task, "data.test"))?;
    let groups = rows.groups.clone();
    let rows = LabeledTable { groups: None, assignment: None, time: None, known: None, ..rows };
    let numbers: Vec<usize> = (0..rows.table.rows()).map(|row| rows.table.origin(row)).collect();
    let source = is_kept.then(|| (rows.clone(), Arc::clone(recipe)));
    let mut unseen = UnseenLevels::default();
    unseen.count(maps, &rows.table);
    let (problem, groups) = recipe.apply(LabeledTable { clusters: groups, ..rows }, maps, names)?;
    let numbers = (numbers.len() == problem.rows()).then_some(numbers);
    let series = problem.series();
    let clusters = clusters(problem.rows(), groups.as_deref(), series, ordered);
    let unseen = unseen.sentence().map(|said| Warning::new(WarningKind::UnseenLevels, format!("test rows: {said}")));
    Ok(TestRowsMade { problem, clusters, numbers, source, unseen })
}

/// Names of the targets whose lags a map takes.
///
/// # Errors
/// [`Error::Setting`] if an earlier map would see the present value.
fn lagged(pipeline: &ValidPipeline) -> Result<Vec<String>> {
    let targets = pipeline.settings().data.iter().flat_map(|data| data.target.names());
    let mut all = Vec::new();
    for name in targets {
        match pipeline.settings().preprocess.iter().rposition(|map| map.traits().lags.contains_key(name)) {
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
    train_header: &[String],
    train: &TableProfile,
) -> Result<(Table, TableProfile, Vec<LeftOutRows>)> {
    let header = source.names();
    let unused = roles.unread();
    let read = train.columns.iter().filter(|column| column.taken != InferredType::Empty);
    let read: HashSet<&str> = read.map(|column| column.name.as_str()).collect();
    let is_read = |name: &&String| read.contains(name.as_str()) && !unused.contains(name);
    let wanted: Vec<String> = train_header.iter().filter(is_read).cloned().collect();
    let there: HashSet<&String> = header.iter().collect();
    let ordered = [&roles.spec.series, &roles.spec.time];
    let optional = |name: &String| {
        roles.row_roles().iter().any(|(_, of_rows)| of_rows == name) && !ordered.contains(&&Some(name.clone()))
    };
    if let Some(missing) = wanted.iter().find(|name| !there.contains(name) && !optional(name)) {
        return Err(Error::unknown("data.test", "column", missing, header.iter().map(String::as_str)));
    }
    let hints = column_types::hints_like(roles, train);
    let notation = |column: &ColumnProfile| Some((column.name.clone(), column.notation?));
    let notations = train.columns.iter().filter_map(notation).collect();
    let wanted = ReadRequest { filter: ColumnFilter::only(wanted), hints, notations };
    let (table, mut profile) = source.read(&wanted)?;
    let path = profile.files.first().map(|(path, _)| path.clone()).unwrap_or_default();
    let (table, left_out) =
        taking_part(roles, table, &mut profile, &wanted.hints, false).map_err(|error| error.in_file(&path))?;
    roles.check_complete(&table, &profile)?;
    let arranged = check_weights(roles.spec.weights.as_ref(), &table).and_then(|()| roles.order().arrange(table));
    Ok((arranged.map_err(|error| error.in_file(&path))?, profile, left_out))
}
