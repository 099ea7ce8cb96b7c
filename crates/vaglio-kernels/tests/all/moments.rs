//! Moment engines of k-fold validation against refitting from the rows.

use crate::sample::{Sample, sums};
use ndarray::Array2;
use std::sync::Arc;
use vaglio_columns::Measure;
use vaglio_kernels::kfold::{
    BackwardMoments, FoldedRows, ForwardMoments, MomentTree, Moments, SubsetRefit, losses_by_lambda,
};
use vaglio_kernels::linalg::triangle;
use vaglio_kernels::{Level, Scorer, Trial, is_unreliable};
use vaglio_testkit::SplitMix64;

const LAMBDAS: [f64; 4] = [1e-9, 1e-3, 1.0, 1e4];

/// A sample with fold numbers.
struct Folded {
    sample: Sample,
    fold: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Setting {
    weighted: bool,
    intercept: bool,
    standardize: bool,
}

fn settings() -> impl Iterator<Item = Setting> {
    (0..8).map(|k| Setting { weighted: k & 1 > 0, intercept: k & 2 > 0, standardize: k & 4 > 0 })
}

/// Generates seven columns of doubles, three of bytes, two outputs and uneven, scattered folds; means are not 0.
fn sample(rows: usize, folds: u32) -> Folded {
    let mut random = SplitMix64::new(5);
    let mut next = || random.uniform();
    let doubles: Vec<Vec<f64>> = (0..7).map(|k| (0..rows).map(|_| next() + k as f64).collect()).collect();
    let bytes: Vec<Vec<u8>> = (0..3).map(|_| (0..rows).map(|_| (next() * 9.0) as u8).collect()).collect();
    let mut target = |k: usize| -> Vec<f64> {
        (0..rows).map(|j| doubles[k][j] - doubles[k + 2][j] + 0.1 * f64::from(bytes[k][j]) + 0.3 * next()).collect()
    };
    let targets = vec![target(0), target(1)];
    let weights = (0..rows).map(|_| 1.0 + (next() * 3.0).floor()).collect();
    let fold = (0..rows).map(|_| ((next() * next() * f64::from(folds)) as u32).min(folds - 1)).collect();
    Folded { sample: Sample { doubles, bytes, targets, weights }, fold }
}

impl Folded {
    fn rows(&self, setting: Setting) -> FoldedRows<'_> {
        self.sample.rows(&self.fold, setting.weighted, setting.intercept, setting.standardize)
    }

    fn weight(&self, setting: Setting, row: usize) -> f64 {
        self.sample.weight(setting.weighted, row)
    }

    /// Centers and scales a column by its training mean and standard deviation, as set, over all rows.
    fn frame(&self, setting: Setting, column: usize, training: &[usize]) -> Vec<f64> {
        let mut x: Vec<f64> = (0..self.fold.len()).map(|j| self.sample.entry(column, j)).collect();
        if !(setting.intercept || setting.standardize) {
            return x;
        }
        let total: f64 = training.iter().map(|&j| self.weight(setting, j)).sum();
        let first = x[training[0]];
        let constant = training.iter().all(|&j| x[j] == first);
        x.iter_mut().for_each(|x| *x -= first);
        for _ in 0..2 {
            let mean = training.iter().map(|&j| self.weight(setting, j) * x[j]).sum::<f64>() / total;
            x.iter_mut().for_each(|x| *x -= mean);
        }
        if setting.standardize && !constant {
            let square = training.iter().map(|&j| self.weight(setting, j) * x[j] * x[j]).sum::<f64>() / total;
            x.iter_mut().for_each(|x| *x /= square.sqrt());
        }
        x
    }

