//! The criteria of `vaglio-dependence` from the command line: the walks and scores that NumPy's plain loops have.

use crate::common::{Folder, root};
use serde_json::Value;

/// `dependence.json` was made by `dependence.py` beside it.
#[test]
fn searches_find_what_plain_loops_find() {
    let expected: Value = serde_json::from_str(include_str!("dependence.json")).unwrap();
    let folder = Folder::new("dependence");
    for case in expected.as_array().unwrap() {
        let [table, target, criterion, search] = [0, 1, 2, 3].map(|k| case[k].as_str().unwrap());
        let data = root().join(format!("examples/data/{table}.csv"));
        folder.write(
            "p.yaml",
            format!(
                "version: 1\ndata: {{train: {}, target: {target}}}\nlearner: rls\ncriterion: {criterion}\nsearch: {search}\n",
                data.display()
            ),
        );
        let ran = folder.vaglio(&["run", "p.yaml", "--out", "out", "--json"]);
        assert_eq!(ran.code, Some(0), "{criterion}\n{}", ran.err);
        let record: vaglio_report::record::Record = serde_json::from_str(&ran.out).unwrap();
        let path: Value = serde_json::from_str::<Value>(&ran.out).unwrap()["path"].clone();
        let wanted = case[4].as_array().unwrap();
        assert_eq!(path.as_array().unwrap().len(), wanted.len(), "{criterion} by {search}");
        for ((entry, subset), wanted) in path.as_array().unwrap().iter().zip(record.subsets()).zip(wanted) {
            let [found, value] = [&entry["score"], &wanted[1]].map(|v| v.as_f64().unwrap());
            assert!((found - value).abs() <= 1e-10 * value.abs(), "{criterion} by {search}: {found} is not {value}");
            let mut columns: Vec<u64> = wanted[0].as_array().unwrap().iter().filter_map(Value::as_u64).collect();
            let mut subset: Vec<u64> = subset.iter().map(|&f| f as u64).collect();
            columns.sort_unstable();
            subset.sort_unstable();
            assert_eq!(subset, columns, "{criterion} by {search}");
        }
    }
}
