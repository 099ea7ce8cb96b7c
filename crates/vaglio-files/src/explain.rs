//! What columns of a run are worth, chosen or not: computed again from its folder and its table.

mod said;

use super::facts::cells::ReadCells;
use super::facts::near::StepTrials;
use super::facts::span::{Span, Spanned};
use super::facts::{most_alike, of_parts, parts_of};
use super::folder::read_resolved;
use super::importance::exchanges::{Exchanges, Removals};
use super::importance::{SUBSTITUTES, best};
use super::{Prepared, prepare};
use serde_json::Value;
use std::path::Path;
use vaglio_core::engine::EngineDesign;
use vaglio_core::{CrossValidation, Design, Error, Feature, Outline, Result, Rules, Score, Sign, Subset};
use vaglio_pipeline::pipeline::load;
use vaglio_pipeline::resample::choice::cross_validation;
use vaglio_pipeline::resample::parting::Part;
use vaglio_report::record::{ConstantIn, OutsideRecord, PerOutput, Record, WeightSpread};
use vaglio_search::of_other_sign;

/// What some columns of a run are worth. Its text says so to people.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The score of the run's result.
    pub score: f64,
    /// The score without columns.
    pub empty_score: f64,
    /// How many columns the result has.
    pub size: usize,
    /// In the order in which they were asked for.
    pub columns: Vec<ColumnExplanation>,
    /// All columns that were not chosen, those of the best score alone first, where none was named.
    pub outside: Vec<OutsideRecord>,
    /// The chosen columns in order of entry, by their places among the candidates.
    pub chosen: Vec<Feature>,
    /// The names of the candidate columns.
    pub candidates: Vec<String>,
}

/// What one column is worth.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnExplanation {
    /// Its name.
    pub name: String,
    /// What is known of it.
    pub found: ColumnWorth,
    /// Whether it is confirmed to be no false discovery, where the run asked for that: `confirmed (q 0.04)`.
    pub discovery: Option<String>,
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
        /// What is known of it beside these scores.
        beside: Box<Beside>,
    },
    /// It was not chosen.
    Outside {
        /// The score of the result with it added.
        with: f64,
        /// The chosen column in the place of which it gives the lowest score, with that.
        in_place_of: Option<(String, f64)>,
        /// The constraint of the search that it would break, if it were added.
        barred: Option<String>,
        /// How near it came, and what the chosen columns say of it.
        line: Box<OutsideRecord>,
        /// The chosen columns that explain most of it, taken one after another, each with the share of its variance that it and
        /// those before it explain.
        explained_by: Vec<(String, f64)>,
    },
    /// It cannot be chosen, since all its entries are equal.
    Constant,
}

/// What is known of a chosen column beside its scores in the result.
#[derive(Debug, Clone, PartialEq)]
pub struct Beside {
    /// Its score alone, if that is finite.
    pub alone: Option<f64>,
    /// Its variance inflation factor among the chosen columns.
    pub inflation: Option<f64>,
    /// The share of training rows in which it is missing.
    pub missing: f64,
    /// The folds in whose training rows it is constant.
    pub constant_in: ConstantIn,
    /// Its weights over outer folds, where the run had such, and how many these were.
    pub over_folds: Option<(WeightSpread, usize)>,
}

/// Chosen columns that are named of those that explain another.
const EXPLAINING: usize = 3;

