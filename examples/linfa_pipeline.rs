//! A linfa program with groups, nested cross-validation and a saved model.
//!
//! `cargo run -p vaglio-examples linfa_pipeline`

use linfa::prelude::*;
use linfa::traits::Transformer;
use vaglio::{Rows, prelude::*};

/// Selects among the diabetes data as if four visits in a row were one patient's, and keeps the model.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    // ANCHOR: groups
    let dataset = vaglio_examples::diabetes()?;
    let patient = (0..dataset.nsamples()).map(|row| row / 4);
    // Rows of one patient are held out together, wherever rows are held out.
    let rows = Rows::new().groups(patient);
    let criterion = KFold::new(10).by(FoldBy::Groups);
    let search = Greedy::new(8).choose(CrossValidation::new(5).rule(Rule::OneSe));
    let pipeline = Pipeline::new(criterion, search, Rls::new(Lambda::grid(1e-2, 1e3, 11)))
        .preprocess(Standardize::default())
        .seed(1);
    let fitted = pipeline.fit_with(&dataset, &rows)?;
    println!("selected: {}", fitted.selected().join(", "));
    // ANCHOR_END: groups

    // ANCHOR: original
    let formula = fitted.original_scale()?;
    for (column, coefficients) in formula.columns.iter().zip(formula.coefficients.rows()) {
        println!("{column}: {:.3}", coefficients[0]);
    }
    println!("intercept: {:.3}", formula.intercept[0]);
    // ANCHOR_END: original

    // ANCHOR: worth
    // Cross-validated error of the chosen size: the whole search was repeated in folds.
    if let Some(cell) = fitted.selection().and_then(|selection| selection.chosen.cell) {
        println!("cross-validated error {:.0} of {} columns", cell.loss, cell.size);
    }
    // Nested error of the whole procedure: everything is repeated in outer folds.
    let worth = pipeline.nested_with(5, 1, &dataset, &rows)?;
    println!("{worth}");
    // ANCHOR_END: worth

    // ANCHOR: yaml
    // A pipeline file without `data`, and back.
    let text = pipeline.to_yaml()?;
    let again = Pipeline::from_yaml(&text)?;
    // ANCHOR_END: yaml
    assert_eq!(again.fit_with(&dataset, &rows)?.selected(), fitted.selected());

    // ANCHOR: keep
    let file = std::env::temp_dir().join(format!("vaglio-example-{}.json", std::process::id()));
    fitted.save(&file)?;
    // `vaglio predict --model` reads it as well.
    let loaded: FittedPipeline<f64, Ix1> = FittedPipeline::load(&file)?;
    assert_eq!(loaded.predict(&dataset), fitted.predict(&dataset));
    let smaller = loaded.transform(&dataset);
    println!("{} of {} columns are kept", smaller.nfeatures(), dataset.nfeatures());
    // ANCHOR_END: keep
    std::fs::remove_file(file)?;
    assert!(worth.loss < worth.empty_loss && fitted.selected().contains(&"bmi"));
    Ok(())
}
