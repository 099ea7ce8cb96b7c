//! Maps that are fitted in a pass of their own, some columns at a time.
//!
//! A map that takes a column at a time learns of some columns what it learns of all, so as many are read at once as there is memory
//! for. What was fitted is joined, and is applied to the rows of every batch; `standardize` and `constant` behind it are fitted on the
//! rows that stand for others.

use super::file_rows::FileRows;
use super::pass_state::TEST;
use super::served;
use crate::column_types;
use crate::roles::Roles;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use vaglio_core::{Cells, Error, FittedMap, Map, RefitScope, Requirement, Result, Role, Table};
use vaglio_pipeline::pipeline::ValidPipeline;
use vaglio_pipeline::resample::numeric::not_numbers;
use vaglio_tables::ColumnSurvey;
use vaglio_tables::read::{Hint, Survey};

/// The part of the memory that columns may take which are read at once.
const PART: f64 = 0.25;
/// Bytes of a cell while it is read, by and by.
const CELL: f64 = 32.0;

/// What the first pass has made.
#[derive(Debug, Default)]
pub(super) struct FirstPass {
    /// The maps, fitted on all training rows.
    pub maps: Arc<Vec<Box<dyn FittedMap>>>,
    /// What the columns are taken for; none where there was no pass.
    pub survey: Vec<ColumnSurvey>,
    /// Columns whose missing cells are filled by means of other rows than all as well, and whether in each fold.
    pub filled: Vec<(String, bool)>,
    /// The share of the training rows in which a column has no value, where it is not 0.
    pub missing: HashMap<String, f64>,
}

/// What is read in the first pass.
pub(super) struct Fitting<'f> {
    pub pipeline: &'f ValidPipeline,
    pub files: &'f FileRows,
    pub roles: &'f Roles<'f>,
    pub features: &'f [String],
    pub hints: &'f HashMap<String, Hint>,
    /// Which training row each row of the files is, and the weights of these.
    pub place: &'f [u32],
    pub weights: Option<&'f [f64]>,
    /// Rows of all files, and how many of them are read at most.
    pub rows: usize,
    pub most: Option<usize>,
}

/// The maps of a pipeline that are fitted in a pass of their own: all before the last that is not fitted on rows that stand for others.
pub(super) fn leading(maps: &[Arc<dyn Map>]) -> &[Arc<dyn Map>] {
    let last = maps.iter().rposition(|map| !served::MAPS.contains(&map.kind()));
    &maps[..last.map_or(0, |last| last + 1)]
}

impl Fitting<'_> {
    /// Fits the maps; cost O(rows · columns), in as many passes over a text file as there are groups of columns.
    ///
    /// # Errors
    /// Those of reading and of the maps.
    pub fn fitted(&self) -> Result<FirstPass> {
        let maps = leading(&self.pipeline.settings().preprocess);
        if maps.is_empty() {
            return match self.files.text_among(self.features)? {
                Some((name, word)) => Err(not_numbers(name, "text", &word, "one_hot")),
                None => Ok(FirstPass::default()),
            };
        }
        let at_once = PART * self.pipeline.budget().limit() as f64 / (CELL * self.rows.max(1) as f64);
        let mut fitted: Vec<Vec<Box<dyn FittedMap>>> = maps.iter().map(|_| Vec::new()).collect();
        let mut seen: Vec<BTreeSet<String>> = vec![BTreeSet::new(); maps.len()];
        let (mut survey, mut filled, mut missing_shares) = (Vec::new(), Vec::new(), HashMap::new());
        for group in self.features.chunks((at_once as usize).max(1)) {
            let (mut table, of_group, weights) = self.read(group)?;
            let share = |(name, cells): &(String, Cells)| {
                Some((name.clone(), cells.missing()?.count as f64 / table.rows() as f64))
            };
            missing_shares.extend(table.columns().iter().filter_map(share));
            for (index, map) in maps.iter().enumerate() {
                let under = |e: Error| e.under(&format!("preprocess[{index}]")).named(Role::Map, map.kind());
                let names: Vec<&str> = table.names().collect();
                seen[index].extend(names.iter().map(|name| (*name).to_owned()));
                let own = map.of_columns(&names).ok_or_else(|| served::not_by_column(index, map.kind()))?;
                let own = own.fit(&table, weights.as_deref()).map_err(under)?;
                let before = missing(&table);
                table = own.transform(table).map_err(under)?;
                let is_filled = |name: &String| table.get(name).is_some_and(|cells| cells.missing().is_none());
                if let Some(is_in_folds) = served::filled_again(self.pipeline, &**map) {
                    filled.extend(before.into_iter().filter(is_filled).map(|name| (index, name, is_in_folds)));
                }
                fitted[index].push(own);
            }
            survey.extend(of_group.columns);
        }
        for (index, map) in maps.iter().enumerate() {
            named(&**map, &seen[index]).map_err(|error| error.under(&format!("preprocess[{index}]")))?;
        }
        let fitted: Vec<Box<dyn FittedMap>> = fitted.into_iter().map(joined).collect::<Result<_>>()?;
        let filled = followed(filled, &fitted, maps)?;
        Ok(FirstPass { maps: Arc::new(fitted), survey, filled, missing: missing_shares })
    }

    /// The training rows of some columns, with their weights.
    fn read(&self, group: &[String]) -> Result<(Table, Survey, Option<Vec<f64>>)> {
        let budget = self.pipeline.budget();
        let (mut table, survey) = self.files.columns(group, self.hints, (budget, self.most))?;
        column_types::check(self.roles, &mut table, &survey)?;
        let rows = table.rows();
        let is_all = rows == self.place.len() && (0..).zip(self.place).all(|(row, place)| row == *place);
        if is_all {
            return Ok((table, survey, self.weights.map(<[f64]>::to_vec)));
        }
        let mut read: Vec<u32> = (0..rows as u32).filter(|&row| self.place[row as usize] < TEST).collect();
        read.sort_by_key(|&row| self.place[row as usize]);
        let rows: Vec<usize> = read.into_iter().map(|row| row as usize).collect();
        let weights = self.weights.map(|weights| rows.iter().map(|&row| weights[self.place[row] as usize]).collect());
        Ok((table.select_rows(&rows), survey, weights))
    }
}

