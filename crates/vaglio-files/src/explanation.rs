//! Explains columns of a run, chosen or not, by recomputing scores from its folder and table.

use super::column_diagnostics::StepTrials;
use super::column_diagnostics::span::ColumnSpan;
use super::data::prepare;
use super::evaluations::drop_column::SUBSTITUTES;
use super::run_folder::read_resolved;
use super::trials::{Exchanges, TrialDesign};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use vaglio_core::{Error, Feature, Result, Score, escape_controls, join, pluralize, short, significant};
use vaglio_pipeline::pipeline::load;
use vaglio_report::record::{PerOutput, Record};
use vaglio_search::Rules;

/// Number of chosen columns that are named as explaining another.
const EXPLAINING: usize = 3;

/// Explains columns of the run in `folder` as text. With no names, explains all chosen columns.
///
/// Reads `selection.json`, `resolved.yaml` and the training table; every score is a trial of the run's criterion. Cost:
/// two searches to the size of the result. For each chosen column, a trial of every column outside; for each other, a
/// trial in every position.
///
/// # Errors
/// Returns [`Error::Unreadable`] if: a file is missing; the files are not of one run; the table is not that of the run.
/// Returns [`Error::UnknownName`] for a column that was no candidate, and [`Error::Setting`] for one that maps replaced.
/// Returns the errors of the data and of the criterion.
pub fn explain(folder: &Path, names: &[String]) -> Result<String> {
    let path = folder.join("selection.json");
    let record = Record::read(&path)?;
    let resolved = folder.join("resolved.yaml");
    let text = read_resolved(&resolved, &record.pipeline)?;
    let asked = requested_columns(&record, names)?;
    let (pipeline, document) = load(&text, &resolved.display().to_string(), &tuned_assignments(&record))?;
    let located = |error| document.locate(error);
    let prepared = prepare(&pipeline, folder).map_err(located)?;
    if prepared.digest.wait()? != record.data.digest {
        let message = "the table is not the one of this run, whose digest is another; run the pipeline again";
        return Err(Error::unreadable(path, message));
    }
    let selector = pipeline.selector();
    let design = selector.design(&prepared.train).map_err(located)?;
    if design.problem().names() != record.candidates {
        let message = "its candidate columns are not those of selection.json; run the pipeline again";
        return Err(Error::unreadable(resolved, message));
    }
    let per = record.pipeline.settings.pointer("/learner/lambda/per").and_then(Value::as_str);
    let design = design.at_lambda(record.lambda.filter(|_| matches!(per, Some("path" | "all"))));
    let chosen: Vec<Feature> = record.selected.iter().map(|column| column.index).collect();
    let trials = TrialDesign::new(&selector, &design);
    let step_trials = StepTrials::new(&trials, &chosen, chosen.len() + 1)?;
    let run = ExplainedRun { record: &record, trials, step_trials, span: ColumnSpan::new(&design, &chosen), chosen };
    let size = pluralize(run.chosen.len(), "column");
    let mut lines = vec![format!("{size} chosen, score {}", short(record.score))];
    lines.extend(run.columns(&asked)?);
    Ok(lines.join("\n") + "\n")
}

/// Indices of the requested columns.
fn requested_columns(record: &Record, names: &[String]) -> Result<Vec<Feature>> {
    if names.is_empty() {
        return Ok(record.selected.iter().map(|column| column.index).collect());
    }
    let known = || record.candidates.iter().map(String::as_str);
    let unknown = |name: &String| {
        let made = record.data.made.iter().filter(|made| made.of.contains(name));
        let made: Vec<&str> = made.flat_map(|made| &made.columns).filter_map(|&index| known().nth(index)).collect();
        if made.is_empty() {
            Error::unknown("COLUMN", "candidate column", name, known())
        } else {
            Error::setting("COLUMN", format!("name a column made of `{name}`: {}", made.join(", ")))
        }
    };
    let index = |name: &String| known().position(|candidate| candidate == name).ok_or_else(|| unknown(name));
    names.iter().map(index).collect()
}

/// Assignments that replace `tune` by the settings and the search it found.
fn tuned_assignments(record: &Record) -> Vec<String> {
    let found = record.tuned.iter().flat_map(|tuned| &tuned.parameters);
    let assigned = found.map(|(path, value)| format!("{path}={value}"));
    let search = &record.pipeline.settings["search"];
    let search = search.get("stages").unwrap_or(search);
    let compared = (!record.searches.is_empty()).then(|| format!("search={search}"));
    let is_tuned = record.tuned.is_some() || compared.is_some();
    assigned.chain(compared).chain(is_tuned.then(|| "tune=null".to_owned())).collect()
}

