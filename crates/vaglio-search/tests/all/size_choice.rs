//! Rules for the size.

use vaglio_core::serde_json;
use vaglio_search::{Choose, CrossValidation};

#[test]
fn every_form_reads_back() {
    for text in
        [r#""auto""#, r#""best""#, r#""one_se""#, "7", r#"{"rule":"one_se","folds":3,"repeats":2,"patience":10}"#]
    {
        let choose: Choose = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&choose).unwrap(), text);
    }
    let short: Choose = serde_json::from_str(r#"{"folds":10}"#).unwrap();
    assert_eq!(short, Choose::CrossValidated(CrossValidation { folds: 10, ..CrossValidation::default() }));
    for bad in [r#""bets""#, "-1", r#"{"fold":5}"#, r#"{"rule":"last"}"#] {
        assert!(serde_json::from_str::<Choose>(bad).is_err(), "{bad}");
    }
}
