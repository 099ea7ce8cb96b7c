//! Settings of the penalty of a ridge readout.

mod serialization;

use crate::formatting::number;
use crate::{Error, Result, setting};
use std::ops::RangeInclusive;

/// The penalty λ: one value, or several among which the criterion selects.
#[derive(Debug, Clone, PartialEq)]
pub enum Lambda {
    /// One value.
    Fixed(f64),
    /// `points` values in geometric progression, both ends included.
    Grid {
        /// The smallest value.
        from: f64,
        /// The largest value.
        to: f64,
        /// Number of values, at least 2.
        points: usize,
        /// The scope of a choice among them.
        per: Option<LambdaScope>,
    },
    /// A grid in geometric progression that covers the eigenvalues of the design's Gram matrix.
    Auto(AutoGrid),
    /// A list of values.
    Values {
        /// The values, in any order.
        values: Vec<f64>,
        /// The scope of a choice among them.
        per: Option<LambdaScope>,
    },
    /// Any value between two ends, found for every subset by Brent's method.
    Search {
        /// The smallest value.
        from: f64,
        /// The largest value.
        to: f64,
    },
    /// A separate choice for each output, by the criterion, for every subset. The inner value is never
    /// [`Lambda::Fixed`] or [`Lambda::EachOutput`].
    EachOutput(Box<Lambda>),
}

/// A grid of λ that is fitted to a design.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AutoGrid {
    /// Number of values; `None` for one or two per power of ten.
    pub points: Option<usize>,
    /// Whether to extend the grid beyond an end with the lowest loss until the loss stops falling.
    pub extend: bool,
    /// The scope of a choice among the values.
    pub per: Option<LambdaScope>,
}

impl Default for AutoGrid {
    fn default() -> Self {
        AutoGrid { points: None, extend: true, per: None }
    }
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
        Lambda::Fixed(1.0)
    }
}

impl From<f64> for Lambda {
    fn from(value: f64) -> Self {
        Lambda::Fixed(value)
    }
}

impl Lambda {
    /// Makes a grid of `points` values in geometric progression from `from` to `to`.
    pub fn grid(from: f64, to: f64, points: usize) -> Self {
        Lambda::Grid { from, to, points, per: None }
    }

    /// Makes a list of values.
    pub fn one_of(values: Vec<f64>) -> Self {
        Lambda::Values { values, per: None }
    }

    /// Makes a grid that is fitted to the design.
    pub fn auto() -> Self {
        Lambda::Auto(AutoGrid::default())
    }

    /// The grid to fit to the design, if λ is such a grid.
    pub fn fitted(&self) -> Option<AutoGrid> {
        match self {
            Lambda::Auto(auto) => Some(*auto),
            Lambda::EachOutput(of) => of.fitted(),
            _ => None,
        }
    }

    /// The scope of a choice among several values, if set.
    pub fn per(&self) -> Option<LambdaScope> {
        match self {
            Lambda::Grid { per, .. } | Lambda::Values { per, .. } => *per,
            Lambda::Auto(auto) => auto.per,
            Lambda::EachOutput(_) => Some(LambdaScope::Subset),
            Lambda::Fixed(_) | Lambda::Search { .. } => None,
        }
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
        match self {
            Lambda::EachOutput(of) => of.values(),
            Lambda::Fixed(value) => Ok(vec![positive("lambda", *value)?]),
            Lambda::Auto(auto) => {
                let points = auto.points.unwrap_or(13);
                Error::unless_between("lambda.grid.points", points, POINTS)?;
                Ok(geometric(1e-3, 1e3, points))
            }
            Lambda::Values { values, .. } => {
                if values.is_empty() {
                    return Err(Error::setting("lambda.values", "at least one value is needed"));
                }
                let numbered = values.iter().enumerate();
                let mut values: Vec<f64> =
                    numbered.map(|(k, &v)| positive(&format!("lambda.values[{k}]"), v)).collect::<Result<_>>()?;
                values.sort_by(f64::total_cmp);
                values.dedup();
                Ok(values)
            }
            Lambda::Grid { from, to, points, .. } => {
                let (from, to) = (positive("lambda.grid.from", *from)?, positive("lambda.grid.to", *to)?);
                increasing("lambda.grid", from, to)?;
                Error::unless_between("lambda.grid.points", *points, POINTS)?;
                Ok(geometric(from, to, *points))
            }
            Lambda::Search { from, to } => {
                let (from, to) = (positive("lambda.search.from", *from)?, positive("lambda.search.to", *to)?);
                increasing("lambda.search", from, to)?;
                Ok(geometric(from, to, 2 * (to.log10() - from.log10()).ceil().max(1.0) as usize + 1))
            }
        }
    }

