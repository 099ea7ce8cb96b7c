//! Settings of the penalty of a ridge readout.

mod serialization;

use crate::formatting::number;
use crate::{Error, Readout, Result, saved, setting};
use serde::Serialize;
use serialization::{AutoGridKeyword, Ends, Grid, Outputs, Range};
use std::ops::RangeInclusive;

/// The penalty λ: one value, by `Lambda::from(0.1)`, or several with a choice among them.
///
/// By default, one of several is taken for a whole walk if cross-validation chooses the size, else for every subset.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Lambda(LambdaForm);

/// The forms of λ in files.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
enum LambdaForm {
    One(f64),
    Several(LambdaChoice),
}

/// Several values of λ in files, by exactly one of `grid`, `values` and `search`, and the scope of their choice.
#[saved]
#[derive(Clone, Default, PartialEq)]
#[serde(default)]
struct LambdaChoice {
    #[optional]
    grid: Option<Grid>,
    #[optional]
    points: Option<usize>,
    #[optional]
    extend: Option<bool>,
    #[optional]
    values: Option<Vec<f64>>,
    #[optional]
    search: Option<Range>,
    #[optional]
    per: Option<LambdaScope>,
    #[optional]
    outputs: Option<Outputs>,
}

/// For what one λ of several is taken.
#[setting]
#[derive(Copy, PartialEq, Eq)]
pub enum LambdaScope {
    /// For a whole walk, which is repeated for each λ.
    Path,
    /// For every subset, by its score.
    Subset,
    /// For all columns, by their score; the search is made at that λ.
    All,
}

/// Allowed numbers of values in a grid.
const POINTS: RangeInclusive<usize> = 2..=100_000;

impl Default for Lambda {
    fn default() -> Self {
        Lambda::from(1.0)
    }
}

impl From<f64> for Lambda {
    fn from(value: f64) -> Self {
        Lambda(LambdaForm::One(value))
    }
}

impl From<LambdaChoice> for Lambda {
    fn from(choice: LambdaChoice) -> Self {
        Lambda(LambdaForm::Several(choice))
    }
}

impl Lambda {
    /// Makes a grid of `points` values in geometric progression from `from` to `to`, both included.
    pub fn grid(from: f64, to: f64, points: usize) -> Self {
        let grid = Some(Grid::Ends(Ends { from, to, points }));
        LambdaChoice { grid, ..LambdaChoice::default() }.into()
    }

    /// Makes a list of values, in any order.
    pub fn one_of(values: Vec<f64>) -> Self {
        LambdaChoice { values: Some(values), ..LambdaChoice::default() }.into()
    }

    /// Makes a grid that is fitted to the design: it covers the eigenvalues of the Gram matrix.
    pub fn auto() -> Self {
        let grid = Some(Grid::Auto(AutoGridKeyword::Auto));
        LambdaChoice { grid, extend: Some(true), ..LambdaChoice::default() }.into()
    }

    /// Makes a search of any value between two ends by Brent's method, for every subset.
    pub fn search(from: f64, to: f64) -> Self {
        LambdaChoice { search: Some(Range { from, to }), ..LambdaChoice::default() }.into()
    }

    /// Takes one of several values for a whole walk, which is repeated for each.
    #[must_use]
    pub fn per_path(self) -> Self {
        self.with_choice(|choice| choice.per = Some(LambdaScope::Path))
    }

    /// Takes one of several values for every subset, by its score.
    #[must_use]
    pub fn per_subset(self) -> Self {
        self.with_choice(|choice| choice.per = Some(LambdaScope::Subset))
    }

    /// Takes one of several values by the score of all columns; the search is made at it.
    #[must_use]
    pub fn for_all_columns(self) -> Self {
        self.with_choice(|choice| choice.per = Some(LambdaScope::All))
    }

    /// Makes the criterion choose among several values for each output, for every subset.
    #[must_use]
    pub fn for_each_output(self) -> Self {
        self.with_choice(|choice| choice.outputs = Some(Outputs::Each))
    }

