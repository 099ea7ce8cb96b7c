//! A loss for vaglio.

use vaglio_core::{Error, Result, prelude::*};

/// The mean of a power of the errors.
#[part(Loss, "template")]
pub struct Template {
    /// 1 for the absolute error, 2 for the squared error.
    #[default(1.5)]
    pub power: f64,
}

impl Loss for Template {
    fn row_loss(&self, targets: &[f64], predictions: &[f64]) -> f64 {
        targets.iter().zip(predictions).map(|(y, p)| (y - p).abs().powf(self.power)).sum()
    }

    fn check_settings(&self) -> Result<()> {
        let is_power = self.power.is_finite() && self.power > 0.0;
        if is_power { Ok(()) } else { Err(Error::setting("power", format!("{} is not positive", self.power))) }
    }
}
