//! A criterion for vaglio.

use vaglio_core::Squared;
use vaglio_core::{Error, Result, prelude::*};

/// Mean squared error on the training rows, with a price for every column.
#[part(Criterion, "template")]
pub struct Template {
    /// Price of a column, as a share of the error without columns.
    #[default(0.01)]
    pub price: f64,
}

impl Criterion for Template {
    /// Scores a subset by definition, which is all that is needed; lower is better.
    fn evaluate(&self, design: &Design, subset: &[Feature]) -> Result<Score> {
        let rows: Vec<usize> = (0..design.rows()).collect();
        let error = |columns: &[Feature], lambda| -> Result<f64> {
            let predictions = design.retrain(&rows, &rows, columns, lambda)?;
            Ok(design.loss(&Squared, predictions.view()))
        };
        design.best_lambda(|lambda| Ok(error(subset, lambda)? + self.price * subset.len() as f64 * error(&[], lambda)?))
    }

    fn check_settings(&self) -> Result<()> {
        let is_price = self.price.is_finite() && self.price >= 0.0;
        if is_price { Ok(()) } else { Err(Error::setting("price", format!("{} is no price", self.price))) }
    }
}
