//! Writes the text of a drafted pipeline.

use super::Draft;
use super::TaskOption;
use super::decided::{Decisions, RowDependence, TestSource};
use super::look::TableProfile;
use super::order::PanelColumns;
use super::words::ColumnWords;
use std::fmt::Write;
use vaglio_core::counted;
use vaglio_tables::quoted;
use vaglio_tables::read::InferredType;

/// Maximum number of distinct whole numbers in a categorical target.
const MOST_CLASSES: usize = 30;

/// Lines of a file, each with a comment.
#[derive(Default)]
struct PipelineText(String);

impl PipelineText {
    fn put(&mut self, content: impl AsRef<str>, comment: impl AsRef<str>) {
        let (content, comment) = (content.as_ref(), comment.as_ref());
        let content = if content.trim_start().starts_with('#') { on_one_line(content) } else { content.to_owned() };
        // Writing to a string cannot fail.
        let _written = match comment.is_empty() {
            true => writeln!(self.0, "{content}"),
            false => writeln!(self.0, "{content:<46}  # {}", on_one_line(comment)),
        };
    }
}

impl Decisions {
    pub fn written(&self, path: &str, table: &TableProfile) -> Draft {
        let mut lines = PipelineText::default();
        let (rows, columns) = (counted(table.rows, "row"), counted(table.columns.len(), "column"));
        lines.put(format!("# {rows} and {columns} of {path}; `vaglio run` on this file selects columns and fits."), "");
        lines.put("version: 1", "");
        lines.put("seed: 0", "every random choice follows from it");
        lines.put("data:", "");
        lines.put(format!("  train: {}", quoted_path(path)), "");
        self.test_lines(&mut lines);
        self.target_lines(&mut lines, table);
        self.layout_lines(&mut lines, table);
        self.column_lines(&mut lines, table);
        self.preprocess_lines(&mut lines);
        self.learner_lines(&mut lines, table);
        let excluded = self.exclude.iter().map(|(name, _)| name.clone()).collect();
        Draft { text: lines.0, notes: self.notes(table), targets: self.targets.clone(), excluded, fault: None }
    }

    fn goes_on(&self) -> bool {
        matches!(
            self.layout,
            RowDependence::Series(_) | RowDependence::Events(..) | RowDependence::File(_) | RowDependence::NextTimes(_)
        )
    }

    fn test_lines(&self, lines: &mut PipelineText) {
        match &self.test {
            TestSource::None => {}
            TestSource::File => {
                let path = self.test_file.as_deref().unwrap_or_default();
                lines.put(format!("  test: {}", quoted_path(path)), "takes no part in the selection");
            }
            TestSource::Column(found) => {
                let (column, is) = (quoted(&found.column), quoted(&found.is));
                let comment = format!("{} rows are for the test, as their column says", found.rows);
                lines.put(format!("  test_rows: {{column: {column}, is: {is}}}"), comment);
            }
            TestSource::Share(share) if self.goes_on() => {
                lines.put(format!("  test_last: {share}"), "the latest rows are set aside for an honest figure");
            }
            TestSource::Share(share) => {
                let how = match (&self.layout, self.is_classes) {
                    (RowDependence::Groups(..) | RowDependence::NewUnits(_), _) => ", whole groups",
                    (_, true) => ", classes evenly",
                    _ => "",
                };
                lines.put(format!("  test_fraction: {share}"), format!("set aside for an honest figure{how}"));
            }
        }
    }

    fn target_lines(&self, lines: &mut PipelineText, table: &TableProfile) {
        let guess = if self.guessed { "guessed; name another column if it is not this one" } else { "" };
        match &self.targets[..] {
            [one] => lines.put(format!("  target: {}", quoted(one)), guess),
            several => {
                let names: Vec<String> = several.iter().map(|target| quoted(target)).collect();
                lines.put(format!("  target: [{}]", names.join(", ")), guess);
            }
        }
        if self.without_target > 0 {
            let rows = if self.without_target == 1 { "row without a target is" } else { "rows without a target are" };
            let comment = format!("{} {rows} left out", self.without_target);
            lines.put("  missing_target: drop", comment);
        }
        let target = table.column(&self.targets[0]).filter(|_| self.targets.len() == 1);
        let is_plain = |seen: &&super::look::ColumnProfile| {
            seen.survey.taken != InferredType::Text && (seen.survey.levels > 0 || seen.distinct == 2)
        };
        match (self.task, self.is_classes) {
            (Some(TaskOption::Regression), _) => lines.put("  task: regression", ""),
            (_, true) if target.as_ref().is_none_or(|seen| !is_plain(seen)) => lines.put("  task: multiclass", ""),
            _ => {}
        }
        let few = |seen: &&super::look::ColumnProfile| {
            seen.whole && seen.distinct <= MOST_CLASSES && 5 * seen.distinct <= table.rows
        };
        if let Some(few) = target.filter(|_| !self.is_classes && self.task.is_none()).filter(few) {
            let hint = format!("{} whole numbers; take away the first # if they are classes", few.distinct);
            lines.put("  # task: multiclass", hint);
        }
    }

