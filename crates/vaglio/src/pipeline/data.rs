//! From files to a problem: columns by name, targets coded, maps fitted on training rows only.

use super::targets::{encode, task};
use super::{DataSpec, ValidPipeline};
use crate::read::{Selection as Choice, read_header, read_table};
use ndarray::Array2;
use sha2::{Digest, Sha256};
use std::path::Path;
use vaglio_core::{Cells, Columns, Error, FittedMap, Problem, Result, Table, TargetScale, Task};

/// Everything that a run needs of its data.
#[derive(Debug)]
pub struct Prepared {
    /// Training rows.
    pub train: Problem,
    /// Test rows with the same candidate columns, if any; targets in the user's units.
    pub test: Option<Problem>,
    /// The maps, fitted on the training rows.
    pub maps: Vec<Box<dyn FittedMap>>,
    /// How each target was scaled, if it was.
    pub target_scales: Option<Vec<TargetScale>>,
    /// Rows as read, those of weight 0 included, without test rows.
    pub rows: usize,
    /// SHA-256 of the training file.
    pub sha256: String,
}

/// Reads, codes, splits and preprocesses the data of a pipeline.
///
/// # Errors
/// Files that cannot be read or hold values that are not finite; names and labels that the data do not have; text
/// columns that no map takes.
pub fn prepare(pipeline: &ValidPipeline, folder: &Path) -> Result<Prepared> {
    let spec = pipeline.data.as_ref().ok_or_else(|| Error::setting("data", "it is missing"))?;
    let train_path = folder.join(&spec.train);
    let header = read_header(&train_path)?;
    check_names(spec, &header)?;
    let table = read_table(&train_path, &Choice::except(unused(spec)))?;
    check_weights(spec, &table).map_err(|error| error.in_file(&train_path))?;
    let sha256 = hash(&train_path)?;
    let rows = table.rows();
    let (train, test) = match (&spec.test, spec.test_fraction) {
        (Some(test), _) => (table, Some(read_test(spec, &folder.join(test), &header)?)),
        (None, Some(fraction)) => {
            let (train, test) = split(spec, &table, fraction, pipeline.seed)?;
            (train, Some(test))
        }
        (None, None) => (table, None),
    };
    let rows = if spec.test_fraction.is_some() { train.rows() } else { rows };
    let train = Parts::take(spec, train)?;
    let task = task(spec, &train.targets)?;
    let mut targets = encode(&task, &train.targets, "data.target")?;

    let mut table = train.rest;
    let (maps, scales) = pipeline.fit_maps(&mut table, &mut targets, &task, train.weights.as_deref())?;
    let (columns, names) = numeric(table)?;
    if names.is_empty() {
        return Err(Error::setting("data", "no column is left to select from"));
    }
    let test = match test {
        Some(table) => {
            let test = test_problem(spec, table, &maps, &names, &task);
            Some(test.map_err(|error| error.in_file(&folder.join(spec.test.as_ref().unwrap_or(&spec.train))))?)
        }
        None => None,
    };
    let train = finish(columns, names, targets, spec, task, train.groups, train.weights)?;
    Ok(Prepared { train, test, maps, target_scales: scales, rows, sha256 })
}

/// Fitted maps, and how each target was scaled, if it was.
pub(crate) type FittedMaps = (Vec<Box<dyn FittedMap>>, Option<Vec<TargetScale>>);

impl ValidPipeline {
    /// Fits each map on what the maps before it made, and applies it to the table and the targets.
    pub(crate) fn fit_maps(
        &self,
        table: &mut Table,
        targets: &mut Array2<f64>,
        task: &Task,
        weights: Option<&[f64]>,
    ) -> Result<FittedMaps> {
        let (mut maps, mut scales) = (Vec::new(), None);
        for (index, map) in self.preprocess.iter().enumerate() {
            let under = |e: Error| e.under(&format!("preprocess[{index}]"));
            let fitted = map.fit(table, weights).map_err(under)?;
            *table = fitted.transform(std::mem::take(table))?;
            maps.push(fitted);
            let outputs = targets.nrows();
            for (output, mut target) in targets.rows_mut().into_iter().enumerate() {
                let Some(scale) = map.fit_target(&target.to_vec(), weights).map_err(under)? else { continue };
                if *task != Task::Regression {
                    return Err(under(Error::setting("target", "classes are not scaled; set it to false")));
                }
                target.mapv_inplace(|y| (y - scale.shift) / scale.scale);
                let none = TargetScale { shift: 0.0, scale: 1.0 };
                let so_far = &mut scales.get_or_insert_with(|| vec![none; outputs])[output];
                *so_far =
                    TargetScale { shift: so_far.shift + scale.shift * so_far.scale, scale: so_far.scale * scale.scale };
            }
        }
        Ok((maps, scales))
    }
}