/// Explains columns of the run whose files are in `folder`: all chosen ones where none are named, with a line for each of the others.
///
/// Reads `selection.json`, `resolved.yaml` and the training table; every score is a trial of the run's criterion. Cost: two walks
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
    let evaluate = pipeline.settings().evaluate.as_ref();
    let how = record.chosen.folds.zip(cross_validation(&selector));
    let how = how.map(|(folds, (how, _))| CrossValidation { folds, ..how });
    let run = ExplainedRun {
        record: &record,
        selector: &selector,
        design: &design,
        prepared: &prepared,
        walked: StepTrials::new(&selector, &design, &chosen, chosen.len() + 1)?,
        span: Span::new(&design, &chosen),
        parts: parts_of(&selector, &prepared, &design, (how.as_ref(), evaluate))?,
        chosen,
    };
    let columns = run.columns(&asked)?;
    let outside = if names.is_empty() { run.all_outside() } else { Vec::new() };
    let (score, empty_score, size) = (record.score, record.empty_score, run.chosen.len());
    let (chosen, candidates) = (run.chosen, record.candidates.clone());
    Ok(Explanation { score, empty_score, size, columns, outside, chosen, candidates })
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
    selector: &'r vaglio_pipeline::selector::ValidSelector,
    design: &'r Design,
    prepared: &'r Prepared,
    chosen: Vec<Feature>,
    walked: StepTrials,
    span: Span,
    /// Of the folds that choose, and of the outer ones.
    parts: [Vec<Part>; 2],
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
        let discovery = |feature: Feature| self.record.fdr.as_ref()?.said_of(feature);
        let explained = |feature: &Feature| ColumnExplanation {
            name: self.name(*feature),
            found: found(feature),
            discovery: discovery(*feature),
        };
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
        let exchanges = Exchanges::new(self.selector, self.design, &self.chosen, outside);
        exchanges.each(self.selector, places.iter().copied(), SUBSTITUTES, |k, found| {
            substitutes[k] = best(found);
            true
        })?;
        let inflation = self.span.inflation();
        let outer = self.record.nested.as_ref().map_or(0, |nested| nested.per_fold.len());
        let worth = |&k: &usize| {
            let column = &self.record.selected[k];
            let named = |(feature, score): &(Feature, f64)| (self.name(*feature), *score);
            let worth = ColumnWorth::Chosen {
                order: k + 1,
                weights: [column.weight.clone(), column.original_weight.clone()],
                without: without[k],
                substitutes: substitutes[k].iter().map(named).collect(),
                beside: Box::new(Beside {
                    alone: self.walked.alone[self.chosen[k]].map(|(score, _)| score),
                    inflation: inflation[k],
                    missing: ReadCells::new(self.prepared).missing(&column.name),
                    constant_in: of_parts(self.design, &self.parts, self.chosen[k]),
                    over_folds: column.over_folds.clone().map(|spread| (spread, outer)),
                }),
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
        let exchanges = Exchanges::new(self.selector, self.design, &self.chosen, outside.to_vec());
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
        let spanned = self.span.of(self.design, outside);
        let rules = self.selector.search().rules(self.design).map_err(|error| error.under("search"))?;
        let worth = |at: usize| {
            let (feature, with) = (outside[at], with[at]);
            let barred = rules.as_ref().map_or(Ok(None), |rules| self.barred(rules, feature, with))?;
            let in_place_of = best[at].map(|(k, score)| (self.name(self.chosen[k]), score));
            let explaining = self.span.explaining(&spanned[at].correlations, EXPLAINING);
            let explained_by = explaining.into_iter().map(|(k, share)| (self.name(self.chosen[k]), share)).collect();
            let line = Box::new(self.line(feature, &spanned[at]));
            Ok(ColumnWorth::Outside { with: with.loss, in_place_of, barred, line, explained_by })
        };
        (0..outside.len()).map(worth).collect()
    }

    /// What is known of a column that was not chosen.
    fn line(&self, index: Feature, spanned: &Spanned) -> OutsideRecord {
        let name = self.name(index);
        let alone = self.walked.alone[index];
        OutsideRecord {
            index,
            alone: alone.map(|(score, _)| score),
            rank_alone: alone.map(|(_, rank)| rank),
            nearest: self.walked.nearest[index],
            explained: (!self.chosen.is_empty()).then_some(spanned.explained),
            most_alike: most_alike(&self.chosen, &spanned.correlations),
            constant_in: of_parts(self.design, &self.parts, index),
            missing: ReadCells::new(self.prepared).missing(&name),
            name,
        }
    }

    /// The same of all of them, those of the best score alone first.
    fn all_outside(&self) -> Vec<OutsideRecord> {
        let candidates = self.design.candidates().into_iter();
        let outside: Vec<Feature> = candidates.filter(|feature| !self.chosen.contains(feature)).collect();
        let spanned = self.span.of(self.design, &outside);
        let mut lines: Vec<OutsideRecord> =
            outside.iter().zip(&spanned).map(|(&feature, spanned)| self.line(feature, spanned)).collect();
        lines.sort_by_key(|line| (line.rank_alone.unwrap_or(usize::MAX), line.index));
        lines
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
