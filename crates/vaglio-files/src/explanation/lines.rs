//! Text of an explanation, in lines.

use super::{EXPLAINING, ExplainedRun};
use vaglio_core::{Feature, joined, short, shown, significant};
use vaglio_report::record::{OutsideRecord, PerOutput};

/// Limit on the columns that are listed as left out.
const LINES: usize = 40;

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
        let mut lines = vec![format!("{}  chosen, column {} of {}", shown(&column.name), k + 1, self.chosen.len())];
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
        lines.extend(missing(self.prepared.missing_share(&column.name)));
        lines
    }

    /// Further figures of a column that was not chosen.
    pub(super) fn outside_lines(&self, feature: Feature, correlations: &[f64]) -> Vec<String> {
        let column = self.outside(feature, correlations);
        let alone = column.alone.zip(column.rank_alone);
        let alone = alone.map(|(score, rank)| format!("  score alone {}; rank {rank}", self.alone(score)));
        let nearest = column.nearest.map(|nearest| {
            let word = if nearest.above < 0.0 { "below" } else { "above" };
            let which = match self.chosen.get(nearest.step - 1) {
                Some(chosen) => format!("{}, which was chosen", self.name(*chosen)),
                None => "the result".into(),
            };
            let above = short(nearest.above.abs());
            format!("  nearest at step {}: rank {}, {above} {word} {which}", nearest.step, nearest.rank)
        });
        let explained = column.explained.map(|explained| {
            let by = self.span.explaining(correlations, EXPLAINING);
            let named = |(k, share): &(usize, f64)| format!("{} {share:.2}", self.name(self.chosen[*k]));
            let named: Vec<String> = by.iter().map(named).collect();
            let list = if named.is_empty() { String::new() } else { format!(": {}", named.join(", with ")) };
            format!("  the chosen columns explain {explained:.2} of its variance{list}")
        });
        alone.into_iter().chain(nearest).chain(explained).chain(missing(column.missing)).collect()
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

    /// A line for each column that was not chosen, below a head.
    pub(super) fn others(&self) -> Vec<String> {
        let outside = self.all_outside();
        if outside.is_empty() {
            return Vec::new();
        }
        let listed = &outside[..outside.len().min(LINES)];
        let width = listed.iter().map(|column| shown(&column.name).chars().count()).max().unwrap_or(0).max(8);
        let row = |name: &str, cells: [&str; 5]| {
            let [alone, rank, nearest, explained, missing] = cells;
            let text = format!("{name:<width$}  {alone:>12}  {rank:>5}  {nearest:>14}  {explained:>9}  {missing}");
            text.trim_end().to_owned()
        };
        let column = |column: &OutsideRecord| {
            let or_dash = |cell: Option<String>| cell.unwrap_or_else(|| "-".into());
            let alone = or_dash(column.alone.map(short));
            let rank = or_dash(column.rank_alone.map(|rank| rank.to_string()));
            let nearest = or_dash(column.nearest.map(|at| format!("{} at step {}", at.rank, at.step)));
            let explained = or_dash(column.explained.map(|share| format!("{share:.2}")));
            let missing = (column.missing > 0.0).then(|| format!("missing in {}", percent(column.missing)));
            row(&shown(&column.name), [&alone, &rank, &nearest, &explained, &missing.unwrap_or_default()])
        };
        let head = [String::new(), row("left out", ["alone", "rank", "nearest", "explained", ""])];
        let more = outside.len() - listed.len();
        let more = (more > 0).then(|| format!("… {more} more; name a column to have it explained"));
        head.into_iter().chain(listed.iter().map(column)).chain(more).collect()
    }
}

fn missing(share: f64) -> Option<String> {
    (share > 0.0).then(|| format!("  missing in {} of the training rows", percent(share)))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn numbers(of_outputs: &PerOutput) -> String {
    joined(of_outputs.values().iter().map(|&value| short(value)), ", ")
}
