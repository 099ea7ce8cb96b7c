//! Differences within queries: RankRLS by every pair of rows of a query, beside the map `within`.

use crate::common::{Folder, near, solved};
use vaglio_testkit::SplitMix64;

const LAMBDA: f64 = 0.7;
const COLUMNS: usize = 3;

struct Document {
    query: usize,
    x: [f64; COLUMNS],
    y: f64,
}

fn documents() -> Vec<Document> {
    let mut random = SplitMix64::new(5);
    let mut all = Vec::new();
    for query in 0..9 {
        let (level, of_columns) = (10.0 * random.normal(), 3.0 * random.normal());
        for _ in 0..3 + query % 4 {
            let x: [f64; COLUMNS] = std::array::from_fn(|_| of_columns + random.normal());
            all.push(Document { query, x, y: level + 2.0 * x[0] - x[1] + 0.4 * random.normal() });
        }
    }
    all
}

fn file<'d>(all: impl IntoIterator<Item = &'d Document>) -> String {
    let line = |d: &Document| format!("q{},{},{},{},{}\n", d.query, d.x[0], d.x[1], d.x[2], d.y);
    format!("query,a,b,c,y\n{}", all.into_iter().map(line).collect::<String>())
}

/// Σ over pairs of one query of f(i, j)/n_q.
fn over_pairs(rows: &[&Document], mut add: impl FnMut(&Document, &Document, f64)) {
    for query in 0..9 {
        let own: Vec<&&Document> = rows.iter().filter(|d| d.query == query).collect();
        for i in 0..own.len() {
            (i + 1..own.len()).for_each(|j| add(own[i], own[j], 1.0 / own.len() as f64));
        }
    }
}

/// The weights of some columns that minimize the squared errors of differences, with the penalty.
fn ranking(rows: &[&Document], columns: &[usize]) -> Vec<f64> {
    let p = columns.len();
    let mut a = vec![vec![0.0; p + 1]; p];
    over_pairs(rows, |i, j, share| {
        let apart: Vec<f64> = columns.iter().map(|&f| i.x[f] - j.x[f]).chain([i.y - j.y]).collect();
        (0..p).for_each(|r| (0..=p).for_each(|c| a[r][c] += share * apart[r] * apart[c]));
    });
    (0..p).for_each(|r| a[r][r] += LAMBDA);
    solved(a).remove(0)
}

fn predicted(weights: &[f64], columns: &[usize], row: &Document) -> f64 {
    columns.iter().zip(weights).map(|(&f, w)| w * row.x[f]).sum()
}

fn pipeline(search: &str) -> String {
    format!(
        "version: 1\ndata: {{train: train.csv, target: y, series: query}}\npreprocess: [within]
learner: {{kind: rls, lambda: {LAMBDA}}}\ncriterion: {{kind: kfold, by: groups}}\nsearch: {search}"
    )
}

#[test]
fn leaving_each_query_out_scores_every_subset_by_the_pairs_of_its_rows() {
    let all = documents();
    let folder = Folder::new("within");
    folder.write("train.csv", file(&all));
    let record = folder.run(&pipeline("{kind: exhaustive, choose: last}"));
    // What all rows of a query share costs every subset the same.
    let gained = |columns: &[usize]| {
        let mut lost = 0.0;
        for query in 0..9 {
            let training: Vec<&Document> = all.iter().filter(|d| d.query != query).collect();
            let held: Vec<&Document> = all.iter().filter(|d| d.query == query).collect();
            let weights = ranking(&training, columns);
            over_pairs(&held, |i, j, share| {
                let (y, fit) = (i.y - j.y, predicted(&weights, columns, i) - predicted(&weights, columns, j));
                lost += share * (y * y - (y - fit) * (y - fit));
            });
        }
        lost / all.len() as f64
    };
    let empty = record["empty_score"].as_f64().unwrap();
    let path = record["path"].as_array().unwrap();
    assert_eq!(path.len(), COLUMNS);
    for entry in path {
        let subset = entry["subset"].as_array().unwrap();
        let subset: Vec<usize> = subset.iter().map(|f| f.as_u64().unwrap() as usize).collect();
        near(empty - entry["score"].as_f64().unwrap(), gained(&subset));
    }
}

#[test]
fn new_rows_are_ordered_within_their_query() {
    let all = documents();
    let (new, training): (Vec<&Document>, Vec<&Document>) = all.iter().partition(|d| d.query > 6);
    let folder = Folder::new("within_predict");
    folder.write("train.csv", file(training.iter().copied()));
    folder.write("new.csv", file(new.iter().copied()));
    folder.run(&pipeline("{kind: all, choose: last}"));
    folder.vaglio(&["predict", "--model", "out/model.json", "--data", "new.csv", "--out", "p.csv"]).succeeded();
    let lines = folder.read("p.csv");
    let told: Vec<f64> =
        lines.lines().skip(1).map(|line| line.split(',').next_back().unwrap().parse().unwrap()).collect();
    let columns = [0, 1, 2];
    let weights = ranking(&training, &columns);
    let mut pairs = 0;
    for i in 0..new.len() {
        for j in (0..i).filter(|&j| new[i].query == new[j].query) {
            let apart = predicted(&weights, &columns, new[i]) - predicted(&weights, &columns, new[j]);
            near(told[i] - told[j], apart);
            pairs += 1;
        }
    }
    assert!(pairs > 10);
}

#[test]
fn rows_without_series_are_refused() {
    let folder = Folder::new("within_refused");
    folder.write("train.csv", file(&documents()));
    folder.write("p.yaml", pipeline("all").replace(", series: query", ", exclude: [query]"));
    folder.vaglio(&["run", "p.yaml", "--out", "out"]).refused(2, "name their column in `data.series`");
}
