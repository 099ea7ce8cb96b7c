use vaglio_core::{Columns, Model, serde_json};

const GOOD: &str = r#"{"kind":"linear","inputs":[3,1],"lambda":0.5,"coefficients":{"weights":{"v":1,"dim":[2,1],"data":[1.0,2.0]},"intercept":[0.5]}}"#;

#[test]
fn a_file_whose_parts_do_not_fit_is_refused() {
    let linear: Model = serde_json::from_str(GOOD).unwrap();
    assert_eq!(serde_json::to_string(&linear).unwrap(), GOOD);
    for (from, to) in [("[3,1]", "[3]"), ("[0.5]", "[]"), ("[2,1]", "[1,2]"), ("\"lambda\"", "\"lamda\"")] {
        assert!(serde_json::from_str::<Model>(&GOOD.replacen(from, to, 1)).is_err(), "{to}");
    }
}

#[test]
fn a_model_takes_as_many_columns_as_it_reads() {
    let model: Model = serde_json::from_str(GOOD).unwrap();
    let mut columns = Columns::new(1);
    for count in 0..4 {
        assert_eq!(model.predict(&columns, None).is_ok(), count == 2);
        assert_eq!(model.features(&columns, None).is_ok(), count == 2);
        columns.push(vec![1.0]);
    }
}
