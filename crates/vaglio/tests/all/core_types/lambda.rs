use vaglio_core::ndarray::array;
use vaglio_core::{Columns, Design, Error, Problem, Readout, Result, Score, Task};

fn refined(lambdas: &[f64], mut loss: impl FnMut(f64) -> Result<f64>) -> Result<Score> {
    let mut columns = Columns::new(2);
    columns.push(vec![1.0, 2.0]);
    let targets = array![[1.0, 3.0]];
    let problem = Problem::new(columns, vec!["x".into()], targets, vec!["y".into()], Task::Regression)?;
    let readout = Readout { refine: true, ..Readout::new(lambdas.to_vec(), true)? };
    Design::identity(&problem, readout).best_lambda(|lambda| loss(lambda.unwrap()))
}

#[test]
fn the_bottom_of_a_valley_is_found_between_grid_points() {
    let loss = |l: f64| Ok((l.ln() - 0.3).powi(2) + 2.0);
    let score = refined(&[1e-3, 1e-1, 10.0, 1e3], loss).unwrap();
    assert!((score.loss - 2.0).abs() < 1e-12 && (score.lambda.unwrap().ln() - 0.3).abs() < 1e-5, "{score:?}");
}

#[test]
fn ends_of_the_range_and_flat_losses_give_the_smallest_lambda() {
    assert_eq!(refined(&[1.0, 10.0, 100.0], Ok).unwrap(), Score { loss: 1.0, lambda: Some(1.0) });
    let high = refined(&[1.0, 10.0, 100.0], |l| Ok(-l)).unwrap();
    assert_eq!(high, Score { loss: -100.0, lambda: Some(100.0) });
    assert_eq!(refined(&[1.0, 10.0, 100.0], |_| Ok(5.0)).unwrap(), Score { loss: 5.0, lambda: Some(1.0) });
}

#[test]
fn errors_come_through() {
    let failing = |l: f64| if l == 1.0 || l == 10.0 { Ok(l) } else { Err(Error::Numerical("overflow".into())) };
    assert!(matches!(refined(&[1.0, 10.0], failing), Err(Error::Numerical(m)) if m == "overflow"));
}
