//! Methods of a run: a paragraph with its figures, and the items of the REFORMS checklist that a run can answer.

use super::{ChosenBy, FinalModelRecord, PredictionRows, Record, left_out_rows};
use crate::names::{clause, join_up_to, sentence};
use vaglio_core::{Role, escape_controls, join, pluralize, short, title};
use vaglio_search::Rule;

/// Items about the study, which a run cannot answer.
const OF_THE_STUDY: &str = "1a to 1c, 2d, 3a to 3c, 3f, 3g, 4b, 5b, 6c, 8a and 8b";

/// Largest number of listed names.
const LISTED: usize = 20;

/// Names in backticks, the first ones of many.
fn join_in_backticks<'n>(names: impl IntoIterator<Item = &'n String>) -> String {
    join_up_to(names.into_iter().map(|name| format!("`{}`", escape_controls(name))), LISTED)
}

impl Record {
    /// Methods of the run as text: a paragraph with figures, and the items of REFORMS that the run answers, in their order.
    ///
    /// # Reference
    /// S. Kapoor et al., *REFORMS: consensus-based recommendations for machine-learning-based science*, Science Advances
    /// 10(18), eadk3452, 2024, table 1.
    pub fn methods(&self) -> String {
        let mut text = format!(
            "{}\n\nREFORMS checklist (Kapoor et al., Science Advances 2024), as far as the run answers it\n",
            self.methods_paragraph()
        );
        for (number, asks, answer) in self.data_items().into_iter().chain(self.validity_items()) {
            text += &format!("{number}  {asks}: {answer}\n");
        }
        text + &format!("\nFor you to say: items {OF_THE_STUDY}.\n")
    }

    /// Describes the methods of the run in a paragraph with its figures.
    pub(crate) fn methods_paragraph(&self) -> String {
        let result = match self.selected.len() {
            0 => "No column was selected.".to_owned(),
            count => {
                format!(
                    "{} selected: {}.",
                    pluralize(count, "column"),
                    join_in_backticks(self.selected.iter().map(|s| &s.name))
                )
            }
        };
        let tool = format!("All was computed by vaglio {} with the seed {}.", self.version, self.seed);
        let (data, search, size) = (self.data_sentence(), self.search_sentence(), self.size_sentence());
        let sentences = [data, search, size, result, self.held_out_sentences(), tool];
        join(sentences.into_iter().filter(|sentence| !sentence.is_empty()), " ")
    }

    fn data_sentence(&self) -> String {
        let data = &self.data;
        let made = clause(" after {}", Some(self.maps()));
        let left_out = clause("; {} were left out", left_out_rows(&data.left_out));
        let targets = join_in_backticks(&data.targets);
        let word = if data.targets.len() == 1 { "the target" } else { "the targets" };
        let (rows, columns) = (pluralize(data.rows, "row"), pluralize(data.features, "candidate column"));
        format!("Columns were selected for {word} {targets} among {columns}{made}, on {rows}{left_out}.")
    }

    /// Kinds of the maps, in their order.
    fn maps(&self) -> String {
        let maps = self.pipeline.settings["preprocess"].as_array().into_iter().flatten();
        join(maps.filter_map(|map| map.as_str().or_else(|| map["kind"].as_str())), ", ")
    }

    fn search_sentence(&self) -> String {
        let parts = &self.pipeline;
        let (search, score) = (title(Role::Search, &parts.search), self.score_title());
        let lambda = clause(", λ = {}", self.lambda.map(short));
        let learner = title(Role::Learner, &parts.learner);
        let target_map = clause(", with targets mapped by {}", parts.target_map.as_ref());
        let model = self.model.as_ref().map(FinalModelRecord::words);
        let model = clause(" The model, {}, was then trained on the selected columns.", model);
        format!("The search was {search} with the {score}; the learner was {learner}{lambda}{target_map}.{model}")
    }

