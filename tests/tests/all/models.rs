//! Model files of every learner: what is saved is what predicts, and nothing else is taken for a model.

mod trained;

use crate::common::{Folder, Ran, case_stride, pipeline, ran, root, table};
use serde_json::{Value, json};
use std::process::Command;
use trained::models;
use vaglio::core::{Cells, ErrorClass};
use vaglio::files::{FileModel, PredictOptions};
use vaglio::pipeline::SavedModel;
use vaglio_cli as _;
use vaglio_tables::read::{ReadRequest, read_table};

/// The text of a model file with another content and its right checksum.
fn sealed(model: &str) -> String {
    let digest = blake3::hash(model.as_bytes());
    format!("{{\"schema\":\"vaglio.model/1\",\"digest\":\"blake3:{digest}\",\"model\":{model}}}\n")
}

fn content(text: &str) -> &str {
    let from = text.find(",\"model\":").unwrap() + ",\"model\":".len();
    text[from..].trim_end().strip_suffix('}').unwrap()
}

fn predict(folder: &Folder, model: &str) -> Ran {
    folder.vaglio(&["predict", "--model", model, "--data", "train.csv"])
}

#[test]
fn what_is_saved_is_read_written_and_predicted_bit_for_bit() {
    let (folder, models) = models("models-saved");
    for name in models {
        let text = folder.read(&name);
        assert_eq!(sealed(content(&text)), text);
        let model = SavedModel::read(&folder.path(&name)).unwrap();
        assert_eq!(model.to_text().unwrap(), text, "{name}");
        let table = read_table(&folder.path("train.csv"), &ReadRequest::only(model.sources.clone())).unwrap();
        let found = FileModel(&model).predict(table.clone()).unwrap().values;
        let again: SavedModel = serde_json::from_str(content(&text)).unwrap();
        let others = FileModel(&again).predict(table).unwrap().values;
        let bits = |values: &ndarray::Array2<f64>| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&found), bits(&others), "{name}");
        let ran = predict(&folder, &name);
        assert_eq!(ran.code, Some(0), "{name}: {}", ran.err);
        for (row, line) in ran.out.lines().skip(1).enumerate() {
            let cells: Vec<&str> = line.split(',').collect();
            for (output, value) in found.column(row).iter().enumerate() {
                assert_eq!(cells[output].parse::<f64>().unwrap().to_bits(), value.to_bits(), "{name} {row}");
            }
        }
    }
}

#[test]
fn a_model_of_a_part_that_is_not_held_names_its_crate() {
    let folder = Folder::new("models-foreign");
    folder.write("train.csv", table(30, 4, &[]));
    folder.write("p.yaml", pipeline("learner: knn\nsearch: {kind: greedy, max_features: 2, choose: last}"));
    folder.vaglio(&["run", "p.yaml", "--out", "out", "--quiet"]).succeeded();
    let text = folder.read("out/model.json");
    let parts: Value = serde_json::from_str::<Value>(content(&text)).unwrap()["parts"].clone();
    let version = env!("CARGO_PKG_VERSION");
    for (of, kind, package) in [
        ("ModelData", "neighbours", "vaglio-knn"),
        ("Learner", "knn", "vaglio-knn"),
        ("Criterion", "loo", "vaglio-validate"),
        ("SearchStrategy", "greedy", "vaglio-search"),
        ("Loss", "squared", "vaglio-core"),
    ] {
        let part = json!({"of": of, "kind": kind, "package": package, "version": version});
        assert!(parts.as_array().unwrap().contains(&part), "{part}\n{parts}");
    }
    let foreign = content(&text).replace("\"neighbours\"", "\"rff_model\"").replace("vaglio-knn", "vaglio-rff");
    folder.write("foreign.json", sealed(&foreign));
    let ran = predict(&folder, "foreign.json");
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{ran:?}");
    let expected = format!("it was made by `rff_model` of vaglio-rff {version}, which this program does not hold");
    assert!(ran.err.contains(&expected), "{}", ran.err);
}

