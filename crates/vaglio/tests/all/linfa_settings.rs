//! Settings in code, in JSON and in YAML.

use linfa::ParamGuard;
use vaglio::core::{Criterion, Error};
use vaglio::prelude::*;
use vaglio::search::{Search, SearchSettings};

fn read(json: &str) -> Result<Pipeline, serde_json::Error> {
    serde_json::from_str(json)
}

#[test]
fn words_stand_for_parts_in_any_format() {
    let words = r#"{"version": 1, "criterion": "kfold", "search": "floating", "learner": "crrr", "preprocess": ["impute", {"kind": "standardize"}]}"#;
    let maps = r#"{"version": 1, "criterion": {"kind": "kfold"}, "search": {"kind": "floating"}, "learner": {"kind": "crrr"},
        "preprocess": [{"kind": "impute"}, {"kind": "standardize"}]}"#;
    let text = |pipeline: Pipeline| pipeline.to_yaml().unwrap();
    assert_eq!(text(read(words).unwrap()), text(read(maps).unwrap()));
    let yaml = "version: 1\ncriterion: kfold\nsearch: floating\nlearner: crrr\npreprocess: [impute, standardize]\n";
    assert_eq!(text(Pipeline::from_yaml(yaml).unwrap()), text(read(maps).unwrap()));
    let loss: Box<dyn Criterion> = serde_json::from_str(r#"{"kind": "loo", "loss": "absolute"}"#).unwrap();
    assert_eq!(loss.traits().loss, Some(Absolute.into()));
}

