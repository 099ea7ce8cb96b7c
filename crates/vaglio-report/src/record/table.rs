//! The result as a short text table.

use super::table_parts::{interval_text, level_text};
use super::{
    AlternativesRecord, ComparedSearch, ComparisonColumns, DeclinedColumns, Figures, LearningCurve, LossDifference,
    PartNames, Record, SharesRecord, SizeSpread, Status, Verified, left_out_rows,
};
use crate::record::ChosenBy;
use serde_json::Value;
use vaglio_core::{Certificate, Diagnostics, counted, is_lower, short, shown};
use vaglio_search::Rule;

/// Number of rows from which halving another loss is no chance.
const ROWS: usize = 40;
/// Largest number of characters of printed equations.
const READABLE: usize = 400;
/// Largest number of columns named in a sentence.
const NAMED: usize = 6;

impl Record {
    /// Formats a short table: the chosen columns with their weights, and the figures.
    pub fn table(&self) -> String {
        let mut out = self.may_be_chance().map_or_else(String::new, |sentence| format!("{sentence}.\n"));
        out.push_str(&self.target_line());
        self.weights_table(&mut out);
        self.equation_lines(&mut out);
        let parts = &self.pipeline;
        out.push_str(&format!(
            "\n{} of {} columns{}, {}; {} on {}{}, {}\n",
            self.selected.len(),
            self.data.features,
            self.source_note(),
            counted(self.data.rows, "row"),
            parts.search,
            parts.criterion,
            parts.loss.as_ref().map(|loss| format!(" ({})", loss.told())).unwrap_or_default(),
            parts.learner,
        ));
        if let Some(model) = &self.model {
            out.push_str(&format!("model on these columns: {}; all figures but the score are of it\n", model.words()));
        }
        if !self.data.left_out.is_empty() {
            out.push_str(&format!("left out: {}\n", shown(&left_out_rows(&self.data.left_out))));
        }
        if let Some(tuned) = &self.tuned {
            let text = |value: &Value| value.as_f64().map_or_else(|| value.to_string(), short);
            let values: Vec<String> =
                tuned.parameters.iter().map(|(path, value)| format!("{path} = {}", text(value))).collect();
            let (method, count) = (tuned.method.name(), tuned.evaluations);
            out.push_str(&format!("tuned by {method}, {}: {}\n", counted(count, "evaluation"), values.join(", ")));
        }
        let lambda = match &self.lambdas {
            Some(lambdas) => {
                let each: Vec<String> = lambdas.iter().map(|lambda| short(*lambda)).collect();
                format!(", lambda {} (of each output)", each.join(", "))
            }
            None => self.lambda.map(|l| format!(", lambda {}", short(l))).unwrap_or_default(),
        };
        let (score, empty) = (short(self.score), short(self.empty_score));
        let scale = self.pipeline.scale();
        let penalty = self.chosen.penalty.map(|l| format!(", penalty {}", short(l))).unwrap_or_default();
        out.push_str(&format!("score {score} (without features {empty}){scale}{lambda}{penalty}\n"));
        self.held_out_lines(&mut out);
        if let Some(winner) = self.searches.iter().find(|search| search.won) {
            let result = |s: &ComparedSearch| format!("{} {} ({})", s.search, short(s.loss), counted(s.size, "column"));
            let all: Vec<String> = self.searches.iter().map(result).collect();
            out.push_str(&format!("{} is taken; cross-validated: {}\n", winner.search, all.join(", ")));
        }
        if let Some(certificate) = &self.certificate {
            out.push_str(&format!("{}\n", proven(certificate)));
        }
        let sentences = [
            self.alternatives.as_ref().map(AlternativesRecord::sentence),
            self.shares.as_ref().map(SharesRecord::sentence),
            self.learning_curve.as_ref().map(LearningCurve::sentence),
        ];
        sentences.iter().flatten().for_each(|sentence| out.push_str(&format!("{sentence}\n")));
        if let Some(diagnostics) = self.numerics.filter(|diagnostics| diagnostics.remade > 0) {
            let Diagnostics { conditioning, remade, rows_kept_out, .. } = diagnostics;
            out.push_str(&format!(
                "trials refitted from the rows: {remade} (conditioning {conditioning:.1e} at worst; rows of leverage near 1 left out: \
                 {rows_kept_out})\n"
            ));
        }
        if let Some(Verified { steps, max_relative_error }) = &self.verify {
            let what = counted(*steps, "score");
            out.push_str(&format!("{what} recomputed by plain retraining: off by {max_relative_error:.1e} at most\n"));
        }
        if let Some(fdr) = &self.fdr {
            out.push_str(&format!("{}\n", shown(&fdr.sentence())));
        }
        if let Some(worth) = &self.worth {
            out.push_str(&worth.sentence().map_or_else(String::new, |sentence| format!("{sentence}\n")));
        }
        if self.status == Status::Partial {
            out.push_str("The search was cut short; this is the valid result so far.\n");
        }
        for warning in &self.warnings {
            out.push_str(&format!("warning: {}\n", shown(&warning.message)));
        }
        if let Some(sentence) = self.nothing_gained() {
            out.push_str(&format!("{sentence}.\n"));
        }
        out
    }