    fn layout_lines(&self, lines: &mut PipelineText, table: &TableProfile) {
        if let Some(found) = self.nesting(table) {
            let line = format!("  # groups: {}", quoted(&found.column));
            lines.put(line, format!("{} columns are constant within its {} values", found.constant, found.units));
        }
        match &self.layout {
            RowDependence::Rows => {}
            RowDependence::Groups(name, _) => {
                lines.put(format!("  groups: {}", quoted(name)), "rows of one value stay together")
            }
            RowDependence::Series(time) => {
                lines.put(format!("  time: {}", quoted(time)), "later rows are predicted from earlier ones");
            }
            RowDependence::Events(time, times) => {
                let comment = format!("{times} times, each of which stays on one side; later ones are predicted");
                lines.put(format!("  time: {}", quoted(time)), comment);
            }
            RowDependence::File(by) => {
                let comment = "later rows are predicted from earlier ones";
                lines.put(format!("  # the rows of the file are in the order of {}:", by.join(", ")), comment);
            }
            RowDependence::NewUnits(PanelColumns { unit, time, units, .. }) => {
                let (unit, time) = (quoted(unit), quoted(time));
                lines.put(format!("  groups: {unit}"), format!("{units}; asked is how well new ones are predicted"));
                lines.put("  # For the next times of the same ones, these lines take the place of `groups` and", "");
                lines.put("  # `test_fraction`, with the other criterion below:", "");
                lines.put(format!("  # series: {unit}"), "");
                lines.put(format!("  # time: {time}"), "");
                lines.put("  # test_last: 0.2", "");
            }
            RowDependence::NextTimes(PanelColumns { unit, time, units, .. }) => {
                let (unit, time) = (quoted(unit), quoted(time));
                lines.put(
                    format!("  series: {unit}"),
                    format!("{units}; asked is how well their next times are predicted"),
                );
                lines.put(format!("  time: {time}"), "");
                lines.put("  # For new ones, these lines take the place of `series`, `time` and `test_last`,", "");
                lines.put("  # with the other criterion below:", "");
                lines.put(format!("  # groups: {unit}"), "");
                lines.put("  # test_fraction: 0.2", "");
            }
        }
    }

    fn column_lines(&self, lines: &mut PipelineText, table: &TableProfile) {
        if !self.exclude.is_empty() {
            lines.put("  exclude:", "columns that are no features as they stand");
            for (name, why) in &self.exclude {
                lines.put(format!("    - {}", quoted(name)), why);
            }
        }
        let classes = table.classes.keys().filter(|name| !self.is_excluded(name));
        let types: Vec<String> =
            self.encoded.iter().chain(classes).map(|name| format!("{}: class", quoted(name))).collect();
        if !types.is_empty() {
            lines.put(format!("  types: {{{}}}", types.join(", ")), "");
        }
        for line in self.word_lines(table, |found| !found.missing.is_empty(), ColumnWords::missing_in_words) {
            lines.put(format!("  # missing in {line}"), "");
        }
        let with_own = || self.words(table).filter_map(|found| Some((found, found.own.as_ref()?)));
        if with_own().next().is_some() {
            lines.put("  read:", "");
            lines.put("    na_by_column:", "the words for missing cells of these columns");
        }
        for (found, own) in with_own() {
            let words: Vec<String> =
                own.iter().map(|word| serde_json::Value::from(word.as_str()).to_string()).collect();
            let is_value = if found.values.is_empty() { String::new() } else { found.values_in_words() };
            lines.put(format!("      {}: [{}]", quoted(&found.column), words.join(", ")), is_value);
        }
    }

