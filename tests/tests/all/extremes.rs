//! The largest and the least number in every setting of the schema: a run ends with a result or a sentence.

use crate::common::{Folder, case_stride, pipeline, ran, table};
use serde_json::{Map, Value, json};

/// Settings that hold other parts, whose numbers are tried by themselves.
const ROLES: [&str; 7] = ["Criterion", "Search", "Learner", "Map", "TargetMap", "Loss", "Resampling"];

/// The places of numbers below a schema, as keys; an empty one is an entry of a list.
fn numbers(all: &Map<String, Value>, schema: &Value, place: &[String], out: &mut Vec<Vec<String>>) {
    if let Some(name) = schema["$ref"].as_str().and_then(|name| name.strip_prefix("#/$defs/")) {
        if !ROLES.contains(&name) {
            numbers(all, &all[name], place, out);
        }
        return;
    }
    let is_number = |kind: &Value| matches!(kind.as_str(), Some("integer" | "number"));
    if is_number(&schema["type"]) || schema["type"].as_array().is_some_and(|kinds| kinds.iter().any(is_number)) {
        out.push(place.to_vec());
    }
    let below = |key: &str| [place, &[key.to_owned()]].concat();
    for (key, own) in schema["properties"].as_object().into_iter().flatten().filter(|(key, _)| *key != "kind") {
        numbers(all, own, &below(key), out);
    }
    for word in ["anyOf", "oneOf"] {
        schema[word].as_array().into_iter().flatten().for_each(|own| numbers(all, own, place, out));
    }
    if schema["items"].is_object() {
        numbers(all, &schema["items"], &below(""), out);
    }
}

/// A value at a place.
fn at(place: &[String], value: &Value) -> Value {
    place.iter().rev().fold(value.clone(), |value, key| match key.as_str() {
        "" => json!([value]),
        key => json!({ key: value }),
    })
}

/// The pipelines with one number in each setting, and in which.
fn pipelines(schema: &Value, value: &Value) -> Vec<(String, Value)> {
    let all = schema["$defs"].as_object().unwrap();
    let mut out = Vec::new();
    let base = json!({"version": 1, "data": {"train": "train.csv", "target": "y"}, "limits": {"time": 0.2}});
    let with = |key: &str, value: Value| {
        let mut pipeline = base.clone();
        pipeline[key] = value;
        pipeline
    };
    for role in ROLES {
        for part in all[role]["allOf"].as_array().unwrap() {
            let Some(kind) = part["if"]["properties"]["kind"]["const"].as_str() else { continue };
            let mut places = Vec::new();
            numbers(all, &part["then"], &[], &mut places);
            places.sort();
            places.dedup();
            // What every search and every readout has is tried once.
            let is_shared = |place: &Vec<String>| match role {
                "Search" => place[0] != "repeats" && place[0] != "penalties" && kind != "greedy",
                "Learner" => place[0] == "lambda" && kind != "rls",
                _ => false,
            };
            places.retain(|place| !is_shared(place));
            for place in places {
                let mut part = at(&place, value);
                part["kind"] = kind.into();
                let pipeline = match role {
                    "Loss" => with("criterion", json!({"kind": "kfold", "loss": part})),
                    "Resampling" => with("criterion", json!({"kind": "kfold", "splits": part})),
                    "Map" => with("preprocess", json!([part])),
                    "TargetMap" => with("target_map", part),
                    _ => with(&role.to_lowercase(), part),
                };
                out.push((format!("{role} {kind} {place:?}"), pipeline));
            }
        }
    }
    for (name, key) in [("Evaluate", "evaluate"), ("Tune", "tune"), ("EngineSpec", "engine"), ("Limits", "limits")] {
        let mut places = Vec::new();
        numbers(all, &all[name], &[], &mut places);
        out.extend(places.iter().map(|place| (format!("{name} {place:?}"), with(key, at(place, value)))));
    }
    out
}

#[test]
fn every_setting_takes_or_refuses_the_largest_and_the_least_number() {
    let folder = Folder::new("extremes");
    folder.write("train.csv", table(40, 4, &[]));
    let schema: Value = serde_json::from_str(&folder.vaglio(&["schema"]).out).unwrap();
    let (stride, mut count, mut failed) = (case_stride(3), 0, Vec::new());
    for (first, value) in [json!(u64::MAX), json!(0), json!(1_000_000)].into_iter().enumerate() {
        for (place, pipeline) in pipelines(&schema, &value).into_iter().skip(first % stride).step_by(stride) {
            folder.write("p.yaml", pipeline.to_string());
            // Where not all cases are tried, every second one is planned as well.
            let commands = [&["run", "p.yaml", "--quiet", "--threads", "1"][..], &["plan", "p.yaml"]];
            for command in commands.into_iter().take(if stride == 1 { 2 } else { 1 + count % 2 }) {
                let begun = std::time::Instant::now();
                let ran = ran(&mut folder.command(command));
                let seconds = begun.elapsed().as_secs_f64();
                if !matches!(ran.code, Some(0 | 2..=5)) || seconds > 30.0 {
                    failed.push(format!("{} {place} {value}: {seconds} s, {:?}, {}", command[0], ran.code, ran.err));
                }
            }
            count += 1;
        }
    }
    assert!(count * stride > 200, "{count}");
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn the_map_of_a_learner_ends_with_the_limit_of_time() {
    let folder = Folder::new("map_limit");
    folder.write("train.csv", table(300, 3, &[]));
    let lines = "learner: {kind: reservoir, units: 20000}\ncriterion: loo\nsearch: {kind: greedy, max_features: 2}\nlimits: {time: 1s}";
    folder.write("p.yaml", pipeline(lines));
    let begun = std::time::Instant::now();
    let ran = folder.vaglio(&["run", "p.yaml"]);
    assert!(begun.elapsed().as_secs_f64() < 30.0);
    assert_eq!(ran.code, Some(5), "{}", ran.err);
    assert!(ran.err.contains("the run was stopped, since a limit was hit"), "{}", ran.err);
    assert!(!folder.path("runs/p/selection.json").exists());
}
