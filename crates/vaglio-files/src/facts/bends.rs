//! Whether the target bends over a column, and which map straightens it.

use super::super::rows::stride;
use vaglio_report::record::Bend;

/// |t| from which a bend is named.
const TOLD: f64 = 3.0;
/// Parts of the rows whose means draw a trend.
const PARTS: usize = 10;
/// Rows of which a trend is made, at even distances.
const TREND_ROWS: usize = 5000;

/// Values of a column with the partial residuals of the same rows, and the weights of these.
pub(crate) struct Partial {
    pub x: Vec<f64>,
    pub residuals: Vec<f64>,
    pub weights: Vec<f64>,
}

/// What least squares on 1, x and perhaps one more term leave.
struct SquareFit {
    /// The weighted sum of squares that is left.
    left: f64,
    /// The last term's coefficient, and the squared length of what that term is beside the others.
    last: (f64, f64),
}

impl Partial {
    /// The coefficient of x² in a fit of 1, x and x² with its standard error, and the map that it asks for: `log1p` where a
    /// logarithm alone is as likely as a line with a square, by Akaike's criterion, else `polynomial`. A row of weight 2 counts as
    /// two. `None` for fewer than three values or four rows. Cost O(rows).
    ///
    /// # Reference
    /// W. A. Larsen, S. J. McCleary, *The use of partial residual plots in regression analysis*, Technometrics 14(3), 1972.
    pub fn bend(&self, name: &str, as_read: bool) -> Option<Bend> {
        let rows: f64 = self.weights.iter().sum();
        let u = self.standardized(&self.x)?;
        let square = self.with(Some(&u), u.iter().map(|u| u * u).collect())?;
        let (coefficient, length) = square.last;
        let free = rows - 3.0;
        // x² of two values is a line.
        let fourth: f64 = self.weights.iter().zip(&u).map(|(w, u)| w * u.powi(4)).sum();
        if free <= 0.0 || length <= 1e-9 * fourth {
            return None;
        }
        let t = coefficient * (length * free / square.left).sqrt();
        let map = (t.abs() >= TOLD).then(|| self.map(name, as_read, square.left, rows));
        // Where a square leaves nothing there is no error to divide by.
        t.is_finite().then_some(Bend { t, map })
    }

    fn map(&self, name: &str, as_read: bool, by_square: f64, rows: f64) -> String {
        let name = quoted(name);
        let logarithm = || {
            let takes = as_read && self.x.iter().all(|x| *x > -1.0);
            let logs = takes.then(|| self.x.iter().map(|x| x.ln_1p()).collect())?;
            let left = self.with(None, logs)?.left;
            (rows * left.ln() <= rows * by_square.ln() + 2.0).then_some(())
        };
        match logarithm() {
            Some(()) => format!("{{kind: log1p, columns: [{name}]}}"),
            None => format!("{{kind: polynomial, degree: 2, columns: [{name}]}}"),
        }
    }

    fn mean(&self, of: &[f64]) -> f64 {
        let total: f64 = self.weights.iter().sum();
        self.weights.iter().zip(of).map(|(w, x)| w * x).sum::<f64>() / total
    }

    fn centered(&self, mut of: Vec<f64>) -> Vec<f64> {
        let mean = self.mean(&of);
        of.iter_mut().for_each(|x| *x -= mean);
        of
    }

    fn dot(&self, a: &[f64], b: &[f64]) -> f64 {
        self.weights.iter().zip(a.iter().zip(b)).map(|(w, (a, b))| w * a * b).sum()
    }

    /// Without mean and of variance 1; `None` for equal values.
    fn standardized(&self, of: &[f64]) -> Option<Vec<f64>> {
        let largest = of.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
        let of = self.centered(of.iter().map(|x| x / largest).collect());
        let length = self.dot(&of, &of).sqrt();
        let root = self.weights.iter().sum::<f64>().sqrt();
        (length > 1e-12 * root).then(|| of.iter().map(|x| x * root / length).collect())
    }

    /// Least squares of the residuals on 1, perhaps a centered term, and one more.
    fn with(&self, line: Option<&[f64]>, last: Vec<f64>) -> Option<SquareFit> {
        let (mut left, mut last) = (self.centered(self.residuals.clone()), self.centered(last));
        let beside = |term: &[f64], of: &mut Vec<f64>| {
            let length = self.dot(term, term);
            let share = if length > 0.0 { self.dot(term, of) / length } else { 0.0 };
            of.iter_mut().zip(term).for_each(|(x, term)| *x -= share * term);
            (share, length)
        };
        if let Some(line) = line {
            beside(line, &mut left);
            beside(line, &mut last);
        }
        let last = beside(&last, &mut left);
        let left = self.dot(&left, &left);
        (left.is_finite() && last.0.is_finite()).then_some(SquareFit { left, last })
    }

