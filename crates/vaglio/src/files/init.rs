//! A commented pipeline for a table that nobody described.

mod look;

use super::folder::relative;
use super::prepare;
use crate::pipeline::{ReadSpec, load};
use look::{Look, Seen};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use vaglio_core::{Error, Result};
use vaglio_tables::read::{FaultKind, InferredType, Source, quoted};

/// What a new pipeline is to be for.
#[derive(Debug, Clone, Default)]
pub struct InitOptions {
    /// The columns to predict; guessed when there is none.
    pub targets: Vec<String>,
    /// The columns that are no features; those that look so when absent.
    pub exclude: Option<Vec<String>>,
}

/// A pipeline that was written for a table.
#[derive(Debug)]
pub struct Draft {
    /// The text of the pipeline file.
    pub text: String,
    /// What was decided, a line each.
    pub notes: Vec<String>,
    /// The columns to predict.
    pub targets: Vec<String>,
    /// The columns that are no features.
    pub excluded: Vec<String>,
    /// Why the pipeline does not run as it stands, where it does not.
    pub fault: Option<Error>,
}

/// Writes a pipeline for a table, or for the files that a pattern fits, to stand in `folder`.
///
/// Types, identifiers, groups and missing cells are looked at, the target is guessed where none is given, and the pipeline
/// is tried up to where the search begins.
///
/// # Errors
/// A file that cannot be read at all; [`Error::UnknownName`] for a column that it does not have.
pub fn init(table: &Path, folder: &Path, options: &InitOptions) -> Result<Draft> {
    let source = Source::open(&[table.to_owned()], &ReadSpec::default())?;
    let known = |option: &str, names: &[String]| match names.iter().find(|name| !source.names().contains(name)) {
        None => Ok(()),
        Some(name) => Err(Error::unknown(option, "column", name, source.names().iter().map(String::as_str))),
    };
    known("--target", &options.targets)?;
    known("columns to leave out", options.exclude.as_deref().unwrap_or_default())?;
    let look = Look::at(&source)?;
    drop(source);
    let mut draft = Plan::of(&look, options)?.written(&relative(table, folder), &look);
    let tried = load(&draft.text, "the pipeline", &[]).and_then(|(pipeline, _)| prepare(&pipeline, folder));
    draft.fault = tried.err();
    Ok(draft)
}

/// Names that a target often has.
const TARGETS: [&str; 12] = [
    "target",
    "y",
    "label",
    "class",
    "outcome",
    "response",
    "diagnosis",
    "price",
    "score",
    "output",
    "result",
    "species",
];
/// What rows belong to that are not independent of each other.
const GROUPS: [&str; 12] = [
    "subject",
    "patient",
    "participant",
    "person",
    "group",
    "groups",
    "household",
    "family",
    "animal",
    "user",
    "customer",
    "site",
];
/// A target of more whole numbers is one of numbers.
const MOST_CLASSES: usize = 30;
/// Tables of fewer rows keep all of them for training.
const ROWS_FOR_TEST: usize = 50;

/// What the pipeline does with each column.
struct Plan {
    targets: Vec<String>,
    guessed: bool,
    order: Option<(String, String)>,
    groups: Option<String>,
    /// Columns that are no features, with why.
    exclude: Vec<(String, String)>,
    /// Words that stand for missing cells, beside those of [`ReadSpec`].
    na: Vec<String>,
    numbers_missing: bool,
    text_missing: bool,
    text: bool,
    dates: bool,
    is_classes: bool,
}

fn base(name: &str) -> String {
    let lower = name.to_lowercase().replace([' ', '-', '.'], "_");
    lower.trim_end_matches("_id").trim_end_matches("_no").trim_end_matches("_nr").to_owned()
}

fn is_id(name: &str) -> bool {
    let lower = name.to_lowercase().replace([' ', '-', '.'], "_");
    matches!(lower.as_str(), "id" | "index" | "idx" | "row" | "uuid" | "guid" | "key" | "name" | "email")
        || lower.ends_with("_id")
}