#[test]
fn what_is_cut_or_changed_anywhere_is_refused() {
    let (folder, models) = models("models-cut");
    let refused = |bytes: &[u8], what: &str| {
        folder.write("bad.json", bytes);
        let error = match SavedModel::read(&folder.path("bad.json")) {
            Ok(_) => panic!("{what} is taken"),
            Err(error) => error,
        };
        assert_eq!(error.class(), ErrorClass::Data, "{what}: {error}");
        assert!(error.to_string().contains("bad.json: model refused: "), "{what}: {error}");
    };
    for name in models {
        let bytes = folder.read(&name).into_bytes();
        for cut in (0..bytes.len()).step_by(bytes.len() / 60 + 1).chain([bytes.len() - 1, bytes.len() - 2]) {
            refused(&bytes[..cut], &format!("{name} cut at {cut}"));
        }
        for at in (0..bytes.len()).step_by(97 * case_stride(2)) {
            for to in [b'0', b'"', 0xff, bytes[at] ^ 1] {
                let mut changed = bytes.clone();
                changed[at] = to;
                if changed != bytes {
                    refused(&changed, &format!("{name} with {to} at {at}"));
                }
            }
        }
    }
}

#[test]
fn files_that_are_no_models_are_refused_with_little_memory() {
    let (folder, models) = models("models-foreign");
    let good = folder.read(&models[0]);
    let nested = |open: &str, close: &str| open.repeat(100_000) + &close.repeat(100_000);
    folder.write("empty.json", "");
    folder.write("bytes.json", [0xff, 0xfe, 0x00, 0x41]);
    folder.write("null.json", "null");
    folder.write("list.json", nested("[", "]"));
    folder.write("open.json", "[".repeat(100_000));
    folder.write("map.json", nested("{\"a\":", "}").replace(":}", ":1}"));
    folder.write("sealed_list.json", sealed(&nested("[", "]")));
    folder.write("sealed_map.json", sealed(&("{\"a\":".repeat(100_000) + "1" + &"}".repeat(100_000))));
    let deep =
        content(&good).replacen("\"coefficients\":{", &format!("\"deep\":{},\"coefficients\":{{", nested("[", "]")), 1);
    folder.write("deep.json", sealed(&deep));
    let large = std::fs::File::create(folder.path("large.json")).unwrap();
    large.set_len(2 << 30).unwrap();
    for name in folder.files(".").into_iter().filter(|name| name.ends_with(".json")) {
        let ran = limited(&folder, &name);
        assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{name}: {ran:?}");
        assert!(ran.err.starts_with(&format!("error: {name}: model refused: ")), "{name}: {}", ran.err);
        assert!(ran.err.len() < 1000, "{name}: {}", ran.err.len());
    }
    limited(&folder, &models[0]).succeeded();
}

/// Predicts with 512 MiB of address space for data, where the system can limit it.
fn limited(folder: &Folder, model: &str) -> Ran {
    if !cfg!(target_os = "linux") {
        return predict(folder, model);
    }
    let program = folder.command(&[]).get_program().to_owned();
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v 524288; exec \"$0\" predict --model \"$1\" --data train.csv"]);
    command.arg(program).arg(model).current_dir(&folder.0).env("RAYON_NUM_THREADS", "1");
    ran(&mut command)
}

/// Every path of a tree, as JSON pointers.
fn pointers(value: &Value, path: &str, found: &mut Vec<String>) {
    found.push(path.to_owned());
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| pointers(value, &format!("{path}/{key}"), found)),
        // Long lists hold more of the same.
        Value::Array(list) => {
            for (k, value) in list.iter().enumerate().filter(|(k, _)| *k < 3 || k + 1 == list.len()) {
                pointers(value, &format!("{path}/{k}"), found);
            }
        }
        _ => {}
    }
}

/// Values that differ from a value by one change each.
fn changes(value: &Value) -> Vec<Value> {
    match value {
        Value::Number(_) => {
            [json!(-1), json!(0), json!(1u64 << 62), json!(1.5), json!(1e308), Value::Null, json!("1")].into()
        }
        Value::String(_) => vec![json!(""), json!("no such word"), json!(7), Value::Null],
        Value::Array(list) => {
            let shorter = list.split_last().map_or(Vec::new(), |(_, rest)| rest.to_vec());
            let longer = [list.clone(), list.last().cloned().into_iter().collect()].concat();
            let huge = json!([1u64 << 62, 1]);
            vec![Value::Array(shorter), Value::Array(longer), json!([]), huge, Value::Null, json!({})]
        }
        Value::Object(map) => {
            let mut all = vec![json!({}), json!([]), Value::Null];
            for key in map.keys() {
                let mut less = map.clone();
                less.shift_remove(key);
                all.push(Value::Object(less));
            }
            let mut more = map.clone();
            more.insert("no_such_key".into(), json!(1));
            all.push(Value::Object(more));
            all
        }
        _ => vec![json!(0), json!(true)],
    }
}

