//! Values of columns.

use super::super::train_test::TrainTest;
use vaglio_core::{Design, Feature, Table};
use vaglio_pipeline::maps::ColumnScale;
use vaglio_pipeline::resampling::sample::SampleSource;

impl TrainTest {
    /// The training rows before the maps, if there are maps.
    fn table_before_maps(&self) -> Option<&Table> {
        match &self.sample.source {
            SampleSource::Mapped(rows, _) => Some(&rows.table),
            SampleSource::Plain(_) => None,
        }
    }

    /// Values of a column of the design, NaN if missing, with the divisor that the maps applied to them: as read and the
    /// maps' divisor, where maps only shift and divide and keep all rows; else as in the design and 1.
    pub(crate) fn column_values(&self, design: &Design, feature: Feature) -> (Vec<f64>, f64) {
        let name = design.names().get(feature).filter(|_| design.problem().has_columns_of(&self.train));
        let as_read = name.zip(self.table_before_maps()).and_then(|(name, table)| {
            let ColumnScale { source, divisor } = ColumnScale::new(&self.maps, name);
            let cells = table.get(&source.ok().flatten()?)?.numbers()?;
            (cells.len() == design.rows()).then_some((cells.values().into_owned(), divisor?))
        });
        as_read.unwrap_or_else(|| (design.column(feature).values().into_owned(), 1.0))
    }
}
