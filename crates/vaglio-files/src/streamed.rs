//! Tables that are read in batches: their rows are reduced to few with the same moments, cell by cell, and all that moments serve
//! is made of these.
//!
//! The columns that say something of the rows, and the target, are read first, and the rows are parted as a run will part them,
//! around the search and inside. Rows that are on the same side in every part make a cell. One pass then reduces the rows of each
//! cell to as many as there are columns (`vaglio_kernels::condensed`), each with a share of their weight, and the run goes on as on a
//! small table with weights: a row of weight 2 is that row twice, everywhere.

mod cells;
mod checkpoints;
mod file_rows;
mod first_pass;
mod means;
mod pass;
mod pass_state;
mod record;
mod served;
mod size;
mod table_rows;

pub(super) use checkpoints::{Checkpoints, NAME as MOMENTS, RangeStore, forget};
pub(super) use record::of_moments;

use super::Prepared;
use super::column_types;
use super::data::{ProblemParts, numbers_in_file, of_test, open, read_test};
use super::holdout::set_aside;
use super::past::Side;
use super::read_options::reading;
use super::role_columns::RoleColumns;
use super::roles::{Roles, assignment, check_weights};
use super::rows::taking_part;
use crate::dealt::{Deals, Dealt};
use cells::RowCells;
use file_rows::FileRows;
use first_pass::{FirstPass, Fitting};
use means::{CellMeans, Filled};
use pass::{Condensed, SAMPLE, TablePass};
use pass_state::places;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use table_rows::TableRows;
use vaglio_core::{AnyResampling, Cells, Error, FittedMap, Map, Numbers, Result, Table, Task};
use vaglio_kernels::condensed::CondensedCell;
use vaglio_pipeline::criteria::KFold;
use vaglio_pipeline::pipeline::ValidPipeline;
use vaglio_pipeline::resample::behind::{RowLabels, RowsBehind};
use vaglio_pipeline::resample::choice::cross_validation;
use vaglio_pipeline::resample::{Fitted, Recipe, Rows, Sample};
use vaglio_report::record::{Warning, WarningKind};
use vaglio_tables::budget::{release, shown};
use vaglio_tables::read::Survey;

/// How a table that was read in batches is searched.
#[derive(Debug)]
pub(crate) struct Streamed {
    /// The pipeline whose parts look at rows that stand for many.
    pub pipeline: ValidPipeline,
    /// How rows are parted around the search where that is not into folds.
    pub around: Option<AnyResampling>,
    /// How they are parted into outer folds, likewise, for people.
    pub nested: Option<String>,
    /// The share of the training rows in which a column has no value, where it is not 0.
    pub missing: HashMap<String, f64>,
    /// Training rows of the table.
    pub train_rows: usize,
    /// How many cells there are.
    pub cells: usize,
    /// Into how many ranges of rows the pass is parted.
    pub ranges: usize,
    /// Whether size and λ are chosen by folds, whose rows are judged in a pass.
    pub is_chosen_in_folds: bool,
    /// Bytes of the files.
    pub bytes: u64,
    /// Seconds of the pass over them; of a sample those that all rows would take.
    pub seconds: f64,
    /// Its rows, which may be read again; none of a sample.
    pub rows: Option<Arc<dyn RowsBehind>>,
}

/// Where what a pass makes is kept.
#[derive(Default)]
pub(super) struct Keeping<'k> {
    /// In the folder of the run, now and then.
    pub checkpoints: Option<Checkpoints<'k>>,
    /// For other processes, range by range.
    pub ranges: Option<&'k RangeStore<'k>>,
}

/// How a table is read.
pub(super) enum Loading<T> {
    /// In batches.
    Batches(T),
    /// As a whole; where it may be too large for that, with why it cannot be read in batches.
    Whole(Option<Error>),
}

/// The data of a pipeline, where its table is read in batches.
///
/// # Errors
/// What moments cannot serve, where the pipeline says `always`; those of the data.
pub(super) fn prepared(pipeline: &ValidPipeline, folder: &Path, kept: Keeping<'_>) -> Result<Loading<Box<Prepared>>> {
    loaded(pipeline, folder, (false, kept))
}

/// The same of the first rows of the files, with all labels.
///
/// # Errors
/// Those of [`prepared`].
pub(super) fn sampled(pipeline: &ValidPipeline, folder: &Path) -> Result<Loading<Box<Prepared>>> {
    loaded(pipeline, folder, (true, Keeping::default()))
}

