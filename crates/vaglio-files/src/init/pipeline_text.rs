//! Writes the text of a drafted pipeline.

use super::decisions::Decisions;
use super::facts::ColumnFacts;
use super::options::{Draft, TestOption};
use super::order::{Panel, RowLayout};
use super::words::ColumnWords;
use crate::run_folder::relative;
use std::path::Path;
use vaglio_core::pluralize;
use vaglio_tables::{InferredType, quote_for_yaml, word_list};

/// Appends a line with a comment.
fn put(lines: &mut String, content: impl AsRef<str>, comment: impl AsRef<str>) {
    let content = content.as_ref();
    let comment = comment.as_ref();
    let content = if content.trim_start().starts_with('#') { on_one_line(content) } else { content.to_owned() };
    let line = if comment.is_empty() {
        format!("{content}\n")
    } else {
        format!("{content:<46}  # {}\n", on_one_line(comment))
    };
    *lines += &line;
}

impl Decisions<'_> {
    /// The pipeline in `folder` for the table at `path`.
    pub fn draft(&self, path: &Path, folder: &Path) -> Draft {
        let mut lines = String::new();
        let table = self.table;
        let path = relative(path, folder);
        let rows = pluralize(table.rows, "row");
        let columns = pluralize(table.columns.len(), "column");
        put(
            &mut lines,
            format!("# {rows} and {columns} of {path}; `vaglio run` on this file selects columns and fits."),
            "",
        );
        put(&mut lines, "version: 1", "");
        put(&mut lines, "seed: 0", "every random choice follows from it");
        put(&mut lines, "data:", "");
        put(&mut lines, format!("  train: {}", quote_path(&path)), "");
        self.test_lines(&mut lines, folder);
        self.target_lines(&mut lines);
        self.layout_lines(&mut lines);
        self.column_lines(&mut lines);
        self.preprocess_lines(&mut lines);
        self.learner_lines(&mut lines);
        let excluded = self.features.exclude.iter().map(|(name, _)| name.clone()).collect();
        Draft { text: lines, notes: self.notes(), targets: self.targets.clone(), excluded, fault: None }
    }

    fn test_lines(&self, lines: &mut String, folder: &Path) {
        match &self.test {
            None => {}
            Some(TestOption::File(file)) => {
                let path = quote_path(&relative(file, folder));
                put(lines, format!("  test: {path}"), "takes no part in the selection");
            }
            Some(TestOption::Column { column, is, rows }) => {
                let column = quote_for_yaml(column);
                let is = quote_for_yaml(is);
                let comment = format!("{rows} rows are for the test, as their column says");
                put(lines, format!("  test_rows: {{column: {column}, is: {is}}}"), comment);
            }
            Some(TestOption::Fraction(share)) if self.layout.is_ahead() => {
                put(lines, format!("  test_last: {share}"), "the latest rows are set aside for an honest figure");
            }
            Some(TestOption::Fraction(share)) => {
                let how = match (&self.layout, self.is_classes) {
                    (RowLayout::Groups(..) | RowLayout::NewUnits(_), _) => ", whole groups",
                    (_, true) => ", classes evenly",
                    _ => "",
                };
                put(lines, format!("  test_fraction: {share}"), format!("set aside for an honest figure{how}"));
            }
        }
    }

    fn target_lines(&self, lines: &mut String) {
        let guess =
            if self.options.targets.is_empty() { "guessed; name another column if it is not this one" } else { "" };
        match &self.targets[..] {
            [one] => put(lines, format!("  target: {}", quote_for_yaml(one)), guess),
            several => put(lines, format!("  target: {}", word_list(several.iter())), guess),
        }
        if self.without_target > 0 {
            let rows = if self.without_target == 1 { "row without a target is" } else { "rows without a target are" };
            let comment = format!("{} {rows} left out", self.without_target);
            put(lines, "  missing_target: drop", comment);
        }
        let target = self.target();
        let classes = self.options.classes;
        let is_plain = |seen: &ColumnFacts| {
            seen.profile.taken != InferredType::Text && (seen.profile.levels > 0 || seen.distinct == 2)
        };
        match (classes, self.is_classes) {
            (Some(false), _) => put(lines, "  task: regression", ""),
            (_, true) if !target.is_some_and(is_plain) => put(lines, "  task: multiclass", ""),
            _ => {}
        }
    }

    fn layout_lines(&self, lines: &mut String) {
        if let Some(found) = self.nesting() {
            let line = format!("  # groups: {}", quote_for_yaml(&found.column));
            put(lines, line, format!("{} columns are constant within its {} values", found.constant, found.units));
        }
        match &self.layout {
            RowLayout::Rows => {}
            RowLayout::Groups(name, _) => {
                put(lines, format!("  groups: {}", quote_for_yaml(name)), "rows of one value stay together")
            }
            RowLayout::Events(time, times) => {
                let comment = format!("{times} times, each of which stays on one side; later ones are predicted");
                put(lines, format!("  time: {}", quote_for_yaml(time)), comment);
            }
            RowLayout::Time(time) => put(lines, format!("  time: {}", quote_for_yaml(time)), LATER),
            RowLayout::File(by) => {
                let by = if by.is_empty() { "time".to_owned() } else { by.join(", ") };
                put(lines, format!("  # the rows of the file are in the order of {by}:"), LATER);
            }
            RowLayout::NewUnits(Panel { unit, time, units, .. }) => {
                let unit = quote_for_yaml(unit);
                let time = quote_for_yaml(time);
                put(lines, format!("  groups: {unit}"), format!("{units}; asked is how well new ones are predicted"));
                let next_times = format!(
                    "  # For the next times of the same ones, these lines take the place of `groups` and\n  # `test_fraction`, with the \
                     other criterion below:\n  # series: {unit}\n  # time: {time}\n  # test_last: 0.2"
                );
                next_times.lines().for_each(|line| put(lines, line, ""));
            }
            RowLayout::NextTimes(Panel { unit, time, units, .. }) => {
                let unit = quote_for_yaml(unit);
                let time = quote_for_yaml(time);
                let asked = format!("{units}; asked is how well their next times are predicted");
                put(lines, format!("  series: {unit}"), asked);
                let new_ones = format!(
                    "  time: {time}\n  # For new ones, these lines take the place of `series`, `time` and `test_last`,\n  # with the \
                     other criterion below:\n  # groups: {unit}\n  # test_fraction: 0.2"
                );
                new_ones.lines().for_each(|line| put(lines, line, ""));
            }
        }
    }

    fn column_lines(&self, lines: &mut String) {
        let exclude = &self.features.exclude;
        if !exclude.is_empty() {
            put(lines, "  exclude:", "columns that are no features as they stand");
            for (name, why) in exclude {
                put(lines, format!("    - {}", quote_for_yaml(name)), why);
            }
        }
        let classes = self.table.classes.keys().filter(|name| !self.is_excluded(name));
        let types: Vec<String> = self
            .features
            .encoded
            .iter()
            .chain(classes)
            .map(|name| format!("{}: class", quote_for_yaml(name)))
            .collect();
        if !types.is_empty() {
            put(lines, format!("  types: {{{}}}", types.join(", ")), "");
        }
        for line in self.word_lines(ColumnWords::missing_in_words) {
            put(lines, format!("  # missing in {line}"), "");
        }
        if self.words().any(|found| found.own.is_some()) {
            put(lines, "  read:", "");
            put(lines, "    na_by_column:", "the words for missing cells of these columns");
        }
        for (found, own) in self.words().filter_map(|found| Some((found, found.own.as_ref()?))) {
            let comment = found.values_in_words().unwrap_or_default();
            put(lines, format!("      {}: [{}]", quote_for_yaml(&found.column), in_quotes(own)), comment);
        }
    }

    fn preprocess_lines(&self, lines: &mut String) {
        let features = &self.features;
        put(lines, "preprocess:", "each is fitted on training rows only");
        if features.dates {
            put(lines, "  - {kind: date_parts}", "year, month, day, weekday and days passed");
        }
        if !features.encoded.is_empty() {
            let columns = word_list(features.encoded.iter());
            let comment = "text of many levels: the mean of the target in each";
            put(lines, format!("  - {{kind: target_encode, columns: {columns}}}"), comment);
        }
        for (name, order) in &features.ordinal {
            let line = format!("  - {{kind: ordinal, order: {{{}: [{}]}}}}", quote_for_yaml(name), in_quotes(order));
            put(lines, line, "ordered answers: the place of each");
        }
        if features.numbers_missing {
            put(lines, "  - {kind: impute, how: mean}", "missing numbers");
        }
        if features.text_missing {
            put(lines, "  - {kind: impute, how: most_frequent}", "missing classes");
        }
        if features.text {
            let comment = "a column of 0 and 1 for each level of a text column, one of two levels";
            put(lines, "  - {kind: one_hot, drop: if_binary}", comment);
        }
        put(lines, "  - {kind: standardize}", "columns of mean 0 and deviation 1");
    }

    fn learner_lines(&self, lines: &mut String) {
        if self.is_rare {
            put(lines, "learner: {kind: crrr, lambda: {grid: auto}}", "the rare class counts as much as the others")
        } else {
            put(lines, "learner: {kind: rls, lambda: {grid: auto}}", "")
        }
        let forward = |points: usize| {
            let folds = (points / 4).clamp(1, self.folds);
            format!("criterion: {{kind: kfold, splits: {{kind: forward, folds: {folds}}}}}")
        };
        let groups = |count: usize| {
            let aside = match self.test {
                Some(TestOption::Fraction(share)) => (share * count as f64).round() as usize,
                _ => 0,
            };
            let folds = (count - aside.min(count)).clamp(2, self.folds);
            format!("criterion: {{kind: kfold, folds: {folds}, by: groups}}")
        };
        let rows = self.table.rows - self.without_target;
        match &self.layout {
            _ if self.is_rare => put(
                lines,
                "criterion: {kind: kfold, folds: 5, stratified: true, shuffle: true, loss: balanced_squared}",
                "the mean of the squared errors of the classes",
            ),
            RowLayout::Rows if self.is_stratified => put(
                lines,
                "criterion: {kind: kfold, folds: 5, stratified: true, shuffle: true}",
                "classes evenly in every fold",
            ),
            RowLayout::Rows => put(lines, "criterion: loo", "exact leave-one-out"),
            RowLayout::Groups(_, count) => put(lines, groups(*count), ""),
            RowLayout::Events(_, times) => put(lines, forward(*times), "later times from earlier ones"),
            RowLayout::Time(_) | RowLayout::File(_) => put(lines, forward(rows), "later rows from earlier ones"),
            RowLayout::NewUnits(panel) => {
                put(lines, groups(panel.units), "new units");
                put(lines, format!("# {}", forward(panel.times)), "their next times");
            }
            RowLayout::NextTimes(panel) => {
                put(lines, forward(panel.times), "their next times");
                put(lines, format!("# {}", groups(panel.units)), "new units");
            }
        }
        let size = "size and lambda are chosen by cross-validating the whole search";
        if self.table.columns.len() > rows {
            put(
                lines,
                "tune: {search: [greedy, all]}",
                "few columns or all, whichever holds up; size and lambda by cross-validation",
            )
        } else {
            put(lines, "search: {kind: greedy}", size)
        }
    }
}

/// Comment on rows in time order.
const LATER: &str = "later rows are predicted from earlier ones";

/// Words in quotes, with commas between.
fn in_quotes(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| serde_json::Value::from(word.as_str()).to_string()).collect();
    quoted.join(", ")
}

/// Escapes line breaks and other control characters of a comment, but not quotes.
fn on_one_line(comment: &str) -> String {
    let shown = |c: char| if c.is_ascii_punctuation() { c.to_string() } else { c.escape_debug().to_string() };
    comment.chars().map(shown).collect()
}

/// Quotes a path for YAML if necessary.
fn quote_path(path: &str) -> String {
    let is_plain = path.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'));
    if is_plain { path.to_owned() } else { serde_json::Value::from(path).to_string() }
}
