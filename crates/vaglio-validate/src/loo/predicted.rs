//! Predictions of the rows left out.

use super::shared::parts_of;
use crate::fits::RoundFits;
use ndarray::Array2;
use vaglio_core::{Design, Feature, Result, Squared};

/// The prediction of every row by the readout of a subset trained on all others, outputs × rows; `None` where there is no
/// readout. Cost that of decomposing the subset once.
///
/// # Errors
/// [`vaglio_core::Error::Numerical`] when entries overflow.
pub fn predicted_left_out(design: &Design, subset: &[Feature], lambda: Option<f64>) -> Result<Option<Array2<f64>>> {
    let Some(readout) = design.readout() else { return Ok(None) };
    let lambda = lambda.unwrap_or(readout.lambdas[0]);
    let fits = RoundFits::of_subsets(design, &Squared.into(), parts_of(design).unwrap_or_default(), true)?;
    let residuals = fits.fit(subset).residuals(lambda)?;
    let root = |row: usize| design.weights().map_or(1.0, |weights| weights[row].sqrt());
    let targets = design.targets();
    let predicted = |(output, row): (usize, usize)| targets[[output, row]] - residuals[output][row] / root(row);
    Ok(Some(Array2::from_shape_fn(targets.dim(), predicted)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use vaglio_testkit::data;

    fn retrained(design: &Design, subset: &[Feature], lambda: f64) -> Array2<f64> {
        let mut all = Array2::zeros(design.targets().dim());
        for row in 0..design.rows() {
            let others: Vec<usize> = (0..design.rows()).filter(|&other| other != row).collect();
            let one = design.retrain(&others, &[row], subset, Some(lambda)).unwrap();
            all.column_mut(row).assign(&one.column(0));
        }
        all
    }

    #[test]
    fn they_are_those_of_plain_retraining() {
        let recipes = [
            data::regression(30, 6, 1).outputs(2),
            data::regression(30, 6, 2).weighted(),
            data::binary(30, 6, 3).weighted(),
            data::binary(30, 6, 4).weighted().balanced(),
        ];
        for recipe in recipes {
            for design in [recipe.design(&[0.7], true), recipe.design(&[0.7], false)] {
                for subset in [&[][..], &[4, 0, 2]] {
                    let found = predicted_left_out(&design, subset, Some(0.7)).unwrap().unwrap();
                    let expected = retrained(&design, subset, 0.7);
                    assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-10), "{found} {expected}");
                }
            }
        }
    }
}
