//! Laws of a criterion between a design and a changed copy of it; the design has a ridge readout.

use crate::broken::{Law, Near};
use crate::trial::{Trial, evaluate, free, open, trail, trials};
use crate::{Broken, Random, data, rebuild};
use vaglio_core::{Criterion, Design, Feature, Result as Made, Winner};

/// All laws of this module but [`scaled_weights`].
pub fn check(criterion: &dyn Criterion, design: &Design, tolerance: f64) -> Result<(), Broken> {
    duplicates_tie(criterion, design)?;
    permutation(criterion, design, tolerance)?;
    lambdas(criterion, design, tolerance)
}

/// Copies of a column tie bit for bit with it as additions; of equals the lowest index wins, the others are in `tied`.
///
/// Tried on the design with every column twice, at each of the first steps of a greedy walk.
pub fn duplicates_tie(criterion: &dyn Criterion, design: &Design) -> Result<(), Broken> {
    let law = Law("duplicates_tie");
    let steps = trail(law, design, 3, 0)?.len();
    let count = design.features();
    let twice = made(law, || rebuild::with_columns(design, &(0..count).chain((0..count).rev()).collect::<Vec<_>>()))?;
    let sets = data::duplicates(&twice);
    let mut evaluator = open(law, criterion, &twice)?;
    for _ in 0..steps {
        let subset = evaluator.selected().to_vec();
        let candidates = free(&twice, &subset);
        let scores = trials(law, &mut evaluator, Trial::Addition, &candidates)?;
        let score = |f: Feature| candidates.iter().position(|&c| c == f).map(|at| scores[at]);
        let on = |f: Feature, g: Feature| format!("the addition of {f} and its copy {g} to subset {subset:?}");
        for pair in sets.iter().flat_map(|set| set.windows(2)) {
            if let (Some(a), Some(b)) = (score(pair[0]), score(pair[1])) {
                law.bits(|| on(pair[0], pair[1]), a, b)?;
            }
        }
        let on = || format!("the best addition to subset {subset:?}");
        let Some(Winner { feature, tied, .. }) = law.ran(on, || evaluator.best_addition(&candidates))? else {
            return Err(law.broken(on(), "a column of finite score", "none"));
        };
        let set = sets.iter().find(|set| set.contains(&feature)).map_or(&[][..], Vec::as_slice);
        let others: Vec<Feature> = set.iter().copied().filter(|f| *f != feature && candidates.contains(f)).collect();
        let lowest = others.iter().all(|&f| f > feature);
        law.must(lowest, on, format!("the lowest of {set:?} that is free"), feature)?;
        law.must(others.iter().all(|f| tied.contains(f)), on, format!("{others:?} among the tied"), &tied)?;
        law.must(tied.windows(2).all(|w| w[0] < w[1]), on, "ties in increasing order", &tied)?;
        law.ran(on, || evaluator.add(feature))?;
    }
    Ok(())
}

/// The same columns at other indices have the same scores.
pub fn permutation(criterion: &dyn Criterion, design: &Design, tolerance: f64) -> Result<(), Broken> {
    let law = Law("permutation");
    let near = Near::scores(criterion, design, tolerance);
    let order = Random::new(21).order(design.features());
    // Column `order[k]` of the design is column k of the other: `moved` is the inverse.
    let mut moved = vec![0; order.len()];
    order.iter().enumerate().for_each(|(to, &from)| moved[from] = to);
    let other = made(law, || rebuild::with_columns(design, &order))?;
    same_scores(law, near, criterion, (design, &other), &moved)
}

/// All weights and λ times one factor change nothing, nor do weights of 1 where there were none.
pub fn scaled_weights(criterion: &dyn Criterion, design: &Design, tolerance: f64) -> Result<(), Broken> {
    let law = Law("scaled_weights");
    let near = Near::scores(criterion, design, tolerance);
    let still: Vec<Feature> = (0..design.features()).collect();
    for factor in [1.0, 3.0, 0.125] {
        let other = made(law, || rebuild::with_weights_scaled(design, factor))?;
        same_scores(law, near, criterion, (design, &other), &still)
            .map_err(|broken| broken.within(&format!("weights and lambdas times {factor}")))?;
    }
    Ok(())
}

