//! HITON-PC: parents and children of the target.

mod independence;
mod tail;

use crate::bins::{BinnedData, Bins};
use crate::column_weights::ColumnWeighting;
use independence::FisherTest;
use vaglio_core::{Error, Result, prelude::*};
use vaglio_kernels::parallel;

/// Maximum size of a conditioning set.
const MOST_CONDITIONS: usize = 5;

/// HITON-PC: weights the columns that depend on the target given every small set of others, its parents and children.
///
/// Columns that depend on the target (p < `level`) are tried in the order of their p. A column enters unless some set Z
/// of at most `conditions` entered columns makes it independent of the target (p ≥ `level`). After all were tried, each
/// entered column, the last one first, is tested with sets of all others. It leaves if one makes it independent. A
/// remaining column has the weight −ln p of its own test, without Z; the others have weight 0. The score of a subset is
/// minus the sum of its weights. Lower is better; the empty subset scores 0.
///
/// | `test` | of independence given Z |
/// |---|---|
/// | `fisher_z` | z = ½ ln((1 + r)/(1 − r))·√(m − \|Z\| − 3) of the partial correlation r; classes by their ±1 codings |
/// | `g_squared` | G² = 2 Σ O ln(O/E) of columns in `bins` within each combination of the bins of Z, with the degrees of freedom of its non-empty bins; sets that leave less than five rows per cell are not tried |
///
/// With several outputs, including classes in `fisher_z`, the least p counts, times their number. `search: {kind: rank,
/// choose: best}` selects exactly the remaining columns. Equal columns share one weight. Only ratios of row weights
/// matter: m counts every row of positive weight once. The learner and λ are not used.
///
/// # Example
/// ```
/// use vaglio_core::{Criterion, Design, Readout};
/// use vaglio_dependence::HitonPc;
/// let problem = vaglio_testkit::data::regression(30, 5, 1).problem();
/// let design = Design::identity(&problem, Readout::new(vec![1.0], true)?);
/// assert!(HitonPc::default().evaluate(&design, &[0, 1, 2, 3, 4])?.loss < 0.0);
/// # Ok::<(), vaglio_core::Error>(())
/// ```
///
/// # Reference
/// C. F. Aliferis, I. Tsamardinos and A. Statnikov, *HITON: a novel Markov blanket algorithm for optimal variable
/// selection*, AMIA Annual Symposium 2003; semi-interleaved as in C. F. Aliferis, A. Statnikov, I. Tsamardinos, S. Mani
/// and X. D. Koutsoukos, *Local causal and Markov blanket induction for causal discovery and feature selection for
/// classification, part I*, Journal of Machine Learning Research 11, 2010, without its correction for symmetry.
#[part(
    Criterion,
    "hiton_pc",
    summary = "columns that go with the target whatever few others are given, by tests of independence; with `search: rank`",
    example = "criterion: {kind: hiton_pc, test: fisher_z, level: 0.05}\nsearch: {kind: rank, choose: best}",
    title = "HITON-PC"
)]
#[derive(Copy, PartialEq)]
pub struct HitonPc {
    /// Test of independence.
    pub test: Independence,
    /// Significance level: two columns with p below it are dependent; above 0 and below 1.
    #[default(0.05)]
    pub level: f64,
    /// Maximum size of a conditioning set, from 0 to 5.
    #[default(3)]
    pub conditions: usize,
    /// Binning of columns for `g_squared`.
    pub bins: Bins,
}

/// A test of independence.
#[setting]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum Independence {
    /// Fisher's z of partial correlations.
    #[default]
    FisherZ,
    /// Likelihood ratio of binned columns.
    GSquared,
}

/// Test of a column, named by its place, for independence of the target given others: ln p, the least over outputs times
/// their number. `None` if not tested.
type IndependenceTest<'t> = dyn Fn(usize, &[usize]) -> Option<f64> + Sync + 't;

impl HitonPc {
    /// Whether some set of the others makes a column independent of the target.
    fn is_separated(&self, ln_p: &IndependenceTest<'_>, x: usize, others: &[usize]) -> bool {
        let mut separates = |set: &[usize]| ln_p(x, set).is_some_and(|ln_p| ln_p >= self.level.ln());
        (1..=self.conditions).any(|size| any_set(size, others, &mut Vec::new(), &mut separates))
    }

    /// Weights of all columns: −ln p of parents and children, 0 of others.
    fn parents_and_children(&self, ln_p: &IndependenceTest<'_>, count: usize, design: &Design) -> Result<Vec<f64>> {
        let alone = |x: usize| (x, ln_p(x, &[]).unwrap_or(0.0));
        let mut open: Vec<(usize, f64)> = parallel::map(count, alone);
        open.retain(|(_, ln_p)| *ln_p < self.level.ln());
        open.sort_by(|(a, p), (b, q)| p.total_cmp(q).then(a.cmp(b)));
        let mut members: Vec<usize> = Vec::new();
        for (x, _) in &open {
            design.problem().sign().check()?;
            if !self.is_separated(ln_p, *x, &members) {
                members.push(*x);
            }
        }
        for place in (0..members.len()).rev() {
            design.problem().sign().check()?;
            let others: Vec<usize> = members.iter().copied().filter(|other| *other != members[place]).collect();
            if self.is_separated(ln_p, members[place], &others) {
                members.remove(place);
            }
        }
        let mut weights = vec![0.0; count];
        open.iter().filter(|(x, _)| members.contains(x)).for_each(|(x, ln_p)| weights[*x] = -ln_p);
        Ok(weights)
    }
}

/// Whether `is` holds for `set` with any `size` of the columns `from` added, in lexicographic order of their places.
fn any_set(size: usize, from: &[usize], set: &mut Vec<usize>, is: &mut dyn FnMut(&[usize]) -> bool) -> bool {
    if size == 0 {
        return is(set);
    }
    (0..from.len()).any(|place| {
        set.push(from[place]);
        let found = any_set(size - 1, &from[place + 1..], set, is);
        set.pop();
        found
    })
}

impl ColumnWeighting for HitonPc {
    const COUNTS_ROWS: bool = true;

    /// Computes the weights. Cost O(nm), and for each dependent column as many tests as there are sets, until one
    /// separates it.
    fn weights(&self, design: &Design, columns: &[Feature]) -> Result<Vec<f64>> {
        match self.test {
            Independence::FisherZ => {
                let test = FisherTest::new(design, columns);
                self.parents_and_children(&|x, given| test.ln_p(x, given), columns.len(), design)
            }
            Independence::GSquared => {
                let binned = BinnedData::new(self.bins, design, columns);
                self.parents_and_children(&|x, given| binned.ln_p(x, given), columns.len(), design)
            }
        }
    }

    fn check_weighting(&self, _: &Design) -> Result<()> {
        self.bins.check()?;
        Error::unless_between("conditions", self.conditions, 0..=MOST_CONDITIONS)?;
        Error::unless_share("level", self.level)
    }

    /// Plans tests without conditions; the number with conditions depends on the data.
    fn estimate(&self, design: &Design, extent: &SearchExtent, columns: f64) -> Estimate {
        let rows = design.planned_rows() as f64;
        let kept = if self.test == Independence::FisherZ { 8.0 } else { 4.0 };
        Estimate {
            engine: "independence",
            reason: "every column is tested alone, then beside those that have entered".into(),
            flops: 8.0 * rows * columns * (1.0 + extent.largest as f64) + extent.trials,
            bytes: kept * rows * columns,
        }
    }
}
