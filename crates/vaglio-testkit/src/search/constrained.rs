//! A search with the setting `constraints` keeps to them.

use super::{SEED, Witness};
use crate::broken::Law;
use crate::replay::replay;
use crate::trial::evaluate;
use crate::{Broken, Random};
use vaglio_core::{
    Constraints, Criterion, Design, Feature, Score, SearchContext, SearchStrategy, Sign, Subset, serde_json,
};

/// Every subset that the steps pass through, and every entry, keeps the constraints of the search: groups, costs and signs of
/// weights. A search without the setting `constraints`, and one that refuses them, has nothing to keep.
pub fn constraints(search: &dyn SearchStrategy, criterion: &dyn Criterion, design: &Design) -> Result<(), Broken> {
    let law = Law("constraints");
    for given in asked(design) {
        let on = || format!("the constraints {}", given.sentence());
        let Some(search) = with(search, &given) else { continue };
        if law.calm(on, || search.check(criterion, design))?.is_err() {
            continue;
        }
        let rules = law.ran(on, || search.rules(design))?;
        let Some(rules) = rules else { return Err(law.broken(on(), "`SearchStrategy::rules` that says them", "none")) };
        let subset = law.ran(on, || Subset::open(criterion, design, &search.outline(design)?))?;
        let mut witness = Witness::default();
        let mut context = SearchContext::new(criterion, design, subset, &mut witness, SEED);
        let path = law.ran(on, || search.search(&mut context))?;
        let visits = replay(law, design, &path)?.into_iter().map(|visit| (visit.subset, visit.score));
        let entries = path.entries.iter().map(|entry| (entry.subset.clone(), Some(entry.score)));
        for (subset, score) in visits.chain(entries) {
            let of = || format!("{}, subset {subset:?}", on());
            law.must(rules.allows(&subset), of, "that it keeps them", &subset)?;
            let score = match score {
                Some(score) => score,
                None => evaluate(law, criterion, design, &subset)?,
            };
            let others = other_signs(law, &rules, design, &subset, score)?;
            law.must(others.is_empty(), of, "weights of the signs that are asked", &others)?;
        }
    }
    Ok(())
}

/// The columns of a subset whose weights, by plain training, have another sign than they are to have.
fn other_signs(
    law: Law,
    rules: &vaglio_core::Rules,
    design: &Design,
    subset: &[Feature],
    score: Score,
) -> Result<Vec<Feature>, Broken> {
    if !rules.has_signs() || subset.is_empty() {
        return Ok(Vec::new());
    }
    let model = law.ran(|| format!("training on {subset:?}"), || design.train(subset, score.lambda))?;
    let weights = model.coefficients().map_or_else(Vec::new, |of| of.weights.column(0).to_vec());
    // Weights that are 0 but for rounding have no sign.
    let largest = weights.iter().fold(0.0, |most: f64, weight| most.max(weight.abs()));
    let rounded = weights.into_iter().map(|weight| if weight.abs() <= 1e-9 * largest { 0.0 } else { weight });
    Ok(rules.of_other_sign(subset, rounded))
}

/// Constraints that columns of a design can have.
fn asked(design: &Design) -> Vec<Constraints> {
    let names = design.names();
    let mut random = Random::new(SEED);
    let half = names.iter().step_by(2).map(String::as_str);
    let groups =
        Constraints::default().at_most_of("half", half, 1).at_most_of("all", names.iter().map(String::as_str), 3);
    let costs =
        names.iter().fold(Constraints::default().budget(3.0), |given, name| given.cost(name, random.uniform() * 2.0));
    let mut asked = vec![groups, costs];
    if design.readout().is_some() && design.targets().nrows() == 1 {
        let sign = |k: usize| if k.is_multiple_of(2) { Sign::Positive } else { Sign::Negative };
        asked.push(names.iter().enumerate().fold(Constraints::default(), |given, (k, name)| given.sign(name, sign(k))));
    }
    asked
}

/// The search with these constraints; `None` where it has no such setting.
fn with(search: &dyn SearchStrategy, given: &Constraints) -> Option<Box<dyn SearchStrategy>> {
    super::named::with(search, &[("constraints", serde_json::to_value(given).ok()?)])
}
