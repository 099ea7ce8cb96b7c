//! The law of searches with the setting `constraints`.

use super::recorded_run::{SEED, SearchLaws, run};
use crate::law_violation::{attempt, law, must, no_panic, violation};
use crate::replay::replay;
use crate::trial::Subject;
use crate::{LawResult, SplitMix64};
use vaglio_core::{Design, Feature, Score, max_abs};
use vaglio_search::{Constraints, Silent};

impl SearchLaws<'_> {
    /// Every subset on the path and every entry satisfies the constraints: groups, costs and signs of weights. A search
    /// passes if it lacks the setting `constraints` or rejects its value.
    pub fn constraints(&self) -> LawResult {
        law("constraints", || {
            let &SearchLaws { search, criterion, design, .. } = self;
            if !search.shared_settings().contains(&"constraints") {
                return Ok(());
            }
            for given in sample_constraints(design) {
                let on = &format!("the constraints {}", given.sentence());
                let search = search.clone().constraints(given);
                if no_panic(on, || search.check(criterion, design))?.is_err() {
                    continue;
                }
                let rules = attempt(on, || search.rules(design))?;
                let Some(rules) = rules else { return Err(violation(on, "`Search::rules` that says them", "none")) };
                let path = run(&search, criterion, design, &mut Silent).map_err(|broken| broken.within(on))?;
                let visits = replay(design, &path)?.into_iter().map(|visit| (visit.subset, visit.score));
                let entries = path.entries.iter().map(|entry| (entry.subset.clone(), Some(entry.score)));
                for (subset, score) in visits.chain(entries) {
                    let place = format_args!("{on}, subset {subset:?}");
                    must(rules.allows(&subset), place, "that it keeps them", &subset)?;
                    let score = match score {
                        Some(score) => score,
                        None => Subject::new(criterion, design).evaluate(&subset)?,
                    };
                    let others = other_signs(&rules, design, &subset, score)?;
                    must(others.is_empty(), place, "weights of the signs that are asked", &others)?;
                }
            }
            Ok(())
        })
    }
}

/// Returns columns of a trained subset with a weight of the wrong sign.
fn other_signs(
    rules: &vaglio_search::Rules,
    design: &Design,
    subset: &[Feature],
    score: Score,
) -> LawResult<Vec<Feature>> {
    if !rules.has_signs() || subset.is_empty() {
        return Ok(Vec::new());
    }
    let model = attempt(format_args!("training on {subset:?}"), || design.train(subset, score.lambda))?;
    let weights = model.coefficients().map_or_else(Vec::new, |own| own.weights.column(0).to_vec());
    // Weights within rounding of 0 have no sign.
    let largest = max_abs(&weights);
    let rounded = weights.into_iter().map(|weight| if weight.abs() <= 1e-9 * largest { 0.0 } else { weight });
    let is_other = |(feature, weight): &(Feature, f64)| rules.sign(*feature).is_some_and(|sign| !sign.is_of(*weight));
    Ok(subset.iter().copied().zip(rounded).filter(is_other).map(|(feature, _)| feature).collect())
}

/// Returns constraints on the columns of a design.
fn sample_constraints(design: &Design) -> Vec<Constraints> {
    let names = design.problem().names();
    let mut random = SplitMix64::new(SEED);
    let half = names.iter().step_by(2).map(String::as_str);
    let groups =
        Constraints::default().at_most_of("half", half, 1).at_most_of("all", names.iter().map(String::as_str), 3);
    let costs =
        names.iter().fold(Constraints::default().budget(3.0), |given, name| given.cost(name, random.uniform() * 2.0));
    let mut asked = vec![groups, costs];
    if design.readout().is_some() && design.targets().nrows() == 1 {
        let sign = |given: Constraints, (k, name): (usize, &String)| match k.is_multiple_of(2) {
            true => given.positive(name),
            false => given.negative(name),
        };
        asked.push(names.iter().enumerate().fold(Constraints::default(), sign));
    }
    asked
}