/// A run to explain.
struct ExplainedRun<'r> {
    record: &'r Record,
    trials: TrialDesign<'r>,
    chosen: Vec<Feature>,
    step_trials: StepTrials,
    span: ColumnSpan,
}

impl ExplainedRun<'_> {
    /// Lines on each of the requested columns, below an empty line.
    fn columns(&self, asked: &[Feature]) -> Result<Vec<String>> {
        let mut outside = self.trials.outside(&self.chosen);
        outside.retain(|feature| asked.contains(feature));
        let found: HashMap<Feature, Vec<String>> =
            self.chosen_columns(asked)?.into_iter().chain(self.outside_columns(&outside)?).collect();
        let mut lines = Vec::new();
        for feature in asked {
            let barred = || {
                let is_constant = self.trials.design.problem().constant().contains(feature);
                let why = if is_constant { "all its entries are equal" } else { "`search.excluded` leaves it out" };
                vec![format!("{}  cannot be chosen: {why}", self.name(*feature))]
            };
            lines.push(String::new());
            lines.extend(found.get(feature).cloned().unwrap_or_else(barred));
            let verdict = self.record.fdr.as_ref().and_then(|fdr| fdr.verdict_text(*feature));
            lines.extend(verdict.map(|verdict| format!("  as a discovery {verdict}")));
        }
        Ok(lines)
    }

    /// Name of a candidate, with control characters escaped.
    fn name(&self, feature: Feature) -> Cow<'_, str> {
        escape_controls(&self.record.candidates[feature])
    }

    /// Lines on the requested chosen columns.
    fn chosen_columns(&self, asked: &[Feature]) -> Result<Vec<(Feature, Vec<String>)>> {
        let places: Vec<usize> = (0..self.chosen.len()).filter(|&k| asked.contains(&self.chosen[k])).collect();
        if places.is_empty() {
            return Ok(Vec::new());
        }
        let without = self.trials.removal_scores(&self.chosen, f64::INFINITY)?;
        let without = without.map_or_else(Vec::new, |(scores, _)| scores);
        let exchanges = Exchanges::new(&self.trials, &self.chosen, self.trials.outside(&self.chosen));
        let inflation = self.span.inflation();
        let mut lines = Vec::new();
        exchanges.each(places, SUBSTITUTES, |k, substitutes| {
            lines.push((self.chosen[k], self.chosen_lines(k, without[k], &substitutes, inflation[k])));
            true
        })?;
        Ok(lines)
    }

    /// Lines on candidates that were not chosen.
    fn outside_columns(&self, outside: &[Feature]) -> Result<Vec<(Feature, Vec<String>)>> {
        if outside.is_empty() {
            return Ok(Vec::new());
        }
        let mut best: HashMap<Feature, (usize, f64)> = HashMap::new();
        let exchanges = Exchanges::new(&self.trials, &self.chosen, outside.to_vec());
        exchanges.each(0..self.chosen.len(), usize::MAX, |k, found| {
            for (feature, score) in found {
                let best = best.entry(feature).or_insert((k, score));
                if score < best.1 {
                    *best = (k, score);
                }
            }
            true
        })?;
        let TrialDesign { selector, design, .. } = &self.trials;
        let correlations = self.span.correlations(design, outside);
        let rules = selector.search.rules(design).map_err(|error| error.under("search"))?;
        let lines = |at: usize| {
            let feature = outside[at];
            let with = self.step_trials.added[feature];
            let barred = rules.as_ref().map_or(Ok(None), |rules| self.broken_constraint(rules, feature, with))?;
            let mut lines = vec![
                format!("{}  not chosen", self.name(feature)),
                format!("  score with it added {}", self.comparison_text(with.loss)),
            ];
            lines.extend(barred.map(|why| format!("  a constraint leaves it out: {}", escape_controls(&why))));
            lines.extend(best.get(&feature).map(|(k, score)| {
                let place = self.name(self.chosen[*k]);
                let score = self.comparison_text(*score);
                format!("  it serves best in the place of {place}: {score}")
            }));
            lines.extend(self.outside_lines(feature, &correlations[at]));
            Ok((feature, lines))
        };
        (0..outside.len()).map(lines).collect()
    }

    /// The constraint that adding a column would break, as a sentence.
    fn broken_constraint(&self, rules: &Rules, feature: Feature, score: Score) -> Result<Option<String>> {
        let with = [&self.chosen[..], &[feature]].concat();
        if let Some((field, why)) = rules.broken_rule(&with, self.trials.design.problem().names()) {
            return Ok(Some(format!("`constraints.{field}`: {why}")));
        }
        let others = rules.wrong_signs(&self.trials.design, &with, score)?;
        let sentence = |other: &Feature| {
            let name = self.name(*other);
            let sign = rules.sign(*other).map_or("", |sign| sign.word());
            format!("`constraints.signs`: the weight of `{name}` would not be {sign}")
        };
        Ok(others.first().map(sentence))
    }

    /// Lines on the chosen column at position `k`: its weight, scores without it and with substitutes, further figures.
    fn chosen_lines(
        &self,
        k: usize,
        without: f64,
        substitutes: &[(Feature, f64)],
        inflation: Option<f64>,
    ) -> Vec<String> {
        let feature = self.chosen[k];
        let column = &self.record.selected[k];
        let mut lines =
            vec![format!("{}  chosen, column {} of {}", escape_controls(&column.name), k + 1, self.chosen.len())];
        lines.extend(column.weight.as_ref().map(|weight| {
            let original = column.original_weight.as_ref();
            let original = original.map(|own| format!(" ({} on its original scale)", numbers(own)));
            format!("  weight {}{}", numbers(weight), original.unwrap_or_default())
        }));
        lines.push(format!("  score without it {}", self.comparison_text(without)));
        lines.extend(substitutes.iter().map(|(feature, score)| {
            format!("  with {} in its place {}", self.name(*feature), self.comparison_text(*score))
        }));
        if substitutes.is_empty() {
            lines.push("  no column can take its place".into());
        }
        lines.extend(self.step_trials.alone[feature].map(|(score, _)| format!("  score alone {}", self.alone(score))));
        lines.extend(inflation.map(|factor| {
            if factor.is_finite() {
                format!("  variance inflation {}", significant(factor, 4))
            } else {
                "  it depends on the other chosen columns (variance inflation infinite)".into()
            }
        }));
        let folds = self.record.nested.as_ref().map_or(0, |nested| nested.per_fold.len());
        lines.extend(column.over_folds.as_ref().map(|spread| {
            let low = numbers(&spread.low);
            let high = numbers(&spread.high);
            let range = if low == high { low } else { format!("from {low} to {high}") };
            let mark = if spread.changes_sign { "; the sign changes" } else { "" };
            format!("  weight {range} in the {} of {folds} outer folds that chose it{mark}", spread.folds)
        }));
        lines
    }

    /// Further figures of a column that was not chosen.
    fn outside_lines(&self, feature: Feature, correlations: &[f64]) -> Vec<String> {
        let alone = self.step_trials.alone[feature];
        let alone = alone.map(|(score, rank)| format!("  score alone {}; rank {rank}", self.alone(score)));
        let nearest = self.step_trials.nearest[feature].map(|nearest| {
            let word = if nearest.above < 0.0 { "below" } else { "above" };
            let which = match self.chosen.get(nearest.step - 1) {
                Some(chosen) => format!("{}, which was chosen", self.name(*chosen)),
                None => "the result".into(),
            };
            let above = short(nearest.above.abs());
            format!("  nearest at step {}: rank {}, {above} {word} {which}", nearest.step, nearest.rank)
        });
        let explained = (!self.chosen.is_empty()).then(|| {
            let explained = self.span.r2(correlations);
            let by = self.span.explaining(correlations, EXPLAINING);
            let named = |(k, share): &(usize, f64)| format!("{} {share:.2}", self.name(self.chosen[*k]));
            let named: Vec<String> = by.iter().map(named).collect();
            let list = if named.is_empty() { String::new() } else { format!(": {}", named.join(", with ")) };
            format!("  the chosen columns explain {explained:.2} of its variance{list}")
        });
        alone.into_iter().chain(nearest).chain(explained).collect()
    }

    /// A score, compared with that of the result.
    fn comparison_text(&self, score: f64) -> String {
        let difference = score - self.record.score;
        let word = if difference < 0.0 { "lower" } else { "higher" };
        if score.is_finite() {
            format!("{}, {} {word}", short(score), short(difference.abs()))
        } else {
            "infinite".into()
        }
    }

    /// A score, compared with that of the empty model.
    fn alone(&self, score: f64) -> String {
        let difference = self.record.empty_score - score;
        let word = if difference < 0.0 { "higher" } else { "lower" };
        if difference.is_finite() {
            format!("{}, {} {word} than without columns", short(score), short(difference.abs()))
        } else {
            short(score)
        }
    }
}

fn numbers(by_output: &PerOutput) -> String {
    join(by_output.values().iter().map(|&value| short(value)), ", ")
}