#[test]
fn sealed_files_of_any_content_never_panic_and_keep_memory() {
    let (folder, models) = models("models-sealed");
    let stride = case_stride(16);
    for (first, name) in models.into_iter().enumerate() {
        let text = folder.read(&name);
        let good: Value = serde_json::from_str(content(&text)).unwrap();
        let mut paths = Vec::new();
        pointers(&good, "", &mut paths);
        // Of long lists, such as those of support vectors, the first three.
        paths.retain(|path| path.split('/').all(|part| part.parse::<usize>().map_or(true, |at| at < 3)));
        // Models share most of their paths, so each begins at another.
        for path in paths.into_iter().skip(first % stride).step_by(stride) {
            for change in changes(good.pointer(&path).unwrap()) {
                let mut bad = good.clone();
                *bad.pointer_mut(&path).unwrap() = change.clone();
                if bad == good {
                    continue;
                }
                folder.write("bad.json", sealed(&bad.to_string()));
                let what = format!("{name} with {change} at {path}");
                // A panic or an allocation beyond all memory fails the test by itself.
                match SavedModel::read(&folder.path("bad.json")) {
                    Ok(model) => {
                        if let Ok(predictions) =
                            FileModel(&model).predict_file(&folder.path("train.csv"), &PredictOptions::default())
                        {
                            assert!(predictions.values.iter().all(|v| v.is_finite()), "{what}");
                            assert_eq!(predictions.values.dim(), (model.outputs.len(), 30), "{what}");
                            let (probabilities, intervals) = (model.calibration.is_some(), model.intervals.is_some());
                            let beside = PredictOptions { probabilities, intervals, ..PredictOptions::default() };
                            let _ = FileModel(&model).predict_file(&folder.path("train.csv"), &beside);
                        }
                    }
                    Err(error) => assert!(error.to_string().contains("bad.json: model refused: "), "{what}: {error}"),
                }
            }
        }
    }
}

#[test]
fn shapes_and_numbers_that_cannot_be_are_refused() {
    let (folder, models) = models("models-shapes");
    let stride = case_stride(6);
    for name in models {
        let text = folder.read(&name);
        let good: Value = serde_json::from_str(content(&text)).unwrap();
        let mut paths = Vec::new();
        pointers(&good, "", &mut paths);
        let mut tried = 0_usize;
        for path in paths {
            let old = good.pointer(&path).unwrap();
            let is_dim = path.ends_with("/dim");
            let is_list = ["/inputs", "/outputs"].contains(&path.as_str());
            let texts: Vec<String> = if is_dim {
                let huge = 1u64 << 62;
                [json!([huge, huge]), json!([huge, 0]), json!([0, huge]), json!([huge, 2]), json!([u64::MAX, u64::MAX])]
                    .iter()
                    .map(Value::to_string)
                    .collect()
            } else if is_list {
                vec!["[]".into(), "[\"x0\",\"x0\",\"x1\",\"x2\",\"x3\",\"x4\"]".into()]
            } else if old.is_f64() {
                vec!["NaN".into(), "1e999".into(), "-1e999".into(), "Infinity".into()]
            } else {
                continue;
            };
            for value in texts {
                tried += 1;
                if !tried.is_multiple_of(stride) {
                    continue;
                }
                let mut bad = good.clone();
                *bad.pointer_mut(&path).unwrap() = json!("here it stands");
                let bad = bad.to_string().replace("\"here it stands\"", &value);
                folder.write("bad.json", sealed(&bad));
                let error = match SavedModel::read(&folder.path("bad.json")) {
                    Ok(_) => panic!("{name} with {value} at {path} is taken"),
                    Err(error) => error,
                };
                assert_eq!(error.class(), ErrorClass::Data, "{path}");
                assert!(error.to_string().contains("bad.json: model refused: "), "{path}: {error}");
            }
        }
        assert!(tried > 10, "{name}");
        // As a process of its own, with little memory.
        let Some(dim) = text.find("\"dim\":[").map(|at| at + 7) else {
            assert!(["elastic_net", "tree"].iter().any(|kind| name.starts_with(kind)), "{name}");
            continue;
        };
        let end = dim + text[dim..].find(']').unwrap();
        let whole = format!("{}4611686018427387904,1{}", &text[..dim], &text[end..]);
        folder.write("dim.json", sealed(content(&whole)));
        let ran = limited(&folder, "dim.json");
        assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{name}: {ran:?}");
        assert!(ran.err.starts_with("error: dim.json: model refused: "), "{}", ran.err);
    }
}

