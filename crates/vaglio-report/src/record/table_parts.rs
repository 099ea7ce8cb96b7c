//! Parts of the short table: the target, the chosen columns, and each error with its baselines.

use super::{
    ChosenRecord, ConfidenceInterval, OutputFigures, PerOutput, Record, SelectedRecord, Warning, WarningKind,
    WeightSpread,
};
use crate::names::{clause, join_up_to};
use std::collections::{HashMap, HashSet};
use vaglio_core::{Action, Feature, clip, escape_controls, short, significant, table_number};

/// Largest number of chosen columns that are all listed.
const FEW_COLUMNS: usize = 30;
/// Number of chosen columns that are listed out of more.
const LISTED: usize = 20;
/// Largest number of outputs with separate weights; for more, the norm is listed.
const FEW_OUTPUTS: usize = 4;

impl ChosenRecord {
    /// Sentence that the columns passed the test of their gain, if they did.
    pub(crate) fn gain_sentence(&self) -> Option<String> {
        let test = self.gain_test.as_ref().filter(|test| test.passes())?;
        Some(format!("the columns predict better than noise: {}", test.text()))
    }
}

/// Formats an interval with its level: `95 % interval 2531 to 3480.1`.
pub(crate) fn interval_text(([low, high], level): ConfidenceInterval) -> String {
    format!("{} {} to {}", interval_name(level), short(low), short(high))
}

/// Formats a range, or its only number: `0.12 to 0.3`.
pub(crate) fn range_text(low: f64, high: f64, number: fn(f64) -> String) -> String {
    let [low, high] = [low, high].map(number);
    if low == high { low } else { format!("{low} to {high}") }
}

/// Formats the name of an interval: `95 % interval`.
pub(crate) fn interval_name(level: f64) -> String {
    format!("{} interval", level_text(level))
}

/// Formats a level between 0 and 1: `95 %`.
pub fn level_text(level: f64) -> String {
    format!("{} %", (level * 1e4).round() / 1e2)
}

impl Record {
    /// Line with the names of the targets and classes; empty without targets.
    pub(super) fn target_line(&self) -> String {
        let names = |names: &[String]| join_up_to(names.iter().map(|name| escape_controls(name)), FEW_OUTPUTS);
        let data = &self.data;
        let classes = clause(" ({})", data.classes.as_deref().map(names));
        match data.targets.len() {
            0 => String::new(),
            1 => format!("target  {}{classes}\n\n", escape_controls(&data.targets[0])),
            _ => format!("targets  {}\n\n", names(&data.targets)),
        }
    }

    /// Names of the outputs: classes, or targets.
    pub(crate) fn outputs(&self) -> Vec<String> {
        let names = match &self.data.classes {
            Some(classes) if self.data.outputs > 1 => classes,
            Some(_) => return vec![String::new()],
            None => &self.data.targets,
        };
        let name = |k: usize| names.get(k).cloned().unwrap_or_else(|| format!("output {}", k + 1));
        (0..self.data.outputs).map(name).collect()
    }

    /// Table of the chosen columns with their weights, grouped by source column; empty without any.
    pub(super) fn weights_table(&self) -> String {
        let outputs = self.data.outputs;
        let (rows, note) = self.columns_to_list();
        if rows.is_empty() {
            return String::new();
        }
        let names: Vec<_> = rows.iter().map(|(_, chosen)| escape_controls(&chosen.name)).collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(6);
        let heads: Vec<String> = match outputs {
            // The model is not linear in its columns.
            _ if rows.iter().all(|(_, chosen)| chosen.weight.is_none()) => Vec::new(),
            0 | 1 => vec!["weight".into()],
            2..=FEW_OUTPUTS => {
                self.outputs().iter().map(|name| clip(&escape_controls(name), 12).into_owned()).collect()
            }
            _ => vec!["weights' norm".into()],
        };
        let cells: String = heads.iter().map(|head| format!("  {head:>12}")).collect();
        let has_spread = outputs == 1 && rows.iter().any(|(_, chosen)| chosen.over_folds.is_some());
        let over_folds = if has_spread { "  over outer folds" } else { "" };
        let mut out = format!("{:>4}  {:<width$}{cells}{over_folds}\n", "", "column");
        for ((place, chosen), name) in rows.iter().zip(&names) {
            let cells: Vec<f64> = match &chosen.weight {
                Some(weight) if weight.values().len() > FEW_OUTPUTS => vec![weight.norm()],
                weight => weight.iter().flat_map(PerOutput::values).copied().collect(),
            };
            let cells: String = cells.into_iter().map(|weight| format!("  {:>12}", table_number(weight))).collect();
            let spread = chosen.over_folds.as_ref().filter(|_| has_spread);
            let spread = clause("  {}", spread.map(|spread| self.spread_text(spread)));
            out += format!("{:>4}  {name:<width$}{cells}{spread}", place + 1).trim_end();
            out.push('\n');
        }
        out + &clause("   …  {}\n", note) + "\n"
    }

