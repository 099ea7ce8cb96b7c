//! Losses of rows held out in exact arithmetic: every double is a fraction.

use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive, Zero};
use vaglio::core::{Design, Feature, Loss, Measure};
use vaglio_testkit::SplitMix64;

/// The seed by which the last digit of every entry, less the mean of its column, goes up or down: as rounding does that
/// centers columns.
#[derive(Clone, Copy)]
pub struct Changed(pub u64);

/// The loss of a subset, of folds that each row belongs to, by solving the normal equations in fractions, perhaps with the
/// last digits of the entries changed; `None` for a loss that is not a mean over rows.
pub fn loss(
    design: &Design,
    folds: &[usize],
    subset: &[Feature],
    lambda: f64,
    loss: &dyn Loss,
    changed: Option<Changed>,
) -> Option<f64> {
    let fraction = |value: f64| BigRational::from_float(value).unwrap();
    let mut random = changed.map(|Changed(seed)| SplitMix64::new(seed));
    let mut digit = |from_mean: f64| match &mut random {
        Some(random) => fraction([-1.0, 1.0][random.below(2)] * f64::EPSILON * from_mean),
        None => BigRational::zero(),
    };
    let intercept = design.readout()?.intercept;
    let unknowns = subset.len() + usize::from(intercept);
    let mut x = vec![Vec::new(); design.rows()];
    for &feature in subset {
        let column = design.column(feature).values();
        let mean = if intercept { column.iter().sum::<f64>() / column.len() as f64 } else { 0.0 };
        for (row, value) in x.iter_mut().zip(&*column) {
            row.push(fraction(*value) + digit(value - mean));
        }
    }
    if intercept {
        x.iter_mut().for_each(|row| row.push(fraction(1.0)));
    }
    let weight = |row: usize| fraction(design.weights().map_or(1.0, |weights| weights[row]));
    let classes = design.problem().classes().filter(|_| design.readout().is_some_and(|readout| readout.balanced));
    let (mut sum, mut total) = (BigRational::zero(), BigRational::zero());
    let outputs = design.targets().nrows();
    // W/(C·W_c) of two classes, by the sign of a target.
    let alike = |target: &BigRational| {
        let is_own = |row: &usize| (design.targets()[[0, *row]] > 0.0) == target.is_positive();
        let own: BigRational = (0..folds.len()).filter(is_own).map(weight).sum();
        let all: BigRational = (0..folds.len()).map(weight).sum();
        let count = if own == all { 1.0 } else { 2.0 };
        all / (own * fraction(count))
    };
    for fold in 0..=*folds.iter().max()? {
        let training: Vec<usize> = (0..folds.len()).filter(|&row| folds[row] != fold).collect();
        let mut a = vec![vec![BigRational::zero(); unknowns + outputs]; unknowns];
        // Training weight of each class that counts like the others.
        let class_weight = |class: usize| -> BigRational {
            let is_own = |row: &&usize| classes.as_ref().is_some_and(|classes| classes.per_row[**row] == class);
            training.iter().filter(is_own).map(|&row| weight(row)).sum()
        };
        let totals: Vec<BigRational> =
            classes.iter().flat_map(|classes| (0..classes.names.len()).map(class_weight)).collect();
        for &j in &training {
            let r = classes.as_ref().map_or_else(|| weight(j), |classes| weight(j) / &totals[classes.per_row[j]]);
            for (k, to) in a.iter_mut().enumerate() {
                let scaled = &r * &x[j][k];
                (0..unknowns).for_each(|l| to[l] += &scaled * &x[j][l]);
                (0..outputs).for_each(|o| to[unknowns + o] += &scaled * fraction(design.targets()[[o, j]]));
            }
        }
        (0..subset.len()).for_each(|k| a[k][k] += fraction(lambda));
        solve(&mut a)?;
        for j in (0..folds.len()).filter(|&row| folds[row] == fold) {
            let (r, mut row_loss) = (weight(j), BigRational::zero());
            let predictions: Vec<BigRational> =
                (0..outputs).map(|o| (0..unknowns).map(|k| &a[k][unknowns + o] * &x[j][k]).sum()).collect();
            let target = |o: usize| fraction(design.targets()[[o, j]]);
            match loss.traits().measure {
                Measure::Squared | Measure::BalancedSquared | Measure::Absolute => {
                    for (o, prediction) in predictions.iter().enumerate() {
                        let error = target(o) - prediction;
                        row_loss += if loss.traits().measure.is_of_squares() { &error * &error } else { error.abs() };
                    }
                    row_loss /= fraction(outputs as f64);
                    if loss.traits().measure == Measure::BalancedSquared {
                        row_loss *= alike(&target(0));
                    }
                }
                Measure::ZeroOne if outputs == 1 => {
                    let margin = target(0) * &predictions[0];
                    let error = if margin.is_zero() { 0.5 } else { f64::from(u8::from(margin.is_negative())) };
                    row_loss = fraction(error);
                }
                _ => return None,
            }
            sum += &r * row_loss;
            total += r;
        }
    }
    (sum / total).to_f64()
}

/// Gauss and Jordan; `None` for a singular system.
fn solve(a: &mut [Vec<BigRational>]) -> Option<()> {
    let unknowns = a.len();
    for k in 0..unknowns {
        let pivot = (k..unknowns).find(|&row| !a[row][k].is_zero())?;
        a.swap(k, pivot);
        let lead = a[k][k].clone();
        a[k].iter_mut().for_each(|value| *value /= &lead);
        let own = a[k].clone();
        for (row, to) in a.iter_mut().enumerate() {
            if row == k || to[k].is_zero() {
                continue;
            }
            let factor = to[k].clone();
            to.iter_mut().zip(&own).for_each(|(to, own)| *to -= &factor * own);
        }
    }
    Some(())
}
