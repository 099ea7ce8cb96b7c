//! Missing shares and histograms of columns.

use super::super::train_test::TrainTest;
use vaglio_core::{Cells, Design, Feature, Table};
use vaglio_kernels::tolerance::WHOLE_ROUNDING;
use vaglio_pipeline::maps::{ColumnScale, source_columns};
use vaglio_pipeline::resampling::sample::SampleSource;
use vaglio_report::record::Histogram;

/// Number of histogram bins.
const PARTS: usize = 16;

impl TrainTest {
    /// The training rows before the maps, if there are maps.
    fn table_before_maps(&self) -> Option<&Table> {
        match &self.sample.source {
            SampleSource::Mapped(rows, _) => Some(&rows.table),
            SampleSource::Plain(_) => None,
        }
    }

    /// Share of rows with a missing value in a source of the column. Cost O(rows).
    pub(crate) fn missing_share(&self, name: &str) -> f64 {
        // Rows without maps have no missing cells.
        let Some(table) = self.table_before_maps().filter(|table| table.rows() > 0) else { return 0.0 };
        let cells: Vec<&Cells> =
            source_columns(&self.maps, &[name.to_owned()]).iter().filter_map(|source| table.get(source)).collect();
        let count = match &cells[..] {
            [] => 0,
            [one] => one.missing().map_or(0, |missing| missing.count),
            all => (0..table.rows()).filter(|&row| all.iter().any(|cells| cells.is_missing(row))).count(),
        };
        count as f64 / table.rows() as f64
    }

    /// Values of a column of the design, NaN if missing, with the divisor that the maps applied to them: as read and the
    /// maps' divisor, where maps only shift and divide and keep all rows; else as in the design and 1.
    pub(crate) fn column_values(&self, design: &Design, feature: Feature) -> (Vec<f64>, f64) {
        let name = design.names().get(feature).filter(|_| design.has_columns_of(&self.train));
        let as_read = name.zip(self.table_before_maps()).and_then(|(name, table)| {
            let ColumnScale { source, divisor } = ColumnScale::new(&self.maps, name);
            let cells = table.get(&source.ok().flatten()?)?.numbers()?;
            (cells.len() == design.rows()).then_some((cells.values().into_owned(), divisor?))
        });
        as_read.unwrap_or_else(|| (design.column(feature).values().into_owned(), 1.0))
    }
}

/// Number of rows per bin of the range; `None` without values.
pub(crate) fn histogram(values: &[f64]) -> Option<Histogram> {
    let known = || values.iter().copied().filter(|value| value.is_finite());
    let (from, to) = (known().reduce(f64::min)?, known().reduce(f64::max)?);
    let mut counts = vec![0; if to > from { PARTS } else { 1 }];
    let last = counts.len() - 1;
    // Halved, since the range of the largest doubles overflows.
    let width = 0.5 * to - 0.5 * from;
    for value in known() {
        let share = if width > 0.0 { (0.5 * value - 0.5 * from) / width } else { 0.0 };
        counts[((share * PARTS as f64 + WHOLE_ROUNDING) as usize).min(last)] += 1;
    }
    Some(Histogram { from, to, counts })
}
