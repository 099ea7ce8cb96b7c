//! Test whether columns predict the target better than none.
//!
//! The lowest of many cross-validated losses is below the baseline's even on noise. So columns are only taken if their
//! association with the target exceeds chance, whatever the search, criterion, loss and rule. The evidence for a few
//! columns among many is compared with that on shuffled targets. On noise all of these have the same distribution. So
//! the level is the share of noise tables with columns taken. The test ends early once enough shuffles have as much
//! evidence to exclude the level.
//!
//! Evidence is Σ log(1 + π(B − 1)) over selectable columns and outputs. B is the approximate Bayes factor of one column
//! for an effect with variance τ² times its squared standard error: B = (1 + τ²)^(−1/2) exp(m r²/2 · τ²/(1 + τ²)), for
//! a correlation r over m rows. π, the prior share of columns with an effect, is 1/√columns. The test finds one strong
//! column among a thousand, and many weak ones among twenty.
//!
//! A clear gain needs no shuffles. Each fold is evaluated at the size and λ that the other folds choose; an interval
//! for the paired difference to the baseline gives the p-value of the gain. This is the whole test if shuffles would be
//! expensive and rows are many.
//!
//! # Reference
//! J. Wakefield, *Bayes factors for genome-wide association studies: comparison with P-values*, Genetic Epidemiology 33
//! (2009); J. J. Goeman et al., *A global test for groups of genes*, Bioinformatics 20 (2004); J. Besag, P. Clifford,
//! *Sequential Monte Carlo p-values*, Biometrika 78 (1991).

use super::{FoldLosses, LambdaPaths, LossSums, Sample, Validation};
use vaglio_core::shuffle::stream;
use vaglio_core::{Measure, Result};
use vaglio_kernels::tolerance::SCORE_ROUNDING;
use vaglio_report::record::{Cell, GainTest};
use vaglio_search::plan_geometry;
use vaglio_validate::Loo;

const SHUFFLE: u64 = 4;

/// Fraction of the level at which the interval decides without shuffles; few noise tables in a thousand pass it.
const CERTAIN: f64 = 0.1;
/// Smallest number of observations for an interval.
const FEWEST: usize = 20;
/// Largest number of rows, and of table cells, for shuffles.
const MOST: usize = 2000;
const MOST_CELLS: usize = 2_000_000;
/// Number of shuffles with as much evidence as the data that ends the test.
const ENOUGH: usize = 10;
/// Prior effect variance τ², in squared standard errors.
const EFFECT: f64 = 5.0;

impl Validation<'_, '_> {
    /// Tests the columns of the chosen `cell`, at the λ with index `place`. Returns `None` if: no test is requested; no
    /// column was chosen; the settings exclude the empty subset; too little is known. Cost O(rows · columns) per
    /// shuffle, plus the maps.
    pub fn test_gain(
        &self,
        by_lambda: &[LambdaPaths],
        place: usize,
        cell: Cell,
        by_others: &[LossSums],
    ) -> Result<Option<GainTest>> {
        let Validation { selector, sample, watcher, loss, how, .. } = *self;
        let Some(level) = how.require_gain.level() else { return Ok(None) };
        // If columns are required, the empty subset is no alternative.
        if cell.size == 0 || !by_lambda.iter().any(|paths| paths.has(0)) {
            return Ok(None);
        }
        // Constant targets leave columns nothing to gain but rounding.
        if self.design.targets().rows().into_iter().all(|target| target.iter().all(|y| *y == target[0])) {
            return Ok(Some(GainTest { p: 1.0, level, shuffles: None }));
        }
        let p = self.paired_p(by_others, &by_lambda[place], cell.size);
        let by_losses = p.map(|p| GainTest { p, level, shuffles: None });
        // Shuffles must be cheap compared with the choice.
        let (rows, columns) = (sample.rows(), self.design.candidates().len());
        let may_shuffle = rows <= MOST && rows * columns <= MOST_CELLS && sample.has_shuffles();
        // Losses of ranks are biased: predictions of folds with different means are ranked together.
        let leans = matches!(loss.traits().measure, Measure::Auc | Measure::Whole);
        if !leans && p.is_some_and(|p| p <= CERTAIN * level) || !may_shuffle {
            return Ok(by_losses);
        }
        let (own, count) = (self.evidence(sample)?, (ENOUGH as f64 / level - 1e-9).ceil() as usize - 1);
        watcher.stage("gain", count);
        let (mut as_much, mut made) = (0, 0);
        while made < count && as_much < ENOUGH {
            watcher.check()?;
            let seed = stream(selector.seed, SHUFFLE, made as u64);
            let evidence = self.evidence(&sample.with_shuffled_targets(selector.goes_forward(), seed)?)?;
            as_much += usize::from(evidence >= own - SCORE_ROUNDING * own.abs());
            watcher.end_piece(made);
            made += 1;
        }
        let p = if as_much < ENOUGH { (as_much + 1) as f64 / (count + 1) as f64 } else { ENOUGH as f64 / made as f64 };
        Ok(Some(GainTest { p, level, shuffles: Some(made) }))
    }

    /// p-value of paired losses: each fold at the size and λ that the others choose, against its baseline. If `by_others`
    /// is empty, the losses at `size` are used. Returns `None` for fewer than [`FEWEST`] observations.
    pub fn paired_p(&self, by_others: &[LossSums], paths: &LambdaPaths, size: usize) -> Option<f64> {
        let own = if by_others.is_empty() { paths.losses(size) } else { FoldLosses::new(by_others, paths.repeats) };
        if own.moments(None).count < FEWEST { None } else { own.p_value_below(self.loss, &paths.empties()) }
    }

    /// Evidence for an association of the targets with columns that the search may add.
    fn evidence(&self, sample: &Sample) -> Result<f64> {
        // The criterion's checks are of folds, which belong to the data and not to shuffles.
        let design = self.selector.unchecked_design(&sample.fit()?.problem)?;
        let columns = design.candidates();
        let relevances = plan_geometry(&Loo::default(), &design).relevances()?;
        let correlations = relevances.iter().flat_map(|of_output| columns.iter().map(move |&column| of_output[column]));
        let few = 1.0 / (columns.len() as f64).sqrt();
        let column_evidence = |r: f64| {
            let log = 0.5 * (sample.rows() as f64 * r * r * EFFECT / (1.0 + EFFECT) - (1.0 + EFFECT).ln());
            // Avoids overflow of the exponential for large B.
            if log > 30.0 { few.ln() + log } else { (few * log.exp_m1()).ln_1p() }
        };
        Ok(correlations.map(column_evidence).sum())
    }
}
