//! Fits of subsets at any λ, with the rows of each fold held out, and standard errors of their losses.

use super::fold_groups::{FoldGroup, are_decomposed};
use super::kernel::{classes_of, folded_rows, scorer};
use super::shared_lambdas::LossAtLambda;
use ndarray::{Array2, Axis};
use std::sync::{Arc, OnceLock};
use vaglio_core::{
    Design, Error, Feature, Loss, Measure, Part, Result, error_over_parts, gather, get_or_make, get_or_try_make,
    in_loss_units, prediction_units, row_weights,
};
use vaglio_kernels::kfold::{Decomposition, FoldedRows, SubsetRefit};
use vaglio_kernels::linalg::FactorizationError;
use vaglio_kernels::loo::{ClassSums, ColumnChange, LooState};
use vaglio_kernels::parallel;
use vaglio_kernels::{Folds, Scorer, Trial, is_unreliable};

/// Held-out residuals, scaled by √r_j: outputs × rows in the given order.
pub(super) type Residuals = Vec<Vec<f64>>;

/// Rows, held-out folds and loss of a round, shared by the fits of all subsets.
pub(super) struct RoundFits<'d> {
    pub design: &'d Design,
    pub loss: Part<dyn Loss>,
    pub rows: Arc<FoldedRows<'d>>,
    /// Scorer of the residuals of all held-out rows, with their targets; other rows have weight 0.
    pub scorer: Scorer,
    /// Folds grouped by training weights. Created on first use if class sums serve most subsets.
    pub groups: OnceLock<Arc<[FoldGroup<'d>]>>,
    /// Rows of one class and weight, for leave-one-out by class sums; empty if these are not used.
    class_groups: Vec<Vec<usize>>,
    /// Whether losses of rows are independent: rows are left out singly, or one model predicts them all.
    pub are_independent: bool,
    /// Whether each fold is a single row.
    leaves_one_out: bool,
}

pub(super) fn fit_error(failure: FactorizationError) -> Error {
    Error::Numerical(format!("a fold cannot be fitted: {failure}; rescale or standardize the columns"))
}

impl<'d> RoundFits<'d> {
    /// Creates the fits of k-fold cross-validation. With empty `groups`, every fold of every subset is refitted.
    pub fn from_folds(
        design: &'d Design,
        loss: &Part<dyn Loss>,
        folds: Folds,
        groups: Vec<Vec<usize>>,
    ) -> Result<Self> {
        let rows = folded_rows(design, folds)?;
        let scored_classes = design.problem().classes().filter(|_| loss.traits().measure == Measure::BalancedSquared);
        let rows = Arc::new(match scored_classes {
            Some(classes) => rows.balancing_losses(classes.per_row),
            None => rows,
        });
        let held_out = rows.folds.count_held_out();
        let scorer = match rows.folds.is_partition() {
            true => scorer(design, Arc::clone(&rows.data.targets), loss),
            false => {
                let is_in = rows.folds.is_held_out_in(&(0..held_out).collect::<Vec<_>>());
                let counted = Arc::new(rows.data.targets.restrict(|row| is_in[row]));
                scorer(design, counted, loss).restrict(&rows.data.targets, |row| is_in[row])
            }
        };
        let fits = RoundFits {
            design,
            loss: loss.clone(),
            rows,
            scorer,
            groups: OnceLock::new(),
            class_groups: Vec::new(),
            are_independent: held_out == 1,
            leaves_one_out: false,
        };
        if !groups.is_empty() {
            fits.create_groups(&groups)?;
        }
        Ok(fits)
    }

    /// Creates the folds grouped by training weights.
    fn create_groups(&self, groups: &[Vec<usize>]) -> Result<&[FoldGroup<'d>]> {
        let group = |folds: &Vec<usize>| FoldGroup::new(self.design, &self.rows, &self.scorer, folds);
        get_or_try_make(&self.groups, || groups.iter().map(group).collect()).map(|made| &made[..])
    }

