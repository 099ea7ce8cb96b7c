//! Weighted Pearson correlation that neither over- nor underflows.

/// How a column is brought to weighted mean 0 and weighted square sum 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    /// The largest absolute value; entries are divided by it first, so that no square overflows.
    largest: f64,
    /// Weighted mean of the divided entries.
    mean: f64,
    /// Root of the weighted square sum of the divided entries less their mean; 0 for a constant column.
    length: f64,
}

impl Scale {
    /// The scale of `values`, with one weight a row (all 1 when absent). Cost O(m).
    pub(crate) fn of(values: &[f64], weights: Option<&[f64]>) -> Self {
        let largest = values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        let constant = values.windows(2).all(|w| matches!(w, [a, b] if a == b));
        if constant || largest == 0.0 {
            return Scale { largest: 1.0, mean: 0.0, length: 0.0 };
        }
        let weighted = || values.iter().enumerate().map(|(row, v)| (weight(weights, row), v / largest));
        let total: f64 = weighted().map(|(r, _)| r).sum();
        let mean = weighted().map(|(r, v)| r * v).sum::<f64>() / total;
        let length = weighted().map(|(r, v)| r * (v - mean) * (v - mean)).sum::<f64>().sqrt();
        Scale { largest, mean, length }
    }

    /// Whether the column has no correlation with anything.
    pub(crate) fn is_constant(&self) -> bool {
        self.length == 0.0
    }

    /// The standardised entry; 0 for a constant column.
    pub(crate) fn at(&self, value: f64) -> f64 {
        if self.is_constant() { 0.0 } else { (value / self.largest - self.mean) / self.length }
    }
}

/// A standardised column z, and r∘z with the row weights r: ρ(x, y) = (r∘z)ₓᵀ z_y.
#[derive(Debug, Clone)]
pub(crate) struct Standardised {
    /// z.
    entries: Vec<f64>,
    /// r∘z.
    weighted: Vec<f64>,
}

impl Standardised {
    /// Standardises a column. Cost O(m).
    pub(crate) fn of(values: &[f64], weights: Option<&[f64]>) -> Self {
        let scale = Scale::of(values, weights);
        let entries: Vec<f64> = values.iter().map(|&v| scale.at(v)).collect();
        let weighted = entries.iter().enumerate().map(|(row, z)| weight(weights, row) * z).collect();
        Standardised { entries, weighted }
    }

    /// |ρ| with a column that is standardised on the fly. Cost O(m).
    pub(crate) fn with(&self, values: &[f64], scale: &Scale) -> f64 {
        magnitude(self.weighted.iter().zip(values).map(|(r, &v)| r * scale.at(v)).sum())
    }
}

/// |ρ| of two columns; 0 where one is constant. Cost O(m).
pub(crate) fn correlation(x: &Standardised, y: &Standardised) -> f64 {
    magnitude(x.weighted.iter().zip(&y.entries).map(|(a, b)| a * b).sum())
}

/// A correlation's absolute value, which only rounding can carry above 1.
fn magnitude(correlation: f64) -> f64 {
    correlation.abs().min(1.0)
}

fn weight(weights: Option<&[f64]>, row: usize) -> f64 {
    weights.and_then(|r| r.get(row)).copied().unwrap_or(1.0)
}
