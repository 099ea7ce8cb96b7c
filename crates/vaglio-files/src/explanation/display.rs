//! Text of an explanation.

use super::{ColumnContext, ColumnExplanation, ColumnWorth, Explanation};
use std::fmt;
use vaglio_core::{Feature, counted, short, shown, significant};
use vaglio_report::record::{OutsideRecord, PerOutput};

/// Limit on the columns that are listed as left out.
const LINES: usize = 40;

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} chosen, score {}", counted(self.size, "column"), short(self.score))?;
        for ColumnExplanation { name, found, discovery } in &self.columns {
            let name = shown(name);
            match found {
                ColumnWorth::Constant => writeln!(f, "\n{name}  cannot be chosen: all its entries are equal")?,
                ColumnWorth::Chosen { order, weights: [weight, original], without, substitutes, beside } => {
                    writeln!(f, "\n{name}  chosen, column {order} of {}", self.size)?;
                    if let Some(weight) = weight {
                        let original =
                            original.as_ref().map(|own| format!(" ({} on its original scale)", numbers(own)));
                        writeln!(f, "  weight {}{}", numbers(weight), original.unwrap_or_default())?;
                    }
                    writeln!(f, "  score without it {}", self.against(*without))?;
                    for (name, score) in substitutes {
                        writeln!(f, "  with {} in its place {}", shown(name), self.against(*score))?;
                    }
                    if substitutes.is_empty() {
                        writeln!(f, "  no column can take its place")?;
                    }
                    self.beside(f, beside)?;
                }
                ColumnWorth::Outside { with, in_place_of, barred, line, explained_by } => {
                    writeln!(f, "\n{name}  not chosen")?;
                    writeln!(f, "  score with it added {}", self.against(*with))?;
                    if let Some(why) = barred {
                        writeln!(f, "  a constraint leaves it out: {}", shown(why))?;
                    }
                    if let Some((other, score)) = in_place_of {
                        let (other, score) = (shown(other), self.against(*score));
                        writeln!(f, "  it serves best in the place of {other}: {score}")?;
                    }
                    self.line(f, line, explained_by)?;
                }
            }
            if let Some(discovery) = discovery {
                writeln!(f, "  as a discovery {discovery}")?;
            }
        }
        self.lines(f)
    }
}

impl Explanation {
    /// A score, compared with that of the result.
    fn against(&self, score: f64) -> String {
        let apart = score - self.score;
        let word = if apart < 0.0 { "lower" } else { "higher" };
        match score.is_finite() {
            true => format!("{}, {} {word}", short(score), short(apart.abs())),
            false => "infinite".into(),
        }
    }

    /// A score, compared with that of the empty model.
    fn alone(&self, score: f64) -> String {
        let apart = self.empty_score - score;
        let word = if apart < 0.0 { "higher" } else { "lower" };
        match self.empty_score.is_finite() {
            true => format!("{}, {} {word} than without columns", short(score), short(apart.abs())),
            false => short(score),
        }
    }

    fn beside(&self, f: &mut fmt::Formatter<'_>, beside: &ColumnContext) -> fmt::Result {
        let ColumnContext { alone, inflation, missing, constant_in, over_folds } = beside;
        if let Some(score) = alone {
            writeln!(f, "  score alone {}", self.alone(*score))?;
        }
        match inflation {
            Some(factor) if factor.is_finite() => writeln!(f, "  variance inflation {}", significant(*factor, 4))?,
            Some(_) => writeln!(f, "  it depends on the other chosen columns (variance inflation infinite)")?,
            None => {}
        }
        if let Some((spread, folds)) = over_folds {
            let (low, high) = (numbers(&spread.low), numbers(&spread.high));
            let range = if low == high { low } else { format!("from {low} to {high}") };
            let mark = if spread.changes_sign { "; the sign changes" } else { "" };
            writeln!(f, "  weight {range} in the {} of {folds} outer folds that chose it{mark}", spread.folds)?;
        }
        cells(f, *missing, constant_in.sentence())
    }

    fn line(&self, f: &mut fmt::Formatter<'_>, line: &OutsideRecord, by: &[(String, f64)]) -> fmt::Result {
        if let (Some(score), Some(rank)) = (line.alone, line.rank_alone) {
            writeln!(f, "  score alone {}; rank {rank}", self.alone(score))?;
        }
        if let Some(nearest) = line.nearest {
            let word = if nearest.above < 0.0 { "below" } else { "above" };
            let which = match self.chosen_at(nearest.step) {
                Some(name) => format!("{}, which was chosen", shown(name)),
                None => "the result".into(),
            };
            let above = short(nearest.above.abs());
            writeln!(f, "  nearest at step {}: rank {}, {above} {word} {which}", nearest.step, nearest.rank)?;
        }
        if let Some(explained) = line.explained {
            let list: Vec<String> = by
                .iter()
                .enumerate()
                .map(|(k, (name, share))| format!("{}{} {share:.2}", if k > 0 { "with " } else { "" }, shown(name)))
                .collect();
            let list = if list.is_empty() { String::new() } else { format!(": {}", list.join(", ")) };
            writeln!(f, "  the chosen columns explain {explained:.2} of its variance{list}")?;
        }
        cells(f, line.missing, line.constant_in.sentence())
    }

    /// The column chosen at a step, from 1.
    fn chosen_at(&self, step: usize) -> Option<&String> {
        self.candidates.get(*self.chosen.get(step - 1)?)
    }

    /// One line for each column that was left out.
    fn lines(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.outside.is_empty() {
            return Ok(());
        }
        let name = |index: Feature| self.candidates.get(index).map_or("", String::as_str);
        let listed = &self.outside[..self.outside.len().min(LINES)];
        let width = listed.iter().map(|line| shown(&line.name).chars().count()).max().unwrap_or(0).max(8);
        writeln!(
            f,
            "\n{:<width$}  {:>12}  {:>5}  {:>14}  {:>9}  like",
            "left out", "alone", "rank", "nearest", "explained"
        )?;
        for line in listed {
            let alone = line.alone.map_or_else(|| "-".into(), short);
            let rank = line.rank_alone.map_or_else(|| "-".into(), |rank| rank.to_string());
            let nearest = line.nearest.map_or_else(|| "-".into(), |at| format!("{} at step {}", at.rank, at.step));
            let explained = line.explained.map_or_else(|| "-".into(), |share| format!("{share:.2}"));
            let like = line.most_alike.map(|alike| format!("{} ({:.2})", shown(name(alike.index)), alike.correlation));
            let missing = (line.missing > 0.0).then(|| format!("missing in {}", percent(line.missing)));
            let notes: Vec<String> = like.into_iter().chain(line.constant_in.sentence()).chain(missing).collect();
            let text = format!(
                "{:<width$}  {alone:>12}  {rank:>5}  {nearest:>14}  {explained:>9}  {}",
                shown(&line.name),
                notes.join("; ")
            );
            writeln!(f, "{}", text.trim_end())?;
        }
        match self.outside.len() - listed.len() {
            0 => Ok(()),
            more => writeln!(f, "… {more} more; name a column to have it explained"),
        }
    }
}

fn cells(f: &mut fmt::Formatter<'_>, missing: f64, constant: Option<String>) -> fmt::Result {
    if missing > 0.0 {
        writeln!(f, "  missing in {} of the training rows", percent(missing))?;
    }
    constant.map_or(Ok(()), |sentence| writeln!(f, "  {sentence}"))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn numbers(of_outputs: &PerOutput) -> String {
    let all: Vec<String> = of_outputs.values().iter().map(|&value| short(value)).collect();
    all.join(", ")
}
