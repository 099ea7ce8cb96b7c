//! Digests and row losses that pair the outer figures of two runs.

use std::collections::{BTreeMap, HashSet};
use vaglio_core::Loss;
use vaglio_pipeline::resampling::OuterFoldFit;
use vaglio_report::record::PairedLosses;

/// Maximum number of rows whose losses a record holds.
const MOST: usize = 2000;

/// Digest of rows and folds, and the row losses if there are few.
pub(super) fn paired(outer: &[OuterFoldFit], loss: &dyn Loss) -> PairedLosses {
    let mut hasher = blake3::Hasher::new();
    for fold in outer {
        for number in [fold.repeat, fold.fold, fold.rows.len()].iter().chain(&fold.rows) {
            hasher.update(&(*number as u64).to_le_bytes());
        }
        for number in fold.held.targets.iter().chain(&fold.held.weights) {
            hasher.update(&number.to_le_bytes());
        }
    }
    let digest = hasher.finalize().to_string();
    let few = loss.traits().measure.is_of_rows()
        && outer.iter().filter(|fold| fold.repeat == 0).map(|f| f.rows.len()).sum::<usize>() <= MOST;
    let units = if few { by_row(outer, loss) } else { None };
    let Some(units) = units else { return PairedLosses { digest, losses: None, weights: None, clusters: None } };
    let is_weighted = units.windows(2).any(|pair| pair[0].1 != pair[1].1);
    let clusters: HashSet<u32> = units.iter().map(|unit| unit.2).collect();
    PairedLosses {
        digest,
        losses: Some(units.iter().map(|unit| unit.0).collect()),
        weights: is_weighted.then(|| units.iter().map(|unit| unit.1).collect()),
        clusters: (clusters.len() < units.len()).then(|| units.iter().map(|unit| unit.2).collect()),
    }
}

/// Loss of each row or unit of positive weight, averaged over repeats, with its weight and cluster; `None` if maps
/// dropped rows.
fn by_row(outer: &[OuterFoldFit], loss: &dyn Loss) -> Option<Vec<(f64, f64, u32)>> {
    let mut rows: BTreeMap<usize, (f64, f64, f64, u32)> = BTreeMap::new();
    for fold in outer {
        // Positions are unknown if maps dropped rows.
        if fold.rows.len() != fold.held.targets.ncols() {
            return None;
        }
        fold.held.compared().each_unit(loss, |row, own, lost| {
            let (sum, count, weight, _) =
                rows.entry(fold.rows[row]).or_insert((0.0, 0.0, own, fold.held.clusters[row]));
            (*sum, *count, *weight) = (*sum + lost, *count + 1.0, own);
        });
    }
    Some(rows.into_values().map(|(sum, count, weight, cluster)| (sum / count, weight, cluster)).collect())
}
