//! The laws of the conformance kit on everything that is linked in.

use crate::stride;
use serde_json::{Value, json};
use vaglio::core::{Absolute, Auc, BalancedError, Criterion, Loss, Map, Measure, Part, Squared, ZeroOne};
use vaglio::criteria::Loo;
use vaglio::search::Search;
use vaglio_testkit::{
    CriterionLaws, LawResult, LawViolation, SearchLaws, check_criterion, check_criterion_on_standard_data,
    check_learner_on_standard_data, check_map_on_standard_data, check_search_on_standard_data, data, registry,
};

/// Settings of maps that do not run with their defaults.
fn map_settings() -> [Value; 3] {
    [
        json!({"kind": "log1p", "columns": ["n1"]}),
        json!({"kind": "interactions", "columns": ["n0", "n1", "n2"]}),
        json!({"kind": "polynomial", "degree": 3, "columns": ["n0", "n1"]}),
    ]
}

#[test]
fn every_component_is_described_and_reads_back() -> LawResult {
    registry::check_registry(&[&map_settings()[..], &[json!({"kind": "given", "column": "part"})]].concat())
}

#[test]
fn every_criterion_keeps_the_laws() -> LawResult {
    crate::on_one_thread(|| {
        for (kind, criterion) in registry::every::<dyn Criterion>(&[])? {
            check_criterion_on_standard_data(&*criterion, 1e-9).map_err(|b| b.within(kind))?;
        }
        Ok(())
    })
}

/// Tries each criterion at every λ, on one of two designs in turn; with `VAGLIO_CASES=all`, on both.
#[test]
fn long_walks_stay_accurate_down_to_small_lambda() -> LawResult {
    crate::on_one_thread(|| {
        for (first, (kind, criterion)) in registry::every::<dyn Criterion>(&[])?.into_iter().enumerate() {
            for (place, (lambda, tolerance)) in
                [(1.0, 1e-9), (1e-3, 1e-9), (1e-6, 1e-7), (1e-9, 1e-7)].into_iter().enumerate()
            {
                let plain = data::regression(24, 8, 5).weighted().duplicates(1);
                let collinear = data::regression(24, 8, 6).collinear(1e-3);
                let designs = [(plain, tolerance), (collinear, 1e-6)].into_iter();
                for (data, tolerance) in designs.skip((first + place) % stride(2)).step_by(stride(2)) {
                    CriterionLaws::new(&*criterion, &data.design(&[lambda], true), tolerance)
                        .walk(500, 1)
                        .map_err(|b| b.within(kind))?;
                }
            }
        }
        Ok(())
    })
}

/// Tries each criterion with every third search; with `VAGLIO_CASES=all`, with all.
#[test]
fn threads_change_no_bit_of_a_criterion_or_a_search() -> LawResult {
    let design = data::regression(300, 40, 9).weighted().duplicates(3).design(&[0.1, 1.0, 10.0], true);
    let searches = registry::every::<Search>(&[json!({"kind": "exhaustive", "max_features": 2})])?;
    for (first, (kind, criterion)) in registry::every::<dyn Criterion>(&[])?.into_iter().enumerate() {
        CriterionLaws::new(&*criterion, &design, 0.0).threads().map_err(|b| b.within(kind))?;
        for (_, strategy) in searches.iter().skip(first % stride(3)).step_by(stride(3)) {
            let full = SearchLaws::new(strategy, &*criterion, &design);
            full.and_then(|full| full.threads()).map_err(|b| b.within(kind))?;
        }
    }
    Ok(())
}