/// A table with the columns of special meaning taken out.
struct Parts {
    targets: Vec<(String, Cells)>,
    weights: Option<Vec<f64>>,
    groups: Option<Vec<u32>>,
    rest: Table,
}

impl Parts {
    fn take(spec: &DataSpec, mut table: Table) -> Result<Self> {
        let missing = |name: &str| Error::Shape(format!("the column `{name}` is missing"));
        let weights = match spec.weights.as_ref().and_then(|name| table.take(name).map(|cells| (name, cells))) {
            Some((name, cells)) => match cells.numbers() {
                Some(numbers) => Some(numbers.values().into_owned()),
                None => {
                    return Err(Error::setting(
                        "data.weights",
                        format!("the column `{name}` holds text; weights are numbers"),
                    ));
                }
            },
            None => None,
        };
        let groups = spec.groups.as_ref().and_then(|name| table.take(name)).map(|cells| group_numbers(&cells));
        let mut targets = Vec::new();
        for name in spec.target.names() {
            targets.push((name.clone(), table.take(name).ok_or_else(|| missing(name))?));
        }
        Ok(Parts { targets, weights, groups, rest: table })
    }
}

fn finish(
    columns: Columns,
    names: Vec<String>,
    targets: Array2<f64>,
    spec: &DataSpec,
    task: Task,
    groups: Option<Vec<u32>>,
    weights: Option<Vec<f64>>,
) -> Result<Problem> {
    let target_names = match &task {
        Task::Multiclass { labels } => labels.clone(),
        _ => spec.target.names().to_vec(),
    };
    let mut problem = Problem::new(columns, names, targets, target_names, task)?;
    if let Some(groups) = groups {
        problem = problem.with_groups(groups)?;
    }
    match weights {
        Some(weights) => problem.with_weights(weights),
        None => Ok(problem),
    }
}

fn check_names(spec: &DataSpec, header: &[String]) -> Result<()> {
    let known = |field: String, name: &str| {
        if header.iter().any(|h| h == name) {
            return Ok(());
        }
        Err(Error::unknown(field, "column", name, header.iter().map(String::as_str)))
    };
    let single = matches!(spec.target, super::Target::One(_));
    for (index, name) in spec.target.names().iter().enumerate() {
        known(if single { "data.target".into() } else { format!("data.target[{index}]") }, name)?;
        if spec.target.names()[..index].contains(name) {
            return Err(Error::setting(format!("data.target[{index}]"), format!("`{name}` stands twice")));
        }
        for (field, other) in [("weights", &spec.weights), ("groups", &spec.groups)] {
            if other.as_ref() == Some(name) {
                return Err(Error::setting(format!("data.{field}"), format!("`{name}` is the target")));
            }
        }
        if spec.exclude.contains(name) {
            return Err(Error::setting("data.exclude", format!("`{name}` is the target")));
        }
    }
    for (field, name) in [("weights", &spec.weights), ("groups", &spec.groups)] {
        if let Some(name) = name {
            known(format!("data.{field}"), name)?;
        }
    }
    for (index, name) in spec.exclude.iter().enumerate() {
        known(format!("data.exclude[{index}]"), name)?;
    }
    Ok(())
}

/// Refuses weights that are negative or all 0.
fn check_weights(spec: &DataSpec, table: &Table) -> Result<()> {
    let Some(name) = &spec.weights else { return Ok(()) };
    let Some(weights) = table.get(name).and_then(Cells::numbers).map(|numbers| numbers.values().into_owned()) else {
        return Ok(());
    };
    if let Some(row) = weights.iter().position(|w| *w < 0.0) {
        let message = format!("row {}, column `{name}`: the weight {} is negative", row + 1, weights[row]);
        return Err(Error::Shape(message));
    }
    if weights.iter().all(|w| *w == 0.0) {
        return Err(Error::Shape(format!("column `{name}`: every row has weight 0")));
    }
    Ok(())
}

/// Excluded columns, unless they have another meaning.
fn unused(spec: &DataSpec) -> Vec<String> {
    let used = |name: &&String| spec.weights.as_ref() == Some(*name) || spec.groups.as_ref() == Some(*name);
    spec.exclude.iter().filter(|name| !used(name)).cloned().collect()
}

