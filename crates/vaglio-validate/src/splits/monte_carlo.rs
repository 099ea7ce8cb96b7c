//! Monte Carlo cross-validation: random held-out rows, many times.

use super::check_repeats;
use vaglio_core::shuffle::{random_order, stream};
use vaglio_core::{
    Classes, Error, Problem, Resampling, ResamplingTraits, Result, Split, number_labels, part, rows_by_label,
};

/// Monte Carlo cross-validation: holds out a random part of the rows, many times. A row may be held out several times, or
/// never. If the data have groups, a part of the groups is held out.
///
/// # Reference
/// R. Picard, R. Cook, *Cross-validation of regression models*, Journal of the American Statistical Association 79, 1984.
#[part(
    Resampling,
    "monte_carlo",
    summary = "a random part of the rows, many times",
    example = "criterion: {kind: kfold, splits: {kind: monte_carlo, repeats: 20, fraction: 0.2}}"
)]
#[derive(PartialEq)]
pub struct MonteCarlo {
    /// How many times.
    #[schemars(extend("minimum" = 1, "maximum" = vaglio_core::MOST_REPEATS))]
    #[default(20)]
    pub repeats: usize,
    /// The part of the rows, or groups, that is held out.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    #[default(0.2)]
    pub fraction: f64,
}

impl MonteCarlo {
    /// Holds out a fifth of the rows, `repeats` times.
    pub fn new(repeats: usize) -> Self {
        MonteCarlo { repeats, ..MonteCarlo::default() }
    }
}

/// Purpose number that separates the seeds of repeats from other uses.
const REPEAT: u64 = 5;

impl MonteCarlo {
    /// The first units in an order, their share rounded to the nearest number.
    fn first<'u>(&self, units: &'u [usize]) -> &'u [usize] {
        &units[..(self.fraction * units.len() as f64).round() as usize]
    }
}

impl Resampling for MonteCarlo {
    fn splits(&self, problem: &Problem, classes: Option<&Classes>) -> Result<Vec<Split>> {
        check_repeats(self.repeats, problem.rows())?;
        // Without groups, each row is a unit.
        let units = problem.groups().map(|groups| rows_by_label(&number_labels(groups).0));
        let (count, what) = units.as_ref().map_or((problem.rows(), "rows"), |units| (units.len(), "groups"));
        let split = |repeat: usize| -> Result<Split> {
            let order = random_order(count, stream(problem.seed(), REPEAT, repeat as u64));
            let held_out: Vec<usize> = match (&units, classes) {
                (Some(units), _) => self.first(&order).iter().flat_map(|&unit| &units[unit]).copied().collect(),
                (None, Some(classes)) => (0..classes.names.len())
                    .flat_map(|class| {
                        let members: Vec<usize> =
                            order.iter().copied().filter(|&row| classes.per_row[row] == class).collect();
                        self.first(&members).to_vec()
                    })
                    .collect(),
                (None, None) => self.first(&order).to_vec(),
            };
            match held_out.len() {
                0 => Err(Error::setting("fraction", format!("{} of {count} {what} is none", self.fraction))),
                all if all == problem.rows() => {
                    Err(Error::setting("fraction", format!("{} of {count} {what} is all of them", self.fraction)))
                }
                _ => Ok(Split::holding_out(held_out)),
            }
        };
        (0..self.repeats).map(split).collect()
    }

    fn traits(&self) -> ResamplingTraits {
        let MonteCarlo { repeats, fraction } = self;
        let sentence = format!("{repeats} times a part of {fraction} of the rows, predicted from the others");
        ResamplingTraits { can_stratify: true, sentence: Some(sentence), ..ResamplingTraits::default() }
    }

    fn check_settings(&self) -> Result<()> {
        check_repeats(self.repeats, 0)?;
        Error::unless_share("fraction", self.fraction)
    }
}