    /// The folds grouped by training weights; empty before they are created.
    pub fn groups(&self) -> &[FoldGroup<'d>] {
        self.groups.get().map_or(&[], |groups| groups)
    }

    /// Creates the fits of leave-one-out. The standard error uses losses of rows if these `are_independent`, else
    /// losses of folds of one row. Unless there are states, class sums are used if the readout balances classes. Groups
    /// are then created only for subsets that class sums do not serve.
    pub fn from_rows(
        design: &'d Design,
        loss: &Part<dyn Loss>,
        groups: Vec<Vec<usize>>,
        are_independent: bool,
        has_states: bool,
    ) -> Result<Self> {
        let by_classes = !has_states && classes_of(design).is_some();
        let (groups, class_groups) = if by_classes { (Vec::new(), groups) } else { (groups, Vec::new()) };
        let fits = RoundFits::from_folds(design, loss, Folds::single(design.rows()), groups)?;
        Ok(RoundFits { class_groups, are_independent, leaves_one_out: true, ..fits })
    }

    /// The fit of a subset; nothing is computed yet.
    pub fn fit<'f>(&'f self, subset: &[Feature]) -> SubsetFitter<'f, 'd> {
        SubsetFitter {
            fits: self,
            subset: subset.to_vec(),
            class_sums: OnceLock::new(),
            decompositions: OnceLock::new(),
            refitted: OnceLock::new(),
            empty: OnceLock::new(),
        }
    }

    /// Whether one decomposition of a subset serves all folds; it can also try removals.
    pub fn are_whole(&self) -> bool {
        matches!(self.groups(), [group] if group.scorer.is_whole()) && !self.rows.preprocesses_in_folds()
    }

    /// The weight of the held-out rows.
    pub fn weight(&self) -> f64 {
        self.scorer.targets.total_weight
    }

    /// Standard error of the mean loss over rows, or over folds, whose rows share their model. Designs with prediction
    /// units score these. Cost O(m · outputs) and that of the loss.
    pub fn standard_error(&self, residuals: &[Vec<f64>]) -> Option<f64> {
        let (design, folds) = (self.design, &self.rows.folds);
        let rows = folds.rows_held_out();
        let weight = row_weights(design.weights());
        let (row_parts, targets, weights) = match prediction_units(design) {
            Some(units) => (
                units.per_row.iter().copied().zip(units.shares.iter().copied()).collect::<Vec<(usize, f64)>>(),
                units.targets.clone(),
                units.weights.clone(),
            ),
            None => {
                let mut places = vec![(0, 1.0); design.rows()];
                rows.iter().enumerate().for_each(|(place, &row)| places[row].0 = place);
                let weights = design.weights().map(|_| rows.iter().map(|&row| weight(row)).collect());
                (places, design.targets().select(Axis(1), &rows), weights)
            }
        };
        let mut errors = Array2::<f64>::zeros(targets.dim());
        for &row in &rows {
            let (unit, share) = row_parts[row];
            for (output, own) in residuals.iter().enumerate() {
                errors[[output, unit]] += share * (own[row] / weight(row).sqrt());
            }
        }
        let parts: Option<Vec<Vec<(usize, f64)>>> = (!self.are_independent).then(|| {
            let part = |fold: usize| gather(&row_parts, folds.held_out(fold));
            (0..folds.count_held_out()).map(part).collect()
        });
        let predictions = &targets - &errors;
        let [targets, predictions] =
            [&targets, &predictions].map(|values| in_loss_units(design, &*self.loss, values.view()));
        self.loss.standard_error(targets.view(), predictions.view(), weights.as_deref(), parts.as_deref())
    }

    /// Like [`RoundFits::standard_error`], but from each fold's sum of squared errors over rows and outputs.
    pub fn error_of_squares(&self, sums: &[f64]) -> f64 {
        let weight = row_weights(self.design.weights());
        let part = |(fold, sum): (usize, &f64)| {
            let own: f64 = self.rows.folds.held_out(fold).iter().map(|&row| weight(row)).sum();
            (self.scorer.mean_of(*sum), own / self.weight())
        };
        error_over_parts(&sums.iter().enumerate().map(part).collect::<Vec<_>>())
    }

    /// Collects the residuals of the held-out rows, each from the residuals of its own fold.
    pub fn collect_residuals<'r>(&self, fold_residuals: &mut impl Iterator<Item = &'r Residuals>) -> Residuals {
        let mut all = vec![vec![0.0; self.rows.data.targets.rows()]; self.rows.data.targets.outputs()];
        for (fold, own) in fold_residuals.take(self.rows.folds.count_held_out()).enumerate() {
            let held_out = self.rows.folds.held_out(fold);
            for (to, from) in all.iter_mut().zip(own) {
                held_out.iter().for_each(|&row| to[row] = from[row]);
            }
        }
        all
    }
}