#[test]
fn a_chain_of_searches_is_a_list_in_any_format() {
    let chain = Chain::new(Rank::new(20)).then(Greedy::new(5).patience(2));
    let pipeline = Pipeline::new(Loo::default(), chain, Rls::default());
    let yaml = pipeline.to_yaml().unwrap();
    assert!(yaml.contains("search:\n- kind: rank\n"), "{yaml}");
    assert_eq!(Pipeline::from_yaml(&yaml).unwrap().to_yaml().unwrap(), yaml);
    let json = serde_json::to_string(&pipeline).unwrap();
    assert_eq!(read(&json).unwrap().to_yaml().unwrap(), yaml);
    assert!(read(r#"{"version": 1, "search": ["rank", "greedy"]}"#).is_ok());
}

#[test]
fn what_is_no_part_is_told_in_words_of_the_user() {
    for (json, expected) in [
        (
            r#"{"version": 1, "search": 3}"#,
            "`search`: expected a search: its word, or keys and values with that as `kind`, found the number 3",
        ),
        (
            r#"{"version": 1, "criterion": ["loo"]}"#,
            "`criterion`: expected a criterion: its word, or keys and values with that as `kind`, found a list",
        ),
        (r#"{"version": 1, "search": "gredy"}"#, "`search.kind`: there is no search `gredy`; did you mean `greedy`?"),
        (r#"{"version": 1, "search": {"max_features": 3}}"#, "`search.kind`: is required and missing"),
        (
            r#"{"version": 1, "learner": {"kind": "rls", "lambda": [0.1, 1]}}"#,
            "`learner.lambda`: expected a number, {grid: auto}",
        ),
    ] {
        let error = read(json).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn yaml_that_is_wrong_is_told_with_its_place() {
    let error = Pipeline::from_yaml("version: 1\nsearch: gredy\n").unwrap_err();
    let expected = "pipeline:2:9: `search.kind`: there is no search `gredy`; did you mean `greedy`?";
    assert_eq!(error.to_string(), expected);
    assert!(matches!(error, Error::UnknownName { .. }));
}

#[test]
fn every_part_is_made_and_set_alike() {
    let searches: [(&Search, &Search); 6] = [
        (&Greedy::new(4), &Search::new(Greedy {}).max_features(4)),
        (&Floating::new(4), &Search::new(Floating {}).max_features(4)),
        (&Exhaustive::new(4), &Search::new(Exhaustive::default()).max_features(4)),
        (&Lars::new(4), &Search::new(Lars::default()).max_features(4)),
        (&Rank::new(4), &Search::new(Rank {}).max_features(4)),
        (&Backward::new(4), &Search::new(Backward::default()).min_features(4)),
    ];
    for (new, set) in searches {
        assert_eq!(format!("{new:?}"), format!("{set:?}"));
    }
    assert_eq!(Rls::new(0.5), Rls::default().lambda(0.5));
    assert_eq!(Crrr::new(Lambda::grid(0.1, 10.0, 3)), Crrr::default().lambda(Lambda::grid(0.1, 10.0, 3)));
    assert_eq!(Huber { delta: 2.0 }, Huber::default().delta(2.0));
    assert_eq!(Pinball { quantile: 0.9 }, Pinball::default().quantile(0.9));
    assert_eq!(LogLoss::default().clip(0.1), LogLoss { clip: 0.1 });
    assert_eq!(Forward::new(4), Forward::default().folds(4));
    assert_eq!(Repeated::new(4), Repeated::default().folds(4));
    assert_eq!(MonteCarlo::new(4), MonteCarlo::default().repeats(4));
    assert_eq!(Window::new([0, 2]), Window::default().lags(vec![0, 2]));
    assert_eq!(Polynomial::new(3), Polynomial::default().degree(3));
    assert_eq!(CrossValidation::new(4), CrossValidation::default().folds(4));
    let (of, beside) = (KFold::with_splits(Forward::new(4)), KFold::new(5).splits(Forward::new(4)));
    assert_eq!(of, KFold::default().splits(Forward::new(4)));
    assert!(of.check_settings().is_ok());
    let error = beside.check_settings().unwrap_err().to_string();
    assert!(error.starts_with("`folds`: it cannot be combined with `splits`"), "{error}");
}

#[test]
fn what_needs_no_data_is_refused_by_check() {
    let field = |pipeline: Pipeline| match pipeline.check() {
        Err(Error::Setting { field, .. }) => field,
        other => format!("{other:?}"),
    };
    let of = |criterion: KFold, search: Search| Pipeline::new(criterion, search, Rls::default());
    assert_eq!(field(of(KFold::new(5), Greedy::new(0))), "search.max_features");
    assert_eq!(field(of(KFold::new(1), Greedy::new(1))), "criterion.folds");
    let selector = Selector::params(KFold::new(1), Greedy::new(1), Rls::default());
    assert!(matches!(selector.check(), Err(Error::Setting { field, .. }) if field == "criterion.folds"));
    let dataset = linfa::Dataset::new(ndarray::array![[1.0], [2.0], [4.0]], ndarray::array![1.0, 2.0, 3.0]);
    let nested = of(KFold::new(5), Greedy::new(1)).nested(1, &dataset);
    assert!(matches!(nested, Err(FitError::Vaglio(Error::Setting { field, .. })) if field == "nested.folds"));
}

#[test]
fn settings_are_set_one_after_the_other() {
    let chained = Greedy::new(5).patience(3).forced(["b"]).excluded([0]).choose(Choose::Last).settings;
    let fields = SearchSettings {
        max_features: Some(5),
        patience: Some(3),
        forced: vec!["b".into()],
        excluded: vec![0.into()],
        choose: Choose::Last,
        ..SearchSettings::default()
    };
    assert_eq!(chained, fields);
    let chained = KFold::new(10).stratified(true).loss(Auc);
    assert_eq!(chained, KFold { folds: Some(10), stratified: true, loss: Auc.into(), ..KFold::default() });
    assert_eq!(KFold::by_groups().by, Some(FoldBy::Groups));
    let lags = Window::default().lags(vec![0, 1]).columns(["a"]);
    assert_eq!(lags, Window { lags: vec![0, 1].into(), columns: Some(vec!["a".into()]), horizons: Vec::new() });
}
