//! Least angle regression.

use crate::followed::{may_leave, pass_over, subset_after};
use crate::penalties::Between;
use crate::{End, Flow, Penalties, Space, Walk, run};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use vaglio_core::{
    Action, Choose, Criterion, Design, EntryFit, Error, Feature, Geometry, Knot, Outline, Path, PathEntry, Result,
    Score, SearchContext, SearchStrategy, Signs, Step, StopReason, part,
};
use vaglio_kernels::Level;
use vaglio_kernels::lars::{self, LeastAngle, PathShape};

crate::settings! {
    /// Follows the least-angle path of the criterion's geometry; the criterion scores the features on it after every
    /// event.
    ///
    /// The path starts with the feature of largest correlation. Features on it keep one common correlation λ, which falls
    /// until another feature reaches it and enters (an event), and so on. With `lasso` a feature whose coefficient comes
    /// back to 0 leaves: the path is then that of min_α ½ αᵀQα − cᵀα + λ‖α‖₁. A feature may enter again later.
    ///
    /// With `loo` and `kfold`, c and Q are correlations of standardized columns, which gives OP-LR with `lasso: false`.
    /// Where the geometry has no negative coefficients, as that of dependence measures, a feature needs a positive
    /// correlation to enter, and features always leave at 0: this is N³LARS.
    ///
    /// With several outputs, classes among them, each standardized as the columns are, a column's correlation is the norm of
    /// those with all residuals, ‖x_iᵀR‖₂, and all outputs move together toward the least squares solution of the columns on
    /// the path, until another column's norm reaches the common one: multiresponse sparse regression. With `coefficients: path`
    /// and `lasso` it is the path of the group lasso, min_W ½‖Y − XW‖² + λ Σ‖w_i‖₂ over rows w_i, whose curved segments are
    /// followed by Newton's method, O(s³) a step; `lasso` changes no ranking there. A step's `alpha` has the norms ‖w_i‖.
    ///
    /// With `penalties` the models of the path at these λ are cross-validated, and one is taken by what it loses, as the lasso's
    /// penalty is chosen by rule: λ is the common correlation of standardized columns with the residuals, in units of the
    /// target's norm, and the same in every fold. The penalty of ½/m ‖y − Xw‖² + a‖w‖₁, with X standardized, is a = λ·sd(y).
    ///
    /// The search ends at `max_features`; at the smallest penalty; at the end of the path, where no correlation is left; or at a
    /// feature that depends on those on the path. A duplicate of a feature on the path never enters and ends nothing, nor does
    /// one whose entry breaks a constraint, a product before its factors among them; a feature that would leave and may not ends
    /// the path. `forced`,
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
        lasso: bool = true,
        /// Whose coefficients the model has: those of the readout, trained on the columns, or the path's own.
        coefficients: PathCoefficients = PathCoefficients::Refit,
        /// Penalties λ at which the models of `coefficients: path` are judged, between knots too, in place of the sizes at the
        /// knots: so many from the largest correlation to a thousandth of it, or `{points, least}`, or a list.
        penalties: Option<Penalties> = None,
    }
}

/// Whose coefficients the model of a least-angle path has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PathCoefficients {
    /// Those of the readout, trained on the columns that the path chose.
    #[default]
    Refit,
    /// Those of the path where its next event begins: with `lasso` the model is that of the lasso. The score of a subset
    /// stays that of the readout; what the whole search loses on rows held out is the path's.
    Path,
}

/// Why settings are refused that other searches have.
const ONE_PATH: &str = "the geometry alone decides what enters a least-angle path and where it ends; leave it out";

impl Lars {
    /// Up to `max_features` features, otherwise as by default.
    pub fn new(max_features: usize) -> Self {
        Lars { max_features: Some(max_features), ..Lars::default() }
    }

    /// The size at which the search ends, whatever comes next.
    fn most(&self) -> usize {
        self.max_features.unwrap_or(usize::MAX)
    }

    fn space<'d>(&self, design: &'d Design) -> Result<Space<'d>> {
        let settings = self.settings();
        settings.refuse(&["tolerance", "patience", "forced", "blocks"], ONE_PATH)?;
        if self.coefficients == PathCoefficients::Path {
            settings.refuse(&["polish"], "an exchange leaves the path, whose coefficients the model is to have")?;
            if settings.constraints.as_ref().is_some_and(|constraints| !constraints.signs.is_empty()) {
                let message =
                    "signs are those of the readout's weights, and the model has the path's coefficients; use `refit`";
                return Err(Error::setting("constraints.signs", message));
            }
        }
        self.has_penalties_it_chooses()?;
        let space = Space::new(settings, design)?;
        match design.bias().filter(|bias| space.group_of(*bias).is_some()) {
            Some(bias) => Err(Error::without_spread(&design.names()[bias])),
            None => Ok(space),
        }
    }
}