/// Fits one subset: by a decomposition if it is reliable, else from the rows.
pub(super) struct SubsetFitter<'f, 'd> {
    fits: &'f RoundFits<'d>,
    subset: Vec<Feature>,
    class_sums: OnceLock<Option<ClassSums<'f, 'd>>>,
    /// A decomposition for each group of folds; empty if every fold is refitted.
    decompositions: OnceLock<Result<Vec<Decomposition<'f, 'd>>, FactorizationError>>,
    refitted: OnceLock<Result<SubsetRefit<'f, 'd>, FactorizationError>>,
    /// The loss of the empty subset, once computed.
    empty: OnceLock<f64>,
}

impl<'f, 'd> SubsetFitter<'f, 'd> {
    /// The loss and residuals at a λ. If the loss is proven to be above `lowest`, it may be inexact.
    pub fn loss_and_residuals(&self, lambda: f64, lowest: f64) -> Result<(f64, Residuals)> {
        if let Some((residuals, conditioning)) = self.residuals_by_decomposition(lambda)? {
            let trial = self.trial(self.fits.scorer.loss(&residuals), conditioning)?;
            if !trial.is_unreliable || trial.lower_bound > lowest {
                return Ok((trial.loss, residuals));
            }
        }
        self.refit(lambda).map(|residuals| (self.fits.scorer.loss(&residuals), residuals))
    }

    /// The loss at a λ by decomposition; `None` if it is unreliable. Includes a standard error if entries of paths have
    /// them.
    pub fn decomposed_loss(&self, lambda: f64) -> Result<LossAtLambda> {
        let Some((residuals, conditioning)) = self.residuals_by_decomposition(lambda)? else { return Ok(None) };
        let error = || (!self.fits.design.run().skips_errors).then(|| self.fits.standard_error(&residuals)).flatten();
        Ok((!is_unreliable(conditioning)).then(|| (self.fits.scorer.loss(&residuals), error())))
    }

    /// The residuals by class sums with their conditioning, if reliable.
    fn by_classes(&self, lambda: f64) -> Option<(Residuals, f64)> {
        let fits = self.fits;
        if fits.class_groups.is_empty() {
            return None;
        }
        let make = || ClassSums::new(&fits.rows.data, fits.rows.classes.as_ref()?, &self.subset);
        let sums = get_or_make(&self.class_sums, make).as_ref()?;
        let found = sums.residuals(&fits.class_groups, row_weights(fits.design.weights()), lambda);
        Some(found).filter(|(_, conditioning)| !is_unreliable(*conditioning))
    }