    /// Refits by QR of the rows over √λ, each column scaled by a power of 2, so that no column scale costs digits.
    fn by_reflections(&self, setting: Setting) -> impl Fn(&[usize], &[f64]) -> Vec<f64> + '_ {
        move |subset, lambdas| lambdas.iter().map(|&lambda| self.refit(setting, subset, lambda)).collect()
    }

    fn refit(&self, setting: Setting, subset: &[usize], lambda: f64) -> f64 {
        let (m, s) = (self.fold.len(), subset.len());
        let (mut sum, mut total) = (0.0, 0.0);
        for fold in 0..=self.fold.iter().copied().max().unwrap() {
            let training: Vec<usize> = (0..m).filter(|&j| self.fold[j] != fold).collect();
            let x: Vec<Vec<f64>> = subset.iter().map(|&c| self.frame(setting, c, &training)).collect();
            let weights: f64 = training.iter().map(|&j| self.weight(setting, j)).sum();
            let mean = |y: &[f64]| training.iter().map(|&j| self.weight(setting, j) * y[j]).sum::<f64>() / weights;
            let means: Vec<f64> =
                self.sample.targets.iter().map(|y| if setting.intercept { mean(y) } else { 0.0 }).collect();
            let size = |x: &Vec<f64>| lambda + training.iter().map(|&j| x[j] * x[j]).sum::<f64>();
            let scale: Vec<f64> = x.iter().map(|x| (-0.5 * size(x).log2()).round().exp2()).collect();
            let rows = training.len();
            let stacked = Array2::from_shape_fn((rows + s, s + 2), |(j, k)| match (j < rows, k < s) {
                (true, true) => self.weight(setting, training[j]).sqrt() * x[k][training[j]] * scale[k],
                (true, false) => {
                    self.weight(setting, training[j]).sqrt() * (self.sample.targets[k - s][training[j]] - means[k - s])
                }
                (false, true) if j - rows == k => lambda.sqrt() * scale[k],
                _ => 0.0,
            });
            let r = triangle(stacked.view()).unwrap();
            for (o, (y, mean)) in self.sample.targets.iter().zip(&means).enumerate() {
                let mut w = vec![0.0; s];
                for i in (0..s).rev() {
                    let rest: f64 = (i + 1..s).map(|k| r[[i, k]] * w[k]).sum();
                    w[i] = (r[[i, s + o]] - rest) / r[[i, i]];
                }
                for j in (0..m).filter(|&j| self.fold[j] == fold) {
                    let fitted: f64 = (0..s).map(|k| x[k][j] * scale[k] * w[k]).sum();
                    sum += self.weight(setting, j) * (y[j] - mean - fitted).powi(2);
                }
            }
            total += (0..m).filter(|&j| self.fold[j] == fold).map(|j| self.weight(setting, j)).sum::<f64>();
        }
        sum / (2.0 * total)
    }
}

type Reference<'r> = dyn Fn(&[usize], &[f64]) -> Vec<f64> + 'r;

/// Compares sums with refitting; keeps the largest relative error of reliable ones.
struct Check<'r> {
    reference: &'r Reference<'r>,
    moments: &'r Moments,
    empty: f64,
    worst: f64,
    unreliable: usize,
    reliable: usize,
}

/// Refits from the rows.
fn by_residuals<'r>(rows: &'r FoldedRows<'r>) -> impl Fn(&[usize], &[f64]) -> Vec<f64> + 'r {
    let scorer = Scorer::new(Arc::clone(&rows.data.targets), Measure::Squared);
    move |subset, lambdas| {
        let refitted = SubsetRefit::new(rows, subset).unwrap();
        lambdas.iter().map(|&lambda| scorer.loss(&refitted.residuals(lambda).unwrap())).collect()
    }
}

impl<'r> Check<'r> {
    fn new(moments: &'r Moments, reference: &'r Reference<'r>) -> Self {
        let empty = reference(&[], &[1.0])[0];
        Check { reference, moments, empty, worst: 0.0, unreliable: 0, reliable: 0 }
    }

    /// Compares the sums over folds of a subset, for each λ.
    fn losses(&mut self, subset: &[usize], lambdas: &[f64], losses: &[(Vec<f64>, f64)]) {
        let moments = self.moments;
        let trial = |(folds, conditioning): &(Vec<f64>, f64)| moments.trial(folds.iter().sum(), *conditioning);
        let trials: Vec<Trial> = losses.iter().map(trial).collect();
        self.subset(subset, lambdas, &trials);
    }

    /// Compares the trials of a subset, for each λ.
    fn subset(&mut self, subset: &[usize], lambdas: &[f64], trials: &[Trial]) {
        let (empty, defined) = (self.empty, (self.reference)(subset, lambdas));
        for ((defined, Trial { loss, conditioning, .. }), lambda) in defined.iter().zip(trials).zip(lambdas) {
            if is_unreliable(*conditioning) {
                self.unreliable += 1;
                continue;
            }
            self.reliable += 1;
            let error = (loss - defined).abs() / defined.max(1e-6 * empty);
            assert!(
                error <= 1e-10,
                "{subset:?} λ {lambda}: {loss} is not {defined}: {error}, conditioning {conditioning}"
            );
            self.worst = self.worst.max(error);
        }
    }

    /// Compares the trials of columns, λ × columns, with the subsets that they lead to.
    fn trials(&mut self, trials: &[Vec<Trial>], lambdas: &[f64], subsets: impl Iterator<Item = Vec<usize>>) {
        for (k, subset) in subsets.enumerate() {
            let own: Vec<Trial> = trials.iter().map(|own| own[k].clone()).collect();
            self.subset(&subset, lambdas, &own);
        }
    }

