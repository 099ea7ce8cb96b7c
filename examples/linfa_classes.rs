//! Classes with names: predictions, how far they are on a side, and how probable they are.
//!
//! `cargo run -p vaglio-examples linfa_classes`

use linfa::prelude::*;
use vaglio::prelude::*;

/// Patients are called well or not by two of their measurements.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    // ANCHOR: classes
    let state = |&y: &f64| if y > 200.0 { "worse" } else { "same" }.to_owned();
    let dataset: Dataset<f64, String, Ix1> = vaglio_examples::diabetes()?.map_targets(state);

    let criterion = KFold::new(10).stratified(true).loss(BalancedError);
    let pipeline = Pipeline::new(criterion, Greedy::new(4), Crrr::default()).preprocess(Standardize::default());
    let fitted = pipeline.fit(&dataset)?;

    let labels: Array1<String> = fitted.predict(&dataset);
    let sides = fitted.decision_values(&dataset)?; // rows × 1: positive for the second of `fitted.classes()`
    if let Some(probable) = fitted.probabilities(&dataset)? {
        println!(
            "{}: {} at {:.2}, by {:.2}",
            fitted.classes().join(" or "),
            labels[0],
            *probable[[0, 1]],
            sides[[0, 0]]
        );
    }
    // ANCHOR_END: classes

    // ANCHOR: keep
    let file = std::env::temp_dir().join(format!("vaglio-classes-{}.json", std::process::id()));
    fitted.save(&file)?;
    let loaded: FittedPipeline<String, Ix1> = FittedPipeline::load(&file)?;
    assert_eq!(loaded.predict(&dataset), labels);
    // ANCHOR_END: keep
    std::fs::remove_file(file)?;
    assert_eq!(fitted.classes(), ["same", "worse"]);
    Ok(())
}
