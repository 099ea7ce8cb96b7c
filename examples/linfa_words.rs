//! Word counts of linfa's vectorizer as sparse records of a dataset.
//!
//! `cargo run -p vaglio-examples linfa_words`

use linfa::prelude::*;
use linfa_preprocessing::CountVectorizer;
use ndarray::array;
use vaglio::SparseRecords;
use vaglio::prelude::*;

/// Selects the word that predicts the stars of a review.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let reviews = array![
        "so good and so short",
        "bad and long",
        "good actors in a good story, good music",
        "a bad story",
        "good good good good",
        "short and bad, so bad"
    ];
    let stars = array![1.0, 0.1, 2.9, 0.0, 4.1, 0.0];
    // ANCHOR: words
    let vectorizer = CountVectorizer::params().fit(&reviews)?;
    let counts = vectorizer.transform(&reviews)?;
    let records = SparseRecords::from(counts.view());
    let dataset = DatasetBase::new(records, stars).with_feature_names(vectorizer.vocabulary().clone());
    let fitted = Selector::params(Loo::default(), Greedy::new(1), Rls::new(0.1)).fit(&dataset)?;
    println!("{:?}", fitted.selected());
    // ANCHOR_END: words
    assert_eq!(fitted.selected(), ["good"]);
    assert_eq!(fitted.predict(&dataset).len(), reviews.len());
    Ok(())
}
