//! Datasets of linfa whose records are sparse: from the counts of its vectorizer to a selection.

use linfa::DatasetBase;
use linfa::traits::{Fit, Predict};
use linfa_preprocessing::CountVectorizer;
use ndarray::{Array1, Array2};
use sprs::CsMat;
use vaglio::prelude::*;
use vaglio::{FittedPipeline, Rows, SparseRecords};
use vaglio_testkit::SplitMix64;

const WORDS: [&str; 24] = [
    "wheat", "corn", "bank", "rate", "loss", "net", "share", "profit", "oil", "gas", "ship", "port", "tax", "bill",
    "sale", "unit", "note", "fund", "gold", "mine", "crop", "farm", "trade", "yen",
];

/// Documents of a few words each, of which `wheat` and `crop` make the class likely; every one has `the`.
fn documents() -> (Array1<String>, Array1<&'static str>) {
    let mut random = SplitMix64::new(12);
    let mut classes = Vec::new();
    let document = |_: usize| {
        let mut words: Vec<&str> =
            (0..3).map(|_| WORDS[(random.uniform() * WORDS.len() as f64) as usize]).chain(["the"]).collect();
        let is_grain = words.iter().any(|word| ["wheat", "crop"].contains(word)) ^ (random.uniform() < 0.05);
        if is_grain && random.uniform() < 0.3 {
            words.push("wheat");
        }
        classes.push(if is_grain { "grain" } else { "other" });
        words.join(" ")
    };
    let documents = (0..150).map(document).collect();
    (documents, Array1::from(classes))
}

fn counts() -> (CsMat<usize>, Vec<String>, Array1<&'static str>) {
    let (documents, classes) = documents();
    let vectorizer = CountVectorizer::params().fit(&documents).unwrap();
    let counts = vectorizer.transform(&documents).unwrap();
    (counts, vectorizer.vocabulary().clone(), classes)
}

fn alike(sparse: &FittedPipeline<&'static str, ndarray::Ix1>, dense: &FittedPipeline<&'static str, ndarray::Ix1>) {
    assert_eq!(sparse.selected(), dense.selected());
    let (ours, theirs) = (&sparse.selection().unwrap().path, &dense.selection().unwrap().path);
    assert_eq!(ours.steps.len(), theirs.steps.len());
    for (a, b) in ours.steps.iter().zip(&theirs.steps) {
        assert!((a.score.loss - b.score.loss).abs() <= 1e-12, "{a:?} is not {b:?}");
    }
}

#[test]
fn counts_of_words_become_the_selection_of_the_dense_counts() {
    let (counts, names, classes) = counts();
    let dense: Array2<f64> = counts.to_dense().mapv(|count| count as f64);
    let dense = DatasetBase::new(dense, classes.clone()).with_feature_names(names.clone());
    let by_columns = counts.to_csc();
    for matrix in [&counts, &by_columns] {
        let records = SparseRecords::from(matrix.view());
        let sparse = DatasetBase::new(records, classes.clone()).with_feature_names(names.clone());
        for selector in [
            Selector::params(Loo::default(), Greedy::new(4), Rls::default()),
            Selector::params(KFold::new(5), Greedy::new(4), Rls::default()),
            Selector::params(KFold::new(5), Floating::new(4), Rls::default()),
            Selector::params(Loo::default().loss(ZeroOne), Greedy::new(3), Rls::default()),
        ] {
            let (ours, theirs) = (selector.fit(&sparse).unwrap(), selector.fit(&dense).unwrap());
            alike(&ours, &theirs);
            assert!(ours.selected().contains(&"wheat"), "{:?}", ours.selected());
            assert_eq!(ours.predict(&sparse), theirs.predict(&dense));
            assert_eq!(ours.predict(sparse.records()), theirs.predict(&dense));
        }
    }
}

#[test]
fn what_is_known_of_rows_and_what_is_wrong_with_them_is_told_as_of_arrays() {
    let (counts, _, classes) = counts();
    let records = SparseRecords::from(counts.view());
    let dataset = DatasetBase::new(records.clone(), classes);
    let pipeline = Pipeline::new(KFold::by_groups(), Greedy::new(2), Rls::default());
    let groups = Rows::new().groups((0..150).map(|row| row % 6));
    let fitted = pipeline.fit_with(&dataset, &groups).unwrap();
    assert_eq!(fitted.selected().len(), 2);
    let error = pipeline.fit_with(&dataset, &Rows::new().groups([1, 2])).err().unwrap().to_string();
    assert_eq!(error, "`Rows::groups` has 2 entries for 150 rows");
    let error = Selector::params(Loo::default(), Greedy::new(1), Rls::default())
        .fit(&DatasetBase::new(records, Array1::from(vec![0.5; 3])))
        .err()
        .unwrap();
    assert_eq!(error.to_string(), "the columns have 150 rows and the targets 3");
}