#[test]
fn formulas_that_a_map_cannot_evaluate_are_refused() {
    let path = root().join("tests/models/maps.json");
    let text = SavedModel::read(&path).unwrap().to_text().unwrap();
    let good: Value = serde_json::from_str(content(&text)).unwrap();
    let (mut paths, mut tried) = (Vec::new(), 0);
    pointers(good.pointer("/maps").unwrap(), "/maps", &mut paths);
    for place in paths {
        let old = good.pointer(&place).unwrap();
        let change = match place.rsplit('/').next() {
            // Infinity is written as null.
            Some("number" | "expression") if place.contains("/made/") => Value::Null,
            // The numbers of levels in a formula need levels of the map.
            Some("levels") if !place.contains("/made/") && *old != json!([]) => json!([]),
            _ => continue,
        };
        tried += 1;
        let mut bad = good.clone();
        *bad.pointer_mut(&place).unwrap() = change;
        let error = SavedModel::from_text(&sealed(&bad.to_string()), &path).unwrap_err();
        assert!(error.to_string().contains("maps.json: model refused: "), "{place}: {error}");
    }
    assert!(tried > 10);
}

/// A search chooses two of many products: the model has the formulas of these, and so has the model of each fold.
#[test]
fn a_model_keeps_what_its_columns_are_made_of() {
    let folder = Folder::new("models-own");
    folder.write("train.csv", table(40, 6, &[]));
    let lines = "preprocess: [{kind: polynomial, columns: [x0, x1, x2, x3, x4, x5]}, standardize]\n\
                 search: {kind: greedy, max_features: 2, choose: last}\nevaluate: {nested: {folds: 4}, intervals: 0.8}";
    folder.write("p.yaml", pipeline(lines));
    folder.vaglio(&["run", "p.yaml", "--out", "out", "--quiet"]).succeeded();
    let model = &folder.json("out/model.json")["model"];
    let folds = model["intervals"]["folds"].as_array().unwrap();
    assert_eq!(folds.len(), 4);
    for model in folds.iter().chain([model]) {
        let mut inputs: Vec<&str> = model["inputs"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        inputs.sort_unstable();
        assert_eq!(inputs.len(), 2);
        let made = |map: usize| {
            let mut names: Vec<&str> = model["maps"][map]["made"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(|made| made["name"].as_str())
                .collect();
            names.sort_unstable();
            names
        };
        assert_eq!(made(1), inputs, "{model:#}");
        let products: Vec<&str> = inputs.iter().copied().filter(|name| name.contains(['*', '^'])).collect();
        assert_eq!(made(0), products, "{model:#}");
    }
}

#[test]
fn a_text_column_in_place_of_numbers_is_told() {
    let (folder, models) = models("models-text");
    let model = SavedModel::read(&folder.path(&models[0])).unwrap();
    let table = read_table(&folder.path("train.csv"), &ReadRequest::only(model.sources.clone())).unwrap();
    let cells = |name: &str, cells: Cells| {
        let text = name != "colour";
        (name.to_owned(), if text { Cells::Text(vec!["x".into(); cells.len()]) } else { cells })
    };
    let columns = table.columns().iter().map(|(name, old)| cells(name, old.clone())).collect();
    let wrong = vaglio::core::Table::new(columns).unwrap();
    assert_eq!(FileModel(&model).predict(wrong).unwrap_err().class(), ErrorClass::Data);
}

#[test]
fn files_of_an_earlier_program_are_read_and_predict_as_they_did() {
    let folder = root().join("tests/models");
    let rows = |kind: &str| folder.join(if kind == "maps" { "maps_rows.csv" } else { "rows.csv" });
    // The model `maps` has every map that formulas replaced.
    for kind in ["rls", "elm", "fs_ls_svm", "reservoir", "knn", "maps"] {
        let path = folder.join(format!("{kind}.json"));
        let expected = std::fs::read_to_string(folder.join(format!("{kind}.csv"))).unwrap();
        let model = SavedModel::read(&path).unwrap();
        let written = model.to_text().unwrap();
        let again = SavedModel::from_text(&written, &path).unwrap();
        assert_eq!(again.to_text().unwrap(), written, "{kind}");
        for model in [&model, &again] {
            let predictions = FileModel(model).predict_file(&rows(kind), &PredictOptions::default()).unwrap();
            assert_eq!(predictions.to_csv(true).unwrap(), expected, "{kind}");
        }
    }
}
