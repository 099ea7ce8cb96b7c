//! Penalties of a least-angle path, at or between its knots.

use vaglio_core::{Error, Result, geometric, setting};

/// The penalties λ at which a least-angle path is judged.
#[setting]
#[derive(PartialEq)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "expected a number of penalties, a list of penalties, or {points, least}"
)]
pub enum Penalties {
    /// Number of penalties in geometric progression, from the largest correlation (no columns) to a thousandth of it.
    Points(usize),
    /// List of penalties.
    Values(Vec<f64>),
    /// A geometric progression from the largest correlation to a part of it.
    Grid {
        /// Number of penalties.
        #[schemars(extend("minimum" = 2))]
        points: usize,
        /// The smallest, as a part of the largest.
        least: f64,
    },
}

/// Default of the smallest penalty of a grid, as a fraction of the largest.
const LEAST: f64 = 1e-3;

impl Penalties {
    /// Refuses invalid penalties.
    pub(crate) fn check(&self) -> Result<()> {
        let (points, field) = match self {
            Penalties::Points(points) => (*points, "penalties"),
            Penalties::Grid { points, least } => {
                Error::unless_share("penalties.least", *least)?;
                (*points, "penalties.points")
            }
            Penalties::Values(values) if values.is_empty() => {
                return Err(Error::setting("penalties", "at least one penalty is needed"));
            }
            Penalties::Values(values) => {
                let bad = values.iter().position(|value| !(value.is_finite() && *value > 0.0));
                return bad.map_or(Ok(()), |at| {
                    let message = format!("{} is not a positive finite number", values[at]);
                    Err(Error::setting(format!("penalties[{at}]"), message))
                });
            }
        };
        if (2..=100_000).contains(&points) {
            return Ok(());
        }
        let message = format!("{points} is not between 2 and 100000; a single penalty is a list of one");
        Err(Error::setting(field, message))
    }

    /// Penalties in increasing order, for a path that begins at the `largest` correlation.
    pub(crate) fn values(&self, largest: f64) -> Vec<f64> {
        let (points, least) = match self {
            Penalties::Points(points) => (*points, LEAST),
            Penalties::Grid { points, least } => (*points, *least),
            Penalties::Values(values) => {
                let mut values = values.clone();
                values.sort_by(f64::total_cmp);
                values.dedup();
                return values;
            }
        };
        let is_there = largest > 0.0 && least * largest > 0.0;
        if is_there { geometric(least * largest, largest, points) } else { Vec::new() }
    }
}