    /// Whether λ between the values are searched too.
    pub(crate) fn is_search(&self) -> bool {
        match self {
            Lambda::EachOutput(of) => of.is_search(),
            other => matches!(other, Lambda::Search { .. }),
        }
    }
}

fn increasing(field: &str, from: f64, to: f64) -> Result<()> {
    if from < to {
        return Ok(());
    }
    Err(Error::setting(field, format!("from is {from} and to is {to}; from must be smaller")))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_is_geometric_with_both_ends() {
        let values = Lambda::grid(1e-3, 1e3, 7).values().unwrap();
        assert_eq!((values[0], values[6]), (1e-3, 1e3));
        assert_eq!(values[3], 1.0);
    }

    #[test]
    fn values_that_are_not_positive_are_refused_by_place() {
        let error = Lambda::one_of(vec![1.0, -2.0]).values().unwrap_err();
        assert_eq!(error.field(), Some("lambda.values[1]"));
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Lambda::Fixed(bad).values().is_err());
        }
        assert!(Lambda::grid(2.0, 1.0, 3).values().is_err());
        assert_eq!(Lambda::Search { from: 2.0, to: 1.0 }.values().unwrap_err().field(), Some("lambda.search"));
    }

    #[test]
    fn a_search_starts_from_two_values_for_each_power_of_ten() {
        let values = Lambda::Search { from: 1e-2, to: 1e1 }.values().unwrap();
        assert_eq!((values.len(), values[0], values[6]), (7, 1e-2, 1e1));
    }

    #[test]
    fn every_form_reads_back() {
        for text in [
            "0.5",
            r#"{"grid":{"from":0.1,"to":10.0,"points":5}}"#,
            r#"{"grid":{"from":0.1,"to":10.0,"points":5},"per":"path"}"#,
            r#"{"grid":"auto","extend":true}"#,
            r#"{"grid":"auto","points":7,"extend":false,"per":"path"}"#,
            r#"{"grid":"auto","extend":true,"outputs":"each"}"#,
            r#"{"values":[1.0,2.0]}"#,
            r#"{"values":[1.0,2.0],"per":"subset"}"#,
            r#"{"values":[1.0,2.0],"per":"all"}"#,
            r#"{"search":{"from":0.1,"to":10.0}}"#,
            r#"{"search":{"from":0.1,"to":10.0},"outputs":"each"}"#,
            r#"{"values":[1.0,2.0],"per":"subset","outputs":"each"}"#,
        ] {
            let lambda: Lambda = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&lambda).unwrap(), text);
        }
        for bad in [
            r#"{"search":{"from":1,"to":2,"points":3}}"#,
            r#"{"search":{"from":1,"to":2},"per":"path"}"#,
            r#"{"search":{"from":1,"to":2},"per":"all"}"#,
            r#"{"values":[1.0],"per":"all","outputs":"each"}"#,
            r#"{"values":[1.0],"search":{"from":1,"to":2}}"#,
            r#"{"per":"path"}"#,
            r#"{"grid":"automatic"}"#,
            r#"{"grid":{"from":0.1,"to":10.0,"points":5},"extend":true}"#,
            r#"{"values":[1.0],"points":3}"#,
            r#"{"values":[1.0],"per":"path","outputs":"each"}"#,
        ] {
            assert!(serde_json::from_str::<Lambda>(bad).is_err(), "{bad}");
        }
    }
}