    /// Means of value and residual over tenths of the rows in order of the value; rows of one value stay together.
    pub fn trend(&self) -> Vec<[f64; 2]> {
        let every = stride(self.x.len(), TREND_ROWS);
        let mut order: Vec<usize> = (0..self.x.len()).step_by(every).collect();
        order.sort_by(|&a, &b| self.x[a].total_cmp(&self.x[b]).then(a.cmp(&b)));
        let mut points = Vec::new();
        let mut start = 0;
        for part in 1..=PARTS {
            let mut end = (part * order.len() / PARTS).max(start);
            while end > start && end < order.len() && self.x[order[end]] == self.x[order[end - 1]] {
                end += 1;
            }
            if end > start {
                let of = |values: &[f64]| {
                    let weight: f64 = order[start..end].iter().map(|&row| self.weights[row]).sum();
                    order[start..end].iter().map(|&row| self.weights[row] * values[row]).sum::<f64>() / weight
                };
                points.push([of(&self.x), of(&self.residuals)]);
                start = end;
            }
        }
        points.retain(|point| point.iter().all(|value| value.is_finite()));
        points
    }
}

/// A name as a list in a pipeline has it.
fn quoted(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    match name.chars().all(is_plain) && name.chars().next().is_some_and(|c| c.is_ascii_alphabetic()) {
        true => name.to_owned(),
        false => serde_json::Value::from(name).to_string(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use vaglio_testkit::Random;

    fn partial(f: impl Fn(f64) -> f64, weighted: bool) -> Partial {
        let mut random = Random::new(11);
        let x: Vec<f64> = (0..200).map(|_| 9.0 * random.uniform()).collect();
        let residuals = x.iter().map(|&x| f(x) + 0.2 * random.normal()).collect();
        let weights = (0..200).map(|row| if weighted { f64::from(1 + row % 3) } else { 1.0 }).collect();
        Partial { x, residuals, weights }
    }

    /// The t statistic of the square by the normal equations of 1, x and x², each row given as often as it weighs.
    fn expected(of: &Partial) -> f64 {
        let given = |row: usize| std::iter::repeat_n(row, of.weights[row] as usize);
        let rows: Vec<usize> = (0..of.x.len()).flat_map(given).collect();
        let terms = |row: usize| [1.0, of.x[row], of.x[row] * of.x[row]];
        let mut a = [[0.0; 4]; 3];
        for &row in &rows {
            for (sums, own) in a.iter_mut().zip(terms(row)) {
                (0..3).for_each(|j| sums[j] += own * terms(row)[j]);
                sums[3] += own * of.residuals[row];
            }
        }
        // (XᵀX)⁻¹₃₃ is one over what is left of the last diagonal.
        for k in 0..2 {
            for i in k + 1..3 {
                let factor = a[i][k] / a[k][k];
                (0..4).for_each(|j| a[i][j] -= factor * a[k][j]);
            }
        }
        let c = a[2][3] / a[2][2];
        let b = (a[1][3] - a[1][2] * c) / a[1][1];
        let intercept = (a[0][3] - a[0][1] * b - a[0][2] * c) / a[0][0];
        let error = |row: usize| of.residuals[row] - intercept - b * of.x[row] - c * of.x[row] * of.x[row];
        let variance = rows.iter().map(|&row| error(row).powi(2)).sum::<f64>() / (rows.len() as f64 - 3.0);
        c / (variance / a[2][2]).sqrt()
    }

    #[test]
    fn a_bend_is_the_t_statistic_of_a_square() {
        for weighted in [false, true] {
            for f in [(|x| 0.3 * x) as fn(f64) -> f64, |x| 0.3 * x * x, |x: f64| x.ln_1p()] {
                let of = partial(f, weighted);
                let (found, expected) = (of.bend("x", true).unwrap().t, expected(&of));
                assert!((found - expected).abs() < 1e-8 * expected.abs().max(1.0), "{found} is not {expected}");
            }
        }
    }

    #[test]
    fn a_logarithm_asks_for_log1p_and_a_valley_for_a_square() {
        let map = |f: fn(f64) -> f64| partial(f, false).bend("a b", true).unwrap().map;
        assert_eq!(map(|x| 0.3 * x), None);
        assert_eq!(map(|x| 2.0 * x.ln_1p()).unwrap(), "{kind: log1p, columns: [\"a b\"]}");
        assert_eq!(map(|x| (x - 4.0) * (x - 4.0)).unwrap(), "{kind: polynomial, degree: 2, columns: [\"a b\"]}");
        // No logarithm of what was made, or of what is below −1.
        let made = partial(|x| 2.0 * x.ln_1p(), false);
        assert!(made.bend("x", false).unwrap().map.unwrap().contains("polynomial"));
    }

    #[test]
    fn two_values_have_no_bend() {
        let of = Partial {
            x: vec![0.0, 1.0, 0.0, 1.0, 1.0],
            residuals: vec![1.0, 2.0, 1.5, 0.0, 3.0],
            weights: vec![1.0; 5],
        };
        assert_eq!(of.bend("x", true), None);
        assert_eq!(of.trend().len(), 2);
    }

    #[test]
    fn trends_are_means_of_tenths() {
        let of = partial(|x| x, false);
        let trend = of.trend();
        assert_eq!(trend.len(), 10);
        let mut rows: Vec<usize> = (0..200).collect();
        rows.sort_by(|&a, &b| of.x[a].total_cmp(&of.x[b]));
        let mean = |values: &[f64]| rows[20..40].iter().map(|&row| values[row]).sum::<f64>() / 20.0;
        assert!((trend[1][0] - mean(&of.x)).abs() < 1e-12 && (trend[1][1] - mean(&of.residuals)).abs() < 1e-12);
    }
}
