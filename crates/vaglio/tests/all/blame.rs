//! Errors of a part name the part: its place, its kind, and the columns on which it failed.

use linfa::ParamGuard;
use serde::{Deserialize, Serialize};
use std::path::Path;
use vaglio::Selector;
use vaglio::core::{
    Criterion, Design, Error, ErrorClass, Feature, Learner, Model, Problem, Readout, Result, Score, Task, saved,
};
use vaglio::criteria::{KFold, Loo};
use vaglio::files::plan;
use vaglio::learners::Rls;
use vaglio::search::{Backward, Exhaustive, Greedy, Search, Silent};
use vaglio_testkit::data;

/// Way in which a fit fails.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
enum Fails {
    #[default]
    Never,
    BySetting,
    InNumbers,
}

/// A learner of classes that may fail once two columns are taken.
#[saved(Learner, "blame_brittle")]
#[derive(Clone, Copy, Default)]
#[serde(default)]
struct Brittle {
    fails: Fails,
}

impl Learner for Brittle {
    fn readout(&self) -> Result<Option<Readout>> {
        Ok(None)
    }

    fn check(&self, problem: &Problem) -> Result<()> {
        match problem.task() {
            Task::Regression => Err(Error::setting("kind", "it needs classes")),
            _ => Ok(()),
        }
    }

    fn refit(&self, problem: &Problem, subset: &[Feature]) -> Result<Model> {
        match self.fails {
            Fails::BySetting if subset.len() > 1 => Err(Error::setting("depth", "it is too shallow")),
            Fails::InNumbers if subset.len() > 1 => Err(Error::Numerical("it broke".into())),
            _ => Rls::default().fit(problem, subset, None),
        }
    }
}

/// A criterion that has no score of the third column.
#[saved(Criterion, "blame_blind")]
#[derive(Clone, Copy, Default)]
struct Blind {}

impl Criterion for Blind {
    fn evaluate(&self, _: &Design, subset: &[Feature]) -> Result<Score> {
        Ok(Score::new(if subset.len() > 1 && subset.contains(&2) { f64::NAN } else { 1.0 / (1 + subset.len()) as f64 }))
    }
}

fn classes() -> Problem {
    data::binary(24, 4, 3).problem()
}

fn refused(criterion: impl Criterion + 'static, search: impl Into<Search>, fails: Fails) -> Error {
    Selector::params(criterion, search, Brittle { fails }).check().unwrap().select(&classes(), &mut Silent).unwrap_err()
}

#[test]
fn a_learner_refuses_a_problem_before_the_search() {
    let selector = Selector::params(Loo::default(), Greedy::new(2), Brittle::default()).check().unwrap();
    let error = selector.design(&data::regression(20, 3, 1).problem()).unwrap_err();
    assert_eq!(error.to_string(), "`learner.kind`: it needs classes");
    selector.select(&classes(), &mut Silent).unwrap();
}

#[test]
fn what_fails_in_a_fit_is_the_learners_and_not_the_searchs() {
    let kfold = || KFold { folds: Some(3), ..KFold::default() };
    for error in [
        refused(Loo::default(), Greedy::new(2), Fails::BySetting),
        refused(kfold(), Backward::default(), Fails::BySetting),
    ] {
        assert_eq!(error.to_string(), "`learner.depth`: it is too shallow");
        assert_eq!(error.class(), ErrorClass::Configuration);
    }
    let error = refused(kfold(), Greedy::new(2), Fails::InNumbers);
    assert_eq!(error.class(), ErrorClass::Numerical);
    let text = error.to_string();
    assert!(text.starts_with("learner `blame_brittle` on `") && text.ends_with("`: it broke"), "{text}");
}

#[test]
fn a_score_that_is_no_number_names_criterion_and_columns() {
    let names = classes().names().to_vec();
    let greedy = refused(Blind {}, Greedy::new(2), Fails::Never).to_string();
    let expected = format!("criterion `blame_blind` on `{}`, `{}`: the score is not a number", names[0], names[2]);
    assert_eq!(greedy, expected);
    let exhaustive = Search::new(Exhaustive::default()).max_features(2);
    let text = refused(Blind {}, exhaustive, Fails::Never).to_string();
    assert_eq!(text, expected);
}

#[test]
fn a_plan_says_what_is_unknown_and_counts_no_fit_that_is_made() {
    let folder = std::env::temp_dir().join(format!("vaglio-blame-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let rows = (0..30).map(|row| format!("{},{},{}\n", row * row % 7, row % 5, ["no", "yes"][row % 2]));
    std::fs::write(folder.join("train.csv"), format!("a,b,y\n{}", rows.collect::<String>())).unwrap();
    let text = |criterion: &str, learner: &str| {
        let pipeline = format!(
            "version: 1\ndata: {{train: train.csv, target: y}}\ncriterion: {criterion}\nlearner: {learner}\nsearch: greedy"
        );
        plan(&vaglio::pipeline::load(&pipeline, "p.yaml", &[]).unwrap().0, Path::new(&folder)).unwrap()
    };
    let line = |text: &str, name: &str| text.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
    let blind = text("blame_blind", "rls");
    assert_eq!(line(&blind, "work"), "work        unknown: the criterion `blame_blind` gives no estimate");
    assert_eq!(line(&blind, "time"), "time        unknown, like the work");
    assert!(line(&blind, "memory").contains("; what the search takes is unknown"), "{blind}");
    for criterion in ["loo", "{kind: kfold, folds: 3}"] {
        let refitted = text(criterion, "{kind: blame_brittle}");
        assert!(line(&refitted, "folds").ends_with("; each is refitted"), "{refitted}");
        assert!(line(&text(criterion, "rls"), "folds").contains("; fits avoided: "));
    }
    std::fs::remove_dir_all(folder).unwrap();
}
