//! Paths, and what they must be.

use ndarray::Array2;
use vaglio::core::{
    Action, Criterion, Design, Estimate, Feature, Geometry, Plan, Problem, Readout, Result, Score, SearchExtent, Task,
    saved,
};
use vaglio::criteria::Loo;
use vaglio::search::{Observer, Path, Search, SearchContext, Silent, SubsetScorer, correlation};
use vaglio_testkit::{SplitMix64, data};

/// Leave-one-out, with a geometry in which no coefficient is negative.
#[saved(Criterion, "positive")]
pub struct Positive;

impl Criterion for Positive {
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        Loo::default().evaluate(design, subset)
    }

    fn plan<'d>(&'d self, design: &'d Design, _: &SearchExtent) -> Plan<'d> {
        let plan = Plan::by_definition(Estimate::unknown("definition", "a test"));
        plan.with_geometry(NonNegative(correlation(design)))
    }
}

/// The allowed signs of the coefficients of a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Signs {
    Any,
    NonNegative,
}

struct NonNegative<G>(G);

impl<G: Geometry> Geometry for NonNegative<G> {
    fn relevances(&self) -> Result<Vec<Vec<f64>>> {
        Ok(vec![self.0.relevances()?.swap_remove(0)])
    }

    fn gram(&self, feature: Feature) -> Result<Vec<f64>> {
        self.0.gram(feature)
    }
}

pub fn walk(search: &Search, criterion: &dyn Criterion, design: &Design) -> Path {
    watched(search, criterion, design, &mut Silent).unwrap()
}

pub fn watched(
    search: &Search,
    criterion: &dyn Criterion,
    design: &Design,
    observer: &mut dyn Observer,
) -> Result<Path> {
    search.check(criterion, design)?;
    let subset = SubsetScorer::open(criterion, design, &search.extent(design)?)?;
    search.run(&mut SearchContext::new(subset, &mut *observer, 0))
}

/// A design of these columns, ridge with λ = 1 and an intercept.
pub fn design(columns: &[&[f64]], y: &[f64]) -> Design {
    ridge_design(&data::given(columns, &[y], Task::Regression).unwrap())
}

pub fn ridge_design(problem: &Problem) -> Design {
    Design::identity(problem, Readout::new(vec![1.0], true).unwrap())
}

/// Columns that share a few factors, so that coefficients come and go.
pub fn factors(rows: usize, columns: usize, seed: u64) -> Design {
    let mut random = SplitMix64::new(seed);
    let mut normals = |count: usize| (0..count).map(|_| random.normal()).collect::<Vec<f64>>();
    let factors: Vec<Vec<f64>> = (0..3).map(|_| normals(rows)).collect();
    let stored: Vec<Vec<f64>> = (0..columns)
        .map(|_| {
            let (loads, noise) = (normals(3), normals(rows));
            (0..rows).map(|j| (0..3).map(|f| loads[f] * factors[f][j]).sum::<f64>() + 0.4 * noise[j]).collect()
        })
        .collect();
    let weights = normals(columns);
    let noise = normals(rows);
    let y: Vec<f64> =
        (0..rows).map(|j| (0..columns).map(|i| weights[i] * stored[i][j]).sum::<f64>() + noise[j]).collect();
    design(&stored.iter().map(Vec::as_slice).collect::<Vec<_>>(), &y)
}

/// c and Q, from the definition.
pub fn moments(design: &Design) -> (Vec<f64>, Array2<f64>) {
    let geometry = correlation(design);
    let columns: Vec<Vec<f64>> = (0..design.features()).map(|f| geometry.gram(f).unwrap()).collect();
    let n = columns.len();
    (geometry.relevances().unwrap().swap_remove(0), Array2::from_shape_fn((n, n), |(i, j)| columns[j][i]))
}

/// A knot: λ and all coefficients, with the columns on the path up to it.
pub struct At {
    pub lambda: f64,
    pub alpha: Vec<f64>,
    pub active: Vec<Feature>,
}

/// The start of a path and the end of each of its steps.
pub fn knots(path: &Path, relevance: &[f64], signs: Signs) -> Vec<At> {
    let size = |c: &f64| if signs == Signs::Any { c.abs() } else { *c };
    let mut lambda = relevance.iter().map(size).fold(0.0, f64::max);
    let mut active: Vec<Feature> = Vec::new();
    let mut all = vec![At { lambda, alpha: vec![0.0; relevance.len()], active: Vec::new() }];
    for step in &path.steps {
        match step.action {
            Action::Add => active.push(step.feature),
            Action::Remove => active.retain(|f| *f != step.feature),
        }
        let knot = step.knot.as_ref().unwrap();
        assert!(knot.mu >= 0.0 && knot.alpha.len() == active.len() && step.size == active.len());
        lambda -= knot.mu;
        let mut alpha = vec![0.0; relevance.len()];
        active.iter().zip(&knot.alpha).for_each(|(&f, a)| alpha[f] = *a);
        all.push(At { lambda, alpha, active: active.clone() });
    }
    all
}

/// By how much a point misses being the lasso solution at λ.
pub fn violation(relevance: &[f64], gram: &Array2<f64>, at: &At, signs: Signs) -> f64 {
    let mut worst: f64 = 0.0;
    for (j, c) in relevance.iter().enumerate() {
        let left = c - (0..relevance.len()).map(|k| gram[(j, k)] * at.alpha[k]).sum::<f64>();
        worst = worst.max(left - at.lambda);
        if signs == Signs::Any {
            worst = worst.max(-left - at.lambda);
        } else {
            worst = worst.max(-at.alpha[j]);
        }
        if at.active.contains(&j) {
            let sign = if signs == Signs::NonNegative {
                1.0
            } else if at.alpha[j].abs() < 1e-12 {
                left.signum()
            } else {
                at.alpha[j].signum()
            };
            worst = worst.max((sign * left - at.lambda).abs());
        }
    }
    worst
}

/// The lasso by coordinate descent.
pub fn descent(relevance: &[f64], gram: &Array2<f64>, lambda: f64, signs: Signs) -> Vec<f64> {
    let n = relevance.len();
    let mut alpha = vec![0.0_f64; n];
    for _ in 0..200_000 {
        let mut moved: f64 = 0.0;
        for j in 0..n {
            let rest: f64 = (0..n).filter(|k| *k != j).map(|k| gram[(j, k)] * alpha[k]).sum();
            let left = relevance[j] - rest;
            let new = match signs {
                Signs::Any => left.signum() * (left.abs() - lambda).max(0.0),
                Signs::NonNegative => (left - lambda).max(0.0),
            } / gram[(j, j)];
            moved = moved.max((new - alpha[j]).abs());
            alpha[j] = new;
        }
        if moved < 1e-15 {
            break;
        }
    }
    alpha
}
