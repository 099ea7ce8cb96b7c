//! Refuses what needs single rows, if rows are condensed.

use super::RunPlan;
use crate::assignment::splits_around;
use crate::condensed::{check_maps, refuse, refuse_first};
use std::collections::HashMap;
use vaglio_core::{HeldOut, Result, Round};
use vaglio_search::Choose;

impl RunPlan<'_> {
    /// Refuses settings that need single rows, if the rows are condensed: the sums of each fold are all that is known.
    pub fn check_condensed(&self) -> Result<()> {
        let RunPlan { pipeline, evaluate, selector, prepared, design, .. } = *self;
        let train = &prepared.train;
        if train.labels().counts.is_none() {
            return Ok(());
        }
        let groups = train.groups().unwrap_or_default();
        let criterion = &selector.criterion;
        let keeps_folds = |rounds: &[Round]| rounds.iter().all(|round| keeps_folds(round, groups));
        match criterion.folds(design)? {
            HeldOut::EachRow => {
                return Err(refuse("criterion", "it holds out single rows; take `{kind: kfold, by: groups}`"));
            }
            HeldOut::Folds(rounds) if !keeps_folds(&rounds) => {
                return Err(refuse("criterion", "its folds divide those of the table; take `by: groups`"));
            }
            _ => {}
        }
        if !criterion.traits().is_of_sums {
            let message = "it needs more than sums of products; take `kfold` with the squared loss, or `information`";
            return Err(refuse("criterion", message));
        }
        if !design.problem().has_columns_of(train) || design.readout().is_none() {
            return Err(refuse("learner", "it needs more than sums of products; take `rls`"));
        }
        check_maps(pipeline)?;
        for (field, splits) in splits_around(&selector.search, evaluate) {
            // Impossible splits are refused where they are made.
            let rounds = splits.splits(train, None).and_then(|all| Round::from_splits(train.rows(), all));
            if rounds.is_ok_and(|rounds| !keeps_folds(&rounds)) {
                return Err(refuse(field, "they divide the folds of the table"));
            }
        }
        refuse_first(&[
            ("data.target", !prepared.is_regression()),
            ("search.choose", matches!(selector.search.size_choice(), Choose::FalseDiscoveries(_))),
            ("model", pipeline.model.is_some()),
            ("target_map", pipeline.target_map.is_some()),
            ("evaluate.permutations", evaluate.permutations.is_some()),
            ("evaluate.intervals", evaluate.intervals.is_some()),
            ("evaluate.fdr", evaluate.fdr.is_some()),
            ("evaluate.learning_curve", evaluate.learning_curve),
        ])
    }
}

/// Whether rows of one fold of the table are held out together, or not at all.
fn keeps_folds(round: &Round, folds: &[u32]) -> bool {
    let mut of_fold = HashMap::new();
    round.fold_of_rows().iter().zip(folds).all(|(held, fold)| of_fold.entry(fold).or_insert(held) == &held)
}
