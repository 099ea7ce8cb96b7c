//! The result as a short text table.

use super::table_parts::{interval_text, level_text};
use super::{
    ChosenBy, ComparedSearch, ComparisonColumns, DeclinedColumns, Figures, FinalModelRecord, GainTest, LINES,
    LossDifference, LossName, PartNames, PredictionRows, Record, Status, TunedSettings, left_out_rows,
};
use crate::LEVEL;
use crate::names::{clause, join_up_to};
use vaglio_core::{escape_controls, is_lower, join, pluralize, short};
use vaglio_search::{Certificate, Rule};

/// Number of rows from which halving another loss is no chance.
const ROWS: usize = 40;
/// Largest number of characters of printed equations.
const READABLE: usize = 400;
/// Largest number of columns named in a sentence.
const NAMED: usize = 6;

impl Record {
    /// Formats a short table: the chosen columns with their weights, and the figures.
    pub fn table(&self) -> String {
        let mut out = clause("{}.\n", self.may_be_chance());
        out += &self.target_line();
        out += &self.weights_table();
        out += &self.equation_lines();
        let parts = &self.pipeline;
        out += &format!(
            "{} of {} columns{}, {}; {} on {}{}, {}\n",
            self.selected.len(),
            self.data.features,
            self.source_note(&self.selected.iter().map(|own| own.index).collect::<Vec<_>>()),
            pluralize(self.data.rows, "row"),
            parts.search,
            parts.criterion,
            clause(" ({})", parts.loss.as_ref().map(LossName::result_name)),
            parts.learner,
        );
        let trained = |model: &FinalModelRecord| {
            format!("model on these columns: {}; all figures but the score are of it", model.words())
        };
        let model = self.model.as_ref().map(trained);
        let left_out = left_out_rows(&self.data.left_out).map(|rows| format!("left out: {rows}"));
        let tuned = self.tuned.as_ref().map(TunedSettings::sentence);
        let compared = self.searches.iter().find(|search| search.won).map(|winner| {
            let result =
                |s: &ComparedSearch| format!("{} {} ({})", s.search, short(s.loss), pluralize(s.size, "column"));
            format!("{} is taken; cross-validated: {}", winner.search, join(self.searches.iter().map(result), ", "))
        });
        let is_partial = self.status == Status::Partial;
        let lines = [model, left_out, tuned, Some(self.score_line())].into_iter().chain(self.held_out_lines());
        let lines = lines.chain([compared, self.certificate.as_ref().map(proof_sentence)]);
        let partial = is_partial.then(|| "The search was cut short; this is the valid result so far.".to_owned());
        let lines = lines.chain(LINES.iter().map(|line| line(self))).chain([partial]);
        let warnings =
            self.warnings.iter().map(|warning| Some(format!("warning: {}", escape_controls(&warning.message))));
        let nothing = self.nothing_gained().map(|sentence| format!("{sentence}."));
        let lines = lines.chain(warnings).chain([nothing]).flatten();
        lines.for_each(|line| out.extend([&*line, "\n"]));
        out
    }

    /// The score, the baseline and the penalties.
    fn score_line(&self) -> String {
        let lambdas = self
            .lambdas
            .as_ref()
            .map(|lambdas| join(lambdas.iter().map(|lambda| short(*lambda)), ", ") + " (of each output)");
        let lambda = clause(", lambda {}", lambdas.or(self.lambda.map(short)));
        let (score, empty) = (short(self.score), short(self.empty_score));
        let scale = self.pipeline.scale();
        let penalty = clause(", penalty {}", self.chosen.penalty.map(short));
        format!("score {score} (without features {empty}){scale}{lambda}{penalty}")
    }

    /// Sentence that explains the intervals.
    pub(crate) fn interval_meaning(&self) -> Option<String> {
        let nested = self.nested.as_ref().and_then(|nested| nested.interval);
        self.chosen.interval.or(nested)?;
        let level = self.chosen.level.or(self.nested.as_ref().and_then(|nested| nested.level)).unwrap_or(LEVEL);
        let loss = self.loss().title().to_lowercase();
        Some(format!("{} intervals for the mean {loss} on new rows, selection included", level_text(level)))
    }