fn read_test(spec: &DataSpec, path: &Path, train_header: &[String]) -> Result<Table> {
    let header = read_header(path)?;
    let optional = |name: &String| spec.weights.as_ref() == Some(name) || spec.groups.as_ref() == Some(name);
    let unused = unused(spec);
    let wanted: Vec<String> = train_header.iter().filter(|n| !unused.contains(n)).cloned().collect();
    if let Some(missing) = wanted.iter().find(|name| !header.contains(name) && !optional(name)) {
        return Err(Error::unknown("data.test", "column", missing, header.iter().map(String::as_str)));
    }
    let table = read_table(path, &Choice::only(wanted))?;
    check_weights(spec, &table).map_err(|error| error.in_file(path))?;
    Ok(table)
}

fn test_problem(
    spec: &DataSpec,
    table: Table,
    maps: &[Box<dyn FittedMap>],
    names: &[String],
    task: &Task,
) -> Result<Problem> {
    let parts = Parts::take(spec, table)?;
    let targets = encode(task, &parts.targets, "data.test")?;
    let mut table = parts.rest;
    for map in maps {
        table = map.transform(table)?;
    }
    let (columns, found) = numeric(table)?;
    let missing = |name: &String| Error::unknown("data.test", "column", name, found.iter().map(String::as_str));
    let order: Vec<usize> = names
        .iter()
        .map(|name| found.iter().position(|f| f == name).ok_or_else(|| missing(name)))
        .collect::<Result<_>>()?;
    finish(columns.select(&order), names.to_vec(), targets, spec, task.clone(), None, parts.weights)
}

/// The columns of a table that has no text left.
pub(crate) fn numeric(table: Table) -> Result<(Columns, Vec<String>)> {
    let (mut columns, mut names) = (Columns::new(table.rows()), Vec::new());
    for (name, cells) in table.into_columns() {
        match cells {
            Cells::Numbers(numbers) => {
                columns.push(numbers);
                names.push(name);
            }
            Cells::Text(text) => {
                let example = text.first().map_or("", String::as_str);
                return Err(Error::setting(
                    "preprocess",
                    format!(
                        "the column `{name}` holds text (`{example}`, …); add {{kind: one_hot}} to preprocess or the column to data.exclude"
                    ),
                ));
            }
        }
    }
    Ok((columns, names))
}

fn group_numbers(cells: &Cells) -> Vec<u32> {
    let mut numbers = std::collections::HashMap::new();
    (0..cells.len())
        .map(|row| {
            let next = numbers.len() as u32;
            *numbers.entry(cells.label(row)).or_insert(next)
        })
        .collect()
}

/// Sets a share of the rows aside by the seed; rows of one group stay together.
fn split(spec: &DataSpec, table: &Table, fraction: f64, seed: u64) -> Result<(Table, Table)> {
    use rand_chacha::rand_core::{RngCore, SeedableRng};
    let rows = table.rows();
    let groups = match spec.groups.as_ref().and_then(|name| table.get(name)) {
        Some(cells) => group_numbers(cells),
        None => (0..rows as u32).collect(),
    };
    let count = groups.iter().max().map_or(0, |g| *g as usize + 1);
    let mut order: Vec<usize> = (0..count).collect();
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    for last in (1..count).rev() {
        let at = ((u128::from(random.next_u64()) * (last as u128 + 1)) >> 64) as usize;
        order.swap(last, at);
    }
    let aside = (fraction * count as f64).round() as usize;
    if aside == 0 || aside >= count {
        let what = if spec.groups.is_some() { "groups" } else { "rows" };
        return Err(Error::setting(
            "data.test_fraction",
            format!("{fraction} of {count} {what} leaves one side empty"),
        ));
    }
    let mut is_test = vec![false; count];
    order[..aside].iter().for_each(|&g| is_test[g] = true);
    let side = |test: bool| {
        let rows: Vec<usize> = (0..rows).filter(|&r| is_test[groups[r] as usize] == test).collect();
        table.select_rows(&rows)
    };
    Ok((side(false), side(true)))
}

fn hash(path: &Path) -> Result<String> {
    let unreadable = |e: std::io::Error| Error::Unreadable { path: path.to_owned(), message: e.to_string() };
    let mut file = std::fs::File::open(path).map_err(unreadable)?;
    let mut digest = Sha256::new();
    std::io::copy(&mut file, &mut digest).map_err(unreadable)?;
    Ok(hex(&digest.finalize()))
}

/// Bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
