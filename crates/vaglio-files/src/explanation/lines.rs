//! Text of an explanation, in lines.

use super::{EXPLAINING, ExplainedRun};
use vaglio_core::{Feature, escape_controls, join, short, significant};
use vaglio_report::record::PerOutput;

impl ExplainedRun<'_> {
    /// Lines on the chosen column at position `k`: its weight, scores without it and with substitutes, further figures.
    pub(super) fn chosen_lines(
        &self,
        k: usize,
        without: f64,
        substitutes: &[(Feature, f64)],
        inflation: Option<f64>,
    ) -> Vec<String> {
        let (feature, column) = (self.chosen[k], &self.record.selected[k]);
        let mut lines =
            vec![format!("{}  chosen, column {} of {}", escape_controls(&column.name), k + 1, self.chosen.len())];
        lines.extend(column.weight.as_ref().map(|weight| {
            let original = column.original_weight.as_ref();
            let original = original.map(|own| format!(" ({} on its original scale)", numbers(own)));
            format!("  weight {}{}", numbers(weight), original.unwrap_or_default())
        }));
        lines.push(format!("  score without it {}", self.compared(without)));
        lines.extend(
            substitutes.iter().map(|(feature, score)| {
                format!("  with {} in its place {}", self.name(*feature), self.compared(*score))
            }),
        );
        if substitutes.is_empty() {
            lines.push("  no column can take its place".into());
        }
        lines.extend(self.walked.alone[feature].map(|(score, _)| format!("  score alone {}", self.alone(score))));
        lines.extend(inflation.map(|factor| match factor.is_finite() {
            true => format!("  variance inflation {}", significant(factor, 4)),
            false => "  it depends on the other chosen columns (variance inflation infinite)".into(),
        }));
        let folds = self.record.nested.as_ref().map_or(0, |nested| nested.per_fold.len());
        lines.extend(column.over_folds.as_ref().map(|spread| {
            let (low, high) = (numbers(&spread.low), numbers(&spread.high));
            let range = if low == high { low } else { format!("from {low} to {high}") };
            let mark = if spread.changes_sign { "; the sign changes" } else { "" };
            format!("  weight {range} in the {} of {folds} outer folds that chose it{mark}", spread.folds)
        }));
        lines
    }

    /// Further figures of a column that was not chosen.
    pub(super) fn outside_lines(&self, feature: Feature, correlations: &[f64]) -> Vec<String> {
        let alone = self.walked.alone[feature];
        let alone = alone.map(|(score, rank)| format!("  score alone {}; rank {rank}", self.alone(score)));
        let nearest = self.walked.nearest[feature].map(|nearest| {
            let word = if nearest.above < 0.0 { "below" } else { "above" };
            let which = match self.chosen.get(nearest.step - 1) {
                Some(chosen) => format!("{}, which was chosen", self.name(*chosen)),
                None => "the result".into(),
            };
            let above = short(nearest.above.abs());
            format!("  nearest at step {}: rank {}, {above} {word} {which}", nearest.step, nearest.rank)
        });
        let explained = (!self.chosen.is_empty()).then(|| {
            let explained = self.span.explained(correlations);
            let by = self.span.explaining(correlations, EXPLAINING);
            let named = |(k, share): &(usize, f64)| format!("{} {share:.2}", self.name(self.chosen[*k]));
            let named: Vec<String> = by.iter().map(named).collect();
            let list = if named.is_empty() { String::new() } else { format!(": {}", named.join(", with ")) };
            format!("  the chosen columns explain {explained:.2} of its variance{list}")
        });
        alone.into_iter().chain(nearest).chain(explained).collect()
    }

    /// A score, compared with that of the result.
    pub(super) fn compared(&self, score: f64) -> String {
        let apart = score - self.record.score;
        let word = if apart < 0.0 { "lower" } else { "higher" };
        match score.is_finite() {
            true => format!("{}, {} {word}", short(score), short(apart.abs())),
            false => "infinite".into(),
        }
    }

    /// A score, compared with that of the empty model.
    fn alone(&self, score: f64) -> String {
        let apart = self.record.empty_score - score;
        let word = if apart < 0.0 { "higher" } else { "lower" };
        match apart.is_finite() {
            true => format!("{}, {} {word} than without columns", short(score), short(apart.abs())),
            false => short(score),
        }
    }
}

fn numbers(of_outputs: &PerOutput) -> String {
    join(of_outputs.values().iter().map(|&value| short(value)), ", ")
}
