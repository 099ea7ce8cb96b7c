use vaglio_core::{Lambda, serde_json};

#[test]
fn a_grid_is_geometric_with_both_ends() {
    let values = Lambda::grid(1e-3, 1e3, 7).values().unwrap();
    assert_eq!((values[0], values[6]), (1e-3, 1e3));
    assert_eq!(values[3], 1.0);
}

#[test]
fn values_that_are_not_positive_are_refused_by_place() {
    let error = Lambda::one_of(vec![1.0, -2.0]).values().unwrap_err();
    assert_eq!(error.field(), Some("lambda.values[1]"));
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Lambda::from(bad).values().is_err());
    }
    assert!(Lambda::grid(2.0, 1.0, 3).values().is_err());
    assert_eq!(Lambda::search(2.0, 1.0).values().unwrap_err().field(), Some("lambda.search"));
}

#[test]
fn a_search_starts_from_two_values_for_each_power_of_ten() {
    let values = Lambda::search(1e-2, 1e1).values().unwrap();
    assert_eq!((values.len(), values[0], values[6]), (7, 1e-2, 1e1));
}

#[test]
fn every_form_reads_back() {
    for text in [
        "0.5",
        r#"{"grid":{"from":0.1,"to":10.0,"points":5}}"#,
        r#"{"grid":{"from":0.1,"to":10.0,"points":5},"per":"path"}"#,
        r#"{"grid":"auto","extend":true}"#,
        r#"{"grid":"auto","points":7,"extend":false,"per":"path"}"#,
        r#"{"grid":"auto","extend":true,"outputs":"each"}"#,
        r#"{"values":[1.0,2.0]}"#,
        r#"{"values":[1.0,2.0],"per":"subset"}"#,
        r#"{"values":[1.0,2.0],"per":"all"}"#,
        r#"{"search":{"from":0.1,"to":10.0}}"#,
        r#"{"search":{"from":0.1,"to":10.0},"outputs":"each"}"#,
        r#"{"values":[1.0,2.0],"per":"subset","outputs":"each"}"#,
    ] {
        let lambda: Lambda = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&lambda).unwrap(), text);
    }
    for bad in [
        r#"{"search":{"from":1,"to":2,"points":3}}"#,
        r#"{"search":{"from":1,"to":2},"per":"path"}"#,
        r#"{"search":{"from":1,"to":2},"per":"all"}"#,
        r#"{"values":[1.0],"per":"all","outputs":"each"}"#,
        r#"{"values":[1.0],"search":{"from":1,"to":2}}"#,
        r#"{"per":"path"}"#,
        r#"{"grid":"automatic"}"#,
        r#"{"grid":{"from":0.1,"to":10.0,"points":5},"extend":true}"#,
        r#"{"values":[1.0],"points":3}"#,
        r#"{"values":[1.0],"per":"path","outputs":"each"}"#,
    ] {
        assert!(serde_json::from_str::<Lambda>(bad).is_err(), "{bad}");
    }
}