/// A criterion with its word.
type Named = (&'static str, Box<dyn Criterion>);

/// Every criterion but `hsic`, whose scores of subsets of different sizes do not compare, so that a walk may end at once, and
/// those that weigh all columns at once: `qpfs`, whose program weighs a column otherwise where it has copies, and the others, in
/// which most columns weigh nothing and tie.
fn comparing_sizes() -> Result<Vec<Named>, LawViolation> {
    let others = ["hsic", "qpfs", "fcbf", "hiton_pc", "hsfs", "spam"];
    Ok(registry::every::<dyn Criterion>(&[])?.into_iter().filter(|(kind, _)| !others.contains(kind)).collect())
}

/// All laws of searches but that of ties: of copies a stage hands on those that it took.
#[test]
fn searches_in_turn_keep_the_laws() -> LawResult {
    let stages = json!({"kind": "chain", "stages": [{"kind": "rank", "max_features": 4}, {"kind": "floating"}]});
    let chain: Search = serde_json::from_value(stages).unwrap();
    for (kind, criterion) in comparing_sizes()? {
        for (name, design) in data::standard_designs() {
            if design.features() > 10 || criterion.check(&design).is_err() || chain.check(&*criterion, &design).is_err()
            {
                continue;
            }
            let kept = || {
                let full = SearchLaws::new(&chain, &*criterion, &design)?;
                full.steps(1e-9)?;
                full.entries(1e-9)?;
                full.deterministic()?;
                full.extent()?;
                full.stops(1e-9)?;
                full.constants()?;
                full.lacking()?;
                full.no_candidates()
            };
            kept().map_err(|broken: LawViolation| broken.within(name).within(kind))?;
        }
    }
    Ok(())
}

/// Tries each criterion with every third search; with `VAGLIO_CASES=all`, with all.
#[test]
fn every_search_keeps_the_laws_on_every_criterion() -> LawResult {
    crate::on_one_thread(|| {
        let mut criteria = comparing_sizes()?;
        let by_groups = json!({"kind": "kfold", "by": "groups"});
        criteria.push(("kfold by groups", serde_json::from_value(by_groups).unwrap()));
        let mut searches = registry::every::<Search>(&[])?;
        let polished = ["greedy", "backward", "floating"]
            .map(|kind| json!({"kind": kind, "max_features": 4, "polish": "swaps", "tolerance": null}));
        let repeated = json!({"kind": "random", "max_features": 4, "repeats": 3, "seed": 8});
        for settings in polished.into_iter().chain([repeated]) {
            searches.push(("with settings", serde_json::from_value(settings).unwrap()));
        }
        for (first, (criterion_kind, criterion)) in criteria.iter().enumerate() {
            for (kind, strategy) in searches.iter().skip(first % stride(3)).step_by(stride(3)) {
                check_search_on_standard_data(strategy, &**criterion, 1e-9)
                    .map_err(|b| b.within(kind).within(criterion_kind))?;
            }
        }
        Ok(())
    })
}

#[test]
fn every_learner_and_map_keeps_the_laws() -> LawResult {
    for (kind, learner) in registry::every::<dyn vaglio::core::Learner>(&[])? {
        check_learner_on_standard_data(&*learner, 1e-9).map_err(|b| b.within(kind))?;
    }
    let others = [
        json!({"kind": "impute", "how": "median", "indicator": true}),
        json!({"kind": "impute", "how": "most_frequent", "indicator": true}),
        json!({"kind": "impute", "how": {"constant": "none"}}),
        json!({"kind": "one_hot", "rare": 5}),
        json!({"kind": "date_parts", "cyclic": true}),
        json!({"kind": "clip", "lower": 1.0}),
        json!({"kind": "power", "method": "box_cox", "columns": ["same"]}),
        json!({"kind": "power", "lambda": 0.5}),
        json!({"kind": "ordinal", "order": {"answer": ["no", "yes"]}, "unknown": "missing", "columns": ["answer", "n1"]}),
    ];
    for (kind, map) in registry::every::<dyn Map>(&map_settings())? {
        check_map_on_standard_data(&*map, 1e-9).map_err(|b| b.within(kind))?;
    }
    for settings in others {
        let map: Box<dyn Map> = serde_json::from_value(settings.clone()).unwrap();
        check_map_on_standard_data(&*map, 1e-9).map_err(|b| b.within(&settings.to_string()))?;
    }
    Ok(())
}

/// The registry builds defaults; leave-one-out has other losses and a way without bounds.
#[test]
fn leave_one_out_keeps_the_laws_with_every_loss() -> LawResult {
    crate::on_one_thread(|| {
        let squared = Loo { full_pass: true, ..Loo::default() };
        check_criterion_on_standard_data(&squared, 1e-9)?;
        for loss in [Part::<dyn Loss>::from(Absolute), Squared.into()] {
            let criterion = Loo { loss: loss.clone(), full_pass: false };
            check_criterion(&criterion, &data::regression(20, 6, 3).weighted().outputs(2).design(&[0.5], true), 1e-9)?;
        }
        for loss in [Part::<dyn Loss>::from(ZeroOne), BalancedError.into(), Absolute.into(), Squared.into(), Auc.into()]
        {
            let criterion: &dyn Criterion = &Loo { loss: loss.clone(), full_pass: false };
            for intercept in [true, false] {
                check_criterion(criterion, &data::binary(24, 6, 4).weighted().design(&[0.1, 10.0], intercept), 1e-9)
                    .map_err(|b| b.within(loss.kind()))?;
                if loss.traits().measure != Measure::Auc {
                    check_criterion(criterion, &data::multiclass(24, 6, 3, 8).design(&[1.0], intercept), 1e-9)
                        .map_err(|b| b.within(loss.kind()))?;
                }
            }
        }
        Ok(())
    })
}
