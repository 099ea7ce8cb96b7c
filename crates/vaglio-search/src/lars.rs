//! Least-angle regression.

mod least_angle;
mod path;
mod penalties;

pub use least_angle::least_angle_order;
pub use penalties::Penalties;

use crate::strategy::run;
use crate::{
    Choose, EntryFit, Path, PathEntry, Search, SearchContext, SearchSettings, SearchStrategy, Space, Step, Walk,
    plan_geometry,
};
use least_angle::{LeastAngle, LeastAngleKnot, PathShape};
use path::{PenaltyPath, may_leave, pass_over};
use vaglio_core::{
    Criterion, Design, Error, Feature, Geometry, Result, SearchExtent, StopReason, part, setting, sum_of_squares,
};

/// Follows the least-angle path of the criterion's geometry; the criterion scores the features on it after every
/// event.
///
/// The path starts with the feature of largest correlation. Features on it keep one common correlation λ, which falls
/// until another feature reaches it and enters (an event), and so on. With `lasso` a feature whose coefficient comes
/// back to 0 leaves: the path is then that of min_α ½ αᵀQα − cᵀα + λ‖α‖₁. A feature may enter again later.
///
/// With `loo` and `kfold`, c and Q are correlations of standardized columns, which gives OP-LR with `lasso: false`. The
/// geometry of dependence measures has no negative coefficients. There a feature needs a positive correlation to enter,
/// and features always leave at 0: this is N³LARS.
///
/// Several outputs, classes among them, are standardized each. A column's correlation is then the norm of its
/// correlations with all residuals, ‖x_iᵀR‖₂. All outputs move together toward the least squares solution of the columns
/// on the path, until another column's norm reaches the common one: multiresponse sparse regression. With
/// `coefficients: path` and `lasso` it is the path of the group lasso, min_W ½‖Y − XW‖² + λ Σ‖w_i‖₂ over rows w_i.
/// Newton's method follows its curved segments, O(s³) a step. A step's `alpha` has the norms ‖w_i‖; `lasso` changes no
/// ranking there.
///
/// With `penalties` the models of the path at these λ are cross-validated, and one is chosen by its loss, like the
/// penalty of the lasso. λ is the common correlation of standardized columns with the residuals, in units of the target's
/// norm, and equal in every fold. The penalty of ½/m ‖y − Xw‖² + a‖w‖₁, with X standardized, is a = λ·sd(y).
///
/// The search ends at `max_features`, at the smallest penalty, where no correlation is left, or at a feature that depends
/// on the features of the path. A duplicate of a feature on the path never enters, nor does a feature whose entry breaks
/// a constraint, such as a product before its factors. A feature that would leave but may not ends the path. `forced`,
/// `blocks`, `tolerance` and `patience` have no meaning here and are refused.
///
/// # Reference
/// T. Similä, J. Tikka, *Multiresponse sparse regression with application to multidimensional scaling*, ICANN 2005;
/// M. Yuan, Y. Lin, *Model selection and estimation in regression with grouped variables*, Journal of the Royal
/// Statistical Society B 68 (2006);
/// B. Efron, T. Hastie, I. Johnstone, R. Tibshirani, *Least angle regression*, Annals of Statistics 32 (2004);
/// P. Buteneers, K. Caluwaerts, J. Dambre, D. Verstraeten, B. Schrauwen, *Optimized parameter search for large datasets
/// of the regularization parameter and feature selection for ridge regression*, Neural Processing Letters 2013;
/// M. Yamada, A. Saha, H. Ouyang, D. Yin, Y. Chang, *N³LARS: minimum redundancy maximum relevance feature selection for
/// large and high-dimensional data*, arXiv:1411.2331.
#[part(
    SearchStrategy,
    "lars",
    summary = "least-angle path: columns enter in the order of their correlation with what is left of the target",
    example = "search: {kind: lars, max_features: 10}",
    title = "least-angle regression"
)]
pub struct Lars {
    /// Whether a feature whose coefficient comes back to 0 leaves; the geometry's rule where no coefficient is negative.
    /// With several outputs it is the group lasso's rule, of paths with coefficients of their own.
    #[default(true)]
    pub lasso: bool,
    /// Source of the model's coefficients: the readout, trained on the columns, or the path itself.
    pub coefficients: PathCoefficients,
    /// Penalties λ at which the models of `coefficients: path` are judged, between knots too, in place of the sizes at the
    /// knots: so many from the largest correlation to a thousandth of it, or `{points, least}`, or a list.
    pub penalties: Option<Penalties>,
}

/// Source of the coefficients of a least-angle path's model.
#[setting]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum PathCoefficients {
    /// The readout, trained on the columns that the path chose.
    #[default]
    Refit,
    /// The path where its next event begins: with `lasso` the model is that of the lasso. The score of a subset
    /// stays that of the readout; what the whole search loses on rows held out is the path's.
    Path,
}

