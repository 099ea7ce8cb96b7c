//! Explains columns of a run, chosen or not, by recomputing scores from its folder and table.

mod display;

use super::column_diagnostics::cells::ReadCells;
use super::column_diagnostics::span::{ColumnRegression, ColumnSpan};
use super::column_diagnostics::step_trials::StepTrials;
use super::column_diagnostics::{constant_columns, most_alike, parts_of};
use super::drop_column::exchanges::{Exchanges, Removals, additions};
use super::drop_column::{SUBSTITUTES, best};
use super::folder::read_resolved;
use super::{TrainTest, prepare};
use serde_json::Value;
use std::path::Path;
use vaglio_core::{Design, Error, Feature, Result, Score};
use vaglio_pipeline::pipeline::load;
use vaglio_pipeline::resampling::choice::cross_validation;
use vaglio_pipeline::resampling::split_rule::TrainTestSplit;
use vaglio_report::record::{ConstantIn, OutsideRecord, PerOutput, Record, WeightSpread};
use vaglio_search::{CrossValidation, Rules, Sign, SubsetScorer, wrong_signs};

/// Scores of some columns of a run. Displays as text for people.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The score of the run's result.
    pub score: f64,
    /// The score without features.
    pub empty_score: f64,
    /// Number of columns in the result.
    pub size: usize,
    /// In the order asked for.
    pub columns: Vec<ColumnExplanation>,
    /// All columns that were not chosen, best score alone first; filled in if none was named.
    pub outside: Vec<OutsideRecord>,
    /// The chosen columns in order of entry, as indices into the candidates.
    pub chosen: Vec<Feature>,
    /// Names of the candidate columns.
    pub candidates: Vec<String>,
}

/// Explanation of one column.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnExplanation {
    /// Column name.
    pub name: String,
    /// Scores and weights of the column.
    pub found: ColumnWorth,
    /// The verdict of false-discovery control, if the run asked for it: `confirmed (q 0.04)`.
    pub discovery: Option<String>,
}

/// Scores and weights of a column, by whether it was chosen.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnWorth {
    /// The column was chosen.
    Chosen {
        /// Position in the order of entry, from 1.
        order: usize,
        /// Weight in the model, and per unit of the original column if available.
        weights: [Option<PerOutput>; 2],
        /// Score of the result without the column.
        without: f64,
        /// The best replacements, each with its score.
        substitutes: Vec<(String, f64)>,
        /// Further figures.
        beside: Box<ColumnContext>,
    },
    /// The column was not chosen.
    Outside {
        /// Score of the result with the column added.
        with: f64,
        /// The chosen column that it would replace best, with the score.
        in_place_of: Option<(String, f64)>,
        /// The constraint of the search that adding the column would break.
        barred: Option<String>,
        /// Step at which it came nearest to being chosen, its correlation with the chosen columns, and other figures.
        line: Box<OutsideRecord>,
        /// The chosen columns that explain most of it, in greedy order, each with the cumulative share of its variance.
        explained_by: Vec<(String, f64)>,
    },
    /// The column cannot be chosen, since all its entries are equal.
    Constant,
}

/// Further figures of a chosen column.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnContext {
    /// Score of the column alone, if finite.
    pub alone: Option<f64>,
    /// Variance inflation factor among the chosen columns.
    pub inflation: Option<f64>,
    /// Share of training rows with a missing value.
    pub missing: f64,
    /// Folds in whose training rows the column is constant.
    pub constant_in: ConstantIn,
    /// Spread of its weights over outer folds, and the number of these folds, if the run had any.
    pub over_folds: Option<(WeightSpread, usize)>,
}

/// Number of chosen columns that are named as explaining another.
const EXPLAINING: usize = 3;

/// Explains columns of the run in `folder`. With no names, explains all chosen columns and lists each of the others.
///
/// Reads `selection.json`, `resolved.yaml` and the training table; every score is a trial of the run's criterion. Cost:
/// two searches to the size of the result. For each chosen column, a trial of every column outside; for each other, a
/// trial in every position.
///
/// # Errors
/// Returns [`Error::Unreadable`] if: a file is missing; the files are not of one run; the table is not that of the run.
/// Returns [`Error::UnknownName`] for a column that was no candidate, [`Error::Setting`] for one that maps replaced, and
/// the errors of the data and of the criterion.
pub fn explain(folder: &Path, names: &[String]) -> Result<Explanation> {
    let path = folder.join("selection.json");
    let record = Record::read(&path)?;
    let resolved = folder.join("resolved.yaml");
    let text = read_resolved(&resolved, &record.pipeline)?;
    let asked = asked(&record, names)?;
    let assignments: Vec<String> = tuned(&record).into_iter().collect();
    let (pipeline, document) = load(&text, &resolved.display().to_string(), &assignments)?;
    let located = |error| document.locate(error);
    let prepared = prepare(&pipeline, folder).map_err(located)?;
    if prepared.digest.written()? != record.data.digest {
        let message = "the table is not the one of this run, whose digest is another; run the pipeline again";
        return Err(Error::unreadable(path, message));
    }
    let selector = pipeline.selector();
    let design = selector.design(&prepared.train).map_err(located)?;
    let design = design.at_lambda(record.lambda.filter(|_| is_of_path(&record)));
    let chosen: Vec<Feature> = record.selected.iter().map(|column| column.index).collect();
    let how = record.chosen.folds.zip(cross_validation(&selector));
    let how = how.map(|(folds, (how, _))| CrossValidation { folds, ..how });
    let run = ExplainedRun {
        record: &record,
        selector: &selector,
        design: &design,
        prepared: &prepared,
        walked: StepTrials::new(&selector, &design, &chosen, chosen.len() + 1)?,
        span: ColumnSpan::new(&design, &chosen),
        parts: parts_of(&selector, &prepared, &design, how.as_ref(), pipeline.settings().evaluation())?,
        chosen,
    };
    let columns = run.columns(&asked)?;
    let outside = if names.is_empty() { run.all_outside() } else { Vec::new() };
    let (score, empty_score, size) = (record.score, record.empty_score, run.chosen.len());
    let (chosen, candidates) = (run.chosen, record.candidates.clone());
    Ok(Explanation { score, empty_score, size, columns, outside, chosen, candidates })
}