    /// Sentence that the columns may predict no better than none, or were not chosen for that reason.
    pub(crate) fn may_be_chance(&self) -> Option<String> {
        let chosen = &self.chosen;
        if let Some(DeclinedColumns { columns, cross_validated, .. }) = &chosen.declined {
            let named = join_up_to(columns, NAMED);
            let baseline = clause(" (without features {})", chosen.empty_loss.map(short));
            let test = clause(" ({})", chosen.gain_test.as_ref().map(GainTest::text));
            return Some(format!(
                "No column is taken: the gain over no column may be chance{test}. Without this test {} would be taken, with a \
                 cross-validated error of {}{baseline}{}; `choose: {{require_gain: never}}` takes them",
                escape_controls(&named),
                short(*cross_validated),
                self.chosen_scale(),
            ));
        }
        let chosen_difference =
            chosen.differences.iter().find(|difference| difference.against == ComparisonColumns::Empty);
        let nested = self.nested.as_ref().and_then(|nested| nested.difference.as_ref());
        let is_nothing = match nested {
            // The procedure errs more than the baseline.
            Some(nested) if nested.mean >= 0.0 => true,
            _ => [nested, chosen_difference].into_iter().flatten().all(LossDifference::may_be_nothing) && !self.gains(),
        };
        let difference = nested.or(chosen_difference).filter(|_| is_nothing && !self.selected.is_empty())?;
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
    fn change_text(&self, difference: &LossDifference, level: Option<f64>) -> String {
        let (verb, sign) = if difference.mean > 0.0 { ("raise", 1.0) } else { ("lower", -1.0) };
        let [low, high] = difference.interval.map(|end| sign * end);
        let interval = interval_text(([low.min(high), low.max(high)], level.unwrap_or(LEVEL)));
        format!("{verb} the {} by {} ({interval})", self.loss().title(), short(difference.mean.abs()))
    }

    /// Equations, if they are few and short enough to read.
    fn equation_lines(&self) -> String {
        let is_short = self.equation.iter().map(|line| line.chars().count()).sum::<usize>() <= READABLE;
        let lines = self.equation.iter().filter(|_| is_short && !self.selected.is_empty());
        let lines: String = lines.map(|line| format!("{}\n", escape_controls(line))).collect();
        if lines.is_empty() { lines } else { lines + "\n" }
    }

    /// Sentence that the columns lower no score, or the reason why none is chosen.
    pub(crate) fn nothing_gained(&self) -> Option<String> {
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
            (true, true) => {
                "the baseline is at most one standard error of the difference above the lowest cross-validated loss"
            }
            (true, false) if self.choose_settings()["at_most"] == 0 => "`at_most: 0` allows none",
            (true, false) => "no size has a lower cross-validated loss than the baseline",
            (false, _) if !is_lower(lowest, self.empty_score) => "no subset on the path beats the empty one",
            (false, true) => "the baseline is within one standard error of the lowest score",
            (false, false) => "no subset on the path beats the empty one by the tolerance",
        };
        Some(format!("No column is taken: {why}"))
    }

    /// The most trustworthy held-out error in words.
    pub fn error_line(&self) -> Option<String> {
        self.error_lines().into_iter().flatten().next_back()
    }

    /// The errors of cross-validation, test rows and outer folds.
    pub(super) fn error_lines(&self) -> [Option<String>; 3] {
        let splits = |splits: &Option<String>| clause(" ({})", splits.as_ref());
        let chosen = &self.chosen;
        let cross_validated = self
            .held_out_error(PredictionRows::CrossValidation)
            .zip(chosen.folds)
            .map(|(error, folds)| format!("{folds}-fold error {}{}", error.text(), splits(&chosen.splits)));
        let test = self
            .held_out_error(PredictionRows::Test)
            .map(|error| format!("test error {}, {}", error.text(), error.how));
        let nested = self.held_out_error(PredictionRows::Nested).zip(self.nested.as_ref()).map(|(error, nested)| {
            let shared = clause(", mean Jaccard index {}", nested.jaccard.map(|j| format!("{j:.2}")));
            let (folds, splits) = (nested.folds, splits(&nested.splits));
            format!("nested error {}, {folds} outer folds{splits}{shared}", error.text())
        });
        [cross_validated, test, nested]
    }

    /// Lines on held-out errors, the most trustworthy last.
    fn held_out_lines(&self) -> [Option<String>; 9] {
        let chosen = &self.chosen;
        let [cross_validated, test, nested] = self.error_lines();
        let sizes = chosen.sizes.as_ref().filter(|sizes| sizes.sizes.iter().any(|size| *size != chosen.size));
        let sizes = sizes.map(|sizes| format!("size  {}", sizes.sentence(chosen.size)));
        let (gain, meaning) = (chosen.gain_sentence(), self.interval_meaning());
        let (outputs, shuffled) = (self.outputs_line(), self.shuffled_line());
        [cross_validated, gain, sizes, test, nested, meaning, outputs, shuffled, self.optimism()]
    }

    /// Sentence that the score is optimistic, if no rows were held out.
    pub(super) fn optimism(&self) -> Option<String> {
        let is_held_out = self.chosen.cross_validated.is_some() || self.test.is_some() || self.nested.is_some();
        let who = if self.tuned.is_some() { "tuning and selection" } else { "the selection" };
        (!is_held_out).then(|| {
            format!(
                "The score is optimistic: {who} minimized it on these rows. Test data or `--nested 5` give the error on new rows."
            )
        })
    }
}

impl Record {
    /// Scale of the cross-validated losses, if it is not that of the data.
    pub(crate) fn chosen_scale(&self) -> String {
        let map = self.pipeline.target_map.as_ref().filter(|_| self.chosen.mapped);
        clause(" on the scale of {}", map)
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
pub fn proof_sentence(certificate: &Certificate) -> String {
    let Certificate { optimal, visited, pruned, bound, .. } = certificate;
    let proven = if *optimal { "the best subset of every size is proven" } else { "not proven to be the best" };
    let bound = clause(" by the bound `{}`", bound.as_ref());
    let visited = pluralize(*visited as usize, "subset");
    format!("{visited} scored, {pruned} ruled out unscored{bound}: {proven}")
}
