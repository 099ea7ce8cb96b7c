//! Matching of the levels of new rows to those of the training rows.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use vaglio_core::numerals::normalized;
use vaglio_core::{Cells, FittedMap, Table};

/// Finds a label among levels: an equal text, or else the first level that is the same number.
pub(super) struct Finder<'l> {
    levels: Vec<&'l str>,
    alike: HashMap<&'l str, usize>,
    /// Index of levels by number, built on the first label without an equal text.
    numbers: Option<HashMap<Cow<'static, str>, usize>>,
}

impl<'l> Finder<'l> {
    pub fn new(levels: impl IntoIterator<Item = &'l str>) -> Self {
        let levels: Vec<&str> = levels.into_iter().collect();
        let alike = levels.iter().enumerate().map(|(place, level)| (*level, place)).collect();
        Finder { levels, alike, numbers: None }
    }

    /// Index of the level that a label matches.
    pub fn place(&mut self, label: &str) -> Option<usize> {
        if let Some(place) = self.alike.get(label) {
            return Some(*place);
        }
        let label = normalized(label)?;
        let levels = &self.levels;
        let numbers = self.numbers.get_or_insert_with(|| {
            let numbers = levels.iter().enumerate().rev();
            numbers.filter_map(|(place, level)| Some((normalized(level)?, place))).collect()
        });
        numbers.get(&label).copied()
    }
}

/// The cell as text.
pub(super) fn label(cells: &Cells, row: usize) -> Cow<'_, str> {
    match cells {
        Cells::Text(text) => Cow::Borrowed(&text[row]),
        _ => Cow::Owned(cells.label(row)),
    }
}

/// Levels of new rows that are missing in the training rows: number of rows by column and level.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnseenLevels(BTreeMap<String, BTreeMap<String, usize>>);

impl UnseenLevels {
    /// Counts levels of a table, before the maps, that are unknown to these maps.
    pub fn count(&mut self, maps: &[Box<dyn FittedMap>], table: &Table) {
        for (index, map) in maps.iter().enumerate() {
            for (column, levels) in map.levels() {
                // Earlier maps may have changed numbers, so only text is compared.
                let cells = table.get(column).filter(|cells| index == 0 || matches!(cells, Cells::Text(_)));
                let Some(cells) = cells else { continue };
                let mut finder = Finder::new(levels);
                for row in (0..cells.len()).filter(|&row| !cells.is_missing(row)) {
                    let label = label(cells, row);
                    if finder.place(&label).is_none() {
                        *self.0.entry(column.to_owned()).or_default().entry(label.into_owned()).or_default() += 1;
                    }
                }
            }
        }
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
            let named: Vec<String> =
                most.iter().take(NAMED).map(|(level, rows)| format!("`{level}` in {rows}")).collect();
            let more = most.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more levels") } else { String::new() };
            format!("{} of `{column}` ({}{more})", levels.values().sum::<usize>(), named.join(", "))
        };
        let all: Vec<String> = self.0.iter().map(of_column).collect();
        let sentence = || {
            format!(
                "cells hold levels that no training row has, and count as none of its levels: {}; check how they are written",
                all.join(", ")
            )
        };
        (!all.is_empty()).then(sentence)
    }
}
