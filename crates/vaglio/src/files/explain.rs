//! What columns of a run are worth, chosen or not: computed again from its folder and its table.

use super::folder::read_resolved;
use super::importance::exchanges::{Exchanges, Removals, Tried};
use super::importance::{SUBSTITUTES, best};
use super::prepare;
use crate::pipeline::load;
use serde_json::Value;
use std::fmt;
use std::path::Path;
use vaglio_core::engine::EngineDesign;
use vaglio_core::{Design, Error, Feature, Outline, Result, Rules, Score, Sign, Subset, shown};
use vaglio_report::record::{PerOutput, Record, seven_digits};
use vaglio_search::of_other_sign;

/// What some columns of a run are worth. Its text says so to people.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The score of the run's result.
    pub score: f64,
    /// How many columns the result has.
    pub size: usize,
    /// In the order in which they were asked for.
    pub columns: Vec<ColumnExplanation>,
}

/// What one column is worth.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnExplanation {
    /// Its name.
    pub name: String,
    /// What is known of it.
    pub found: ColumnWorth,
}

/// What is known of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnWorth {
    /// It was chosen.
    Chosen {
        /// Its place in the order of entry, from 1.
        order: usize,
        /// Its weight in the model, and for one unit of the column as it was read, where there are such.
        weights: [Option<PerOutput>; 2],
        /// The score of the result without it.
        without: f64,
        /// The columns that cost least in its place, with the score that each gives.
        substitutes: Vec<(String, f64)>,
    },
    /// It was not chosen.
    Outside {
        /// The score of the result with it added.
        with: f64,
        /// The chosen column in the place of which it gives the lowest score, with that.
        in_place_of: Option<(String, f64)>,
        /// The constraint of the search that it would break, if it were added.
        barred: Option<String>,
    },
    /// It cannot be chosen, since all its entries are equal.
    Constant,
}

/// Explains columns of the run whose files are in `folder`: all chosen ones where none are named.
///
/// Reads `selection.json`, `resolved.yaml` and the training table; every score is a trial of the run's criterion. Cost: a walk
/// to the size of the result, and for each column a trial of every column outside, or for one that was not chosen of each place.
///
/// # Errors
/// [`Error::Unreadable`] for files that are missing, or are not of the same run, and for another table than that of the run;
/// [`Error::UnknownName`] for a column that was no candidate; those of the data and of the criterion's scores.
pub fn explain(folder: &Path, names: &[String]) -> Result<Explanation> {
    let path = folder.join("selection.json");
    let record = Record::read(&path)?;
    let resolved = folder.join("resolved.yaml");
    let text = read_resolved(&resolved, &record.pipeline)?;
    let asked = asked(&record, names)?;
    // The table is digested as it was then.
    let kind = record.data.digest.split_once(':').map(|(kind, _)| format!("data.digest={kind}"));
    let assignments: Vec<String> = tuned(&record).into_iter().chain(kind).collect();
    let (pipeline, document) = load(&text, &resolved.display().to_string(), &assignments)?;
    let located = |error| document.locate(error);
    let prepared = prepare(&pipeline, folder).map_err(located)?;
    if prepared.digest.written()? != record.data.digest {
        let message = "the table is not the one of this run, whose digest is another; run the pipeline again";
        return Err(Error::Unreadable { path, message: message.into() });
    }
    let selector = pipeline.selector();
    let design = selector.design(&prepared.train).map_err(located)?;
    let design = design.at_lambda(record.lambda.filter(|_| is_of_path(&record)));
    let chosen: Vec<Feature> = record.selected.iter().map(|column| column.index).collect();
    let run = ExplainedRun { record: &record, selector: &selector, design: &design, chosen };
    let columns = run.columns(&asked)?;
    Ok(Explanation { score: record.score, size: run.chosen.len(), columns })
}

