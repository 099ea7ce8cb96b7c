//! Levels of new rows that are missing in the training rows.

use std::collections::BTreeMap;
use vaglio_core::{Cells, MapFormulas, Table, join};

/// Levels of new rows that are missing in the training rows: number of rows by column and level.
#[derive(Debug, Default)]
pub struct UnseenLevels(BTreeMap<String, BTreeMap<String, usize>>);

impl UnseenLevels {
    /// Counts the levels that the maps do not know, in a table before the maps.
    pub fn new(maps: &[MapFormulas], table: &Table) -> Self {
        let mut counts = UnseenLevels::default();
        for (index, map) in maps.iter().enumerate() {
            for known in &map.levels {
                // Earlier maps may have changed numbers, so only text is compared.
                let cells = table.get(&known.column).filter(|cells| index == 0 || matches!(cells, Cells::Text(_)));
                let Some(cells) = cells else { continue };
                for row in known.other_rows(cells) {
                    let levels = counts.0.entry(known.column.clone()).or_default();
                    *levels.entry(cells.label(row)).or_default() += 1;
                }
            }
        }
        counts
    }

    /// Adds the counts of other rows.
    pub fn add(&mut self, other: UnseenLevels) {
        for (column, levels) in other.0 {
            let own = self.0.entry(column).or_default();
            levels.into_iter().for_each(|(level, rows)| *own.entry(level).or_default() += rows);
        }
    }

    /// Warning about unseen levels, if there are any.
    pub fn sentence(&self) -> Option<String> {
        /// Largest number of levels named per column.
        const NAMED: usize = 5;
        let of_column = |(column, levels): (&String, &BTreeMap<String, usize>)| {
            let mut most: Vec<(&String, &usize)> = levels.iter().collect();
            most.sort_by_key(|(_, rows)| std::cmp::Reverse(**rows));
            let named = join(most.iter().take(NAMED).map(|(level, rows)| format!("`{level}` in {rows}")), ", ");
            let more = most.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more levels") } else { String::new() };
            format!("{} of `{column}` ({named}{more})", levels.values().sum::<usize>())
        };
        let all = join(self.0.iter().map(of_column), ", ");
        (!all.is_empty()).then(|| {
            format!(
                "cells hold levels that no training row has, and count as none of its levels: {all}; check how they are written"
            )
        })
    }
}