    fn size_sentence(&self) -> String {
        let (chosen, settings) = (&self.chosen, self.choose_settings());
        let within = settings["within"].as_f64();
        let most = |above: &str| format!(", as the fewest columns with a loss at most {above} above the lowest");
        let rule = match chosen.rule {
            _ if chosen.declined.is_some() => String::new(),
            Some(Rule::OneSe) if chosen.by == ChosenBy::CrossValidation => most("one standard error of the difference"),
            Some(Rule::OneSe) => ", as the fewest columns within one standard error of the lowest score".into(),
            Some(_) => match within {
                Some(within) => most(&format!("{} %", short(100.0 * within))),
                None => ", as the size of the lowest loss".into(),
            },
            None => String::new(),
        };
        let rule = rule + &clause(", of at most {} columns", settings["at_most"].as_u64());
        let size = pluralize(chosen.size, "column");
        match chosen.by {
            ChosenBy::CrossValidation => {
                let how = clause(" in {}", self.held_out_error(PredictionRows::CrossValidation).map(|error| error.how));
                format!("The size, {size}, was chosen by cross-validation of the whole search{how}{rule}.")
            }
            ChosenBy::Score => {
                format!("The size, {size}, was chosen by the score of the criterion, {}{rule}.", short(self.score))
            }
            ChosenBy::FalseDiscoveries => {
                let rate = clause(" of {}", self.fdr.as_ref().map(|fdr| fdr.rate));
                format!(
                    "The columns, {size}, are those confirmed at a false discovery rate{rate} by the T-Rex selector."
                )
            }
            ChosenBy::Setting => format!("The size, {size}, was set beforehand or is where the search ended."),
        }
    }

    fn held_out_sentences(&self) -> String {
        let tests = [self.chosen.gain_sentence(), self.may_be_chance(), self.shuffled_line()];
        let lines = self.error_lines().into_iter().chain(tests).chain([self.optimism()]);
        join(lines.flatten().map(sentence), " ")
    }

    /// Number, question and answer of the items on data and models.
    fn data_items(&self) -> Vec<(&'static str, &'static str, String)> {
        let data = &self.data;
        let memory = clause(", {} MiB of memory at most", self.peak_memory_bytes.map(|bytes| bytes >> 20));
        let kind = match &data.classes {
            Some(classes) => format!(" with the classes {}", join_in_backticks(classes)),
            None => ", as numbers".into(),
        };
        let test_rows = clause(", and {}", self.test.as_ref().map(|test| pluralize(test.rows, "test row")));
        let excluded = left_out_rows(&data.left_out).unwrap_or_else(|| "no row was left out".into());
        let maps = match &*self.maps() {
            "" => "none".into(),
            maps => format!("{maps}; learned from training rows alone"),
        };
        let tuned = self.tuned.as_ref();
        let tuned = tuned.map(|own| format!("{}, {}", own.method, pluralize(own.evaluations, "evaluation")));
        let lambda = self.lambda.map_or_else(|| "none".to_owned(), |lambda| format!("λ = {}", short(lambda)));
        vec![
            ("2a", "dataset", format!("training files of the digest {}", data.digest)),
            ("2b", "code", format!("vaglio {}; all settings are in resolved.yaml", self.version)),
            ("2c", "computing infrastructure", format!("{:.1} s{memory}", self.seconds.total)),
            ("2e", "reproduction", format!("`vaglio run resolved.yaml`, seed {}", self.seed)),
            ("3d", "outcome variable", join_in_backticks(&data.targets) + &kind),
            ("3e", "sample size", pluralize(data.rows, "training row") + &test_rows),
            ("4a", "rows excluded", excluded),
            ("4c", "transformations", maps),
            ("5a", "models trained", self.search_sentence()),
            ("5c", "evaluation method", self.held_out_sentences()),
            ("5d", "model selection", self.size_sentence()),
            ("5e", "hyperparameters", clause("{}; ", tuned) + &lambda),
            ("5f", "baselines", format!("without features, on the same rows: score {}", short(self.empty_score))),
        ]
    }

    /// Number, question and answer of the items on validity.
    fn validity_items(&self) -> Vec<(&'static str, &'static str, String)> {
        let separation = match (&self.nested, &self.test) {
            (Some(_), _) => "everything was repeated without each outer fold's rows",
            (None, Some(_)) => "test rows were set aside before anything was learned",
            (None, None) => {
                "no rows were set aside; the cross-validated loss alone is of rows that the search had not seen"
            }
        };
        let splits = self.nested.as_ref().and_then(|nested| nested.splits.as_ref());
        let dependence = match self.chosen.splits.as_ref().or(splits) {
            Some(splits) => format!("rows were split by this rule: {splits}"),
            None => "folds are of single rows, or of groups where the data name some".into(),
        };
        let uncertainty = "errors have intervals, by clusters of rows or by folds, whichever are wider";
        let gain = self.chosen.gain_test.map(|test| format!("of the gain over no column, {}", test.text()));
        let tests = join(gain.into_iter().chain(self.shuffled_line()), "; ");
        let tests = if tests.is_empty() { "none".into() } else { tests };
        vec![
            ("6a", "separation of training and test rows", separation.into()),
            ("6b", "dependent rows", dependence),
            ("7a", "metrics", format!("the {}", self.loss().title())),
            ("7b", "uncertainty", uncertainty.into()),
            ("7c", "statistical tests", tests),
        ]
    }
}
