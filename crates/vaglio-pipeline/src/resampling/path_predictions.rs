//! Held-out predictions of all models of a path, from one reduction of the training rows.

use super::TargetsAndPredictions;
use crate::final_fit::{
    FitFrom, check_finite, coefficients_by_output, normal_equations, readout_model, reduced_ridge, rescale_coefficients,
};
use crate::preprocess::in_units;
use ndarray::Array2;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use vaglio_core::{
    Coefficients, Columns, Design, Error, Feature, Model, PowerOfTwoScaling, Problem, Result, rescale, row_weights,
};
use vaglio_kernels::linalg::FactorizationError;
use vaglio_kernels::ridge::Ridge;
use vaglio_maps::target_maps::TargetUnits;
use vaglio_search::{EntryFit, PathEntry};

/// Held-out rows, with the units of their targets.
pub struct FoldTestRows<'p> {
    /// Held-out rows, with targets in the user's units, and clusters if known.
    pub problem: &'p Problem,
    /// Maps and scales of the training targets, if any.
    pub units: Option<&'p [TargetUnits]>,
    /// Training rows, whose residuals may smear predictions.
    pub training: &'p Problem,
    /// Features that the learner made of the held-out rows, if they equal those that the model takes.
    pub made: Option<&'p Columns>,
}

impl<'p> FoldTestRows<'p> {
    /// Held-out rows, with their training rows.
    pub fn new(problem: &'p Problem, units: Option<&'p [TargetUnits]>, training: &'p Problem) -> Self {
        FoldTestRows { problem, units, training, made: None }
    }

    /// Predictions of a model, outputs × rows, in the user's units.
    pub fn predict(&self, model: &Model) -> Result<Array2<f64>> {
        let mut predictions = model.predict(&self.inputs(model), self.problem.series())?;
        in_units(&mut predictions, smear_units(self.units, self.training, model)?.as_deref());
        Ok(predictions)
    }

    /// Predictions of another readout on the model's features, or on the first of them, in the user's units. `training`
    /// are the features of the training rows, for smearing.
    pub fn predict_with(
        &self,
        model: &Model,
        readout: &Coefficients,
        features: &Columns,
        training: Option<&Columns>,
    ) -> Result<Array2<f64>> {
        let mut predictions = model.predict_with(readout, features, self.problem.series())?;
        let smeared = match self.units.zip(training) {
            Some((units, own)) => {
                let fitted = model.predict_with(readout, own, self.training.series())?;
                Some(by_residuals(units, self.training, model, &fitted))
            }
            None => None,
        };
        in_units(&mut predictions, smeared.as_deref().or(self.units));
        Ok(predictions)
    }

    /// The training rows, if their residuals smear predictions.
    pub fn smearing(&self) -> Option<&'p Problem> {
        self.units?.iter().any(|units| units.residuals.is_some()).then_some(self.training)
    }

    /// Calls `then` with targets, predictions of a model and weights, like [`FoldTestRows::compare`].
    pub fn with_predictions<T>(&self, model: &Model, then: impl FnOnce(TargetsAndPredictions<'_>) -> T) -> Result<T> {
        Ok(self.compare(model, &self.predict(model)?, then))
    }

    fn inputs(&self, model: &Model) -> Columns {
        self.problem.columns().select(model.inputs())
    }

    /// Calls `then` with targets, predictions and weights. If a model averages its predictions over a series, the
    /// series is one observation.
    pub fn compare<T>(
        &self,
        model: &Model,
        predictions: &Array2<f64>,
        then: impl FnOnce(TargetsAndPredictions<'_>) -> T,
    ) -> T {
        let series = self.problem.series();
        let counts = model.counts(self.problem.rows(), series);
        let units = series.filter(|_| counts.is_some());
        let weights = figure_weights(self.problem, counts);
        let (targets, predictions) = (self.problem.targets().view(), predictions.view());
        then(TargetsAndPredictions {
            targets,
            predictions,
            weights: weights.as_deref(),
            units,
            clusters: self.problem.labels().clusters.as_deref(),
        })
    }
}

/// Units of the targets, with the residuals of a model on its training rows if predictions are smeared.
pub fn smear_units(
    units: Option<&[TargetUnits]>,
    training: &Problem,
    model: &Model,
) -> Result<Option<Vec<TargetUnits>>> {
    let Some(units) = units else { return Ok(None) };
    if !units.iter().any(|units| units.residuals.is_some()) {
        return Ok(Some(units.to_vec()));
    }
    let fitted = model.predict(&training.columns().select(model.inputs()), training.series())?;
    Ok(Some(by_residuals(units, training, model, &fitted)))
}

fn by_residuals(units: &[TargetUnits], training: &Problem, model: &Model, fitted: &Array2<f64>) -> Vec<TargetUnits> {
    let weights = figure_weights(training, model.counts(training.rows(), training.series()));
    let smeared_units = |(output, units): (usize, &TargetUnits)| {
        let (targets, fitted) = (training.targets().row(output), fitted.row(output));
        let weight = row_weights(weights.as_deref());
        units.with_residuals((0..targets.len()).map(|row| [weight(row), targets[row] - fitted[row]]))
    };
    units.iter().enumerate().map(smeared_units).collect()
}

/// Weight of each row of a problem in error figures: its own, times that given by the model.
pub fn figure_weights(problem: &Problem, counts: Option<Vec<f64>>) -> Option<Vec<f64>> {
    weights_with_counts(problem.weights().map(|w| w.to_vec()), counts)
}

/// Product of weights and counts, if either is given.
pub fn weights_with_counts(weights: Option<Vec<f64>>, counts: Option<Vec<f64>>) -> Option<Vec<f64>> {
    match (weights, counts) {
        (Some(weights), Some(counts)) => Some(weights.iter().zip(counts).map(|(w, c)| w * c).collect()),
        (weights, counts) => weights.or(counts),
    }
}

/// Models of some entries of a path, trained on one design.
#[derive(Clone, Copy)]
pub struct PathModels<'p> {
    /// Design of the training rows.
    pub design: &'p Design,
    /// Entries of the path.
    pub entries: &'p [PathEntry],
    /// Triangular reduction of the rows that covers the columns of all entries, if available.
    pub reduced: Option<&'p PathReduction>,
}