    fn with_choice(mut self, change: impl FnOnce(&mut LambdaChoice)) -> Self {
        if let LambdaForm::Several(choice) = &mut self.0 {
            change(choice);
        }
        self
    }

    /// The values, in increasing order. A search starts from two values per power of ten. A grid fitted to the design
    /// gives its values before the fit.
    ///
    /// # Errors
    /// [`Error::Setting`] on `lambda` for a value that is not positive and finite, or a grid without extent.
    pub fn values(&self) -> Result<Vec<f64>> {
        let positive = |field: &str, value: f64| {
            if value.is_finite() && value > 0.0 {
                return Ok(value);
            }
            Err(Error::setting(field, format!("{} is not a positive finite number", number(value))))
        };
        let ends = |field: &str, from: f64, to: f64| {
            positive(&format!("{field}.from"), from)?;
            positive(&format!("{field}.to"), to)?;
            match from < to {
                true => Ok(()),
                false => Err(Error::setting(field, format!("from is {from} and to is {to}; from must be smaller"))),
            }
        };
        let choice = match &self.0 {
            LambdaForm::One(value) => return Ok(vec![positive("lambda", *value)?]),
            LambdaForm::Several(choice) => choice,
        };
        match choice {
            LambdaChoice { grid: Some(Grid::Auto(_)), points, .. } => {
                let points = points.unwrap_or(13);
                Error::unless_between("lambda.grid.points", points, POINTS)?;
                Ok(geometric(1e-3, 1e3, points))
            }
            LambdaChoice { grid: Some(Grid::Ends(Ends { from, to, points })), .. } => {
                ends("lambda.grid", *from, *to)?;
                Error::unless_between("lambda.grid.points", *points, POINTS)?;
                Ok(geometric(*from, *to, *points))
            }
            LambdaChoice { search: Some(Range { from, to }), .. } => {
                ends("lambda.search", *from, *to)?;
                Ok(geometric(*from, *to, 2 * (to.log10() - from.log10()).ceil().max(1.0) as usize + 1))
            }
            LambdaChoice { values, .. } => {
                let numbered = values.iter().flatten().enumerate();
                let mut values: Vec<f64> =
                    numbered.map(|(k, &v)| positive(&format!("lambda.values[{k}]"), v)).collect::<Result<_>>()?;
                if values.is_empty() {
                    return Err(Error::setting("lambda.values", "at least one value is needed"));
                }
                values.sort_by(f64::total_cmp);
                values.dedup();
                Ok(values)
            }
        }
    }
}

impl Readout {
    /// Creates a readout from a setting of λ.
    ///
    /// # Errors
    /// [`Error::Setting`] on `lambda`.
    pub fn with_lambda(lambda: &Lambda, intercept: bool) -> Result<Self> {
        let readout = Readout::new(lambda.values()?, intercept)?;
        let LambdaForm::Several(choice) = &lambda.0 else { return Ok(readout) };
        let each_output = choice.outputs == Some(Outputs::Each);
        let auto = matches!(choice.grid, Some(Grid::Auto(_)));
        Ok(Readout {
            auto,
            points: choice.points,
            extend: auto && choice.extend.unwrap_or(true),
            per: if each_output { Some(LambdaScope::Subset) } else { choice.per },
            refine: choice.search.is_some(),
            each_output,
            ..readout
        })
    }
}

/// Returns `points` values in geometric progression, both ends included; `points` is at least 2.
pub fn geometric(from: f64, to: f64, points: usize) -> Vec<f64> {
    let last = points - 1;
    // Computed in powers of ten, so that round ends give round values.
    let (low, high) = (from.log10(), to.log10());
    let value = |k: usize| match k {
        0 => from,
        k if k == last => to,
        k => 10f64.powf(low + (high - low) * k as f64 / last as f64),
    };
    (0..points).map(value).collect()
}