    fn done(self, name: &str) {
        println!("{name}: worst {:.1e}, reliable {}, unreliable {}", self.worst, self.reliable, self.unreliable);
    }
}

fn without(subset: &[usize], feature: usize) -> Vec<usize> {
    subset.iter().copied().filter(|&f| f != feature).collect()
}

fn with(subset: &[usize], feature: usize) -> Vec<usize> {
    subset.iter().copied().chain([feature]).collect()
}

/// Runs forward with removals, backward, spectrum and tree on the same rows, and checks every trial against refitting.
fn every_engine(rows: &FoldedRows<'_>, reference: &Reference<'_>, lambdas: &[f64], name: &str) -> (usize, usize) {
    let moments = Arc::new(Moments::new(rows).unwrap());
    let mut check = Check::new(&moments, reference);
    let n = rows.data.columns();
    let (mut forward, mut subset) = (ForwardMoments::new(&moments, lambdas, &[]), Vec::new());
    for step in 0..n {
        let open: Vec<usize> = (0..n).filter(|feature| !subset.contains(feature)).collect();
        check.losses(&subset, lambdas, &forward.losses());
        check.trials(&forward.trials(&open), lambdas, open.iter().map(|&feature| with(&subset, feature)));
        let entering = open[step * 5 % open.len()];
        forward.add(entering);
        subset.extend(rows.data.is_active(entering).then_some(entering));
        if step == 4 {
            forward.remove(subset.remove(1));
        }
    }
    let mut backward = BackwardMoments::new(&moments, lambdas, &(0..n).collect::<Vec<_>>());
    let mut subset: Vec<usize> = (0..n).filter(|&feature| rows.data.is_active(feature)).collect();
    while !subset.is_empty() {
        check.losses(&subset, lambdas, &backward.losses());
        let smaller = subset.iter().map(|&feature| without(&subset, feature));
        check.trials(&backward.trials(&subset), lambdas, smaller);
        backward.remove(subset.remove(subset.len() * 7 / 3 % subset.len()));
    }
    for subset in [vec![], vec![3], vec![1, 8, 0, 4, n - 1]] {
        check.losses(&subset, lambdas, &losses_by_lambda(&moments, &subset, lambdas).unwrap());
    }
    let columns = [7, 0, 2, n - 1, 1];
    let mut open = vec![(MomentTree::new(&moments, lambdas, &columns), vec![])];
    while let Some((tree, subset)) = open.pop() {
        let larger = tree.later().iter().map(|&feature| with(&subset, feature));
        check.trials(&tree.trials(tree.later()), lambdas, larger.clone());
        open.extend(larger.enumerate().map(|(k, larger)| (tree.child(k), larger)));
    }
    let counts = (check.reliable, check.unreliable);
    check.done(name);
    counts
}

#[test]
fn every_trial_equals_refitting() {
    let folded = sample(83, 5);
    for setting in settings() {
        let rows = folded.rows(setting);
        let (_, unreliable) = every_engine(&rows, &by_residuals(&rows), &LAMBDAS, &format!("{setting:?}"));
        assert_eq!(unreliable, 0, "plain data keep their digits");
    }
}

#[test]
fn hard_columns_are_weak_or_right() {
    let mut folded = sample(90, 4);
    let noise: Vec<f64> = folded.sample.doubles[6].clone();
    let (first, second) = (folded.sample.doubles[0].clone(), folded.sample.doubles[1].clone());
    folded.sample.doubles[3] = first.iter().zip(&noise).map(|(x, e)| x + 1e-3 * e).collect();
    folded.sample.doubles[4] = second.iter().map(|x| 1e10 * x).collect();
    folded.sample.doubles[5] = second.iter().zip(&noise).map(|(x, e)| 1e-10 * (x + e)).collect();
    folded.sample.bytes[1] = folded.fold.iter().map(|&f| u8::from(f == 1)).collect();
    folded.sample.doubles.push(first);
    for setting in settings() {
        let rows = folded.rows(setting);
        let (reliable, unreliable) =
            every_engine(&rows, &folded.by_reflections(setting), &LAMBDAS, &format!("hard {setting:?}"));
        assert!(reliable > 0 && unreliable > 0);
    }
}

#[test]
fn fewer_rows_than_columns_are_weak_or_right() {
    let folded = sample(9, 3);
    for setting in settings() {
        let rows = folded.rows(setting);
        every_engine(&rows, &folded.by_reflections(setting), &[1e-9, 1e-2, 10.0], &format!("few rows {setting:?}"));
    }
}

