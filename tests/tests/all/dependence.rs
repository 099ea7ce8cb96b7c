//! The criteria of `vaglio-dependence` from the command line: the walks and scores that NumPy's plain loops have.

use crate::common::{Folder, root};
use serde_json::Value;
use vaglio_report::record::Record;

/// Runs a pipeline and compares its path with subsets and scores, in their order.
pub fn walks_along(folder: &Folder, yaml: &str, expected: &Value, on: &str) -> Value {
    let done = folder.run(yaml);
    let record: Record = serde_json::from_str(&folder.read("out/selection.json")).unwrap();
    let (path, expected) = (done["path"].as_array().unwrap(), expected.as_array().unwrap());
    assert_eq!(path.len(), expected.len(), "{on}");
    let sorted = |mut columns: Vec<u64>| {
        columns.sort_unstable();
        columns
    };
    for ((entry, subset), expected) in path.iter().zip(record.subsets()).zip(expected) {
        let [found, wanted] = [&entry["score"], &expected[1]].map(|v| v.as_f64().unwrap());
        assert!((found - wanted).abs() <= 1e-10 * wanted.abs(), "{on}: {found} is not {wanted}");
        let wanted = expected[0].as_array().unwrap().iter().filter_map(Value::as_u64).collect();
        assert_eq!(sorted(subset.iter().map(|&f| f as u64).collect()), sorted(wanted), "{on}");
    }
    done
}

/// `dependence.json` was made by `dependence.py` beside it.
#[test]
fn searches_find_what_plain_loops_find() {
    let expected: Value = serde_json::from_str(include_str!("dependence.json")).unwrap();
    let folder = Folder::new("dependence");
    for case in expected.as_array().unwrap() {
        let [table, target, criterion, search] = [0, 1, 2, 3].map(|k| case[k].as_str().unwrap());
        let data = root().join(format!("examples/data/{table}.csv"));
        let yaml = format!(
            "version: 1\ndata: {{train: {}, target: {target}}}\nlearner: rls\ncriterion: {criterion}\nsearch: {search}\n",
            data.display()
        );
        walks_along(&folder, &yaml, &case[4], &format!("{criterion} by {search}"));
    }
}
