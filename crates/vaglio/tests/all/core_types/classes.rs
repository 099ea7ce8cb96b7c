use ndarray::array;
use vaglio_core::ClassOrder;

#[test]
fn a_tie_is_called_the_most_frequent_class_and_then_the_first() {
    let two = ClassOrder::new(array![[1.0, 1.0, -1.0]].view(), None);
    for (prediction, class) in [(1e-16, 1), (-1e-16, 1), (0.0, 1), (1e-9, 1), (-1e-9, 0)] {
        assert_eq!(two.class_of(array![prediction].view()), class, "{prediction}");
    }
    let rare = ClassOrder::new(array![[1.0, 1.0, -1.0]].view(), Some(&[1.0, 1.0, 3.0]));
    assert_eq!([1e-16, -1e-16, 1e-9].map(|p| rare.class_of(array![p].view())), [0, 0, 1]);
    let targets = array![[1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]];
    let three = ClassOrder::new(targets.view(), None);
    assert_eq!(three.class_of(array![0.3, 0.3, 0.3].view()), 0);
    assert_eq!(three.class_of(array![0.1, 0.3, 0.3 + 1e-15].view()), 1);
    let last = ClassOrder::new(targets.view(), Some(&[2.0, 1.0, 3.0]));
    assert_eq!(last.class_of(array![0.1, 0.3, 0.3 - 1e-15].view()), 2);
    assert_eq!(ClassOrder::default().class_of(array![0.0].view()), 0);
}
