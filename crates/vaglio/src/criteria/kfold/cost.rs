//! Which way is the cheapest.

use super::Engine;
use super::dual::has_states;
use crate::criteria::balance;
use vaglio_core::{Design, Estimate, Outline};
use vaglio_kernels::kfold::{Backward, Folds, Moments};

/// What a search works on.
struct Extent {
    rows: f64,
    columns: f64,
    folds: f64,
    lambdas: f64,
    outputs: f64,
    /// Parts of the folds that have training weights in common, and pairs of a fold and a class that is weighed apart.
    parts: f64,
    pairs: f64,
    /// Rows that the smallest training part has.
    training: usize,
}

/// Doubles that a step of additions, and one of removals, works on for each candidate, fold and λ, in operations.
const FORWARD: f64 = 6.0;
const BACKWARD: f64 = 12.0;
/// Operations of a trial for each fold and λ; in a tree of all subsets with what its node costs.
const TRIAL: f64 = 20.0;

/// The way that a search takes, with its cost; `wish` is what the user asked for, and `squared` whether the loss allows
/// moments at all.
pub(super) fn choose(design: &Design, folds: &Folds, outline: &Outline, wish: Engine, squared: bool) -> Estimate {
    let largest = (0..folds.count()).map(|fold| folds.held_out(fold).len()).max().unwrap_or(0);
    let classes = balance::classes_of(design);
    let parts = classes.as_ref().map_or(Some(1), |c| balance::held_out(design, c, folds).map(|parts| parts.len()));
    let pairs = folds.count() * classes.map_or(1, |classes| classes.names.len());
    let extent = Extent {
        rows: design.rows() as f64,
        columns: design.candidates().len() as f64,
        folds: folds.count() as f64,
        lambdas: design.lambdas().len() as f64,
        outputs: design.targets().nrows() as f64,
        training: design.rows() - largest,
        parts: parts.unwrap_or(folds.count()) as f64,
        pairs: pairs as f64,
    };
    let (primal, dual) = (extent.primal(outline), extent.dual(outline));
    let how = if dual.reason.is_empty() { String::new() } else { format!("; {}", dual.reason) };
    let of_dual = |reason: &str| Estimate { reason: format!("rows held out, {reason}{how}"), ..dual.clone() };
    let of_primal = |reason: &str| Estimate { reason: format!("{}, {reason}", primal.reason), ..primal.clone() };
    if design.is_standardized_in_folds() {
        return of_primal("since only these can standardize in each fold");
    }
    match wish {
        Engine::Primal => of_primal("as `engine: primal` says"),
        Engine::Dual => of_dual("as `engine: dual` says"),
        Engine::Auto if !squared => of_dual("which any loss can be taken of"),
        // More columns than rows to train on: moments would have lost all digits from the start.
        Engine::Auto if outline.start >= extent.training => {
            of_dual("since there are no more rows to train on than columns to start from")
        }
        Engine::Auto if primal.flops <= dual.flops => {
            of_primal(&format!("at {} of the work of holding rows out", share(primal.flops, dual.flops)))
        }
        Engine::Auto => of_dual(&format!("at {} of the work of moments", share(dual.flops, primal.flops))),
    }
}

fn share(part: f64, whole: f64) -> String {
    let percent = 100.0 * part / whole;
    if percent < 1.0 { format!("{percent:.1e} %") } else { format!("{percent:.0} %") }
}

impl Extent {
    /// Subsets are compared one column apart in `steps` steps; sizes run between the start and the largest.
    fn primal(&self, outline: &Outline) -> Estimate {
        let Extent { rows, columns, folds, lambdas, outputs, .. } = *self;
        let pairs = folds * lambdas;
        let pass = (rows + self.pairs) * columns * columns;
        let start = outline.start as f64;
        let (steps, size) = (outline.steps as f64, outline.largest as f64);
        let moments = Moments::bytes(folds as usize, self.pairs as usize, columns as usize) as f64;
        if outline.start > 0 {
            let decompositions = folds * 4.0 * start.powi(3);
            let removals = if outline.steps == 0 { 0.0 } else { pairs * (6.0 + BACKWARD / 3.0) * start.powi(3) };
            let state = Backward::bytes(folds as usize, lambdas as usize, outline.start) as f64;
            let spectrum = folds * 5.0 * 8.0 * start * start;
            return Estimate {
                engine: "primal",
                reason: if outline.steps == 0 {
                    "moments of the folds, one tridiagonal form of each for every lambda".into()
                } else {
                    "moments of the folds, backward in O(1) a trial".into()
                },
                flops: pass + decompositions + removals,
                bytes: moments + if outline.steps == 0 { spectrum } else { state },
            };
        }
        // The average over a walk that grows to `size` columns and may go to and fro.
        let state = pairs * 8.0 * (columns * (size + 3.0 + 2.0 * outputs) + size * size);
        Estimate {
            engine: "primal",
            reason: "moments of the folds, forward in O(1) a trial".into(),
            flops: pass + pairs * (steps * (columns * 0.5 * FORWARD * size + size * size) + TRIAL * outline.trials),
            bytes: moments + state,
        }
    }

    fn dual(&self, outline: &Outline) -> Estimate {
        let Extent { rows, columns, outputs, parts, .. } = *self;
        // A state for each λ and part of the folds.
        let lambdas = self.lambdas * parts;
        let (start, steps, size) = (outline.start as f64, outline.steps as f64, outline.largest as f64);
        let step = rows * 4.0 * size;
        let trial = rows * (6.0 + 2.0 * outputs);
        if !has_states(parts, self.lambdas, rows * columns) {
            return Estimate {
                engine: "dual",
                reason: "refitted from the rows, since there are too many class totals to keep a state of each".into(),
                flops: outline.trials * self.folds * (2.0 * rows + 4.0 * self.lambdas * size) * size * size,
                bytes: 8.0 * rows * size * self.folds,
            };
        }
        let set_up = self.folds * (4.0 * rows + 20.0 * start) * start * start;
        Estimate {
            engine: "dual",
            reason: String::new(),
            flops: lambdas * (trial * outline.trials + step * steps + set_up),
            // The columns once, with their held-out residuals for each λ; of a backward search those selected alone.
            bytes: 8.0 * rows * columns * (parts + lambdas * if outline.start > 0 { 3.0 } else { 1.0 }),
        }
    }
}