/// The columns that are asked for, by their index.
fn asked(record: &Record, names: &[String]) -> Result<Vec<Feature>> {
    if names.is_empty() {
        return Ok(record.selected.iter().map(|column| column.index).collect());
    }
    let known = || record.candidates.iter().map(String::as_str);
    let index = |name: &String| {
        let found = known().position(|candidate| candidate == name);
        found.ok_or_else(|| Error::unknown("COLUMN", "candidate column", name, known()))
    };
    names.iter().map(index).collect()
}

/// The settings that tuning found, in its place.
fn tuned(record: &Record) -> Vec<String> {
    let found = record.tuned.iter().flat_map(|tuned| &tuned.parameters);
    let assigned = found.map(|(path, value)| format!("{path}={value}"));
    assigned.chain(record.tuned.iter().map(|_| "tune=null".to_owned())).collect()
}

/// Whether one λ was taken for the whole walk.
fn is_of_path(record: &Record) -> bool {
    matches!(record.pipeline.settings.pointer("/learner/lambda/per").and_then(Value::as_str), Some("path" | "all"))
}

/// A run that is explained.
struct ExplainedRun<'r> {
    record: &'r Record,
    selector: &'r crate::selector::ValidSelector,
    design: &'r Design,
    chosen: Vec<Feature>,
}

