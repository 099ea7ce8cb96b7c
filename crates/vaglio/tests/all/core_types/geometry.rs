use vaglio_core::{Columns, Design, Geometry, Problem, Readout, Task, ndarray};
use vaglio_search::correlation;

#[test]
fn columns_have_correlation_one_with_themselves_and_a_weight_of_two_is_the_row_twice() {
    let design = |rows: &[usize], weights: Option<Vec<f64>>| {
        let mut columns = Columns::new(rows.len());
        let pick = |all: [f64; 4]| rows.iter().map(|&r| all[r]).collect::<Vec<_>>();
        columns.push(pick([1.0, 2.0, 4.0, -1.0]));
        columns.push(pick([0.5, 0.0, 3.0, 7.0]));
        columns.push(pick([2.0; 4]));
        let y = ndarray::Array2::from_shape_vec((1, rows.len()), pick([0.0, 1.0, 5.0, 2.0])).unwrap();
        let names = vec!["a".into(), "b".into(), "c".into()];
        let problem = Problem::new(columns, names, y, vec!["y".into()], Task::Regression).unwrap();
        let problem = weights.map_or(problem.clone(), |w| problem.with_weights(w).unwrap());
        Design::identity(&problem, Readout::new(vec![1.0], true).unwrap())
    };
    let twice = correlation(&design(&[0, 1, 1, 2, 3], None));
    let weighted = correlation(&design(&[0, 1, 2, 3], Some(vec![1.0, 2.0, 1.0, 1.0])));
    let (a, b) = (twice.gram(0).unwrap(), weighted.gram(0).unwrap());
    assert!((a[0] - 1.0).abs() < 1e-15 && a[2] == 0.0 && (a[1] - b[1]).abs() < 1e-15);
    let (a, b) = (twice.relevances().unwrap().concat(), weighted.relevances().unwrap().concat());
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-15));
}