impl Plan {
    fn of(table: &Look, options: &InitOptions) -> Result<Self> {
        let asked = &options.targets[..];
        let usable = |seen: &&Seen| {
            let odd = matches!(
                seen.survey.taken,
                InferredType::Empty | InferredType::Constant | InferredType::Identifier | InferredType::Date
            );
            seen.fault.is_none() && !odd && !(seen.survey.taken == InferredType::Text) && seen.survey.missing == 0
        };
        let named = TARGETS.iter().find_map(|known| {
            table.columns.iter().filter(usable).find(|seen| seen.survey.name.eq_ignore_ascii_case(known))
        });
        let targets = match (asked, named.or_else(|| table.columns.iter().rev().find(usable))) {
            ([], Some(seen)) => vec![seen.survey.name.clone()],
            ([], None) => {
                return Err(Error::Shape("no column can be a target: each is empty, constant, text or dates".into()));
            }
            (asked, _) => asked.to_vec(),
        };
        let is_classes = table.column(&targets[0]).is_some_and(|seen| {
            matches!(seen.survey.taken, InferredType::Class | InferredType::Text)
                || (seen.distinct == 2 && targets.len() == 1)
        });
        let plan_order =
            table.order.clone().filter(|(series, time)| !targets.contains(series) && !targets.contains(time));
        let mut plan = Plan {
            order: plan_order.clone(),
            guessed: asked.is_empty(),
            groups: None,
            exclude: Vec::new(),
            na: Vec::new(),
            numbers_missing: false,
            text_missing: false,
            text: false,
            dates: false,
            is_classes,
            targets,
        };
        let of_order = |name: &String| plan_order.as_ref().is_some_and(|(series, time)| name == series || name == time);
        for seen in table.columns.iter().filter(|seen| !of_order(&seen.survey.name)) {
            plan.take(seen, table.rows, options.exclude.as_deref());
        }
        Ok(plan)
    }

    fn take(&mut self, seen: &Seen, rows: usize, asked: Option<&[String]>) {
        let survey = &seen.survey;
        let name = &survey.name;
        if self.targets.contains(name) {
            return;
        }
        let mut exclude = |why: String| self.exclude.push((name.clone(), why));
        if asked.is_some_and(|asked| asked.contains(name)) {
            return exclude(String::new());
        }
        if let Some(fault) = &seen.fault {
            let (wrong, among_numbers) = match &fault.what {
                FaultKind::NotFinite => ("is not a finite number", false),
                FaultKind::Text { wrong, among_numbers, .. } => (wrong.as_str(), *among_numbers),
            };
            let is_word = fault.value.chars().count() <= 20 && !fault.value.chars().any(|c| c.is_ascii_digit());
            match is_word && among_numbers {
                true => {
                    self.na.push(fault.value.clone());
                    self.numbers_missing = true;
                }
                false => exclude(format!("row {}: `{}` {wrong}", fault.row + 1, fault.value)),
            }
            return;
        }
        let is_group = GROUPS.contains(&base(name).as_str());
        let repeats = seen.distinct > 1 && 2 * seen.distinct <= rows;
        match survey.taken {
            InferredType::Empty => {}
            _ if is_group && repeats && survey.missing == 0 && self.groups.is_none() => {
                self.groups = Some(name.clone())
            }
            InferredType::Identifier if asked.is_none() || survey.levels > 0 => {
                exclude("it differs in every row".into())
            }
            _ if is_id(name) && seen.differs && rows > 10 && asked.is_none() => {
                exclude("it differs in every row".into())
            }
            InferredType::Text => exclude(format!("it has {} levels in {rows} rows", survey.levels)),
            InferredType::Date => self.dates = true,
            InferredType::Class | InferredType::Constant if survey.levels > 0 => {
                self.text = true;
                self.text_missing |= survey.missing > 0;
            }
            InferredType::Number | InferredType::Class | InferredType::Constant | InferredType::Identifier => {
                self.numbers_missing |= survey.missing > 0
            }
        }
        self.numbers_missing |= survey.taken == InferredType::Date && survey.missing > 0;
    }

