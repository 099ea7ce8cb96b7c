use vaglio_core::ndarray::{Array2, array};
use vaglio_core::{Columns, Design, Problem, Readout, Result, RowLabels, Squared, Task, ZeroOne, prediction_units};

fn design(targets: Array2<f64>, weights: Option<Vec<f64>>, units: &[u32]) -> Result<Design> {
    let columns = Columns::new(targets.ncols());
    let problem = Problem::new(columns, Vec::new(), targets, vec!["y".into()], Task::Regression)?;
    let weights = weights.map(Into::into);
    let problem = problem.with_labels(RowLabels { weights, units: Some(units.into()), ..RowLabels::default() })?;
    Ok(Design::identity(&problem, Readout::new(vec![1.0], true)?))
}

#[test]
fn predictions_are_averaged_by_weight_before_the_loss() {
    let weights = vec![1.0, 2.0, 3.0, 2.0];
    let design = design(array![[1.0, -1.0, 1.0, -1.0]], Some(weights), &[7, 3, 7, 3]).unwrap();
    let units = prediction_units(&design).unwrap();
    assert_eq!(units.per_row, [0, 1, 0, 1]);
    // (3 − 3)/4 = 0 is half an error, and −1.5 is right.
    let predictions = array![[3.0, -1.0, -1.0, -2.0]];
    assert_eq!(design.loss(&ZeroOne, predictions.view()), 0.25);
    assert_eq!(design.loss(&Squared, predictions.view()), (1.0 + 0.25) / 2.0);
}

#[test]
fn unlike_targets_are_refused() {
    let error = design(array![[1.0, 2.0]], None, &[1, 1]).unwrap_err();
    assert!(error.to_string().contains("row 2 has another target than row 1"), "{error}");
}
