//! Laws of a criterion between a design and a changed copy of it; the design needs a ridge readout.

use crate::law_violation::{almost_equal, attempt, law, must, same_bits, same_score, unless, violation};
use crate::trial::{Subject, prefixes, whole};
use crate::{CriterionLaws, LawResult, LawViolation, SplitMix64, data, design_copies};
use vaglio_core::{Action, Design, Feature, HeldOut, Result as Made, Score, Winner, gather};

impl CriterionLaws<'_> {
    /// Copies of a column tie bit for bit as additions; the lowest index wins, and `tied` lists the others.
    ///
    /// Tested on the design with every column twice, at the first steps of a greedy walk, and once the first column is
    /// removed again. Without a shortcut copies tie within the tolerance, since the definition may sum columns in index
    /// order.
    pub fn duplicates_tie(self) -> LawResult {
        law("duplicates_tie", || {
            let subject = self.exact();
            let design = self.design;
            let (steps, count) = (subject.trail(3, 0)?.len(), design.features());
            let twice = changed_copy(|| {
                design_copies::with_columns(design, &(0..count).chain((0..count).rev()).collect::<Vec<_>>())
            })?;
            let sets = data::duplicates(&twice);
            let subject = subject.with_design(&twice).within(self.tolerance);
            let shortcut = self.criterion.plan(&twice, &whole(&twice)).has_engine;
            let mut evaluator = subject.open()?;
            for step in 0..=steps {
                if step == steps {
                    // Engines often compute the removed column anew, and then have to do so with its copies.
                    let first = evaluator.selected()[0];
                    attempt("the removal of the first column", || evaluator.remove(first))?;
                }
                let subset = evaluator.selected().to_vec();
                let candidates = subject.candidates(Action::Add, &subset);
                let scores = subject.additions(&mut evaluator, &candidates)?;
                let score = |f: Feature| candidates.iter().position(|&c| c == f).map(|at| scores[at]);
                let on = |f: Feature, g: Feature| format!("the addition of {f} and its copy {g} to subset {subset:?}");
                for pair in sets.iter().flat_map(|set| set.windows(2)) {
                    match (score(pair[0]), score(pair[1])) {
                        (Some(a), Some(b)) if shortcut => same_bits(on(pair[0], pair[1]), a, b)?,
                        (Some(a), Some(b)) => same_score(subject.near, on(pair[0], pair[1]), a, b)?,
                        _ => {}
                    }
                }
                if step == steps {
                    break;
                }
                let on = format_args!("the best addition to subset {subset:?}");
                let Some(Winner { feature, tied, score: best }) =
                    attempt(on, || evaluator.best(Action::Add, &candidates))?
                else {
                    let is_worst = scores.iter().all(|score| score.loss == f64::INFINITY);
                    unless(is_worst, on, "a column, since one has a finite score", "none")?;
                    attempt(on, || evaluator.add(candidates[0]))?;
                    continue;
                };
                let set = sets.iter().find(|set| set.contains(&feature)).map_or(&[][..], Vec::as_slice);
                let equal = |f: Feature| score(f).is_some_and(|score| shortcut || score == best);
                let others: Vec<Feature> = set.iter().copied().filter(|&f| f != feature && equal(f)).collect();
                let lowest = others.iter().all(|&f| f > feature);
                must(lowest, on, format!("the lowest of {set:?} that is free"), feature)?;
                must(others.iter().all(|f| tied.contains(f)), on, format!("{others:?} among the tied"), &tied)?;
                must(tied.is_sorted_by(|a, b| a < b), on, "ties in increasing order", &tied)?;
                attempt(on, || evaluator.add(feature))?;
            }
            Ok(())
        })
    }

    /// Column positions and names do not change scores.
    pub fn permutation(self) -> LawResult {
        law("permutation", || {
            let subject = self.subject();
            let order = SplitMix64::new(21).order(self.design.features());
            // Column `order[k]` of the design is column k of the other: `moved` is the inverse.
            let mut moved = vec![0; order.len()];
            order.iter().enumerate().for_each(|(to, &from)| moved[from] = to);
            let other = changed_copy(|| design_copies::rename(&design_copies::with_columns(self.design, &order)?))?;
            same_scores(subject, &other, &moved)
        })
    }

    /// Only ratios of row weights matter, and weights of 1 equal no weights.
    ///
    /// * Scaling all weights and λ by one factor changes nothing.
    /// * A row of weight 2 equals the row given twice. Exceptions are criteria that hold rows out, since copies are not
    ///   held out together, and those that count rows ([`vaglio_core::CriterionTraits::counts_rows`]): there weights
    ///   must change the scores.
    /// * A criterion that cannot use weights rejects them in [`vaglio_core::Criterion::check`].
    pub fn row_weights(self) -> LawResult {
        law("row_weights", || {
            let subject = self.subject();
            let Subject { criterion, design, .. } = subject;
            let still: Vec<Feature> = (0..design.features()).collect();
            let scaled = |by: f64| {
                let other = changed_copy(|| design_copies::with_weights_scaled(design, by))?;
                same_scores(subject, &other, &still)
                    .map_err(|broken| broken.within(&format!("weights and lambdas times {by}")))
            };
            scaled(1.0)?;
            let (weighted, repeated) = changed_copy(|| design_copies::repeated_rows(design))?;
            if criterion.check(&weighted).is_err() {
                return Ok(());
            }
            let held_out = attempt("the rows that are held out", || criterion.folds(design))?;
            let expecting = |what: &'static str, hint: &'static str| {
                move |broken: LawViolation| {
                    violation(broken.on, format!("{what}, {}{hint}", broken.expected), broken.found)
                }
            };
            let factor = "all weights and lambdas times one factor to change nothing";
            [3.0, 0.125].into_iter().try_for_each(scaled).map_err(expecting(factor, ""))?;
            let on = "weights from 1 to 3";
            let repeated =
                same_scores(subject.with_design(&repeated), &weighted, &still).map_err(|broken| broken.within(on));
            if held_out == HeldOut::Nothing && !criterion.traits().counts_rows {
                let hint = "; where a score is of rows held out, `Criterion::folds` is to name these, and where it \
                            counts rows, `CriterionTraits::counts_rows` is to say so";
                return repeated.map_err(expecting("a row of weight 2 to count as the row twice", hint));
            }
            // If repeated rows do not change a score, as with perfect predictions, weights need not either.
            let matter = weights_matter(subject, &weighted)?;
            unless(matter || repeated.is_ok(), on, "other scores", "weights ignored")
        })
    }

    /// With several λ the score is their lowest, and the reported λ attains it: the smallest among ties.
    ///
    /// Tested over three λ around the design's own. A criterion that reports no λ must never report one.
    pub fn lambdas(self) -> LawResult {
        law("lambdas", || {
            let subject = self.subject();
            let Subject { design, near, .. } = subject;
            let trail = subject.trail(3, 22)?;
            let middle = design.lambdas()[0].unwrap_or(1.0);
            let grid = [1e-2 * middle, middle, 1e2 * middle];
            let over = |lambdas: &[f64]| changed_copy(|| design_copies::with_lambdas(design, lambdas.to_vec()));
            let (joint, singles) = (over(&grid)?, [over(&grid[..1])?, over(&grid[1..2])?, over(&grid[2..])?]);
            let joint = subject.with_design(&joint);
            for subset in prefixes(&trail) {
                let mut reset = joint.reset(subset)?;
                let walked = attempt(format_args!("subset {subset:?}"), || reset.score())?;
                let defined = joint.evaluate(subset)?;
                let alone = singles.iter().map(|design| subject.with_design(design).evaluate(subset));
                let alone: Vec<Score> = alone.collect::<LawResult<_>>()?;
                let lowest = alone.iter().map(|s| s.loss).fold(f64::INFINITY, f64::min);
                for (score, way) in [(defined, "the definition"), (walked, "the evaluator")] {
                    let on = format_args!("subset {subset:?} over lambdas {grid:?} by {way}");
                    let Some(lambda) = score.lambda else {
                        must(alone.iter().all(|s| s.lambda.is_none()), on, "a lambda, as on one alone", score)?;
                        continue;
                    };
                    almost_equal(near, on, lowest, score.loss)?;
                    let Some(at) = grid.iter().position(|&l| l == lambda) else {
                        return Err(violation(on, "a lambda of the grid", lambda));
                    };
                    almost_equal(near, format_args!("{on}, at its lambda {lambda}"), score.loss, alone[at].loss)?;
                }
                let equal = alone.iter().all(|s| s.loss == defined.loss);
                if let (true, Some(lambda)) = (equal, defined.lambda) {
                    let on = format_args!("subset {subset:?}, of one score for every lambda of {grid:?}");
                    must(lambda == grid[0], on, format!("the smallest, {}", grid[0]), lambda)?;
                }
            }
            Ok(())
        })
    }
}

