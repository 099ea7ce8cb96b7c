//! vaglio among linfa's own parts: after a transformer, and inside linfa's cross-validation.
//!
//! `cargo run -p vaglio-examples linfa_interop`

use linfa::prelude::*;
use linfa::traits::Transformer;
use ndarray::{Array2, Ix1};
use vaglio::{FitError, Selector, criteria::Loo, learners::Rls, search::Greedy};

/// A transformer as any linfa program may have one: appends the products of all pairs of columns.
struct Pairs;

impl Transformer<Dataset<f64, f64, Ix1>, Dataset<f64, f64, Ix1>> for Pairs {
    fn transform(&self, dataset: Dataset<f64, f64, Ix1>) -> Dataset<f64, f64, Ix1> {
        let (x, mut names) = (dataset.records(), dataset.feature_names().to_vec());
        let n = x.ncols();
        let pairs: Vec<(usize, usize)> = (0..n).flat_map(|i| (i..n).map(move |j| (i, j))).collect();
        names.extend(pairs.iter().map(|&(i, j)| format!("{}*{}", names[i], names[j])).collect::<Vec<_>>());
        let mean = |column: usize| x.column(column).sum() / x.nrows() as f64;
        let means: Vec<f64> = (0..n).map(mean).collect();
        let made = Array2::from_shape_fn((x.nrows(), n + pairs.len()), |(row, k)| match k.checked_sub(n) {
            None => x[[row, k]],
            Some(k) => (x[[row, pairs[k].0]] - means[pairs[k].0]) * (x[[row, pairs[k].1]] - means[pairs[k].1]),
        });
        Dataset::new(made, dataset.targets).with_feature_names(names)
    }
}

/// Selects among pairs of columns, then compares sizes by linfa's cross-validation.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut dataset = Pairs.transform(vaglio_examples::diabetes()?);
    println!("{} columns after the transformer", dataset.nfeatures());

    // ANCHOR: transform
    // A fitted selector is a linfa transformer: it keeps the chosen columns.
    let selector = Selector::params(Loo::default(), Greedy::new(4), Rls::default());
    let fitted = selector.fit(&dataset)?;
    let smaller = fitted.transform(dataset.clone());
    println!("kept: {}", smaller.feature_names().join(", "));
    // ANCHOR_END: transform
    assert_eq!(smaller.nfeatures(), fitted.selected().len());

    // ANCHOR: validate
    // Selectors are linfa parameters. Each is searched anew inside every fold, so these errors are honest.
    let sizes = [1, 2, 4];
    let selectors = sizes.map(|size| Selector::params(Loo::default(), Greedy::new(size), Rls::default()));
    let errors: Result<_, FitError> =
        dataset.cross_validate_single(5, &selectors, |predicted, truth| predicted.mean_squared_error(truth));
    for (size, error) in sizes.iter().zip(errors?) {
        println!("up to {size} columns: error {error:.1} in folds that the selection did not see");
    }
    // ANCHOR_END: validate
    Ok(())
}
