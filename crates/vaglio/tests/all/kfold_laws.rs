//! The laws of the conformance kit on k-fold: every way, every loss, every kind of folds.

use vaglio::core::{
    Absolute, Auc, BalancedError, BalancedSquared, Criterion, Loss, Measure, Part, PerFoldPreprocessing, SearchExtent,
    Squared, ZeroOne,
};
use vaglio::criteria::{Engine, FoldBy, KFold};
use vaglio_testkit::{CriterionLaws, LawResult, check_criterion, check_criterion_on_standard_data, data};

fn kfold(folds: usize, engine: Engine) -> KFold {
    KFold { folds: Some(folds), engine, ..KFold::default() }
}

#[test]
fn both_ways_keep_the_laws_on_standard_data() -> LawResult {
    crate::on_one_thread(|| {
        for engine in [Engine::Moments, Engine::RowsHeldOut, Engine::Auto] {
            let name = format!("{engine:?}");
            check_criterion_on_standard_data(&kfold(3, engine), 1e-9).map_err(|b| b.within(&name))?;
            let groups = KFold { by: Some(FoldBy::Groups), engine, ..KFold::default() };
            let design = data::regression(24, 6, 3).weighted().groups(4).design(&[0.3, 3.0], true);
            check_criterion(&groups, &design, 1e-9).map_err(|b| b.within(&name))?;
            let shuffled = KFold { shuffle: true, ..kfold(4, engine) };
            let design = data::regression(23, 6, 4)
                .outputs(2)
                .design(&[1e-2, 1.0], true)
                .with_problem(|problem| problem.with_seed(5));
            check_criterion(&shuffled, &design, 1e-9).map_err(|b| b.within(&name))?;
        }
        Ok(())
    })
}

#[test]
fn every_loss_keeps_the_laws() -> LawResult {
    crate::on_one_thread(|| {
        let losses: [Part<dyn Loss>; 6] =
            [Absolute.into(), ZeroOne.into(), BalancedError.into(), BalancedSquared.into(), Squared.into(), Auc.into()];
        for loss in losses {
            for intercept in [true, false] {
                let stratified = KFold { stratified: true, loss: loss.clone(), ..kfold(4, Engine::Auto) };
                let two = data::binary(24, 6, 4).weighted().design(&[0.1, 10.0], intercept);
                let three = (loss.traits().measure != Measure::Auc)
                    .then(|| data::multiclass(24, 6, 3, 8).design(&[1.0], intercept));
                for design in [two].into_iter().chain(three) {
                    check_criterion(&stratified, &design, 1e-9).map_err(|b| b.within(loss.kind()))?;
                }
            }
        }
        Ok(())
    })
}

#[test]
fn columns_standardized_in_each_fold_keep_the_definition() -> LawResult {
    for intercept in [true, false] {
        let recipe = data::regression(24, 6, 6).weighted().condition(1e3).bytes();
        let design = recipe
            .design(&[0.5, 5.0], intercept)
            .with_problem(|problem| problem.with_preprocessing(PerFoldPreprocessing::standardize()));
        let criterion = kfold(4, Engine::Auto);
        CriterionLaws::new(&criterion, &design, 1e-9).additions()?;
        CriterionLaws::new(&criterion, &design, 1e-9).removals()?;
        CriterionLaws::new(&criterion, &design, 1e-9).walk(60, 3)?;
        // Rows must be predicted: they are held out.
        let units = data::binary(24, 6, 7).weighted().deciding(3).design(&[0.5, 5.0], intercept);
        let plain = kfold(4, Engine::RowsHeldOut);
        for (criterion, data) in [
            (KFold { loss: Absolute.into(), ..plain.clone() }, design.clone()),
            (plain.clone(), design),
            (plain, units.with_problem(|problem| problem.with_preprocessing(PerFoldPreprocessing::standardize()))),
        ] {
            CriterionLaws::new(&criterion, &data, 1e-9).additions()?;
            CriterionLaws::new(&criterion, &data, 1e-9).removals()?;
            CriterionLaws::new(&criterion, &data, 1e-9).walk(60, 3)?;
            CriterionLaws::new(&criterion, &data, 1e-9).forks()?;
            CriterionLaws::new(&criterion, &data, 0.0).estimates()?;
        }
    }
    Ok(())
}

#[test]
fn every_loss_keeps_the_laws_where_folds_standardize() -> LawResult {
    crate::on_one_thread(|| {
        for loss in [Part::<dyn Loss>::from(Absolute), ZeroOne.into(), BalancedError.into(), Squared.into(), Auc.into()]
        {
            for intercept in [true, false] {
                let criterion = KFold { stratified: true, loss: loss.clone(), ..kfold(4, Engine::RowsHeldOut) };
                let two =
                    data::binary(24, 6, 14).weighted().condition(1e3).duplicates(2).design(&[0.1, 10.0], intercept);
                let recipe = data::multiclass(24, 6, 3, 18).constants(1).collinear(1e-3);
                let three = (loss.traits().measure != Measure::Auc).then(|| recipe.design(&[1e-6, 1.0], intercept));
                for design in [two].into_iter().chain(three).map(|design| {
                    design.with_problem(|problem| problem.with_preprocessing(PerFoldPreprocessing::standardize()))
                }) {
                    check_criterion(&criterion, &design, 1e-9).map_err(|b| b.within(loss.kind()))?;
                    assert_eq!(criterion.plan(&design, &SearchExtent::forward(6, 6)).estimate.engine, "rows_held_out");
                }
            }
        }
        Ok(())
    })
}

#[test]
fn long_walks_stay_on_the_definition() -> LawResult {
    crate::on_one_thread(|| {
        for engine in [Engine::Moments, Engine::RowsHeldOut] {
            for (lambda, tolerance) in [(1.0, 1e-9), (1e-3, 1e-9), (1e-6, 1e-7), (1e-9, 1e-7)] {
                let name = format!("{engine:?}, lambda {lambda}");
                let plain = data::regression(24, 8, 5).weighted().duplicates(1);
                let collinear = data::regression(24, 8, 6).collinear(1e-3);
                for (data, tolerance) in [(plain, tolerance), (collinear, 1e-7)] {
                    for intercept in [true, false] {
                        let design = data.design(&[lambda], intercept);
                        CriterionLaws::new(&kfold(3, engine), &design, tolerance)
                            .walk(500, 1)
                            .map_err(|b| b.within(&name))?;
                    }
                }
            }
        }
        Ok(())
    })
}
