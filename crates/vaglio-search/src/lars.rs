//! Least angle regression.

use super::frame::Frame;
use super::settings::{Blocks, Polish, settings};
use super::swaps;
use super::walk::Walk;
use serde::{Deserialize, Serialize};
use vaglio_core::{
    Action, Answer, Choose, Criterion, Design, Error, Feature, FeatureRef, Geometry, Knot, Outline, Path, Result,
    SearchContext, SearchStrategy, Signs, Step, StopReason,
};
use vaglio_kernels::Level;
use vaglio_kernels::lars::{self, End, LeastAngle, Rules};

/// Follows the least-angle path of the criterion's geometry; the criterion scores the columns on it after every event.
///
/// The path starts with the column of largest correlation. Columns on it keep one common correlation λ, which falls until
/// another column reaches it and enters (an event), and so on. With `lasso` a column whose coefficient comes back to 0
/// leaves: the path is then that of min_α ½ αᵀQα − cᵀα + λ‖α‖₁. A column may enter again later.
///
/// With `loo` and `kfold`, c and Q are correlations of standardized columns, which gives OP-LR with `lasso: false`. Where
/// the geometry has no negative coefficients, as that of dependence measures, a column needs a positive correlation to
/// enter, and columns always leave at 0: this is N³LARS.
///
/// The search ends at `max_features`; at the end of the path, where no correlation is left; or at a column that depends
/// on those on the path. A copy of a column on the path never enters and ends nothing. `forced`, `blocks`, `tolerance`
/// and `patience` have no meaning here and are refused.
///
/// # Reference
/// B. Efron, T. Hastie, I. Johnstone, R. Tibshirani, *Least angle regression*, Annals of Statistics 32 (2004);
/// P. Buteneers, K. Caluwaerts, J. Dambre, D. Verstraeten, B. Schrauwen, *Optimized parameter search for large datasets
/// of the regularization parameter and feature selection for ridge regression*, Neural Processing Letters 2013;
/// M. Yamada, J. Tang, J. Lugo-Martinez, et al., *Ultra high-dimensional nonlinear feature selection for big biological
/// data*, IEEE Transactions on Knowledge and Data Engineering 30 (2018).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Lars {
    /// The most columns on the path; by default it is followed to its end.
    pub max_features: Option<usize>,
    /// The smallest subset that may be the result.
    pub min_features: Option<usize>,
    /// Whether a column whose coefficient comes back to 0 leaves; the geometry's rule where no coefficient is negative.
    pub lasso: bool,
    /// Not for this search.
    pub tolerance: Option<f64>,
    /// Not for this search.
    pub patience: Option<usize>,
    /// Not for this search.
    pub forced: Vec<FeatureRef>,
    /// Columns that never enter, by name or index.
    pub excluded: Vec<FeatureRef>,
    /// Which size is the result.
    pub choose: Choose,
    /// Not for this search.
    pub blocks: Option<Blocks>,
    /// `swaps` exchanges one column of the result for another as long as that lowers the score.
    pub polish: Polish,
}

impl Default for Lars {
    fn default() -> Self {
        Lars {
            max_features: None,
            min_features: None,
            lasso: true,
            tolerance: None,
            patience: None,
            forced: Vec::new(),
            excluded: Vec::new(),
            choose: Choose::default(),
            blocks: None,
            polish: Polish::default(),
        }
    }
}

vaglio_core::describe!(
    Search,
    Lars,
    "lars",
    "least-angle path: columns enter in the order of their correlation with what is left of the target",
    "search: {kind: lars, max_features: 10, choose: best}"
);

/// Why settings are refused that other searches have.
const ONE_PATH: &str = "the geometry alone decides what enters a least-angle path and where it ends; leave it out";

impl Lars {
    /// Up to `max_features` columns, otherwise as by default.
    pub fn new(max_features: usize) -> Self {
        Lars { max_features: Some(max_features), ..Lars::default() }
    }

    /// The size at which the search ends, whatever comes next.
    fn most(&self) -> usize {
        self.max_features.unwrap_or(usize::MAX)
    }

    fn frame(&self, design: &Design) -> Result<Frame> {
        for (field, is_set) in [
            ("tolerance", self.tolerance.is_some()),
            ("patience", self.patience.is_some()),
            ("forced", !self.forced.is_empty()),
            ("blocks", self.blocks.is_some()),
        ] {
            if is_set {
                return Err(Error::setting(field, ONE_PATH));
            }
        }
        settings!(self).frame(design)
    }
}

