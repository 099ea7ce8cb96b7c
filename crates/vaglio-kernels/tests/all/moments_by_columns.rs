//! Moments built column by column from sparse entries, against those of all rows.

use crate::sample::sums;
use std::sync::Arc;
use vaglio_columns::{Numbers, SparseNumbers};
use vaglio_kernels::Trial;
use vaglio_kernels::kfold::{BackwardMoments, FoldedRows, ForwardMoments, MomentTree, Moments, losses_by_lambda};
use vaglio_kernels::{Data, Folds};
use vaglio_testkit::SplitMix64;

const ROWS: usize = 160;
const FOLDS: u32 = 4;
const LAMBDAS: [f64; 3] = [1e-3, 1.0, 1e3];

/// Mostly sparse columns, a target with two outputs, and weight, fold and class of each row.
struct Words {
    columns: Vec<Numbers>,
    targets: Vec<Vec<f64>>,
    weights: Vec<f64>,
    fold: Vec<u32>,
    classes: Vec<usize>,
}

fn words() -> Words {
    let mut random = SplitMix64::new(71);
    let fold: Vec<u32> = (0..ROWS).map(|_| (random.uniform() * f64::from(FOLDS)) as u32).collect();
    let mut columns = Vec::new();
    let mut sparse = |rows: Vec<usize>, value_at: &mut dyn FnMut(usize) -> f64| {
        let values = rows.iter().map(|&row| value_at(row)).collect();
        columns.push(SparseNumbers::new(ROWS, rows.into_iter().map(|row| row as u32).collect(), values));
    };
    for k in 0..6 {
        let some: Vec<usize> = (0..ROWS).filter(|_| random.uniform() < 0.05 + 0.05 * k as f64).collect();
        sparse(some, &mut |_| if k % 2 == 0 { (1.0 + 3.0 * random.uniform()).floor() } else { random.normal() });
    }
    // One entry; entries in one fold only; two equal columns; nearly all rows.
    sparse(vec![17], &mut |_| 3.0);
    sparse((0..ROWS).filter(|&row| fold[row] == 2).take(9).collect(), &mut |row| 1.0 + row as f64);
    let twin: Vec<usize> = (0..ROWS).step_by(11).collect();
    (0..2).for_each(|_| sparse(twin.clone(), &mut |row| row as f64 * 0.5));
    sparse((1..ROWS).collect(), &mut |_| 1.0);
    let mut columns: Vec<Numbers> = columns.into_iter().map(Numbers::Sparse).collect();
    // An affine map of a sparse column, far from 0.
    let Numbers::Sparse(first) = &columns[3] else { unreachable!() };
    let far = first.map(|x| 1e4 + x / 3.0);
    columns.push(Numbers::Sparse(far));
    (0..2).for_each(|_| columns.push((0..ROWS).map(|_| random.normal()).collect::<Vec<f64>>().into()));
    let entry = |k: usize, row: usize| columns[k].view().get(row);
    let target = |k: usize| (0..ROWS).map(|row| entry(k, row) - entry(k + 3, row) + entry(12, row)).collect();
    let targets = vec![target(0), target(1)];
    let weights = (0..ROWS).map(|row| 1.0 + (row % 3) as f64 + if row == 17 { 4e3 } else { 0.0 }).collect();
    Words { columns, targets, weights, fold, classes: (0..ROWS).map(|row| row * row % 3).collect() }
}

/// Returns the same data with dense columns.
fn stored() -> Words {
    let sparse = words();
    let dense = |column: &Numbers| Numbers::from(column.view().values().into_owned());
    Words { columns: sparse.columns.iter().map(dense).collect(), ..sparse }
}

#[derive(Debug, Clone, Copy)]
struct Setting {
    is_weighted: bool,
    intercept: bool,
    standardize: bool,
    is_balanced: bool,
    scores_alike: bool,
    trains_on_own: bool,
}

fn settings() -> impl Iterator<Item = Setting> {
    (0..64).map(|k| Setting {
        is_weighted: k & 1 > 0,
        intercept: k & 2 > 0,
        standardize: k & 4 > 0,
        is_balanced: k & 8 > 0,
        scores_alike: k & 16 > 0,
        trains_on_own: k & 32 > 0,
    })
}

impl Words {
    fn rows(&self, order: &[usize], setting: Setting) -> FoldedRows<'_> {
        let columns = order.iter().map(|&k| self.columns[k].view()).collect();
        let targets: Vec<&[f64]> = self.targets.iter().map(|y| &y[..]).collect();
        let weights = setting.is_weighted.then_some(&self.weights[..]);
        let data = Data::new(columns, &targets, weights, setting.intercept, None).unwrap();
        let folds = Folds::new(&self.fold);
        let folds = match setting.trains_on_own {
            true => {
                let before = |fold: u32| (0..ROWS).filter(|&row| self.fold[row] > fold).collect();
                folds.training_on(&(0..FOLDS - 1).map(before).collect::<Vec<_>>())
            }
            false => folds,
        };
        let mut rows = FoldedRows::new(data, folds, setting.standardize);
        if setting.is_balanced {
            rows.classes = Some(self.classes.clone());
        }
        if setting.scores_alike {
            rows = rows.balancing_losses(self.classes.clone());
        }
        rows
    }
}