    fn preprocess_lines(&self, lines: &mut PipelineText) {
        lines.put("preprocess:", "each is fitted on training rows only");
        if self.dates {
            lines.put("  - {kind: date_parts}", "year, month, day, weekday and days passed");
        }
        if !self.encoded.is_empty() {
            let names: Vec<String> = self.encoded.iter().map(|name| quoted(name)).collect();
            let comment = "text of many levels: the mean of the target in each";
            lines.put(format!("  - {{kind: target_encode, columns: [{}]}}", names.join(", ")), comment);
        }
        for (name, order) in &self.ordinal {
            let order: Vec<String> =
                order.iter().map(|level| serde_json::Value::from(level.as_str()).to_string()).collect();
            let line = format!("  - {{kind: ordinal, order: {{{}: [{}]}}}}", quoted(name), order.join(", "));
            lines.put(line, "ordered answers: the place of each");
        }
        if self.numbers_missing {
            lines.put("  - {kind: impute, how: mean}", "missing numbers");
        }
        if self.text_missing {
            lines.put("  - {kind: impute, how: most_frequent}", "missing classes");
        }
        if self.text {
            let comment = "a column of 0 and 1 for each level of a text column, one of two levels";
            lines.put("  - {kind: one_hot, drop: if_binary}", comment);
        }
        lines.put("  - {kind: standardize}", "columns of mean 0 and deviation 1");
    }

    fn learner_lines(&self, lines: &mut PipelineText, table: &TableProfile) {
        match self.is_rare {
            true => {
                lines.put("learner: {kind: crrr, lambda: {grid: auto}}", "the rare class counts as much as the others")
            }
            false => lines.put("learner: {kind: rls, lambda: {grid: auto}}", ""),
        }
        let forward = |points: usize| {
            let folds = (points / 4).clamp(1, self.folds);
            format!("criterion: {{kind: kfold, splits: {{kind: forward, folds: {folds}}}}}")
        };
        let groups = |count: usize| {
            let aside = match self.test {
                TestSource::Share(share) => (share * count as f64).round() as usize,
                _ => 0,
            };
            let folds = (count - aside.min(count)).clamp(2, self.folds);
            format!("criterion: {{kind: kfold, folds: {folds}, by: groups}}")
        };
        let rows = table.rows - self.without_target;
        match &self.layout {
            _ if self.is_rare => lines.put(
                "criterion: {kind: kfold, folds: 5, stratified: true, shuffle: true, loss: balanced_squared}",
                "the mean of the squared errors of the classes",
            ),
            RowDependence::Rows if self.is_stratified => lines.put(
                "criterion: {kind: kfold, folds: 5, stratified: true, shuffle: true}",
                "classes evenly in every fold",
            ),
            RowDependence::Rows => lines.put("criterion: loo", "exact leave-one-out"),
            RowDependence::Groups(_, count) => lines.put(groups(*count), ""),
            RowDependence::Series(_) | RowDependence::File(_) => {
                lines.put(forward(rows), "later rows from earlier ones")
            }
            RowDependence::Events(_, times) => lines.put(forward(*times), "later times from earlier ones"),
            RowDependence::NewUnits(panel) => {
                lines.put(groups(panel.units), "new units");
                lines.put(format!("# {}", forward(panel.times)), "their next times");
            }
            RowDependence::NextTimes(panel) => {
                lines.put(forward(panel.times), "their next times");
                lines.put(format!("# {}", groups(panel.units)), "new units");
            }
        }
        let size = "size and lambda are chosen by cross-validating the whole search";
        match table.columns.len() > rows {
            true => lines.put(
                "tune: {search: [greedy, all]}",
                "few columns or all, whichever holds up; size and lambda by cross-validation",
            ),
            false => lines.put("search: {kind: greedy}", size),
        }
    }
}

/// Escapes line breaks and other control characters of a comment, but not quotes.
fn on_one_line(comment: &str) -> String {
    let shown = |c: char| if c.is_ascii_punctuation() { c.to_string() } else { c.escape_debug().to_string() };
    comment.chars().map(shown).collect()
}

/// Quotes a path for YAML if necessary.
fn quoted_path(path: &str) -> String {
    let is_plain = path.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'));
    if is_plain { path.to_owned() } else { serde_json::Value::from(path).to_string() }
}