    /// Sentence that explains the intervals.
    pub(crate) fn interval_meaning(&self) -> Option<String> {
        let nested = self.nested.as_ref().and_then(|nested| nested.interval);
        self.chosen.interval.or(nested)?;
        let level = self.chosen.level.or(self.nested.as_ref().and_then(|nested| nested.level)).unwrap_or(0.95);
        let loss = self.loss().title().to_lowercase();
        Some(format!("{} intervals for the mean {loss} on new rows, selection included", level_text(level)))
    }

    /// Sentence that the columns may predict no better than none, or were not chosen for that reason.
    pub(crate) fn may_be_chance(&self) -> Option<String> {
        let chosen = &self.chosen;
        if let Some(DeclinedColumns { size, columns, cross_validated }) = &chosen.declined {
            let named: Vec<&str> = columns.iter().take(NAMED).map(|name| &**name).collect();
            let rest = if *size > NAMED { format!(" and {} more", size - NAMED) } else { String::new() };
            let baseline = chosen.empty_loss.map(|empty| format!(" (without features {})", short(empty)));
            let baseline = baseline.unwrap_or_default();
            let test = chosen.gain_test.as_ref().map_or_else(String::new, |test| format!(" ({})", test.text()));
            return Some(format!(
                "No column is taken: noise predicts as well too often{test}. The rule takes {}{rest}, with a cross-validated error of \
                 {}{baseline}{}; `choose: {{require_gain: never}}` takes them",
                shown(&named.join(", ")),
                short(*cross_validated),
                self.chosen_scale(),
            ));
        }
        let of_chosen = chosen.differences.iter().find(|of| of.against == ComparisonColumns::Empty);
        let nested = self.nested.as_ref().and_then(|nested| nested.difference.as_ref());
        let is_nothing = match nested {
            // The procedure errs more than the baseline.
            Some(nested) if nested.mean >= 0.0 => true,
            _ => [nested, of_chosen].into_iter().flatten().all(LossDifference::may_be_nothing) && !self.gains(),
        };
        let difference = nested.or(of_chosen).filter(|_| is_nothing && !self.selected.is_empty())?;
        let level = self.nested.as_ref().and_then(|nested| nested.level).or(chosen.level);
        let scale = if nested.is_none() { self.chosen_scale() } else { String::new() };
        let change = self.change_text(difference, level);
        Some(format!("The columns may be no better than none: they {change}{scale} on new rows"))
    }

    /// Whether the columns are clearly better than none: they passed the test of their gain, are better on test rows,
    /// or halve the loss.
    fn gains(&self) -> bool {
        let chosen = &self.chosen;
        let passes = |test: &Figures| Some(test.loss + 3.0 * test.standard_error? < test.empty_loss?);
        let halves = chosen.cross_validated.zip(chosen.empty_loss).is_some_and(|(loss, empty)| 2.0 * loss < empty);
        chosen.gain_test.is_some_and(|test| test.passes())
            || halves && self.data.rows >= ROWS
            || self.test.as_ref().and_then(passes) == Some(true)
    }

    /// `lower the squared error by 4.5 (95 % interval -0.4 to 10.3)`.
    fn change_text(&self, of: &LossDifference, level: Option<f64>) -> String {
        let (verb, sign) = if of.mean > 0.0 { ("raise", 1.0) } else { ("lower", -1.0) };
        let [low, high] = of.interval.map(|end| sign * end);
        let interval = interval_text([low.min(high), low.max(high)], level.unwrap_or(0.95));
        format!("{verb} the {} by {} ({interval})", self.loss().title(), short(of.mean.abs()))
    }

    /// Equations, if they are few and short enough to read.
    fn equation_lines(&self, out: &mut String) {
        let is_short = self.equation.iter().map(|line| line.chars().count()).sum::<usize>() <= READABLE;
        let lines = self.equation.iter().filter(|_| is_short && !self.selected.is_empty());
        let lines: String = lines.map(|line| format!("\n{}", shown(line))).collect();
        if !lines.is_empty() {
            out.push_str(&format!("{lines}\n"));
        }
    }

