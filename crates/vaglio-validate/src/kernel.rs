//! Conversion between designs and the data of the kernels.

use ndarray::ArrayView2;
use std::borrow::Cow;
use std::sync::Arc;
use vaglio_core::{
    Cache, Classes, Design, Error, Feature, FoldLineage, Loss, Part, Result, prediction_units, target_unit, times_power,
};
use vaglio_kernels::kfold::FoldedRows;
use vaglio_kernels::{ColumnEntries, CustomLoss, Data, DataError, Folds, GramCache, Scorer, Targets};

/// A custom loss for the kernels; targets and predictions are divided by a power of two.
#[derive(Debug)]
struct ScaledCustomLoss {
    loss: Part<dyn Loss>,
    unit: i32,
}

impl ScaledCustomLoss {
    fn in_unit<'v>(&self, values: &'v [f64]) -> Cow<'v, [f64]> {
        match self.unit {
            0 => values.into(),
            unit => values.iter().map(|x| times_power(*x, unit)).collect(),
        }
    }
}

impl CustomLoss for ScaledCustomLoss {
    fn row_losses(&self, targets: &[f64], predictions: &[f64], losses: &mut [f64]) {
        let (targets, predictions) = (self.in_unit(targets), self.in_unit(predictions));
        match losses {
            [only] => *only = self.loss.row_loss(&targets, &predictions),
            _ => self.loss.row_losses(&targets, &predictions, losses),
        }
    }

    fn total_loss(&self, targets: &[f64], predictions: &[f64], weights: &[f64]) -> f64 {
        let (targets, predictions) = (self.in_unit(targets), self.in_unit(predictions));
        let shape = (weights.len(), targets.len() / weights.len().max(1));
        let views = [&targets, &predictions].map(|values| ArrayView2::from_shape(shape, values));
        let [Ok(y), Ok(p)] = views else { return f64::NAN };
        self.loss.mean(y.reversed_axes(), p.reversed_axes(), Some(weights))
    }
}

/// The rows of a design in the form of the kernels; columns that may not be selected are inactive.
pub(super) fn kernel_data(design: &Design, intercept: bool) -> Result<Data<'_>> {
    let entries = entries(design, design.candidates(), intercept);
    let gram = known_gram(design, intercept).or_else(|| from_blocks(design, &entries, intercept));
    let data = new_data(design, entries, design.weights(), intercept, gram)?;
    design.session::<Cache<GramCache>>().set(Arc::clone(&data.gram));
    Ok(data)
}

/// The rows of a design in folds, weighted as in training of its readout.
pub(super) fn folded_rows<'d>(design: &'d Design, folds: Folds) -> Result<FoldedRows<'d>> {
    let in_folds = design.problem().in_folds();
    let data = kernel_data(design, design.has_intercept())?;
    let mut rows = FoldedRows::new(data, folds, in_folds.is_standardized());
    let missing = in_folds.missing().into_iter();
    let masks = missing.flat_map(|all| all.features().iter().filter_map(|&f| Some((f, all.mask(f)?))));
    rows.missing = masks.collect();
    rows.classes = classes_of(design).map(|classes| classes.per_row);
    Ok(rows)
}

/// Classes of a design; `None` unless the readout balances them.
pub(super) fn classes_of(design: &Design) -> Option<Classes> {
    design.problem().classes().filter(|_| design.readout().is_some_and(|readout| readout.balanced))
}

/// Whether the kernels may cache a vector over all rows for each column of a design.
pub fn caches_columns(design: &Design) -> bool {
    let columns = design.problem().columns();
    vaglio_kernels::caches_columns(
        design.planned_rows(),
        columns.len(),
        columns.count_products(),
        columns.share_stored(),
    )
}

/// The rows of a design in the form of the kernels, with the columns of `subset` only; other columns are not read.
///
/// # Errors
/// [`Error::Numerical`] when squares over- or underflow.
pub fn chosen_data<'d>(design: &'d Design, subset: &[Feature], intercept: bool) -> Result<Data<'d>> {
    let entries = entries(design, subset.to_vec(), intercept);
    new_data(design, entries, design.weights(), intercept, known_gram(design, intercept))
}

/// Cached norms of columns and products with targets, and sums over blocks of rows that searched subsets share.
fn known_gram(design: &Design, intercept: bool) -> Option<Arc<GramCache>> {
    design.session::<Cache<GramCache>>().get().filter(|gram| gram.intercept == intercept)
}