impl Lars {
    /// Creates the search of up to `max_features` features.
    pub fn new(max_features: usize) -> Search {
        Search::new(Lars::default()).max_features(max_features)
    }

    /// Gives the model the coefficients of the path, in place of a readout that is trained on the columns.
    #[must_use]
    pub fn with_path_coefficients(self) -> Self {
        Lars { coefficients: PathCoefficients::Path, ..self }
    }

    /// Whether the readout is trained on the columns.
    pub(crate) fn has_refit(&self) -> bool {
        self.coefficients == PathCoefficients::Refit
    }
}

/// Refuses designs and geometries whose model cannot have the path's coefficients, if it is to have them.
pub(crate) fn check(lars: &Lars, criterion: &dyn Criterion, design: &Design) -> Result<()> {
    if lars.has_refit() {
        return Ok(());
    }
    let refused = |why: &str| Err(Error::setting("coefficients", why));
    let Some(readout) = design.readout() else {
        return refused(
            "the learner has no linear readout, of which the path could have the coefficients; use `refit`",
        );
    };
    if !plan_geometry(criterion, design).is_linear() {
        return refused("the coefficients of this criterion's path are not those of columns; use `refit`");
    }
    // With a fitted grid, this search runs at a single λ.
    if readout.lambdas.len() > 1 && !readout.auto || readout.refine {
        return refused("the coefficients of the path know no lambda; give the learner a single one, or use `refit`");
    }
    if readout.balanced || !readout.intercept {
        return refused("the path is that of a readout with an intercept and without balanced classes; use `refit`");
    }
    Ok(())
}

/// The common correlation λ at the start of a path.
pub(crate) fn largest_correlation(space: &Space<'_>, criterion: &dyn Criterion) -> Result<f64> {
    Ok(start(&Lars::default(), space, &*plan_geometry(criterion, space.design))?.lambda)
}

impl SearchStrategy for Lars {
    fn run(&self, space: &Space<'_>, context: &mut SearchContext<'_>) -> Result<Path> {
        if self.penalties.is_some() {
            // Cross-validation compares penalties, not sizes.
            context.until = None;
        }
        let most = space.settings.max_features.unwrap_or(usize::MAX);
        let mut grid = PenaltyPath::default();
        let mut path = run(space, context, |walk| {
            if space.groups().is_empty() {
                return Ok(StopReason::NoCandidates);
            }
            let geometry = walk.context.subset.geometry();
            let mut path = start(self, space, &*geometry)?;
            grid.ahead = self.penalties.as_ref().map_or_else(Vec::new, |own| own.values(path.lambda));
            let mut gram = |feature: Feature| numbers(geometry.gram(feature)?, space.design);
            let mut is_passed = pass_over(&mut path, walk, &[], None, &mut gram)?;
            grid.advance_to(path.lambda, |_| Ok(PathEntry::new(Vec::new(), walk.empty)))?;
            loop {
                if grid.is_done() {
                    return Ok(StopReason::Penalty);
                }
                if !may_leave(walk, path.leaving())? {
                    return Ok(StopReason::Constraints);
                }
                let mut knot = match path.advance(&mut gram) {
                    Err(Error::Stopped(StopReason::NoCorrelation)) => return Ok(no_correlation(walk, is_passed)),
                    knot => knot?,
                };
                let after = knot.action.apply_to(walk.selected(), knot.feature);
                is_passed |= pass_over(&mut path, walk, &after, Some(&mut knot), &mut gram)?;
                let (step, fit) = self.step_of(walk, knot)?;
                let goes_on = walk.step(step);
                let selected = walk.context.subset.selected();
                if let Some(entry) = walk.entries.iter_mut().find(|entry| entry.subset == selected) {
                    entry.fit = fit;
                }
                if matches!(goes_on, Ok(()) | Err(Error::Stopped(_))) {
                    grid.advance_to(path.lambda, |penalty| {
                        let alpha = path.at(penalty).ok_or(StopReason::Singular)?;
                        let entry = walk.context.subset.entry(walk.score)?;
                        Ok(PathEntry { fit: EntryFit::Coefficients(alpha), ..entry })
                    })?;
                }
                goes_on?;
                if walk.size() >= most {
                    return Ok(StopReason::MaxFeatures);
                }
                if walk.steps.len() >= most_events(space) {
                    return Ok(StopReason::Singular);
                }
            }
        })?;
        let (is_last, is_short) = (space.settings.choose == Choose::Last, !grid.ahead.is_empty());
        path.at_penalties = grid.models();
        match path.at_penalties.first() {
            Some(&(least, _)) if is_last => Ok(path.taking(least)),
            None if is_last && is_short && !path.stop_reason.is_partial() => {
                Err(Error::setting("penalties", "the path ends above them"))
            }
            _ => Ok(path),
        }
    }