impl Lars {
    /// Refuses penalties that no rule takes one of, and a choice of columns that are no model of the path.
    fn has_penalties_it_chooses(&self) -> Result<()> {
        if self.coefficients == PathCoefficients::Path && matches!(self.choose, Choose::FalseDiscoveries(_)) {
            let message = "the confirmed columns are no model of the path; use `coefficients: refit`";
            return Err(Error::setting("choose", message));
        }
        let Some(penalties) = &self.penalties else { return Ok(()) };
        if self.coefficients != PathCoefficients::Path {
            let message =
                "a model that is trained on the columns has no penalty of the path; give `coefficients: path` too";
            return Err(Error::setting("penalties", message));
        }
        if !matches!(self.choose, Choose::Auto | Choose::Last | Choose::CrossValidated(_)) {
            let message =
                "a penalty is chosen by cross-validation, as in {folds: 10}, or it is the `last`; leave `choose` out";
            return Err(Error::setting("choose", message));
        }
        penalties.check()
    }
}

impl SearchStrategy for Lars {
    fn takes_lambda(&self) -> bool {
        self.coefficients != PathCoefficients::Path
    }

    fn check(&self, criterion: &dyn Criterion, design: &Design) -> Result<()> {
        self.space(design)?;
        let geometry = criterion.geometry(design)?;
        match self.coefficients {
            PathCoefficients::Refit => Ok(()),
            PathCoefficients::Path => has_own_model(&*geometry, design),
        }
    }

    fn at_penalties(&self, criterion: &dyn Criterion, design: &Design) -> Result<Option<Arc<dyn SearchStrategy>>> {
        let Some(penalties) = &self.penalties else { return Ok(None) };
        let path = start(self, &self.space(design)?, &mut *criterion.geometry(design)?)?;
        let values = penalties.values(path.lambda());
        let fixed = Lars { penalties: Some(Penalties::Values(values.clone())), ..self.clone() };
        Ok((!values.is_empty()).then(|| Arc::new(fixed) as Arc<dyn SearchStrategy>))
    }

    crate::by_settings!(choose rules);

    fn check_settings(&self) -> Result<()> {
        self.has_penalties_it_chooses()?;
        self.settings().check()
    }

    /// The steps are what the path is followed for at most.
    fn outline(&self, design: &Design) -> Result<Outline> {
        let space = self.space(design)?;
        let (largest, steps) = (space.largest(), most_events(&space));
        Ok(space.outline(Outline { start: 0, largest, trials: largest as f64, steps }))
    }

    fn search(&self, context: &mut SearchContext<'_>) -> Result<Path> {
        let space = self.space(context.design())?;
        if self.penalties.is_some() {
            // Sizes say nothing of penalties.
            context.pause_at(None);
        }
        let mut between = Between::new(Vec::new());
        let mut path = run(&space, context, &self.outline(context.design())?, |walk| {
            if space.groups.is_empty() {
                return Ok(StopReason::NoCandidates);
            }
            let mut geometry = walk.context.geometry()?;
            let mut path = start(self, &space, &mut *geometry)?;
            between = Between::new(self.penalties.as_ref().map_or_else(Vec::new, |of| of.values(path.lambda())));
            let mut gram = |feature: Feature| numbers(geometry.gram(feature)?, space.design);
            let mut is_passed = pass_over(&mut path, walk, &[], None, &mut gram)?;
            between.fall_to(path.lambda(), |_| Ok(without_columns(walk.empty)))?;
            loop {
                if between.is_done() {
                    return Ok(StopReason::Penalty);
                }
                if !may_leave(walk, path.leaving())? {
                    return Ok(StopReason::Constraints);
                }
                let mut knot = match path.advance(&mut gram)? {
                    Ok(knot) => knot,
                    Err(lars::End::NoCorrelation) if is_passed => return Ok(StopReason::Constraints),
                    Err(end) => return Ok(stop_reason(end, walk)),
                };
                let after = subset_after(walk.context.subset.selected(), &knot);
                is_passed |= pass_over(&mut path, walk, &after, Some(&mut knot), &mut gram)?;
                let goes_on = self.follow(walk, knot);
                if matches!(goes_on, Ok(()) | Err(End::Stop(_))) {
                    between.fall_to(path.lambda(), |penalty| on_path(walk, path.at(penalty)))?;
                }
                goes_on?;
                if walk.size() >= self.most() {
                    return Ok(StopReason::MaxFeatures);
                }
                if walk.steps.len() >= most_events(&space) {
                    return Ok(StopReason::Singular);
                }
            }
        })?;
        let is_asked = between.is_asked();
        path.at_penalties = between.models();
        match path.at_penalties.first().map(|at| at.lambda) {
            Some(least) if self.choose == Choose::Last => Ok(path.taking(least)),
            None if self.choose == Choose::Last && is_asked && !path.stop_reason.is_partial() => {
                Err(Error::setting("penalties", "the path ends above them"))
            }
            _ => Ok(path),
        }
    }
}