#[typetag::serde(name = "lars")]
impl SearchStrategy for Lars {
    fn search(&self, context: &mut SearchContext<'_>) -> Result<Path> {
        let frame = self.frame(context.design())?;
        let mut walk = Walk::new(&frame, context, &self.outline(context.design()))?;
        let stop_reason = match frame.units.is_empty() {
            true => StopReason::NoCandidates,
            false => {
                let mut geometry = context.geometry()?;
                let mut path = start(self, &frame, geometry.as_mut(), context.design())?;
                follow(&mut path, self.most(), &mut walk, context, &mut *geometry)?
            }
        };
        walk.finish(context, stop_reason)
    }

    fn check(&self, design: &Design) -> Result<()> {
        self.frame(design).map(drop)
    }

    fn check_with(&self, criterion: &dyn Criterion, design: &Design) -> Result<()> {
        self.check(design)?;
        criterion.geometry(design).map(drop)
    }

    /// The steps are what the path is followed for at most.
    fn outline(&self, design: &Design) -> Outline {
        let Ok(frame) = self.frame(design) else { return Outline::forward(0, 0) };
        let (largest, steps) = (frame.largest(), most_events(&frame));
        swaps::outlined(&frame, Outline { start: 0, largest, trials: largest as f64, steps })
    }
}

/// Events that a path has at most; one that goes on longer goes round in a circle of rounding errors.
fn most_events(frame: &Frame) -> usize {
    20 * frame.largest()
}

fn start(lars: &Lars, frame: &Frame, geometry: &mut dyn Geometry, design: &Design) -> Result<LeastAngle> {
    let non_negative = geometry.signs() == Signs::NonNegative;
    let relevance = numbers(geometry.relevance()?, design)?;
    let mut open = vec![false; design.features()];
    frame.units.iter().flatten().for_each(|&feature| open[feature] = true);
    let rules = Rules { non_negative, lasso: lars.lasso || non_negative, most: lars.most() };
    Ok(LeastAngle::new(Level::best(), rules, relevance, open))
}

/// One finite number for each column.
fn numbers(values: Vec<f64>, design: &Design) -> Result<Vec<f64>> {
    if values.len() != design.features() || !values.iter().all(|v| v.is_finite()) {
        return Err(Error::Numerical("the geometry of the criterion is not one finite number a column".into()));
    }
    Ok(values)
}

fn follow(
    path: &mut LeastAngle,
    most: usize,
    walk: &mut Walk<'_>,
    context: &mut SearchContext<'_>,
    geometry: &mut dyn Geometry,
) -> Result<StopReason> {
    let design = context.design();
    let mut gram = |feature: Feature| numbers(geometry.gram(feature)?, design);
    loop {
        let knot = match path.advance(&mut gram)? {
            Ok(knot) => knot,
            Err(end) => return Ok(stop_reason(end, walk)),
        };
        if let Answer::Stop(reason) = take(walk, context, knot)? {
            return Ok(reason);
        }
        if walk.size >= most {
            return Ok(StopReason::MaxFeatures);
        }
        if walk.steps.len() >= most_events(walk.frame) {
            return Ok(StopReason::Singular);
        }
    }
}

fn stop_reason(end: End, walk: &Walk<'_>) -> StopReason {
    match end {
        End::Singular => StopReason::Singular,
        End::NoCorrelation if walk.size >= walk.frame.most => StopReason::MaxFeatures,
        End::NoCorrelation if walk.outside().is_empty() => StopReason::NoCandidates,
        End::NoCorrelation => StopReason::NoCorrelation,
    }
}

/// Lets the evaluator follow an event, and asks the observer.
fn take(walk: &mut Walk<'_>, context: &mut SearchContext<'_>, knot: lars::Knot) -> Result<Answer> {
    let lars::Knot { feature, enters, tied, mu, alpha, .. } = knot;
    let action = if enters {
        context.subset.add(feature)?;
        Action::Add
    } else {
        context.subset.remove(feature)?;
        Action::Remove
    };
    if let Some(unit) = walk.frame.units.iter().position(|columns| columns[0] == feature) {
        walk.inside[unit] = enters;
    }
    let score = context.subset.score()?;
    let knot = Some(Knot { mu, alpha });
    walk.made(context, Step { action, feature, with: Vec::new(), score, size: 0, tied, knot })
}
