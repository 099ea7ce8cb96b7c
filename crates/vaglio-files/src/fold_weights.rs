//! Weights of columns in the models of outer folds, and per unit of the data.

use vaglio_pipeline::maps::ColumnScale;
use vaglio_pipeline::resampling::OuterFoldFit;
use vaglio_report::record::{PerOutput, SelectedRecord, WeightSpread};

/// Fills in the range of each column's weights in the models of the outer folds.
pub(super) fn record_spreads(outer: &[OuterFoldFit], selected: &mut [SelectedRecord]) {
    for column in selected {
        let own = column.weight.as_ref();
        column.over_folds = own.and_then(|own| spread(outer, &column.name, own));
    }
}

/// Range of a column's weights over folds, compared with its own in the result; `None` if no fold chose it.
fn spread(outer: &[OuterFoldFit], name: &str, own: &PerOutput) -> Option<WeightSpread> {
    let known: Vec<(Vec<f64>, Option<Vec<f64>>)> = outer.iter().filter_map(|fold| weights_in(fold, name)).collect();
    let outputs = own.values().len();
    if known.is_empty() || known.iter().any(|(weights, _)| weights.len() != outputs) {
        return None;
    }
    let ends = |of: &[&Vec<f64>]| {
        let end = |fold: fn(f64, f64) -> f64| {
            let of_output = |o: usize| of.iter().map(|weights| weights[o]).reduce(fold).unwrap_or(f64::NAN);
            PerOutput::new((0..outputs).map(of_output).collect())
        };
        (end(f64::min), end(f64::max))
    };
    let (low, high) = ends(&known.iter().map(|(weights, _)| weights).collect::<Vec<_>>());
    let original: Option<Vec<&Vec<f64>>> = known.iter().map(|(_, original)| original.as_ref()).collect();
    let original = original.map(|of| ends(&of));
    let changes = |o: usize| low.values()[o].min(own.values()[o]) < 0.0 && high.values()[o].max(own.values()[o]) > 0.0;
    let changes_sign = (0..outputs).any(changes);
    let (original_low, original_high) = original.unzip();
    Some(WeightSpread { folds: known.len(), low, high, original_low, original_high, changes_sign })
}

/// Weights of a column in a fold's model, per output: on the learner's scale, and per unit of the original column if
/// available. `None` if the fold did not choose the column, or its model is not linear in the columns.
fn weights_in(fold: &OuterFoldFit, name: &str) -> Option<(Vec<f64>, Option<Vec<f64>>)> {
    let (readout, selected) = (fold.model.coefficients()?, &fold.selected);
    if readout.weights.nrows() != selected.len() {
        return None;
    }
    let weights = readout.weights.row(selected.iter().position(|column| column == name)?).to_vec();
    // A feature that the learner made is not an output of the maps.
    let is_own = fold.columns.iter().any(|column| column == name);
    let scale = is_own.then(|| ColumnScale::new(&fold.maps, name));
    let original = scale.and_then(|scale| scale.original_weights(&weights, fold.target_units.as_deref()));
    Some((weights, original))
}
