//! The rows of a table that is not in memory, behind those that stand for them.
//!
//! Moments tell what a model loses on rows together, and nothing of single ones. Once models are known, a pass over the table
//! predicts each row by those that had not seen it. Whatever maps do, such a model is affine in the columns with which the
//! rows come, so its values in the middle of the rows, and one step from there along each column, tell it.

mod held_out;
mod losses;

pub use held_out::{of_choice, of_round, rounds_of};

use super::rows::Rows;
use super::sample::{Sample, SampleSource};
use ndarray::Array2;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use vaglio_core::{Cells, Columns, Feature, FittedMap, Numbers, Problem, Result, StopSign, Table};
use vaglio_kernels::Level;
use vaglio_kernels::sums::axpy;

/// Rows with what belongs to each, by their places.
#[derive(Debug)]
pub struct RowLabels {
    /// Outputs × rows, in the user's units.
    pub targets: Arc<Array2<f64>>,
    /// How much each row counts; all alike when absent.
    pub weights: Option<Vec<f64>>,
    /// The cluster of each row; each is one where this is absent.
    pub clusters: Option<Vec<u32>>,
    /// The cell of each row.
    pub cells: Vec<u32>,
    /// The place of each row's time among all times.
    pub time: Option<Vec<u32>>,
    /// Whether rows are in an order of time.
    pub is_ordered: bool,
}

impl RowLabels {
    /// How much a row counts.
    pub fn weight(&self, row: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[row])
    }

    /// The cluster of a row.
    pub fn cluster(&self, row: usize) -> u32 {
        self.clusters.as_ref().map_or(row as u32, |clusters| clusters[row])
    }

    /// Of each cell whether it is among these.
    pub fn members(&self, cells: &[u32]) -> Vec<bool> {
        let mut members = vec![false; self.cells.iter().max().map_or(0, |last| *last as usize + 1)];
        cells.iter().for_each(|&cell| members[cell as usize] = true);
        members
    }
}

/// A column as it is read, NaN where cells are missing, of the rows by their places.
#[derive(Debug)]
pub struct ReadColumn {
    /// Its name.
    pub name: String,
    /// Its values.
    pub values: Vec<f64>,
}

/// The rows for which others stand.
pub trait RowsBehind: fmt::Debug + Send + Sync {
    /// What belongs to each.
    fn labels(&self) -> &RowLabels;