/// The columns of numbers that have missing cells.
fn missing(table: &Table) -> Vec<String> {
    let columns = table.columns().iter().filter(|(_, cells)| cells.numbers().is_some() && cells.missing().is_some());
    columns.map(|(name, _)| name.clone()).collect()
}

/// Refuses a map that names a column which is not there.
fn named(map: &dyn Map, there: &BTreeSet<String>) -> Result<()> {
    let written = serde_json::to_value(map).unwrap_or_default();
    for (index, name) in written["columns"].as_array().into_iter().flatten().enumerate() {
        if let Some(name) = name.as_str().filter(|name| !there.contains(*name)) {
            return Err(Error::unknown(format!("columns[{index}]"), "column", name, there.iter().map(String::as_str)));
        }
    }
    let order = written["order"].as_object().into_iter().flatten().map(|(name, _)| name);
    match order.into_iter().find(|name| !there.contains(*name)) {
        Some(name) => Err(Error::unknown(format!("order.{name}"), "column", name, there.iter().map(String::as_str))),
        None => Ok(()),
    }
}

/// What was fitted on some columns each as if it had been on all.
fn joined(mut parts: Vec<Box<dyn FittedMap>>) -> Result<Box<dyn FittedMap>> {
    if parts.len() == 1
        && let Some(only) = parts.pop()
    {
        return Ok(only);
    }
    let failed = |error: serde_json::Error| Error::Numerical(format!("maps of some columns cannot be joined: {error}"));
    let mut all = Value::Null;
    for part in &parts {
        join(&mut all, serde_json::to_value(part).map_err(failed)?);
    }
    serde_json::from_value(all).map_err(failed)
}

fn join(all: &mut Value, part: Value) {
    match (all, part) {
        (Value::Object(all), Value::Object(part)) => {
            for (key, value) in part {
                match all.get_mut(&key) {
                    Some(own) => join(own, value),
                    None => drop(all.insert(key, value)),
                }
            }
        }
        (Value::Array(all), Value::Array(part)) => all.extend(part),
        (all @ Value::Null, part) => *all = part,
        _ => {}
    }
}

/// The filled columns that later maps shift and scale at most; where others must be filled again, they are refused.
fn followed(
    filled: Vec<(usize, String, bool)>,
    fitted: &[Box<dyn FittedMap>],
    maps: &[Arc<dyn Map>],
) -> Result<Vec<(String, bool)>> {
    let is_followed = |(index, name, _): &(usize, String, bool)| {
        let mut later = fitted[index + 1..].iter();
        later.all(|map| map.sources(name) == [name.as_str()] && map.divisor(name).is_some())
    };
    if filled.iter().all(is_followed) {
        return Ok(filled.into_iter().map(|(_, name, is_in_folds)| (name, is_in_folds)).collect());
    }
    match maps.iter().position(|map| map.in_folds() == RefitScope::Impute(Requirement::Required)) {
        Some(index) => Err(served::not_followed(index)),
        // As in memory, none is filled in folds then.
        None => Ok(Vec::new()),
    }
}