/// Like [`kernel_data`], but with other row weights.
pub(super) fn weighing<'d>(design: &'d Design, weights: &[f64], intercept: bool) -> Result<Data<'d>> {
    new_data(design, entries(design, design.candidates(), intercept), Some(weights), intercept, None)
}

/// The entries of a design's columns; only `columns` are active.
fn entries(design: &Design, columns: Vec<Feature>, intercept: bool) -> ColumnEntries<'_> {
    let mut active = vec![false; design.features()];
    // Centering removes a bias column completely.
    let is_left = |feature: &usize| !intercept || design.problem().bias() != Some(*feature);
    columns.into_iter().filter(is_left).for_each(|feature| active[feature] = true);
    ColumnEntries::from(design.problem().columns()).with_active(active)
}

fn new_data<'d>(
    design: &Design,
    entries: ColumnEntries<'d>,
    weights: Option<&[f64]>,
    intercept: bool,
    gram: Option<Arc<GramCache>>,
) -> Result<Data<'d>> {
    Data::new(entries, &slices(&targets(design)), weights, intercept, gram)
        .map_err(|error| explain(error, design.problem().names()))
}

/// The targets of each output.
fn targets(design: &Design) -> Vec<Vec<f64>> {
    design.targets().rows().into_iter().map(|row| row.to_vec()).collect()
}

fn slices(vectors: &[Vec<f64>]) -> Vec<&[f64]> {
    vectors.iter().map(Vec::as_slice).collect()
}

/// Sums over blocks of rows that a design shares with its searched subsets, or with its root.
fn from_blocks(design: &Design, entries: &ColumnEntries<'_>, intercept: bool) -> Option<Arc<GramCache>> {
    if design.weights().is_some() {
        return None;
    }
    let targets = targets(design);
    if let FoldLineage::Root(labels) = &design.run().lineage {
        return GramCache::with_blocks(entries, labels, &slices(&targets), intercept);
    }
    let FoldLineage::Subset { whole, rows: own } = &design.run().lineage else { return None };
    let (FoldLineage::Root(_), None) = (&whole.run().lineage, whole.weights()) else { return None };
    let all = whole.targets();
    let has_targets = |output: usize| are_equal(own, |at| targets[output][at], |row| all[[output, row]]);
    // A design of one output may have a root of several.
    let has_outputs = targets.len() == all.nrows() && design.rows() == own.len();
    let are_stored = has_outputs && entries.are_stored_with(&whole.problem().columns().into());
    if !are_stored || !(0..targets.len()).all(has_targets) {
        return None;
    }
    let gram = known_gram(whole, intercept).or_else(|| kernel_data(whole, intercept).ok().map(|data| data.gram))?;
    gram.for_rows(entries, &slices(&targets))
}

/// Whether the values of a part equal those of its rows in the whole.
pub(super) fn are_equal<E: PartialEq>(rows: &[usize], part: impl Fn(usize) -> E, whole: impl Fn(usize) -> E) -> bool {
    rows.iter().enumerate().all(|(at, &row)| part(at) == whole(row))
}

fn explain(error: DataError, names: &[String]) -> Error {
    let name = |column: usize| names.get(column).map_or("?", String::as_str);
    Error::Numerical(match error {
        DataError::Overflow { column } => {
            format!("column `{}`: its sum of squares overflows; rescale or standardize it", name(column))
        }
        DataError::Underflow { column } => {
            format!("column `{}`: its squares underflow; rescale or standardize it", name(column))
        }
        DataError::TargetOverflow => "the target's sum of squares overflows; rescale it".into(),
    })
}

/// The mean loss over rows, or over units if the design averages predictions.
pub(super) fn scorer(design: &Design, targets: Arc<Targets>, loss: &Part<dyn Loss>) -> Scorer {
    let custom = ScaledCustomLoss { loss: loss.clone(), unit: target_unit(design, &**loss) };
    let mut scorer = Scorer::new(targets, loss.traits().measure);
    scorer.custom = Some(Arc::new(custom));
    let Some(decisions) = prediction_units(design) else { return scorer };
    let unit_targets: Vec<Vec<f64>> = decisions.targets.rows().into_iter().map(|y| y.to_vec()).collect();
    scorer.by_units(&decisions.per_row, &decisions.shares, &unit_targets, decisions.weights.as_deref())
}