fn loaded(pipeline: &ValidPipeline, folder: &Path, how: (bool, Keeping<'_>)) -> Result<Loading<Box<Prepared>>> {
    Ok(match size::loading(pipeline, folder)? {
        Loading::Batches(files) => Loading::Batches(Box::new(streamed(pipeline, folder, files, how)?)),
        Loading::Whole(why) => Loading::Whole(why),
    })
}

fn streamed(
    pipeline: &ValidPipeline,
    folder: &Path,
    files: FileRows,
    (is_sample, mut kept): (bool, Keeping<'_>),
) -> Result<Prepared> {
    let settings = pipeline.settings();
    let spec = settings.data.as_ref().ok_or_else(|| Error::setting("data", "it is missing"))?;
    let assignment = assignment(settings)?;
    let words = assignment.as_ref().map_or(&[][..], |assignment| assignment.words);
    let in_steps = pipeline.selector().needs_order();
    let roles = Roles { spec, assignment: assignment.as_ref(), words, looks_back: false, in_steps };
    let train_path = files.first().clone();
    let header = files.names().to_vec();
    roles.check_names(&header)?;
    let hints = column_types::hints(&roles);
    let unread = roles.unread();
    let of_rows: Vec<String> = roles.of_rows().into_iter().map(|(_, name)| name.to_owned()).collect();
    let filters: Vec<String> = spec.filters().map(|(_, filter)| filter.column.clone()).collect();
    let is_label = |name: &String| spec.target.names().contains(name) || of_rows.contains(name);
    let wanted: Vec<String> = header.iter().filter(|name| is_label(name) || filters.contains(name)).cloned().collect();
    let unused = roles.unused();
    let is_feature = |name: &&String| !is_label(name) && !unread.contains(name) && !unused.contains(name);
    let features: Vec<String> = header.iter().filter(is_feature).cloned().collect();
    if features.is_empty() {
        return Err(Error::setting("data", "no column is left to select from"));
    }
    let (table, mut survey, digest) = files.labels(&wanted, &hints, (spec.digest, pipeline.budget()))?;
    let rows_in_files = table.rows();
    let (mut table, left_out) =
        taking_part(&roles, table, &mut survey, &hints, &[], true).map_err(|error| error.in_file(&train_path))?;
    roles.check_complete(&table, &survey)?;
    column_types::check(&roles, &mut table, &survey)?;
    check_weights(spec.weights.as_ref(), &table).map_err(|error| error.in_file(&train_path))?;
    let table = roles.order().arrange(table).map_err(|error| error.in_file(&train_path))?;
    let table = roles.counting(table);
    let (train, aside) = match &spec.test {
        Some(_) => (table, None),
        None => set_aside(spec, table, settings.seed)?,
    };
    let aside_rows = aside.as_ref().map(|aside| (0..aside.rows()).map(|row| aside.origin(row)).collect::<Vec<usize>>());
    let place = places(rows_in_files, &train, aside_rows.as_deref().unwrap_or_default());
    let rows = train.rows();
    let outputs = spec.target.names().to_vec();
    let parts = RoleColumns::take(&roles, Side::plain(train), &outputs, &[])?;
    let task = parts.task(&roles)?;
    let is_mean = pipeline.selector().loss(&task).measure().is_of_rows();
    let has_outer = pipeline.settings().evaluate.as_ref().is_some_and(|evaluate| evaluate.outer_folds().is_some());
    served::served_of(pipeline, &task)?;
    let target_names = match &task {
        Task::Multiclass { labels } => labels.clone(),
        _ => outputs.clone(),
    };
    let recipe = Arc::new(pipeline.recipe(task.clone(), target_names)?);
    let ordered = spec.time.is_some() || pipeline.selector().needs_order();
    let mut labels = parts.rows(&task, "data.target")?;
    // Columns of filters, as features, come with the others.
    labels.table.take_columns();
    let skeleton = Sample::new(labels.clone(), Arc::clone(&recipe), ordered)?;
    let cells = RowCells::new(pipeline, &skeleton)?;
    let is_ordered = skeleton.is_ordered();
    let clusters = (!skeleton.has_single_rows()).then(|| skeleton.clusters());
    drop(skeleton);
    let first = Fitting {
        pipeline,
        files: &files,
        roles: &roles,
        features: &features,
        hints: &hints,
        place: &place,
        weights: labels.weights.as_deref(),
        rows: rows_in_files,
        most: is_sample.then_some(SAMPLE),
    };
    let first = first.fitted()?;
    let known = Survey { columns: first.survey.clone(), ..survey.clone() };
    let pass = TablePass {
        files,
        features,
        hints: column_types::hints_like(&roles, &known),
        first,
        rows: rows_in_files,
        budget: pipeline.budget(),
        is_sample,
    };
    let read =
        pass.condensed(&labels, &place, &cells, aside_rows.as_deref(), (kept.checkpoints.as_mut(), kept.ranges))?;
    release();
    let ranges = pass.ranges(cells.count);
    let test_rows = aside.as_ref().map(numbers_in_file);
    read.surveyed(&mut survey, &header);
    let columns = column_types::taken(&roles, &survey, &header, &[]);
    let reading = reading(spec, pass.files.settled(), &survey);
    let sample_rows = condensed_rows(&read, labels.targets.nrows())?;
    let (recipe, means) = behind(pipeline, &recipe, (&pass.first, &read))?;
    let mut sample = Sample::new(sample_rows, Arc::clone(&recipe), false)?;
    let bytes = pass.files.bytes();
    let (first_maps, missing) = (Arc::clone(&pass.first.maps), pass.first.missing.clone());
    let mut rows_behind: Option<Arc<dyn RowsBehind>> = None;
    if !is_sample {
        let Rows { targets, weights, time, .. } = labels;
        let labels = RowLabels { targets, weights, clusters, cells: cells.of_row, time, is_ordered };
        let table = Arc::new(TableRows::new(pass, (labels, place), &read.filled));
        sample.behind = Some(Arc::clone(&table) as _);
        rows_behind = Some(table);
    }
    let Fitted { problem: train, maps: behind, units } = sample.fitted()?;
    let maps: Vec<Box<dyn FittedMap>> =
        copied(&first_maps)?.into_iter().chain(behind.into_iter().skip(means)).collect();
    let test_files = match (&spec.test, aside) {
        (Some(test), _) => {
            let source = open(folder, test, &reading.read, spec, pipeline.budget(), false)?;
            let (table, of_test, _) = read_test(&roles, &source, &header, &survey)?;
            Some((roles.counting(table), of_test))
        }
        // A sample may have none of them.
        (None, Some(aside)) => read.test_table(aside)?.map(|table| (table, survey.clone())),
        (None, None) => None,
    };
    let parts = ProblemParts {
        roles: &roles,
        recipe: &recipe,
        maps: &maps,
        names: train.names(),
        ordered,
        outputs: &outputs,
        lagged: &[],
    };
    let of_test = test_files.map(|(table, survey)| of_test(&parts, Side::plain(table), false, (&survey, folder)));
    let (mut test_clusters, mut test_numbers, mut findings) = (Vec::new(), None, Vec::new());
    let test = of_test.transpose()?.map(|test| {
        (test_clusters, test_numbers) = (test.clusters, test.numbers);
        findings.extend(test.unseen);
        test.problem
    });
    let streamed = Streamed {
        pipeline: dealt(pipeline, cells.deals),
        around: cells.around,
        nested: cells.nested,
        missing,
        train_rows: rows,
        cells: cells.count,
        ranges,
        is_chosen_in_folds: cross_validation(&pipeline.selector()).is_some(),
        bytes,
        seconds: read.seconds,
        rows: rows_behind,
    };
    findings.insert(0, moments_warning(&streamed, has_outer, is_mean));
    Ok(Prepared {
        train,
        test,
        maps,
        target_units: units,
        rows,
        digest,
        targets: outputs,
        horizons: Vec::new(),
        test_rows,
        left_out,
        columns,
        findings,
        reading,
        times: None,
        history: None,
        test_clusters,
        sample,
        origins: None,
        test_numbers,
        test_source: None,
        streamed: Some(streamed),
    })
}

impl Streamed {
    /// What is read how often, for people.
    pub(super) fn sentence(&self) -> String {
        format!(
            "one pass over {}, about {:.1} s, after one over labels and targets; kept as moments of {} cells of rows; then {} over the \
             columns that are taken, for what single rows tell",
            shown(self.bytes as f64),
            self.seconds,
            self.cells,
            if self.is_chosen_in_folds { "two passes" } else { "one pass" }
        )
    }
}

/// What a result of moments is without.
fn moments_warning(streamed: &Streamed, has_outer: bool, is_mean: bool) -> Warning {
    let mut message = format!("the table was read in batches and kept as moments of {} cells of rows", streamed.cells);
    if streamed.is_chosen_in_folds && !is_mean {
        message += ": what was chosen goes by errors between cells, as the loss is one of all rows together";
    } else if streamed.is_chosen_in_folds && has_outer {
        message += ": choices inside of outer folds go by errors between cells";
    }
    Warning::new(WarningKind::Streamed, message)
}

/// The rows that stand for the cells.
fn condensed_rows(read: &Condensed, outputs: usize) -> Result<Rows> {
    let count = read.names.len();
    let column = |k: usize| read.cells.iter().flat_map(|cell| &cell.columns[k]).copied().collect::<Vec<f64>>();
    let table = read.names.iter().enumerate().map(|(k, name)| (name.clone(), Cells::Numbers(Numbers::from(column(k)))));
    let table = Table::new(table.collect())?;
    let targets: Vec<f64> = (0..outputs).flat_map(|output| column(count + output)).collect();
    let targets = ndarray::Array2::from_shape_vec((outputs, table.rows()), targets)
        .map_err(|error| Error::Shape(error.to_string()))?;
    let cells = read.cells.iter().enumerate();
    let cells: Vec<u32> = cells.flat_map(|(cell, rows)| vec![cell as u32; rows.weights.len()]).collect();
    let weights = read.cells.iter().flat_map(|cell| &cell.weights).copied().collect();
    let of_cell = |cell: &CondensedCell| vec![cell.count as f64 / cell.weights.len() as f64; cell.weights.len()];
    let counts = read.cells.iter().flat_map(of_cell).collect();
    Ok(Rows {
        table,
        targets: Arc::new(targets),
        weights: Some(weights),
        counts: Some(counts),
        groups: Some(cells.clone()),
        assignment: Some(cells),
        ..Rows::default()
    })
}

/// How the rows that stand for others become a problem: by the maps behind those of the first pass, after means of missing cells;
/// with how many maps these are.
fn behind(
    pipeline: &ValidPipeline,
    recipe: &Recipe,
    (first, read): (&FirstPass, &Condensed),
) -> Result<(Arc<Recipe>, usize)> {
    let mut own = pipeline.clone();
    own.settings_mut().preprocess.drain(..first.maps.len());
    let means = |is_in_folds: bool| {
        let columns = read.filled.iter().filter(|(_, in_folds)| *in_folds == is_in_folds);
        let columns: Vec<Filled> = columns.map(|(filled, _)| filled.clone()).collect();
        (!columns.is_empty()).then(|| Arc::new(CellMeans { columns, is_in_folds }) as Arc<dyn Map>)
    };
    let means: Vec<Arc<dyn Map>> = [false, true].into_iter().filter_map(means).collect();
    let count = means.len();
    own.settings_mut().preprocess.splice(..0, means);
    let made = own.recipe(recipe.task.clone(), recipe.target_names.clone())?;
    Ok((Arc::new(Recipe { before: Arc::clone(&first.maps), ..made }), count))
}

/// Maps, written and read.
fn copied(maps: &[Box<dyn FittedMap>]) -> Result<Vec<Box<dyn FittedMap>>> {
    let failed = |error: serde_json::Error| Error::Numerical(format!("the maps cannot be written: {error}"));
    let copy = |map| serde_json::from_value(serde_json::to_value(map).map_err(failed)?).map_err(failed);
    maps.iter().map(copy).collect()
}

/// The pipeline with rows parted as they were dealt.
fn dealt(pipeline: &ValidPipeline, deals: Deals) -> ValidPipeline {
    let mut pipeline = pipeline.clone();
    let written = serde_json::to_value(&pipeline.settings().criterion).unwrap_or_default();
    let own: Option<KFold> = match written["kind"] == "kfold" {
        true => {
            let mut written = written;
            written.as_object_mut().and_then(|all| all.remove("kind"));
            serde_json::from_value(written).ok()
        }
        false => None,
    };
    let are_splits = pipeline.settings().criterion.splits().is_some_and(|splits| splits.around_search(1).is_some());
    let [inside, outside] = Dealt::both(deals);
    if let Some(own) = own {
        let plain = KFold { folds: None, shuffle: false, stratified: false, by: None, assignment: None, ..own };
        pipeline.settings_mut().criterion = Arc::new(KFold { splits: Some(inside), ..plain });
    }
    pipeline.settings_mut().dealt = Some((outside, are_splits));
    pipeline
}