    /// The number of steps is bounded by the number of events that are followed.
    fn extent(&self, space: &Space<'_>) -> Result<SearchExtent> {
        if let Some(bias) = space.design.problem().bias().filter(|bias| !space.group(*bias).is_empty()) {
            return Err(Error::without_spread(&space.design.problem().names()[bias]));
        }
        let (largest, steps) = (space.largest(), most_events(space));
        Ok(SearchExtent { start: 0, largest, trials: largest as f64, steps })
    }

    /// Refuses a choice of columns that are no model of the path, and signs of weights that it lacks.
    fn check_settings(&self, shared: &SearchSettings) -> Result<()> {
        let refused = |field: &str, message: &str| Err(Error::setting(field, message));
        let has_refit = self.has_refit();
        let why = "the geometry alone decides what enters a least-angle path and where it ends; leave it out";
        shared.refuse(&["tolerance", "patience", "forced", "blocks"], why)?;
        if !has_refit {
            let why = "an exchange leaves the path, whose coefficients the model is to have";
            shared.refuse(&["polish"], why)?;
        }
        if let Some(penalties) = &self.penalties {
            if has_refit {
                return refused(
                    "penalties",
                    "a model that is trained on the columns has no penalty of the path; give `coefficients: path` too",
                );
            }
            penalties.check()?;
        }
        if !has_refit && shared.constraints.as_ref().is_some_and(|constraints| !constraints.signs.is_empty()) {
            return refused(
                "constraints.signs",
                "signs are those of the readout's weights, and the model has the path's coefficients; use `refit`",
            );
        }
        match shared.choose {
            Choose::FalseDiscoveries(_) if !has_refit => {
                refused("choose", "the confirmed columns are no model of the path; use `coefficients: refit`")
            }
            Choose::Auto | Choose::Last | Choose::CrossValidated(_) => Ok(()),
            _ if self.penalties.is_none() => Ok(()),
            _ => refused(
                "choose",
                "a penalty is chosen by cross-validation, as in {folds: 10}, or it is the `last`; leave `choose` out",
            ),
        }
    }
}

/// Maximum number of events of a path; a longer one cycles because of rounding errors.
fn most_events(space: &Space<'_>) -> usize {
    20 * space.largest()
}

fn start(lars: &Lars, space: &Space<'_>, geometry: &dyn Geometry) -> Result<LeastAngle> {
    let most = space.settings.max_features.unwrap_or(usize::MAX);
    let non_negative = !geometry.is_linear();
    let relevances = geometry.relevances()?.into_iter().map(|relevance| numbers(relevance, space.design));
    let relevances = relevances.collect::<Result<Vec<_>>>()?;
    let mut open = vec![false; space.design.features()];
    space.groups().iter().flatten().for_each(|&feature| open[feature] = true);
    let shape = match relevances.len() {
        0 | 1 if non_negative => PathShape::NonNegativeLasso,
        0 | 1 if lars.lasso => PathShape::Lasso,
        0 | 1 => PathShape::LeastAngle,
        _ if lars.lasso && !lars.has_refit() => PathShape::GroupLasso,
        _ => PathShape::Multiresponse,
    };
    Ok(LeastAngle::new(shape, most, relevances, open))
}

/// Checks that there is one finite number per feature.
fn numbers(values: Vec<f64>, design: &Design) -> Result<Vec<f64>> {
    if values.len() != design.features() || !values.iter().all(|v| v.is_finite()) {
        return Err(Error::Numerical("the geometry of the criterion is not one finite number a column".into()));
    }
    Ok(values)
}

/// Reason that no column is left to enter; `is_passed` if constraints passed over one.
fn no_correlation(walk: &Walk<'_, '_>, is_passed: bool) -> StopReason {
    if is_passed {
        StopReason::Constraints
    } else if walk.size() >= walk.space.most {
        StopReason::MaxFeatures
    } else if walk.outside().is_empty() {
        StopReason::NoCandidates
    } else {
        StopReason::NoCorrelation
    }
}

impl Lars {
    /// Changes the subset for an event of the path; returns the step of the walk, and the fit of its subset.
    fn step_of(&self, walk: &mut Walk<'_, '_>, knot: LeastAngleKnot) -> Result<(Step, EntryFit)> {
        let LeastAngleKnot { feature, action, tied, mu, alpha, .. } = knot;
        walk.context.subset.apply(action, feature)?;
        let score = walk.context.subset.score()?;
        let outputs = alpha.len() / walk.selected().len().max(1);
        let norms = |row: &[f64]| if let [one] = row { *one } else { sum_of_squares(row).sqrt() };
        let rows: Vec<f64> = alpha.chunks(outputs.max(1)).map(norms).collect();
        let fit = if self.has_refit() { EntryFit::Readout } else { EntryFit::Coefficients(alpha) };
        Ok((Step { tied, ..Step::new(action, feature, score, 0) }.at_knot(mu, rows), fit))
    }
}