/// Calls `each` with the index of each entry and the predictions of its model. Without a readout there are no calls.
///
/// The columns of all entries are reduced to one triangle; nested subsets use its leading blocks. Cost
/// O(rows · columns² + held-out rows · Σ sizes).
pub fn predictions_along(
    models: PathModels<'_>,
    held: &FoldTestRows<'_>,
    mut each: impl FnMut(usize, TargetsAndPredictions<'_>) -> Result<()>,
) -> Result<()> {
    let PathModels { design, entries, reduced } = models;
    let Some(readout) = design.readout() else { return Ok(()) };
    let order = order_features(entries.iter().flat_map(|entry| &entry.subset));
    let PathReduction { ridge, place, solved } = match reduced {
        Some(reduced) => reduced.restrict_to(&order)?,
        None => PathReduction::new(design, &order)?,
    };
    let (first, outputs) = (readout.lambdas[0], design.targets().nrows());
    let coefficients = |(weights, intercept): (Array2<f64>, Vec<f64>)| Coefficients { weights, intercept };
    // Every entry has another readout on the features of this model.
    let zeros = coefficients((Array2::zeros((order.len(), outputs)), vec![0.0; outputs]));
    let model = readout_model(design, &order, first, zeros)?;
    let features = match held.made {
        Some(made) => made.select(&order),
        None => model.features(&held.inputs(&model), held.problem.series())?.into_owned(),
    };
    let features_of = |training: &Problem| -> Result<Columns> {
        let inputs = training.columns().select(model.inputs());
        Ok(model.features(&inputs, training.series())?.into_owned())
    };
    let training = held.smearing().map(features_of).transpose()?;
    let predicted = |readout: &Coefficients, places: &[usize]| -> Result<Array2<f64>> {
        check_finite(readout)?;
        let training = training.as_ref().map(|training| training.select(places));
        held.predict_with(&model, readout, &features.select(places), training.as_ref())
    };
    // Without nested subsets, no leading blocks are needed.
    let is_nested = entries.iter().any(|entry| ![0, order.len()].contains(&entry.subset.len()));
    let mut prefixes = HashMap::new();
    for (index, entry) in entries.iter().enumerate() {
        let mut places: Vec<usize> = entry.subset.iter().map(|feature| place[feature]).collect();
        let count = places.len();
        let is_first = places.iter().all(|&place| place < count);
        let own = match &entry.fit {
            EntryFit::Coefficients(own) => rescale_coefficients(design, &entry.subset, own),
            fit => {
                let one = [entry.score.lambda.unwrap_or(first)];
                let lambdas = if let EntryFit::Lambdas(lambdas) = fit { &lambdas[..] } else { &one };
                coefficients_by_output(lambdas, |lambda| {
                    if let Some(known) = solved.get(&lambda.to_bits()).filter(|_| count > 0) {
                        return Ok(known.clone());
                    }
                    let fitted = if count == 0 || !is_first {
                        ridge.coefficients_of(&places, lambda)
                    } else if !is_nested {
                        ridge.coefficients(lambda)
                    } else {
                        let fit = match prefixes.entry(lambda.to_bits()) {
                            Entry::Occupied(known) => known.into_mut(),
                            Entry::Vacant(new) => new.insert(ridge.prefixes(lambda).map_err(factorization_error)?),
                        };
                        fit(count)
                    };
                    fitted.map(coefficients).map_err(factorization_error)
                })?
            }
        };
        if is_first && !matches!(entry.fit, EntryFit::Coefficients(_)) {
            places.sort_unstable();
        }
        held.compare(&model, &predicted(&own, &places)?, |rows| each(index, rows))?;
    }
    Ok(())
}

/// Triangular reduction of columns of a design and its targets.
#[derive(Debug)]
pub struct PathReduction {
    ridge: Ridge,
    place: HashMap<Feature, usize>,
    /// Known coefficients of all the columns, by the bits of λ.
    solved: Arc<HashMap<u64, Coefficients>>,
}

fn factorization_error(failure: FactorizationError) -> Error {
    Error::Numerical(format!("a fit failed: {failure}; rescale or standardize the columns"))
}

impl PathReduction {
    /// Reduces some features, in their order.
    pub fn new(design: &Design, order: &[Feature]) -> Result<Self> {
        let ridge = reduced_ridge(design, order).map_err(factorization_error)?;
        Ok(PathReduction { ridge, place: feature_places(order), solved: Arc::default() })
    }

    /// Reduces all features of several paths on one design, if this is cheaper than one reduction per path.
    pub fn for_paths(design: &Design, paths: &[&[PathEntry]]) -> Result<Option<Self>> {
        if design.readout().is_none() {
            return Ok(None);
        }
        let orders: Vec<Vec<Feature>> =
            paths.iter().map(|entries| order_features(entries.iter().flat_map(|entry| &entry.subset))).collect();
        let all = order_features(orders.iter().flatten());
        let cost = |columns: usize| (columns + design.targets().nrows()).pow(2);
        let is_less = cost(all.len()) < orders.iter().map(|order| cost(order.len())).sum();
        if !is_less {
            return Ok(None);
        }
        let solved = solve_coefficients(design, &all, paths).unwrap_or_default();
        // The triangle is not needed if all λ are solved already.
        let reduced = PathReduction::new(design, if solved.len() == paths.len() { &[] } else { &all })?;
        Ok(Some(PathReduction { place: feature_places(&all), solved: Arc::new(solved), ..reduced }))
    }

    fn restrict_to(&self, order: &[Feature]) -> Result<Self> {
        let own: Vec<usize> = order.iter().map(|feature| self.place[feature]).collect();
        let (solved, place) = (Arc::clone(&self.solved), self.place.clone());
        if own.iter().copied().eq(0..self.place.len()) {
            return Ok(PathReduction { ridge: self.ridge.clone(), place, solved });
        }
        Ok(PathReduction {
            ridge: self.ridge.restrict(&own).map_err(factorization_error)?,
            place: feature_places(order),
            solved: Arc::default(),
        })
    }
}

/// Coefficients of paths whose only subset is `columns`, by the bits of their λ, solved together.
fn solve_coefficients(
    design: &Design,
    columns: &[Feature],
    paths: &[&[PathEntry]],
) -> Option<HashMap<u64, Coefficients>> {
    let lambda = |entries: &&[PathEntry]| match entries {
        [PathEntry { subset, score, fit: EntryFit::Readout, .. }] if subset == columns => score.lambda,
        _ => None,
    };
    let lambdas: Vec<f64> = paths.iter().map(lambda).collect::<Option<_>>()?;
    if lambdas.len() == 1 || rescale(design).0 != PowerOfTwoScaling::default() {
        return None;
    }
    let solved = normal_equations(design, columns, FitFrom::Search)?.at_lambdas(&lambdas);
    let known = lambdas.iter().zip(solved).filter_map(|(lambda, solved)| {
        let (weights, intercept) = solved?;
        Some((lambda.to_bits(), Coefficients { weights, intercept }))
    });
    Some(known.collect())
}

/// Position of each feature in an order.
pub fn feature_places(order: &[Feature]) -> HashMap<Feature, usize> {
    order.iter().enumerate().map(|(place, &feature)| (feature, place)).collect()
}

/// Features in order of first appearance, from the smallest entries of a path to the largest.
pub fn order_features<'f>(features: impl Iterator<Item = &'f Feature>) -> Vec<Feature> {
    let mut order = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for &feature in features {
        if seen.insert(feature) {
            order.push(feature);
        }
    }
    order
}
