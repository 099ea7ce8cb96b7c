use ndarray::array;
use vaglio_core::{Auc, Loss, ndarray};

#[test]
fn auc_is_the_same_for_targets_in_any_layout() {
    let every_second = array![[1.0, 9.0, -1.0, 9.0, 1.0]];
    let targets = every_second.slice(ndarray::s![.., ..;2]);
    let predictions = array![[0.9, 0.5, 0.1]];
    assert_eq!(Auc.mean(targets, predictions.view(), None), 0.5);
}