    /// Predicts every row by each of the judges that its cell is one of, and reads columns of numbers, in one pass; `false` when it was
    /// stopped.
    ///
    /// # Errors
    /// Those of reading.
    fn judged(&self, judges: &mut [Judge<'_>], read: &mut [ReadColumn], stop: &StopSign) -> Result<bool>;

    /// The number of a row in the files, from 1. Cost O(rows).
    fn number(&self, row: usize) -> usize;

    /// Bytes that columns may take which are read.
    fn room(&self) -> f64;

    /// Whether a column of the files holds numbers.
    fn holds_numbers(&self, name: &str) -> bool;
}

/// Takes the predictions, outputs × rows, of some rows, by their places, of every model.
type Take<'j> = Box<dyn FnMut(&[usize], &[Array2<f64>]) + Send + 'j>;

/// Models that predict the rows of some cells.
pub struct Judge<'j> {
    /// The cells.
    pub cells: Vec<u32>,
    /// The models.
    pub models: AffineModels,
    /// What takes their predictions.
    pub take: Take<'j>,
}

/// Models of the same columns: a + Σ b (x − middle) for each output.
#[derive(Debug, Clone)]
pub struct AffineModels {
    /// The names of the columns with which the rows come.
    pub columns: Vec<String>,
    middle: Vec<f64>,
    /// The outputs of every model.
    models: Vec<Vec<Affine>>,
}

/// One output of a model.
#[derive(Debug, Clone)]
struct Affine {
    /// In the middle.
    value: f64,
    /// Those that are not 0, by the places of their columns.
    slopes: Vec<(usize, f64)>,
}

impl AffineModels {
    /// Predictions of rows by every model, from the entries of the columns.
    pub fn predictions(&self, mut entries: Vec<Vec<f64>>, rows: usize) -> Vec<Array2<f64>> {
        for (entries, middle) in entries.iter_mut().zip(&self.middle) {
            entries.iter_mut().for_each(|x| *x -= middle);
        }
        let level = Level::best();
        let of_model = |outputs: &Vec<Affine>| {
            let mut all = Array2::zeros((outputs.len(), rows));
            for (mut own, Affine { value, slopes }) in all.rows_mut().into_iter().zip(outputs) {
                let Some(own) = own.as_slice_mut() else { continue };
                own.fill(*value);
                for (place, slope) in slopes {
                    axpy(level, *slope, &entries[*place], own);
                }
            }
            all
        };
        self.models.iter().map(of_model).collect()
    }
}

/// Points that tell models of some features.
pub struct Probes {
    columns: Vec<String>,
    middle: Vec<f64>,
    steps: Vec<f64>,
    /// The middle of the rows, and one step from it along each column.
    pub problem: Problem,
}

impl Probes {
    /// For models of some features that fitted maps make of the rows of a sample under these names.
    ///
    /// # Errors
    /// Those of the maps.
    pub fn new(
        sample: &Sample,
        (maps, names): (&[Box<dyn FittedMap>], &[String]),
        features: &[Feature],
    ) -> Result<Self> {
        let used: HashSet<&str> =
            features.iter().filter_map(|&feature| names.get(feature)).map(String::as_str).collect();
        // Name, middle and step of each column.
        let found: Vec<(String, (f64, f64))> = match &sample.source {
            SampleSource::Plain(problem) => {
                let weights = problem.weights().map(|weights| &weights[..]);
                let columns = problem.names().iter().zip(problem.columns().iter());
                columns.map(|(name, column)| (name.clone(), spread(&column.values(), weights))).collect()
            }
            SampleSource::Mapped(rows, _) => {
                let weights = rows.weights.as_deref();
                let numbers =
                    |(name, cells): &(String, Cells)| Some((name.clone(), spread(&cells.numbers()?.values(), weights)));
                rows.table.columns().iter().filter_map(numbers).collect()
            }
        };
        // A column of cells that are missing has the name of its own before a mark that no file can have.
        let is_used = |k: &usize| found[*k].0.split('\0').next().is_some_and(|name| used.contains(name));
        let own: Vec<usize> = (0..found.len()).filter(is_used).collect();
        let rows = 1 + own.len();
        let column = |k: usize| -> Vec<f64> {
            let (middle, step) = found[k].1;
            let of_row = |row: usize| if row > 0 && own[row - 1] == k { middle + step } else { middle };
            (0..rows).map(of_row).collect()
        };
        let targets = sample.targets();
        let targets = Array2::from_shape_fn((targets.nrows(), rows), |(output, _)| targets[[output, 0]]);
        let problem = match &sample.source {
            SampleSource::Plain(problem) => {
                let mut columns = Columns::new(rows);
                (0..found.len()).for_each(|k| columns.push(column(k)));
                let (names, outputs) = (problem.names().to_vec(), problem.target_names().to_vec());
                Problem::new(columns, names, targets, outputs, problem.task().clone())?
            }
            SampleSource::Mapped(_, recipe) => {
                let cells = |k: usize| (found[k].0.clone(), Cells::Numbers(Numbers::from(column(k))));
                let table = Table::new((0..found.len()).map(cells).collect())?;
                recipe.apply(Rows { table, targets: Arc::new(targets), ..Rows::default() }, maps, names)?.0
            }
        };
        let columns = own.iter().map(|&k| found[k].0.clone()).collect();
        let (middle, steps) =
            own.iter().map(|&k| found[k].1).map(|(middle, step)| (middle, (middle + step) - middle)).unzip();
        Ok(Probes { columns, middle, steps, problem })
    }

    /// What a model that is a feature predicts of the points, 1 × points.
    pub fn column(&self, feature: Feature) -> Array2<f64> {
        let values = self.problem.columns().column(feature).values();
        Array2::from_shape_fn((1, values.len()), |(_, at)| values[at])
    }

    /// The models of which these are the predictions of the points, outputs × points.
    pub fn models(self, predictions: &[Array2<f64>]) -> AffineModels {
        let slopes = |values: &[f64]| {
            let slope = |(place, step): (usize, &f64)| (place, (values[place + 1] - values[0]) / step);
            self.steps.iter().enumerate().map(slope).filter(|(_, slope)| *slope != 0.0).collect::<Vec<_>>()
        };
        let of_output = |values: ndarray::ArrayView1<'_, f64>| {
            let values = values.to_vec();
            Affine { value: values[0], slopes: slopes(&values) }
        };
        let models = predictions.iter().map(|of| of.rows().into_iter().map(of_output).collect()).collect();
        AffineModels { columns: self.columns, middle: self.middle, models }
    }
}

/// The mean of a column, and the root of its variance, or 1 where it has none.
fn spread(values: &[f64], weights: Option<&[f64]>) -> (f64, f64) {
    let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
    let total: f64 = (0..values.len()).map(weight).sum();
    let mean = values.iter().enumerate().map(|(row, x)| weight(row) / total * x).sum::<f64>();
    let variance = values.iter().enumerate().map(|(row, x)| weight(row) / total * (x - mean).powi(2)).sum::<f64>();
    // Rounding leaves constants a trace of it.
    let step = variance.sqrt();
    (mean, if step > 1e-9 * mean.abs() && step.is_normal() { step } else { mean.abs().max(1.0) })
}

impl Sample {
    /// The cells that some rows stand for.
    pub fn cells(&self, rows: &[usize]) -> Vec<u32> {
        let cells = match &self.source {
            SampleSource::Plain(problem) => problem.assignment().map(|cells| &cells[..]),
            SampleSource::Mapped(rows, _) => rows.assignment.as_deref(),
        };
        let mut own: Vec<u32> = rows.iter().filter_map(|&row| cells.map(|cells| cells[row])).collect();
        own.sort_unstable();
        own.dedup();
        own
    }
}
