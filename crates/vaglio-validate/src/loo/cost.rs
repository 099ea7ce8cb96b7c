//! Choice of the engine of leave-one-out, and its cost.

use crate::engine_names::{DECOMPOSITION, REFIT, STATES, estimate};
use crate::fold_groups::{MOST_GROUPS, single_row_groups};
use crate::kernel::{caches_columns, classes_of};
use vaglio_core::{Design, Estimate, Loss, SearchExtent};

/// Chooses the engine of a search on a design whose outputs share λ. `is_bounded` says whether bounds may rule
/// candidates out, if one state covers all rows.
pub(super) fn plan(loss: &dyn Loss, is_bounded: bool, design: &Design, extent: &SearchExtent) -> Estimate {
    let Some(readout) = design.readout() else {
        let reason = "the learner has no linear form, so every row of every subset is refitted";
        let (rows, size) = (design.planned_rows() as f64, extent.largest as f64);
        return estimate(REFIT, reason, extent.trials * rows * rows * size * size, 0.0);
    };
    let (groups, is_balanced) = (single_row_groups(design).map(|groups| groups.len()), classes_of(design).is_some());
    let sums = groups.filter(|_| is_balanced).map(|groups| class_sums_cost(design, extent, groups));
    let states = || state_cost(loss, is_bounded && !is_balanced, design, extent, groups.unwrap_or(1));
    // A state is kept for each λ and group of rows by training weights.
    let has_states = !readout.refine && groups.is_some_and(|groups| groups <= MOST_GROUPS);
    match (has_states.then(states), sums) {
        (Some(states), sums) if sums.as_ref().is_none_or(|sums| sums.flops >= states.flops) => states,
        (_, Some(sums)) => sums,
        _ => decomposition_cost(design, extent, groups),
    }
}

/// Cost by class sums: a subset is fitted once for each class and weight of the rows. Sizes grow to the largest, or
/// stay near it as in one round of trials.
fn class_sums_cost(design: &Design, extent: &SearchExtent, groups: usize) -> Estimate {
    let reason = "classes count alike, so every subset is fitted by sums over each class, once for each class that a row is missing from";
    let (rows, outputs, groups) = (design.planned_rows() as f64, design.targets().nrows() as f64, groups as f64);
    let (lambdas, size) = (design.lambdas().len() as f64, extent.largest as f64);
    let is_near = extent.start > 0 || extent.trials <= design.candidates().len() as f64;
    let [one, square, cube] = if is_near { [1.0; 3] } else { [1.0 / 2.0, 1.0 / 3.0, 1.0 / 4.0] };
    let (one, square, cube) = (one * size, square * size.powi(2), cube * size.powi(3));
    let row_flops = GATHERED * (one + outputs) + square + 2.0 * outputs * one;
    let group_flops = cube + square * (2.0 * outputs + SUMMED);
    let flops =
        extent.trials * (rows * (2.0 * square + GATHERED * one) + lambdas * (rows * row_flops + groups * group_flops));
    let bytes = 8.0 * (rows * (2.0 * size + 2.0 * outputs + groups) + groups * size * (size + outputs));
    estimate(DECOMPOSITION, reason, flops, bytes)
}

/// Number of cached vectors of virtual columns, and of scalars per column in addition to its products with selected
/// columns.
const KEPT: f64 = 64.0;
const KNOWN: f64 = 60.0;

/// Cost of gathering an entry of a row, and of reading an entry of a sum, in flops.
const GATHERED: f64 = 8.0;
const SUMMED: f64 = 6.0;

fn decomposition_cost(design: &Design, extent: &SearchExtent, groups: Option<usize>) -> Estimate {
    let reason = match design.readout().is_some_and(|readout| readout.refine) {
        true => "every subset is decomposed once and lambda is searched on that; a grid would be faster",
        false => {
            "a balanced readout of rows of so many weights keeps no states, so every subset is decomposed; k-fold would be faster"
        }
    };
    let (rows, size) = (design.planned_rows() as f64, extent.largest as f64);
    let flops = extent.trials * groups.unwrap_or(design.planned_rows()) as f64 * rows * size * size * 20.0;
    estimate(DECOMPOSITION, reason, flops, 8.0 * rows * 2.0 * size * groups.unwrap_or(1) as f64)
}

fn state_cost(loss: &dyn Loss, is_bounded: bool, design: &Design, extent: &SearchExtent, groups: usize) -> Estimate {
    let by_states =
        |how: &str, flops, bytes| estimate(STATES, format!("leave-one-out in closed form; {how}"), flops, bytes);
    let SearchExtent { start, largest, trials, steps } = *extent;
    let (rows, outputs) = (design.planned_rows() as f64, design.targets().nrows() as f64);
    let (size, active) = (largest as f64, design.candidates().len() as f64);
    let has_virtual = design.problem().columns().count_products() > 0;
    let is_uncached = !caches_columns(design) && (has_virtual || !is_bounded);
    // A state for each λ and group of rows.
    let states = (design.lambdas().len() * groups) as f64;
    if steps == 0 && start >= design.planned_rows() && groups == 1 {
        let (start, lambdas) = (start as f64, design.lambdas().len() as f64);
        let once = rows * rows * (4.0 * start + 20.0 * rows) / design.run().walks() as f64;
        return by_states(
            "more columns than rows, so one decomposition of the rows serves every lambda",
            once + lambdas * rows * rows * (4.0 + 2.0 * outputs),
            8.0 * rows * (3.0 * rows + 512.0),
        );
    }
    if start > 0 {
        let start = start as f64;
        // The subset of all columns is decomposed once for the λ of all walks.
        let made = if steps == 0 { 4.0 * states / design.run().walks() as f64 } else { 4.0 * states };
        return by_states(
            "a removal is tried in O(rows)",
            rows * (made * start * start
                + states * ((4.0 + 6.0 * outputs) * trials + 4.0 * start * (1 + steps) as f64)),
            states * 8.0 * rows * (2.0 * start + 4.0 + 2.0 * outputs),
        );
    }
    if steps == 0 && largest > 0 {
        let pruned = if is_bounded { ", and subtrees that a bound rules out are not visited" } else { "" };
        return by_states(
            &format!("two updates of a column a subset{pruned}"),
            states * rows * trials * (4.0 + 6.0 * outputs),
            states * 8.0 * rows * (active * size / 2.0 + 4.0),
        );
    }
    if is_bounded {
        // If columns can leave again, every candidate may be needed.
        let kept = if steps > largest { active } else { active / 8.0 };
        // Few virtual columns are cached, so the scalars known of each column count too.
        let (kept, known) = if is_uncached { (KEPT, active * (2.0 * size + KNOWN) / rows) } else { (kept, 0.0) };
        return by_states(
            "squared loss, so candidates are bounded by one pass over the data and only those that could win are tried",
            states * size * rows * (active * (4.0 + 2.0 * outputs) + 8.0 * size),
            states * 8.0 * rows * (size + kept + known + 6.0 + 3.0 * outputs),
        );
    }
    by_states(
        &format!("every candidate is tried in one pass a step for the loss `{}`", loss.kind()),
        states * size * rows * active * (if is_uncached { 3.0 * size } else { 4.0 } + 6.0 * outputs),
        states * 8.0 * rows * (if is_uncached { KEPT } else { active } + 4.0 + 2.0 * outputs),
    )
}