/// Tests whether weights from 1 to 3 change a score; also true if all scores are equal, which is inconclusive.
fn weights_matter(subject: Subject<'_>, weighted: &Design) -> LawResult<bool> {
    let plain = changed_copy(|| design_copies::without_row_weights(subject.design))?;
    let (trail, plain) = (subject.trail(3, 24)?, subject.with_design(&plain));
    let (empty, mut is_flat) = (plain.evaluate(&[])?, true);
    for subset in prefixes(&trail) {
        let (a, b) = (plain.evaluate(subset)?, subject.with_design(weighted).evaluate(subset)?);
        if !subject.near.holds(a.loss, b.loss) || a.lambda != b.lambda {
            return Ok(true);
        }
        is_flat &= a.loss == empty.loss;
    }
    Ok(is_flat)
}

/// Compares definition and trials on two designs, with column f of the first as column `moved[f]` of the second.
fn same_scores(first: Subject<'_>, second: &Design, moved: &[Feature]) -> LawResult {
    let second = first.with_design(second);
    let there = |subset: &[Feature]| gather(moved, subset);
    let trail = first.trail(3, 23)?;
    for subset in prefixes(&trail) {
        first.is_defined(format_args!("subset {subset:?}"), subset, second.evaluate(&there(subset))?)?;
        let candidates = first.candidates(Action::Add, subset);
        let scores = second.additions(&mut second.reset(&there(subset))?, &there(&candidates))?;
        for (&candidate, found) in candidates.iter().zip(scores) {
            let on = format_args!("the addition of {candidate} to subset {subset:?}");
            first.is_defined(on, &Action::Add.apply_to(subset, candidate), found)?;
        }
    }
    Ok(())
}

fn changed_copy<T>(make: impl FnOnce() -> Made<T>) -> LawResult<T> {
    attempt("a changed copy of the design", make)
}