/// The model of a path before its first column.
fn without_columns(score: Score) -> PathEntry {
    PathEntry::new(Vec::new(), score)
}

/// The model of these coefficients of the columns that the walk is at.
fn on_path(walk: &mut Walk<'_, '_>, alpha: Option<Vec<f64>>) -> Flow<PathEntry> {
    let alpha = alpha.ok_or(StopReason::Singular)?;
    let mut entry = walk.context.subset.entry(walk.score)?;
    entry.fit = EntryFit::Coefficients(alpha);
    Ok(entry)
}

/// Events that a path has at most; one that goes on longer goes round in a circle of rounding errors.
fn most_events(space: &Space<'_>) -> usize {
    20 * space.largest()
}

fn start(lars: &Lars, space: &Space<'_>, geometry: &mut dyn Geometry) -> Result<LeastAngle> {
    let non_negative = geometry.signs() == Signs::NonNegative;
    let mut relevances = Vec::new();
    for relevance in geometry.relevances()? {
        relevances.push(numbers(relevance, space.design)?);
    }
    let mut open = vec![false; space.design.features()];
    space.groups.iter().flatten().for_each(|&feature| open[feature] = true);
    if relevances.len() > 1 {
        let is_group = lars.lasso && lars.coefficients == PathCoefficients::Path;
        let shape = if is_group { PathShape::Group } else { PathShape::Straight };
        return Ok(LeastAngle::several(Level::best(), shape, lars.most(), relevances, open));
    }
    let relevance = relevances.pop().unwrap_or_default();
    let rules = lars::PathRules { non_negative, lasso: lars.lasso || non_negative, most: lars.most() };
    Ok(LeastAngle::new(Level::best(), rules, relevance, open))
}

/// One finite number for each feature.
fn numbers(values: Vec<f64>, design: &Design) -> Result<Vec<f64>> {
    if values.len() != design.features() || !values.iter().all(|v| v.is_finite()) {
        return Err(Error::Numerical("the geometry of the criterion is not one finite number a column".into()));
    }
    Ok(values)
}

fn stop_reason(end: lars::End, walk: &Walk<'_, '_>) -> StopReason {
    match end {
        lars::End::Singular => StopReason::Singular,
        lars::End::NoCorrelation if walk.size() >= walk.space.most => StopReason::MaxFeatures,
        lars::End::NoCorrelation if walk.outside().is_empty() => StopReason::NoCandidates,
        lars::End::NoCorrelation => StopReason::NoCorrelation,
    }
}

impl Lars {
    /// Lets the walk follow an event.
    fn follow(&self, walk: &mut Walk<'_, '_>, knot: lars::Knot) -> Flow {
        let lars::Knot { feature, enters, tied, mu, alpha, .. } = knot;
        let subset = &mut walk.context.subset;
        if enters {
            subset.add(feature)?
        } else {
            subset.remove(feature)?
        };
        let score = subset.score()?;
        if let Some(group) = walk.space.group_of(feature) {
            walk.inside[group] = enters;
        }
        let action = if enters { Action::Add } else { Action::Remove };
        let outputs = alpha.len() / walk.context.subset.selected().len().max(1);
        let norms = |row: &[f64]| if let [one] = row { *one } else { row.iter().map(|v| v * v).sum::<f64>().sqrt() };
        let rows: Vec<f64> = alpha.chunks(outputs.max(1)).map(norms).collect();
        let own = match self.coefficients {
            PathCoefficients::Path => EntryFit::Coefficients(alpha),
            PathCoefficients::Refit => EntryFit::Readout,
        };
        let knot = Some(Knot { mu, alpha: rows });
        let mut step = Step::new(action, feature, score, 0);
        (step.tied, step.knot) = (tied, knot);
        let next = walk.step(step);
        let selected = walk.context.subset.selected();
        if let Some(entry) = walk.entries.iter_mut().find(|entry| entry.subset == selected) {
            entry.fit = own;
        }
        next
    }
}

/// Refuses a design whose model the path's coefficients are not.
fn has_own_model(geometry: &dyn Geometry, design: &Design) -> Result<()> {
    let refused = |why: &str| Err(Error::setting("coefficients", why));
    let Some(readout) = design.readout() else {
        return refused(
            "the learner has no linear readout, of which the path could have the coefficients; use `refit`",
        );
    };
    if !geometry.is_linear() {
        return refused("the coefficients of this criterion's path are not those of columns; use `refit`");
    }
    // Of a grid that is fitted a search whose model knows no λ gets a single one.
    if readout.lambdas.len() > 1 && readout.auto.is_none() || readout.refine {
        return refused("the coefficients of the path know no lambda; give the learner a single one, or use `refit`");
    }
    if readout.balanced || !readout.intercept {
        return refused("the path is that of a readout with an intercept and without balanced classes; use `refit`");
    }
    Ok(())
}