    /// Sentence that the columns lower no score, or the reason why none is chosen.
    fn nothing_gained(&self) -> Option<String> {
        if self.chosen.declined.is_some() {
            return None;
        }
        let lowest = self.path.iter().map(|entry| entry.score).fold(f64::INFINITY, f64::min);
        let by_rows = self.chosen.by == ChosenBy::CrossValidation;
        if !self.selected.is_empty() {
            let is_worse = self.pipeline.loss.is_some() && !is_lower(self.score, self.empty_score);
            let what = if !is_lower(lowest, self.empty_score) {
                "No subset on the path beats"
            } else {
                "The result does not beat"
            };
            return is_worse.then(|| format!("{what} the empty one"));
        }
        let within = self.chosen.rule == Some(Rule::OneSe);
        let why = match (by_rows, within) {
            _ if self.chosen.by == ChosenBy::FalseDiscoveries => "none is confirmed",
            _ if self.path.is_empty() => self.stop_reason.sentence(),
            (true, true) => "the baseline is within one standard error of the lowest cross-validated loss",
            (true, false) if self.pipeline.settings["search"]["choose"]["at_most"] == 0 => "`at_most: 0` allows none",
            (true, false) => "no size has a lower cross-validated loss",
            (false, _) if !is_lower(lowest, self.empty_score) => "no subset on the path beats the empty one",
            (false, true) => "the baseline is within one standard error of the lowest score",
            (false, false) => "no subset on the path beats the empty one by the tolerance",
        };
        Some(format!("No column is taken: {why}"))
    }

    /// Held-out errors, the most trustworthy last.
    fn held_out_lines(&self, out: &mut String) {
        let splits = |splits: &Option<String>| splits.as_ref().map_or_else(String::new, |how| format!(" ({how})"));
        let chosen = &self.chosen;
        if let (Some(error), Some(folds)) = (self.cross_validated_error(), chosen.folds) {
            out.push_str(&format!("{folds}-fold error {}{}\n", self.error_text(&error), splits(&chosen.splits)));
        }
        if let Some(sentence) = chosen.gain_sentence() {
            out.push_str(&format!("{sentence}\n"));
        }
        let varies = |sizes: &&SizeSpread| sizes.sizes.iter().any(|size| *size != chosen.size);
        if let Some(sizes) = chosen.sizes.as_ref().filter(varies) {
            out.push_str(&format!("size  {}\n", sizes.sentence(chosen.size)));
        }
        if let Some(error) = self.test_error() {
            out.push_str(&format!("test error {}, {}\n", self.error_text(&error), error.how));
        }
        if let (Some(error), Some(nested)) = (self.nested_error(), &self.nested) {
            let shared = nested.jaccard.map(|j| format!(", mean Jaccard index {j:.2}")).unwrap_or_default();
            let (folds, splits) = (nested.folds, splits(&nested.splits));
            out.push_str(&format!("nested error {}, {folds} outer folds{splits}{shared}\n", self.error_text(&error)));
        }
        if let Some(sentence) = self.interval_meaning() {
            out.push_str(&format!("{sentence}\n"));
        }
        out.push_str(&self.outputs_line());
        if let Some(permutations) = &self.permutations {
            let figure = permutations.cross_validated.as_ref().unwrap_or(&permutations.score);
            let count = permutations.count;
            out.push_str(&format!(
                "shuffled targets {}, p = {} ({})\n",
                short(figure.mean),
                short(figure.p),
                counted(count, "permutation")
            ));
        }
        if chosen.cross_validated.is_none() && self.test.is_none() && self.nested.is_none() {
            let who = if self.tuned.is_some() { "tuning and selection" } else { "the selection" };
            out.push_str(&format!(
                "The score is optimistic: {who} minimized it on these rows. Test data or `--nested 5` give the error on new rows.\n"
            ));
        }
    }
}

impl Record {
    /// Scale of the cross-validated losses, if it is not that of the data.
    pub(crate) fn chosen_scale(&self) -> String {
        let map = self.pipeline.target_map.as_ref().filter(|_| self.chosen.mapped);
        map.map_or_else(String::new, |kind| format!(" on the scale of {kind}"))
    }
}

impl PartNames {
    /// Scale of the scores, if it is not that of the data.
    pub(crate) fn scale(&self) -> String {
        match (&self.target_map, self.standardized_target) {
            (None, false) => String::new(),
            (None, true) => " on the scale of the standardized target".into(),
            (Some(kind), false) => format!(" on the scale of {kind}"),
            (Some(kind), true) => format!(" on the scale of {kind}, standardized"),
        }
    }
}

/// Sentence that says whether a search of all subsets proved its result, with the bound.
pub fn proven(certificate: &Certificate) -> String {
    let Certificate { optimal, visited, pruned, bound, .. } = certificate;
    let proven = if *optimal { "the best subset of every size is proven" } else { "not proven to be the best" };
    let bound = bound.as_ref().map(|bound| format!(" by the bound `{bound}`")).unwrap_or_default();
    let visited = counted(*visited as usize, "subset");
    format!("{visited} scored, {pruned} ruled out unscored{bound}: {proven}")
}