/// With several λ the score is the lowest over them, and λ the one that gives it: the smallest among equals.
///
/// Tried over three λ about the design's own. A criterion that reports no λ must report none anywhere.
pub fn lambdas(criterion: &dyn Criterion, design: &Design, tolerance: f64) -> Result<(), Broken> {
    let law = Law("lambdas");
    let near = Near::scores(criterion, design, tolerance);
    let trail = trail(law, design, 3, 22)?;
    let middle = design.lambdas().first().copied().flatten().unwrap_or(1.0);
    let grid = [1e-2 * middle, middle, 1e2 * middle];
    let joint = made(law, || rebuild::with_lambdas(design, grid.to_vec()))?;
    let single = |lambda: f64| made(law, || rebuild::with_lambdas(design, vec![lambda]));
    let singles = [single(grid[0])?, single(grid[1])?, single(grid[2])?];
    for subset in (0..=trail.len()).map(|size| &trail[..size]) {
        let mut walked = open(law, criterion, &joint)?;
        law.ran(|| format!("subset {subset:?}"), || walked.reset(subset))?;
        let walked = law.ran(|| format!("subset {subset:?}"), || walked.score())?;
        let defined = evaluate(law, criterion, &joint, subset)?;
        let mut alone = Vec::new();
        for design in &singles {
            alone.push(evaluate(law, criterion, design, subset)?);
        }
        let lowest = alone.iter().map(|s| s.loss).fold(f64::INFINITY, f64::min);
        for (score, way) in [(defined, "the definition"), (walked, "the evaluator")] {
            let on = || format!("subset {subset:?} over lambdas {grid:?} by {way}");
            let Some(lambda) = score.lambda else {
                law.must(alone.iter().all(|s| s.lambda.is_none()), on, "a lambda, as on one alone", score)?;
                continue;
            };
            law.near(near, on, lowest, score.loss)?;
            let Some(at) = grid.iter().position(|&l| l == lambda) else {
                return Err(law.broken(on(), "a lambda of the grid", lambda));
            };
            law.near(near, || format!("{}, at its lambda {lambda}", on()), score.loss, alone[at].loss)?;
        }
        let equal = alone.iter().all(|s| s.loss == defined.loss);
        if let (true, Some(lambda)) = (equal, defined.lambda) {
            let on = || format!("subset {subset:?}, of one score for every lambda of {grid:?}");
            law.must(lambda == grid[0], on, format!("the smallest, {}", grid[0]), lambda)?;
        }
    }
    Ok(())
}

/// Definition and trials agree on two designs, where column f of the first is column `moved[f]` of the second.
fn same_scores(
    law: Law,
    near: Near,
    criterion: &dyn Criterion,
    (first, second): (&Design, &Design),
    moved: &[Feature],
) -> Result<(), Broken> {
    let there = |subset: &[Feature]| subset.iter().map(|&f| moved[f]).collect::<Vec<Feature>>();
    let trail = trail(law, first, 3, 23)?;
    for subset in (0..=trail.len()).map(|size| &trail[..size]) {
        let on = || format!("subset {subset:?}");
        let expected = evaluate(law, criterion, first, subset)?;
        law.same(near, on, expected, evaluate(law, criterion, second, &there(subset))?)?;
        let mut evaluator = open(law, criterion, second)?;
        law.ran(on, || evaluator.reset(&there(subset)))?;
        let candidates = free(first, subset);
        let scores = trials(law, &mut evaluator, Trial::Addition, &there(&candidates))?;
        for (&candidate, found) in candidates.iter().zip(scores) {
            let expected = evaluate(law, criterion, first, &Trial::Addition.of(subset, candidate))?;
            law.same(near, || format!("the addition of {candidate} to subset {subset:?}"), expected, found)?;
        }
    }
    Ok(())
}

fn made(law: Law, make: impl FnOnce() -> Made<Design>) -> Result<Design, Broken> {
    law.ran(|| "a changed copy of the design".into(), make)
}