    fn decompositions(&self) -> Result<&[Decomposition<'f, 'd>]> {
        let fits = self.fits;
        let made = fits.create_groups(&fits.class_groups)?;
        let decompose = || {
            // A subset that fits every row exactly leaves 1 − leverage at 0.
            let fits_every_row = fits.leaves_one_out && self.subset.len() + 2 >= fits.design.rows();
            let can_be = !fits_every_row && !fits.rows.preprocesses_in_folds();
            let groups =
                if can_be && are_decomposed(made.len(), fits.rows.folds.count_held_out()) { made } else { &[] };
            parallel::map_slice(groups, |group| Decomposition::new(&group.rows, &self.subset)).into_iter().collect()
        };
        get_or_make(&self.decompositions, decompose).as_deref().map_err(|e| fit_error(*e))
    }

    /// The losses of removing each of `candidates` at a λ; `None` unless the subset is one decomposition.
    pub fn removals(&self, candidates: &[Feature], lambda: f64) -> Result<Option<Vec<Trial>>> {
        let Some(whole) = self.decompositions()?.first().filter(|_| self.fits.are_whole()) else { return Ok(None) };
        let place = |candidate: &Feature| self.subset.iter().position(|column| column == candidate);
        let Some(places) = candidates.iter().map(place).collect::<Option<Vec<usize>>>() else { return Ok(None) };
        let (losses, conditioning) = whole.removals(lambda, |residuals| self.fits.scorer.loss(residuals));
        places.into_iter().map(|place| self.trial(losses[place], conditioning)).collect::<Result<_>>().map(Some)
    }

    fn trial(&self, loss: f64, conditioning: f64) -> Result<Trial> {
        if !self.fits.scorer.is_of_squares() {
            return Ok(self.fits.scorer.judge(Trial::new(loss, conditioning)));
        }
        // An infinite penalty leaves the empty subset.
        let empty_loss = || {
            let found = self.residuals_by_decomposition(f64::MAX);
            found.map(|found| found.map_or(f64::NAN, |(residuals, _)| self.fits.scorer.loss(&residuals)))
        };
        // A reliable trial does not depend on it.
        let empty = if is_unreliable(conditioning) { *get_or_try_make(&self.empty, empty_loss)? } else { f64::NAN };
        Ok(self.fits.scorer.judge(Trial::from_squares(loss, conditioning, empty)))
    }

    /// The residuals with their conditioning, from the decompositions.
    fn residuals_by_decomposition(&self, lambda: f64) -> Result<Option<(Residuals, f64)>> {
        let residuals = |group: &FoldGroup<'_>, decomposition: &Decomposition<'_, '_>| {
            decomposition.residuals(lambda, &group.folds)
        };
        if let Some(found) = self.by_classes(lambda) {
            return Ok(Some(found));
        }
        let decompositions = self.decompositions()?;
        let groups = &self.fits.groups()[..decompositions.len()];
        if self.fits.are_whole() {
            return Ok(groups.first().zip(decompositions.first()).map(|(group, own)| residuals(group, own)));
        }
        let targets = &self.fits.rows.data.targets;
        let (mut all, mut least) = (vec![vec![0.0; targets.rows()]; targets.outputs()], 1.0f64);
        for (group, decomposition) in groups.iter().zip(decompositions) {
            let (own, conditioning) = residuals(group, decomposition);
            group.scorer.place(&own, &mut all);
            least = least.min(conditioning);
        }
        Ok((!groups.is_empty()).then_some((all, least)))
    }

    fn refit(&self, lambda: f64) -> Result<Residuals> {
        let rows = &self.fits.rows;
        if self.fits.leaves_one_out && !rows.preprocesses_in_folds() && rows.classes.is_none() {
            let state = LooState::new(Arc::clone(&rows.data), lambda, self.subset.iter().copied());
            return Ok(state.residuals_after(&[ColumnChange::None]).0.pop().unwrap_or_default());
        }
        let refitted = get_or_make(&self.refitted, || SubsetRefit::new(rows, &self.subset));
        refitted.as_ref().map_err(|e| fit_error(*e))?.residuals(lambda).map_err(fit_error)
    }
}