/// Indices of the requested columns.
fn asked(record: &Record, names: &[String]) -> Result<Vec<Feature>> {
    if names.is_empty() {
        return Ok(record.selected.iter().map(|column| column.index).collect());
    }
    let known = || record.candidates.iter().map(String::as_str);
    let unknown = |name: &String| {
        let made = record.data.made.iter().filter(|made| made.of.contains(name));
        let made: Vec<&str> = made.flat_map(|made| &made.columns).filter_map(|&index| known().nth(index)).collect();
        match made.is_empty() {
            true => Error::unknown("COLUMN", "candidate column", name, known()),
            false => Error::setting("COLUMN", format!("name a column made of `{name}`: {}", made.join(", "))),
        }
    };
    let index = |name: &String| known().position(|candidate| candidate == name).ok_or_else(|| unknown(name));
    names.iter().map(index).collect()
}

/// Assignments that replace `tune` by the settings and the search it found.
fn tuned(record: &Record) -> Vec<String> {
    let found = record.tuned.iter().flat_map(|tuned| &tuned.parameters);
    let assigned = found.map(|(path, value)| format!("{path}={value}"));
    let search = &record.pipeline.settings["search"];
    let search = search.get("stages").unwrap_or(search);
    let compared = (!record.searches.is_empty()).then(|| format!("search={search}"));
    let is_tuned = record.tuned.is_some() || compared.is_some();
    assigned.chain(compared).chain(is_tuned.then(|| "tune=null".to_owned())).collect()
}

/// Whether one λ was used for the whole path.
fn is_of_path(record: &Record) -> bool {
    matches!(record.pipeline.settings.pointer("/learner/lambda/per").and_then(Value::as_str), Some("path" | "all"))
}

/// A run to explain.
struct ExplainedRun<'r> {
    record: &'r Record,
    selector: &'r vaglio_pipeline::selector::ValidSelector,
    design: &'r Design,
    prepared: &'r TrainTest,
    chosen: Vec<Feature>,
    walked: StepTrials,
    span: ColumnSpan,
    /// Folds that choose, and outer folds.
    parts: [Vec<TrainTestSplit>; 2],
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
        let discovery = |feature: Feature| self.record.fdr.as_ref()?.verdict_text(feature);
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

    /// Explains the requested chosen columns.
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
                beside: Box::new(ColumnContext {
                    alone: self.walked.alone[self.chosen[k]].map(|(score, _)| score),
                    inflation: inflation[k],
                    missing: ReadCells::new(self.prepared).missing(&column.name),
                    constant_in: constant_columns(self.design, &self.parts, self.chosen[k]),
                    over_folds: column.over_folds.clone().map(|spread| (spread, outer)),
                }),
            };
            (self.chosen[k], worth)
        };
        Ok(places.iter().map(worth).collect())
    }

    /// Explains candidates that were not chosen.
    fn outside_columns(&self, outside: &[Feature]) -> Result<Vec<ColumnWorth>> {
        if outside.is_empty() {
            return Ok(Vec::new());
        }
        let size = self.chosen.len();
        let extent = additions(size, outside.len());
        let mut subset = SubsetScorer::open(&**self.selector.criterion(), self.design, &extent)?;
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
        let spanned = self.span.relate(self.design, outside);
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

    /// Figures of a column that was not chosen.
    fn line(&self, index: Feature, spanned: &ColumnRegression) -> OutsideRecord {
        let name = self.name(index);
        let alone = self.walked.alone[index];
        OutsideRecord {
            index,
            alone: alone.map(|(score, _)| score),
            rank_alone: alone.map(|(_, rank)| rank),
            nearest: self.walked.nearest[index],
            explained: (!self.chosen.is_empty()).then_some(spanned.explained),
            most_alike: most_alike(&self.chosen, &spanned.correlations),
            constant_in: constant_columns(self.design, &self.parts, index),
            missing: ReadCells::new(self.prepared).missing(&name),
            name,
        }
    }

    /// Figures of all columns that were not chosen, best score alone first.
    fn all_outside(&self) -> Vec<OutsideRecord> {
        let candidates = self.design.candidates().into_iter();
        let outside: Vec<Feature> = candidates.filter(|feature| !self.chosen.contains(feature)).collect();
        let spanned = self.span.relate(self.design, &outside);
        let mut lines: Vec<OutsideRecord> =
            outside.iter().zip(&spanned).map(|(&feature, spanned)| self.line(feature, spanned)).collect();
        lines.sort_by_key(|line| (line.rank_alone.unwrap_or(usize::MAX), line.index));
        lines
    }

    /// The constraint that adding a column would break, as a sentence.
    fn barred(&self, rules: &Rules, feature: Feature, score: Score) -> Result<Option<String>> {
        let with = [&self.chosen[..], &[feature]].concat();
        if let Some((field, why)) = rules.broken(&with, self.design.names()) {
            return Ok(Some(format!("`constraints.{field}`: {why}")));
        }
        let others = wrong_signs(rules, self.design, &with, score)?;
        let sentence = |other: &Feature| {
            let (name, sign) = (self.name(*other), rules.sign(*other).map_or("", Sign::word));
            format!("`constraints.signs`: the weight of `{name}` would not be {sign}")
        };
        Ok(others.first().map(sentence))
    }
}