/// Returns losses and conditioning of some walks by every engine.
fn numbers_of(moments: &Arc<Moments>, rows: &FoldedRows<'_>, place: &dyn Fn(usize) -> usize) -> Vec<(f64, f64)> {
    let subset: Vec<usize> = [4, 1, 11, 8, 12].map(place).to_vec();
    moments.read(rows, &subset, &[]);
    let mut out = Vec::new();
    let mut forward = ForwardMoments::new(moments, &LAMBDAS, &subset[..1]);
    for (step, &feature) in subset[1..].iter().enumerate() {
        let selected = &subset[usize::from(step > 2)..=step];
        let is_open = |column: &usize| rows.data.is_active(*column) && !selected.contains(column);
        let open: Vec<usize> = (0..rows.data.columns()).map(place).filter(is_open).collect();
        out.extend(numbers(&forward.trials(&open)));
        forward.add(feature);
        out.extend(means(moments, &forward.losses()));
        if step == 2 {
            forward.remove(subset[0]);
            out.extend(means(moments, &forward.losses()));
        }
    }
    out.extend(numbers(&BackwardMoments::new(moments, &LAMBDAS, &subset).trials(&subset)));
    out.extend(means(moments, &losses_by_lambda(moments, &subset, &LAMBDAS).unwrap()));
    let tree = MomentTree::new(moments, &LAMBDAS, &subset).child(0).child(1);
    out.extend(numbers(&tree.trials(tree.later())));
    out
}

fn numbers(trials: &[Vec<Trial>]) -> Vec<(f64, f64)> {
    trials.iter().flatten().map(|trial| (trial.loss, trial.conditioning)).collect()
}

fn means(moments: &Moments, losses: &[(Vec<f64>, f64)]) -> Vec<(f64, f64)> {
    let mean = |(losses, conditioning): &(Vec<f64>, f64)| {
        (moments.trial(losses.iter().sum(), *conditioning).loss, *conditioning)
    };
    losses.iter().map(mean).collect()
}

#[test]
fn every_engine_says_what_it_says_of_all_rows() {
    let all = [words(), stored()];
    let order: Vec<usize> = (0..all[0].columns.len()).collect();
    let permuted: Vec<usize> = order.iter().map(|k| (5 * k + 3) % order.len()).collect();
    for (words, setting) in all.iter().flat_map(|words| settings().map(move |setting| (words, setting))) {
        let rows = words.rows(&order, setting);
        let whole = Arc::new(Moments::new(&rows).unwrap());
        let by_columns = Arc::new(Moments::by_columns(&rows).unwrap());
        let (dense, sparse) = (numbers_of(&whole, &rows, &|k| k), numbers_of(&by_columns, &rows, &|k| k));
        assert_eq!(dense.len(), sparse.len());
        let empty = whole.empty;
        assert!((by_columns.empty - empty).abs() <= 1e-13 * empty, "{setting:?}");
        let mut sound = 0;
        for ((a, own), (b, other)) in dense.iter().zip(&sparse) {
            // Both lose the same digits; at poor conditioning the loss is refitted.
            let least = own.min(*other);
            assert!((own - other).abs() <= 1e-6 * own.max(*other) + 1e-12, "{setting:?}: {own} {other}");
            if least > 1e-3 {
                sound += 1;
                assert!((a - b).abs() <= 1e-12 / least * empty.max(*a), "{setting:?}: {a} is not {b} at {least}");
            }
        }
        assert!(3 * sound > dense.len(), "{setting:?}: {sound} of {}", dense.len());
        // Column positions change no bit.
        let moved = words.rows(&permuted, setting);
        let again = Arc::new(Moments::by_columns(&moved).unwrap());
        let place = |k: usize| permuted.iter().position(|&own| own == k).unwrap();
        let again = numbers_of(&again, &moved, &place);
        assert_eq!(sparse[..LAMBDAS.len() * 13], again[..LAMBDAS.len() * 13], "{setting:?}");
    }
}

#[test]
fn rows_that_were_not_read_are_no_numbers() {
    let words = words();
    let setting = Setting { scores_alike: false, ..settings().nth(2).unwrap() };
    let rows = words.rows(&[0, 1, 2, 3], setting);
    let moments = Arc::new(Moments::by_columns(&rows).unwrap());
    let losses = |moments: &Arc<Moments>| sums(&ForwardMoments::new(moments, &LAMBDAS, &[2, 0]).losses()).0;
    moments.read(&rows, &[2], &[]);
    assert!(losses(&moments).iter().all(|loss| loss.is_nan()));
    moments.read(&rows, &[0], &[]);
    assert!(losses(&moments).iter().all(|loss| loss.is_finite()));
}

#[test]
fn rows_have_the_same_bits_alone_beside_others_and_read_ahead() {
    for (words, setting) in [words(), stored()].iter().flat_map(|words| settings().map(move |setting| (words, setting)))
    {
        let order: Vec<usize> = (0..words.columns.len()).collect();
        let rows = words.rows(&order, setting);
        let made = |read: &dyn Fn(&Moments)| {
            let moments = Arc::new(Moments::by_columns(&rows).unwrap());
            read(&moments);
            let forward = ForwardMoments::new(&moments, &LAMBDAS, &[12, 3, 8]);
            (sums(&forward.losses()).0, numbers(&forward.trials(&order)))
        };
        let alone = made(&|moments| [3, 8, 12].iter().for_each(|&column| moments.read(&rows, &[column], &[])));
        assert_eq!(alone, made(&|moments| moments.read(&rows, &order, &[])), "{setting:?}");
        assert_eq!(alone, made(&|moments| moments.read(&rows, &[12], &[8, 12, 0, 3])), "{setting:?}");
        // More than one pass takes: the first ones are the likeliest.
        let last = made(&|moments| moments.read(&rows, &[12], &[8, 0, 1, 2, 4, 5, 6, 3]));
        assert!(last.0.iter().all(|loss| loss.is_nan()), "{setting:?}");
    }
}