impl ExplainedRun<'_> {
    fn columns(&self, asked: &[Feature]) -> Result<Vec<ColumnExplanation>> {
        let of_chosen = self.chosen_columns(asked)?;
        let others: Vec<Feature> = self.design.candidates();
        let is_other = |feature: &&Feature| !self.chosen.contains(feature) && others.contains(feature);
        let mut outside: Vec<Feature> = asked.iter().filter(is_other).copied().collect();
        outside.sort_unstable();
        outside.dedup();
        let of_outside = self.outside_columns(&outside)?;
        let found = |feature: &Feature| match outside.binary_search(feature) {
            Ok(at) => of_outside[at].clone(),
            Err(_) => {
                let known = of_chosen.iter().find(|(chosen, _)| chosen == feature);
                known.map_or(ColumnWorth::Constant, |(_, worth)| worth.clone())
            }
        };
        let explained = |feature: &Feature| ColumnExplanation { name: self.name(*feature), found: found(feature) };
        Ok(asked.iter().map(explained).collect())
    }

    fn name(&self, feature: Feature) -> String {
        self.record.candidates.get(feature).cloned().unwrap_or_default()
    }

    /// Those of the chosen columns that are asked for.
    fn chosen_columns(&self, asked: &[Feature]) -> Result<Vec<(Feature, ColumnWorth)>> {
        let places: Vec<usize> = (0..self.chosen.len()).filter(|&k| asked.contains(&self.chosen[k])).collect();
        if places.is_empty() {
            return Ok(Vec::new());
        }
        let without = Removals::new(self.selector, self.design, &self.chosen).scores(self.selector)?;
        let outside = self.design.candidates().into_iter().filter(|f| !self.chosen.contains(f)).collect();
        let mut substitutes = vec![Vec::new(); self.chosen.len()];
        let exchanges = Exchanges::of(self.selector, self.design, &self.chosen, Tried::InEach(outside));
        exchanges.each(self.selector, places.iter().copied(), SUBSTITUTES, |k, found| {
            substitutes[k] = best(found);
            true
        })?;
        let worth = |&k: &usize| {
            let column = &self.record.selected[k];
            let named = |(feature, score): &(Feature, f64)| (self.name(*feature), *score);
            let worth = ColumnWorth::Chosen {
                order: k + 1,
                weights: [column.weight.clone(), column.original_weight.clone()],
                without: without[k],
                substitutes: substitutes[k].iter().map(named).collect(),
            };
            (self.chosen[k], worth)
        };
        Ok(places.iter().map(worth).collect())
    }

    /// Those of candidates that were not chosen.
    fn outside_columns(&self, outside: &[Feature]) -> Result<Vec<ColumnWorth>> {
        if outside.is_empty() {
            return Ok(Vec::new());
        }
        let size = self.chosen.len();
        let outline = Outline { start: 0, largest: size + 1, trials: outside.len() as f64, steps: size + 1 };
        let mut subset = Subset::open(&**self.selector.criterion(), self.design, &outline)?;
        subset.reset(&self.chosen)?;
        let mut with = vec![Score::WORST; outside.len()];
        subset.score_additions(outside, &mut with)?;
        let mut best: Vec<Option<(usize, f64)>> = vec![None; outside.len()];
        let exchanges = Exchanges::of(self.selector, self.design, &self.chosen, Tried::InEach(outside.to_vec()));
        exchanges.each(self.selector, 0..size, usize::MAX, |k, found| {
            for (feature, score) in found {
                let Ok(at) = outside.binary_search(&feature) else { continue };
                let best = &mut best[at];
                if best.is_none_or(|(_, lowest)| score < lowest) && score.is_finite() {
                    *best = Some((k, score));
                }
            }
            true
        })?;
        let rules = self.selector.search().rules(self.design).map_err(|error| error.under("search"))?;
        let worth = |at: usize| {
            let (feature, with) = (outside[at], with[at]);
            let barred = rules.as_ref().map_or(Ok(None), |rules| self.barred(rules, feature, with))?;
            let in_place_of = best[at].map(|(k, score)| (self.name(self.chosen[k]), score));
            Ok(ColumnWorth::Outside { with: with.loss, in_place_of, barred })
        };
        (0..outside.len()).map(worth).collect()
    }

    /// The constraint that the result with a column added would break, as a sentence.
    fn barred(&self, rules: &Rules, feature: Feature, score: Score) -> Result<Option<String>> {
        let with = [&self.chosen[..], &[feature]].concat();
        if let Some((field, why)) = rules.broken(&with, self.design.names()) {
            return Ok(Some(format!("`constraints.{field}`: {why}")));
        }
        let others = of_other_sign(rules, self.design, &with, score)?;
        let sentence = |other: &Feature| {
            let (name, sign) = (self.name(*other), rules.sign(*other).map_or("", Sign::word));
            format!("`constraints.signs`: the weight of `{name}` would not be {sign}")
        };
        Ok(others.first().map(sentence))
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} columns chosen, score {}", self.size, seven_digits(self.score))?;
        let against = |score: f64| {
            let apart = score - self.score;
            let word = if apart < 0.0 { "lower" } else { "higher" };
            match score.is_finite() {
                true => format!("{}, {} {word}", seven_digits(score), seven_digits(apart.abs())),
                false => "infinite".into(),
            }
        };
        for ColumnExplanation { name, found } in &self.columns {
            let name = shown(name);
            match found {
                ColumnWorth::Constant => writeln!(f, "\n{name}  cannot be chosen: all its entries are equal")?,
                ColumnWorth::Chosen { order, weights: [weight, original], without, substitutes } => {
                    writeln!(f, "\n{name}  chosen, column {order} of {}", self.size)?;
                    if let Some(weight) = weight {
                        let original =
                            original.as_ref().map(|own| format!(" ({} on its original scale)", numbers(own)));
                        writeln!(f, "  weight {}{}", numbers(weight), original.unwrap_or_default())?;
                    }
                    writeln!(f, "  score without it {}", against(*without))?;
                    for (name, score) in substitutes {
                        writeln!(f, "  with {} in its place {}", shown(name), against(*score))?;
                    }
                    if substitutes.is_empty() {
                        writeln!(f, "  no column can take its place")?;
                    }
                }
                ColumnWorth::Outside { with, in_place_of, barred } => {
                    writeln!(f, "\n{name}  not chosen")?;
                    writeln!(f, "  score with it added {}", against(*with))?;
                    if let Some(why) = barred {
                        writeln!(f, "  a constraint leaves it out: {}", shown(why))?;
                    }
                    if let Some((other, score)) = in_place_of {
                        writeln!(f, "  it serves best in the place of {}: {}", shown(other), against(*score))?;
                    }
                }
            }
        }
        Ok(())
    }
}

fn numbers(of_outputs: &PerOutput) -> String {
    let told: Vec<String> = of_outputs.values().iter().map(|&value| seven_digits(value)).collect();
    told.join(", ")
}