/// Returns the bits of all results of the engines.
fn bits(rows: &FoldedRows<'_>) -> Vec<u64> {
    let lambdas: Vec<f64> = (0..19).map(|k| 10f64.powi(k - 6)).collect();
    let moments = Arc::new(Moments::new(rows).unwrap());
    let mut out = Vec::new();
    let mut forward = ForwardMoments::new(&moments, &lambdas, &[4]);
    let mut backward = BackwardMoments::new(&moments, &lambdas, &(0..10).collect::<Vec<_>>());
    for feature in [2, 9, 0] {
        forward.add(feature);
        backward.remove(feature);
        let trials = [forward.trials(&[1, 3, 5, 7]), backward.trials(&[1, 3, 5, 7])];
        out.extend(trials.iter().flatten().flatten().flat_map(|trial| [trial.loss, trial.conditioning]));
    }
    let tree = MomentTree::new(&moments, &lambdas, &[3, 1, 2]).child(0);
    out.extend(tree.trials(&[1, 2]).iter().flatten().map(|trial| trial.loss));
    out.extend(sums(&losses_by_lambda(&moments, &[0, 5, 7], &lambdas).unwrap()).0);
    out.into_iter().map(f64::to_bits).collect()
}

#[test]
fn threads_and_levels_leave_the_bits() {
    // Several chunks of rows per fold.
    let folded = sample(70_001, 2);
    let setting = Setting { weighted: true, intercept: true, standardize: true };
    let mut first = None;
    for level in Level::available() {
        level.within(|| {
            let rows = folded.rows(setting);
            for threads in 1..=3 {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let now = pool.install(|| bits(&rows));
                assert_eq!(*first.get_or_insert_with(|| now.clone()), now, "{} {threads}", level.name());
            }
        });
    }
}

#[test]
fn equal_columns_tie() {
    let mut folded = sample(83, 5);
    folded.sample.doubles[6] = folded.sample.doubles[1].clone();
    folded.sample.doubles.extend((0..30).map(|k| (0..83).map(|j| (((k + 1) * j) as f64).sin()).collect()));
    folded.sample.bytes[2] = folded.sample.bytes[0].clone();
    let n = folded.sample.doubles.len() + 3;
    for setting in settings() {
        let rows = folded.rows(setting);
        let moments = Arc::new(Moments::new(&rows).unwrap());
        let mut forward = ForwardMoments::new(&moments, &LAMBDAS, &[]);
        let mut backward = BackwardMoments::new(&moments, &LAMBDAS, &(0..n).collect::<Vec<_>>());
        let columns = [30, 12, 1, 4, 6, n - 3, 13, n - 1];
        let mut tree = MomentTree::new(&moments, &LAMBDAS, &columns);
        for step in [11, 2, n - 2, 8] {
            for (a, b) in [(1, 6), (n - 3, n - 1)] {
                let trials = [forward.trials(&[a, b]), backward.trials(&[a, b])];
                for pair in trials.iter().flatten() {
                    assert!(!pair[0].loss.is_infinite(), "{a} {setting:?}");
                    assert_eq!(pair[0].loss.to_bits(), pair[1].loss.to_bits(), "{a} {b} {setting:?}");
                }
            }
            forward.add(step);
            backward.remove(step);
        }
        for _ in 0..2 {
            for trials in tree.trials(&[1, 6, n - 3, n - 1]) {
                assert_eq!(trials[0].loss.to_bits(), trials[1].loss.to_bits());
                assert_eq!(trials[2].loss.to_bits(), trials[3].loss.to_bits());
            }
            tree = tree.child(0);
        }
    }
}

#[test]
fn long_backward_walks_stay_right() {
    let n = 60;
    let x: Vec<Vec<f64>> = (0..n).map(|k| (0..400).map(|j| ((k * 37 + j * j) as f64).sin() + 0.3).collect()).collect();
    let y: Vec<f64> = (0..400).map(|j| x[3][j] - x[40][j] + (j as f64).cos()).collect();
    let (sample, folds) = (Sample::new(x, vec![y]), (0..400).map(|j| j % 7).collect::<Vec<u32>>());
    let rows = sample.rows(&folds, false, true, false);
    let moments = Arc::new(Moments::new(&rows).unwrap());
    let reference = by_residuals(&rows);
    let mut check = Check::new(&moments, &reference);
    let mut subset: Vec<usize> = (0..n).collect();
    let mut backward = BackwardMoments::new(&moments, &LAMBDAS, &subset);
    while !subset.is_empty() {
        check.losses(&subset, &LAMBDAS, &backward.losses());
        let feature = subset[subset.len() * 5 / 7];
        check.trials(&backward.trials(&[feature]), &LAMBDAS, [without(&subset, feature)].into_iter());
        backward.remove(feature);
        subset = without(&subset, feature);
    }
    check.done("long walk");
}
