use vaglio_core::{Columns, Problem, Task, ndarray};

#[test]
fn selected_rows_keep_each_output_contiguous() {
    let mut columns = Columns::new(3);
    columns.push(vec![1.0, 2.0, 4.0]);
    let targets = ndarray::array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
    let names = vec!["a".into(), "b".into()];
    let problem = Problem::new(columns, vec!["x".into()], targets, names, Task::Regression).unwrap();
    assert_eq!(problem.select_rows(&[2, 0]).targets().row(1).as_slice(), Some(&[6.0, 4.0][..]));
}
