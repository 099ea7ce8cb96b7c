//! Describes the decisions in words.

use super::decisions::Decisions;
use super::options::TestOption;
use super::order::{Nesting, RowLayout, is_among};
use super::words::ColumnWords;
use std::collections::BTreeMap;
use vaglio_core::pluralize;
use vaglio_tables::InferredType;

/// Limit on columns with a line on missing cells.
const MOST_LINES: usize = 20;

impl Decisions<'_> {
    /// The decisions, for people.
    pub fn notes(&self) -> Vec<String> {
        let table = self.table;
        let mut notes = vec![format!("{}, {}", pluralize(table.rows, "row"), pluralize(table.columns.len(), "column"))];
        let is_date = |name: &String| table.column(name).is_some_and(|seen| seen.profile.taken == InferredType::Date);
        let what = match self.targets.iter().any(is_date) {
            true => "a date, taken as classes; name a number to predict one",
            false if self.is_classes => "classes",
            false => "a number",
        };
        let guessed = if self.options.targets.is_empty() { " (guessed; --target names another)" } else { "" };
        notes.push(format!("to predict: {}, {what}{guessed}", self.targets.join(", ")));
        if self.without_target > 0 {
            notes.push(format!("{} without a target are left out", pluralize(self.without_target, "row")));
        }
        if self.is_rare {
            notes.push("a class is rare: classes count alike, by crrr and balanced_squared".into());
        }
        notes.extend(match &self.layout {
            RowLayout::Rows => None,
            RowLayout::Groups(name, _) => Some(format!("groups: {name}")),
            RowLayout::Events(time, times) => Some(format!(
                "time: {time}, {times} of them in {} rows; later ones are predicted from earlier ones",
                table.rows
            )),
            RowLayout::Time(time) => Some(format!("time: {time}; later rows are predicted from earlier ones")),
            RowLayout::File(by) if by.is_empty() => Some(
                "time: the order of the file, since a column is another one row earlier; later rows are predicted from earlier \
                 ones"
                    .into(),
            ),
            RowLayout::File(by) => Some(format!(
                "time: {}, the order of the file; later rows are predicted from earlier ones",
                by.join(", ")
            )),
            RowLayout::NewUnits(panel) => Some(format!(
                "groups: {}, each at several times of {}; new ones are predicted (--time {} for the next times)",
                panel.unit, panel.time, panel.time
            )),
            RowLayout::NextTimes(panel) => Some(format!(
                "time series: {}, in the order of {}; the next times are predicted (--groups {} for new ones)",
                panel.unit, panel.time, panel.unit
            )),
        });
        if table.header_is_row {
            notes.push("the names of the columns look like cells: the first line is taken for the header, and the file seems to have none".into());
        }
        if let Some(found) = self.nesting() {
            notes.push(format!(
                "{} columns are constant within each of the {} values of {}; if these are what rows belong to, write --groups {}",
                found.constant, found.units, found.column, found.column
            ));
        }
        if let Some(TestOption::Column { column, is, rows }) = &self.test {
            notes.push(format!("test rows: the {rows} where {column} is {is}"));
        }
        notes.extend(self.given_up.iter().cloned());
        let left_out =
            |(name, why): &(String, String)| format!("left out: {name}{}{why}", if why.is_empty() { "" } else { ": " });
        notes.extend(self.features.exclude.iter().map(left_out));
        let empty = table.columns.iter().filter(|seen| seen.profile.taken == InferredType::Empty);
        notes.extend(empty.map(|seen| format!("left out: {}: no row has a value", seen.profile.name)));
        notes.extend(table.aside.iter().map(|(name, why)| format!("left out: {name}: {why}")));
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for seen in &table.columns {
            *counts.entry(seen.profile.taken.word()).or_default() += 1;
        }
        let counts: Vec<String> = counts.into_iter().map(|(word, count)| format!("{count} {word}")).collect();
        notes.push(format!("columns: {}", counts.join(", ")));
        let columns = if self.features.incomplete == 1 { "column has" } else { "columns have" };
        let missing = format!("{} {columns} missing cells, which are imputed", self.features.incomplete);
        notes.extend((self.features.incomplete > 0).then_some(missing));
        let missing = self.word_lines(ColumnWords::missing_in_words);
        notes.extend(missing.into_iter().map(|line| format!("missing in {line}")));
        notes.extend(self.word_lines(|found| {
            let values = found.values_in_words()?;
            Some(format!("{}: {values}; if not, see data.read.na_by_column", found.column))
        }));
        let last =
            |found: &&ColumnWords| found.missing.iter().any(|word| word.row + 1 == table.rows && is_total(&word.word));
        notes.extend(self.words().find(last).map(|found| {
            format!(
                "the last row looks like a sum, since {} reads so; if it is one, take it out of the file",
                found.column
            )
        }));
        notes
    }

    pub fn is_excluded(&self, name: &str) -> bool {
        self.features.exclude.iter().any(|(excluded, _)| excluded == name)
    }

    /// Words for missing cells of the columns in use.
    pub fn words(&self) -> impl Iterator<Item = &ColumnWords> {
        self.table.words.iter().filter(|found| !self.is_excluded(&found.column))
    }

    /// Lines on words of one kind for the first columns.
    pub fn word_lines(&self, line: impl Fn(&ColumnWords) -> Option<String>) -> Vec<String> {
        let mut lines: Vec<String> = self.words().filter_map(line).collect();
        let more = lines.len().saturating_sub(MOST_LINES);
        lines.truncate(MOST_LINES);
        lines.extend((more > 0).then(|| format!("{more} more columns")));
        lines
    }

    /// Column that seems to group the rows, unless a layout is known.
    pub fn nesting(&self) -> Option<&Nesting> {
        let is_free = |found: &&Nesting| !self.is_excluded(&found.column) && !self.targets.contains(&found.column);
        self.table.nesting.as_ref().filter(|found| self.layout == RowLayout::Rows && is_free(found))
    }
}

/// Whether a cell marks its row as a sum of others.
fn is_total(word: &str) -> bool {
    is_among(&word.to_ascii_lowercase(), "total sum totals all average mean")
}