    /// Range of a single output's weights over outer folds.
    fn spread_text(&self, spread: &WeightSpread) -> String {
        let folds = self.nested.as_ref().map_or(0, |nested| nested.per_fold.len());
        let [low, high] = [&spread.low, &spread.high].map(|end| end.values().first().copied().unwrap_or(f64::NAN));
        let mark = if spread.changes_sign { ", sign changes" } else { "" };
        format!("{} in {} of {folds}{mark}", range_text(low, high, short), spread.folds)
    }

    /// Chosen columns to list, each with its position, and a note on the others.
    ///
    /// Of many columns, lists the first to enter, or the largest weights if columns did not enter one by one.
    fn columns_to_list(&self) -> (Vec<(usize, &SelectedRecord)>, Option<String>) {
        let mut rows: Vec<(usize, &SelectedRecord)> = self.selected.iter().enumerate().collect();
        let more = rows.len().saturating_sub(LISTED);
        let mut note = None;
        if rows.len() > FEW_COLUMNS {
            let entered = self.steps.iter().filter(|step| step.action == Action::Add).count() >= rows.len();
            if !entered {
                let size = |row: &(usize, &SelectedRecord)| row.1.weight.as_ref().map_or(0.0, PerOutput::norm);
                rows.sort_by(|a, b| size(b).total_cmp(&size(a)).then(a.0.cmp(&b.0)));
            }
            rows.truncate(LISTED);
            let which = if entered { "the first to enter are above" } else { "the largest weights are above" };
            note = Some(format!("{more} more; {which}, all are in selection.json"));
        }
        (self.group_by_source(rows), note)
    }

    /// Chosen columns grouped by source column, each with its position.
    pub(crate) fn group_by_source<'r>(
        &self,
        rows: Vec<(usize, &'r SelectedRecord)>,
    ) -> Vec<(usize, &'r SelectedRecord)> {
        let places = self.sources();
        // A group is placed at its first column.
        let mut first: HashMap<usize, usize> = HashMap::new();
        let place = |(at, row): (usize, (usize, &'r SelectedRecord))| {
            let source = places.get(&row.1.index);
            (source.map_or(at, |source| *first.entry(*source).or_insert(at)), row)
        };
        let mut placed: Vec<_> = rows.into_iter().enumerate().map(place).collect();
        placed.sort_by_key(|(place, _)| *place);
        placed.into_iter().map(|(_, row)| row).collect()
    }

    /// Position in `data.made` of each candidate made of columns of the data.
    pub(crate) fn sources(&self) -> HashMap<Feature, usize> {
        let made = self.data.made.iter().enumerate();
        made.flat_map(|(place, made)| made.columns.iter().map(move |&index| (index, place))).collect()
    }

    /// Number of columns of the data that candidates are made of, if it differs from theirs: ` (of 3 in the data)`.
    pub(crate) fn source_note(&self, columns: &[Feature]) -> String {
        let sources = self.sources();
        let mut names: HashSet<&String> = HashSet::new();
        for index in columns {
            match sources.get(index) {
                Some(&place) => names.extend(&self.data.made[place].of),
                None => names.extend(self.candidates.get(*index)),
            }
        }
        let is_other = !self.data.made.is_empty() && names.len() != columns.len();
        if is_other { format!(" (of {} in the data)", names.len()) } else { String::new() }
    }

    /// Figures of each of several outputs.
    pub(crate) fn outputs_line(&self) -> Option<String> {
        let (figures, rows) = self.most_trusted_figures().filter(|(figures, _)| !figures.by_output.is_empty())?;
        let told = |output: &OutputFigures| {
            let r2 = clause("; R² {}", output.r2.map(|r2| significant(r2, 4)));
            format!(
                "{} {} (RMSE {}{r2})",
                escape_controls(&output.name),
                short(output.mse),
                significant(output.mse.sqrt(), 4)
            )
        };
        let targets = join_up_to(figures.by_output.iter().map(told), FEW_OUTPUTS);
        Some(format!("squared error of each target on {rows}: {targets}"))
    }

    /// Warning about classes that are never predicted, by the most trustworthy figures.
    pub fn never_called(&self) -> Option<Warning> {
        let (figures, rows) = self.most_trusted_figures()?;
        let (classes, confusion) = (self.data.classes.as_ref()?, figures.confusion.as_ref()?);
        let is_observed = |class: &usize| confusion[*class].iter().any(|rows| *rows > 0);
        let is_called = |class: &usize| confusion.iter().any(|row| row.get(*class).is_some_and(|rows| *rows > 0));
        let never: Vec<usize> = (0..confusion.len()).filter(|class| is_observed(class) && !is_called(class)).collect();
        let count: usize = never.iter().map(|class| confusion[*class].iter().sum::<usize>()).sum();
        let named = join_up_to(never.iter().filter_map(|k| Some(format!("`{}`", classes.get(*k)?))), FEW_OUTPUTS);
        (!named.is_empty()).then(|| {
            let advice = if self.pipeline.learner == "crrr" {
                "the chosen columns do not tell it from the others"
            } else {
                "`learner: crrr` with `loss: balanced_squared` weighs classes alike"
            };
            let message = format!("no row is called {named}, which {count} of {} {rows} are; {advice}", figures.rows);
            Warning::new(WarningKind::NeverCalled, message)
        })
    }
}
