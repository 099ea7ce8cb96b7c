//! A criterion of your own that holds rows out: concordance with censored rows.
//!
//! `cargo run -p vaglio-examples own_held_out`

use vaglio::{
    Pipeline,
    learners::Rls,
    search::{Choose, Greedy},
};

// ANCHOR: definition
use vaglio_core::{Error, Result, prelude::*, row_weights};

/// Share of held-out pairs that are predicted in the wrong order: 1 − Harrell's C.
#[part(Criterion, "concordance", summary = "how many pairs of rows held out are in the wrong order")]
pub struct Concordance {
    /// Number of folds; rows are assigned in turn.
    #[default(5)]
    folds: usize,
    /// Column with `1` if a row's end was observed and `0` if it is censored.
    event: Option<String>,
}

impl Criterion for Concordance {
    fn check_settings(&self) -> Result<()> {
        Error::unless_between("folds", self.folds, 2..=1_000_000)
    }

    /// Column to read besides the candidates, and its allowed words, numbered in this order.
    fn traits(&self) -> CriterionTraits {
        CriterionTraits { assignment: self.event.clone(), assignment_words: &["0", "1"], ..CriterionTraits::default() }
    }

    /// Fold of each row.
    fn folds(&self, design: &Design) -> Result<HeldOut> {
        let fold = |row: usize| Some((row % self.folds) as u32);
        Ok(HeldOut::Folds(vec![Round::new((0..design.rows()).map(fold).collect())]))
    }

    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        let (rows, targets) = (design.rows(), design.targets());
        design.best_lambda(|lambda| {
            let mut predicted = targets.to_owned();
            for fold in 0..self.folds {
                let (held_out, training): (Vec<usize>, Vec<usize>) =
                    (0..rows).partition(|row| row % self.folds == fold);
                let predictions = design.retrain(&training, &held_out, subset, lambda)?;
                for (&row, column) in held_out.iter().zip(predictions.columns()) {
                    predicted.column_mut(row).assign(&column);
                }
            }
            let outputs = targets.rows().into_iter().zip(predicted.rows());
            let shares = outputs.map(|(y, predicted)| self.wrong(design, &y.to_vec(), &predicted.to_vec()));
            Ok(shares.sum::<f64>() / targets.nrows() as f64)
        })
    }
}

impl Concordance {
    fn wrong(&self, design: &Design, y: &[f64], predicted: &[f64]) -> f64 {
        let weight = row_weights(design.weights());
        let is_seen = |row: usize| {
            self.event.is_none() || design.problem().labels().assignment.as_ref().is_none_or(|event| event[row] == 1)
        };
        let (mut wrong, mut pairs) = (0.0, 0.0);
        for (i, j) in (0..y.len()).flat_map(|i| (0..y.len()).map(move |j| (i, j))) {
            // The end of the earlier row must be observed.
            if y[i] < y[j] && is_seen(i) {
                let both = weight(i) * weight(j);
                pairs += both;
                wrong += both * if predicted[i] == predicted[j] { 0.5 } else { f64::from(predicted[i] > predicted[j]) };
            }
        }
        if pairs > 0.0 { wrong / pairs } else { 0.5 }
    }
}
// ANCHOR_END: definition

/// Selects three columns by the order of patients.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dataset = vaglio_examples::diabetes()?;
    let search = Greedy::new(3).choose(Choose::Last);
    let fitted = linfa::prelude::Fit::fit(&Pipeline::new(Concordance::default(), search, Rls::default()), &dataset)?;
    println!("{}", fitted.selected().join(", "));
    assert!(fitted.selected().contains(&"bmi"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use vaglio_core::{Columns, RowLabels};

    #[test]
    fn it_keeps_the_laws() -> Result<(), vaglio_testkit::LawViolation> {
        vaglio_testkit::check_criterion_on_standard_data(&Concordance::default(), 1e-9)
    }

    #[test]
    fn pairs_whose_earlier_end_was_not_seen_do_not_count() {
        let given = Concordance { event: Some("seen".into()), ..Concordance::default() };
        let mut columns = Columns::new(3);
        columns.push(vec![1.0, 2.0, 3.0]);
        let targets = vaglio_core::ndarray::array![[1.0, 2.0, 3.0]];
        let problem = Problem::new(columns, vec!["x".into()], targets, vec!["y".into()], Task::Regression).unwrap();
        let labels = RowLabels { assignment: Some([0, 1, 1].into()), ..RowLabels::default() };
        let problem = problem.with_labels(labels).unwrap();
        let design = Design::identity(&problem, Readout::new(vec![1.0], true).unwrap());
        let (y, predicted) = ([1.0, 2.0, 3.0], [3.0, 1.0, 2.0]);
        assert_eq!(given.wrong(&design, &y, &predicted), 0.0);
        assert_eq!(Concordance::default().wrong(&design, &y, &predicted), 2.0 / 3.0);
    }
}