    fn written(&self, path: &str, table: &Look) -> Draft {
        let mut text = String::new();
        let mut line = |content: String, comment: &str| {
            let _ = match comment.is_empty() {
                true => writeln!(text, "{content}"),
                false => writeln!(text, "{content:<46}  # {comment}"),
            };
        };
        line(
            format!(
                "# {} rows and {} columns of {path}; `vaglio run` on this file selects columns and fits.",
                table.rows,
                table.columns.len()
            ),
            "",
        );
        line("version: 1".into(), "");
        line("seed: 0".into(), "every random choice follows from it");
        line("data:".into(), "");
        line(format!("  train: {}", quoted_path(path)), "");
        let with_test = table.rows >= ROWS_FOR_TEST;
        if with_test {
            let how = if self.is_classes {
                "set aside for an honest figure, classes evenly"
            } else {
                "set aside for an honest figure"
            };
            line("  test_fraction: 0.2".into(), how);
        }
        let guess = if self.guessed { "guessed; name another column if it is not this one" } else { "" };
        match &self.targets[..] {
            [one] => line(format!("  target: {}", quoted(one)), guess),
            several => {
                line(format!("  target: [{}]", several.iter().map(|t| quoted(t)).collect::<Vec<_>>().join(", ")), guess)
            }
        }
        if self.is_classes && self.needs_task(table) {
            line("  task: multiclass".into(), "");
        }
        let target = table.column(&self.targets[0]).filter(|_| self.targets.len() == 1 && !self.is_classes);
        if let Some(few) = target.filter(|t| t.whole && t.distinct <= MOST_CLASSES && 5 * t.distinct <= table.rows) {
            let hint = format!("{} whole numbers; take away the first # if they are classes", few.distinct);
            line("  # task: multiclass".into(), &hint);
        }
        if let Some((series, time)) = &self.order {
            line(format!("  series: {}", quoted(series)), "rows of one value are one time series");
            line(format!("  time: {}", quoted(time)), "");
        }
        if let Some(groups) = &self.groups {
            line(format!("  groups: {}", quoted(groups)), "rows of one value stay together");
        }
        if !self.exclude.is_empty() {
            line("  exclude:".into(), "columns that are no features as they stand");
            for (name, why) in &self.exclude {
                line(format!("    - {}", quoted(name)), &why.escape_debug().to_string());
            }
        }
        if !self.na.is_empty() {
            let words = ReadSpec::default().na.into_iter().map(|word| word.0).chain(self.na.iter().cloned());
            let words: Vec<String> = words.map(|word| serde_json::Value::from(word).to_string()).collect();
            line("  read:".into(), "");
            line(format!("    na: [{}]", words.join(", ")), "cells that are missing");
        }
        line("preprocess:".into(), "each is fitted on training rows only");
        if self.dates {
            line("  - {kind: date_parts}".into(), "year, month, day, weekday and days passed");
        }
        if self.numbers_missing {
            line("  - {kind: impute, how: mean}".into(), "missing numbers");
        }
        if self.text_missing {
            line("  - {kind: impute, how: most_frequent}".into(), "missing classes");
        }
        if self.text {
            line("  - {kind: one_hot}".into(), "a column of 0 and 1 for each level of a text column");
        }
        line("  - {kind: standardize}".into(), "columns of mean 0 and deviation 1");
        line("learner: {kind: rls, lambda: {grid: auto}}".into(), "");
        match self.groups.as_ref().or(self.order.as_ref().map(|(series, _)| series)) {
            Some(_) => line("criterion: {kind: kfold, folds: 5, by: groups}".into(), ""),
            None => line("criterion: loo".into(), "exact leave-one-out"),
        }
        line("search: {kind: greedy}".into(), "size and lambda are chosen by cross-validating the whole search");
        let excluded = self.exclude.iter().map(|(name, _)| name.clone()).collect();
        Draft { text, notes: self.notes(table), targets: self.targets.clone(), excluded, fault: None }
    }

    fn needs_task(&self, table: &Look) -> bool {
        let target = table.column(&self.targets[0]);
        target.is_some_and(|seen| {
            seen.survey.taken == InferredType::Text || (seen.survey.levels == 0 && seen.distinct > 2)
        })
    }

    /// What was decided, for people.
    fn notes(&self, table: &Look) -> Vec<String> {
        let mut notes = vec![format!("{} rows, {} columns", table.rows, table.columns.len())];
        let what = if self.is_classes { "classes" } else { "a number" };
        let guessed = if self.guessed { " (guessed; --target names another)" } else { "" };
        notes.push(format!("to predict: {}, {what}{guessed}", self.targets.join(", ")));
        notes.extend(self.order.iter().map(|(series, time)| format!("time series: {series}, in the order of {time}")));
        notes.extend(self.groups.iter().map(|name| format!("groups: {name}")));
        notes.extend(
            self.exclude
                .iter()
                .map(|(name, why)| format!("left out: {name}{}{why}", if why.is_empty() { "" } else { ": " })),
        );
        notes.extend(table.aside.iter().map(|(name, why)| format!("left out: {name}: {why}")));
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for seen in &table.columns {
            *counts.entry(seen.survey.taken.word()).or_default() += 1;
        }
        let counts: Vec<String> = counts.into_iter().map(|(word, count)| format!("{count} {word}")).collect();
        notes.push(format!("columns: {}", counts.join(", ")));
        let missing: usize = table.columns.iter().filter(|seen| seen.survey.missing > 0).count();
        let columns = if missing == 1 { "column has" } else { "columns have" };
        notes.extend((missing > 0).then(|| format!("{missing} {columns} missing cells, which are imputed")));
        notes
    }
}

/// A path as it stands in YAML.
fn quoted_path(path: &str) -> String {
    let is_plain = path.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'));
    if is_plain { path.to_owned() } else { serde_json::Value::from(path).to_string() }
}
