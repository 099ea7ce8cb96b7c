//! What the moments of a table serve.

use super::first_pass::leading;
use vaglio_core::{Choose, Error, Map, RefitScope, Requirement, Result, Task};
use vaglio_pipeline::inside::Settings;
use vaglio_pipeline::pipeline::{Evaluate, ValidPipeline};
use vaglio_pipeline::resample::choice::cross_validation;

/// Searches that look at designs through their criterion alone.
const SEARCHES: [&str; 7] = ["greedy", "backward", "floating", "exhaustive", "rank", "all", "lars"];
/// Maps that do to rows that stand for many what they do to these.
pub(super) const MAPS: [&str; 2] = ["standardize", "constant"];
/// Learners that are ridge readouts of the columns of the data.
const LEARNERS: [&str; 2] = ["rls", "crrr"];

/// Refuses what needs the rows of a table, before any of them is read.
///
/// # Errors
/// [`Error::Setting`] on what needs them, with what would do.
pub(super) fn served(pipeline: &ValidPipeline) -> Result<()> {
    let settings = pipeline.settings();
    of_parts(settings)?;
    if let Some(tune) = settings.tune.as_ref().map(|_| "tune").or(settings.model.as_ref().map(|_| "model")) {
        return Err(refused(tune, "it trains on rows", "leave it out"));
    }
    if settings.target_map.is_some() {
        return Err(refused("target_map", "it changes the target row by row", "map the target in the file"));
    }
    of_maps(pipeline)?;
    settings.evaluate.as_ref().map_or(Ok(()), of_figures)
}

fn of_parts(settings: &Settings) -> Result<()> {
    let Settings { criterion, search, learner, .. } = settings;
    match (criterion.kind(), criterion.loss()) {
        _ if criterion.is_of_moments() => {}
        ("kfold", Some(loss)) => {
            let message = format!("`{}` is a loss of single rows", loss.name());
            return Err(refused("criterion.loss", &message, "use `squared`, or of two classes `balanced_squared`"));
        }
        (kind, _) => {
            let message = format!("`{kind}` looks at single rows");
            return Err(refused("criterion", &message, "use `kfold` with `loss: squared`, `information` or `mrmr`"));
        }
    }
    if !SEARCHES.contains(&search.kind()) {
        let message = format!("`{}` is not known to look at subsets alone", search.kind());
        return Err(refused("search", &message, &format!("use one of {}", SEARCHES.join(", "))));
    }
    if matches!(search.size_choice(), Choose::FalseDiscoveries(_)) {
        return Err(refused(
            "search.choose",
            "rates of false discoveries need rows",
            "give a number of features, `best` or folds",
        ));
    }
    if !LEARNERS.contains(&learner.kind()) {
        let message = format!("`{}` makes columns or models of rows", learner.kind());
        return Err(refused("learner", &message, "use `rls`"));
    }
    Ok(())
}

/// Maps that are fitted before: each takes a column at a time, and is fitted on all training rows alone.
fn of_maps(pipeline: &ValidPipeline) -> Result<()> {
    let maps = &pipeline.settings().preprocess;
    let first = leading(maps);
    for (index, map) in first.iter().enumerate() {
        if map.of_columns(&[]).is_none() {
            return Err(not_by_column(index, map.kind()));
        }
        if matches!(map.in_folds(), RefitScope::Maps | RefitScope::Standardize(Requirement::Required)) {
            let message = format!("`{}` is fitted on the rows of each fold", map.kind());
            let remedy = "use `scope: train`; in each fold means fill missing cells (`impute`), and `standardize` is fitted as the last map";
            return Err(refused(&format!("preprocess[{index}].scope"), &message, remedy));
        }
        if is_repeated(pipeline) && learns(&**map) {
            let message = format!("`{}` is fitted on the training rows of the folds around the search", map.kind());
            let remedy = "choose a number of features, `best` or `last` and leave `nested` out, or map the column in the file; means fill missing \
                          cells there too (`impute`), and `one_hot` is served with `rare: 0`";
            return Err(refused(&format!("preprocess[{index}]"), &message, remedy));
        }
    }
    let is_in_folds = first.iter().any(|map| filled_again(pipeline, &**map) == Some(true));
    let once =
        maps[first.len()..].iter().position(|map| map.kind() == "standardize" && map.in_folds() == RefitScope::No);
    match once.filter(|_| is_in_folds) {
        Some(behind) => Err(refused(
            &format!("preprocess[{}].scope", first.len() + behind),
            "`impute` is fitted in each fold, and so is what stands behind it",
            "use `scope: fold` here, or `scope: train` for `impute`",
        )),
        None => Ok(()),
    }
}

/// Whether the search is repeated on training rows of folds around it.
fn is_repeated(pipeline: &ValidPipeline) -> bool {
    let nested = pipeline.settings().evaluate.as_ref().and_then(Evaluate::outer_folds);
    nested.is_some() || cross_validation(&pipeline.selector()).is_some()
}

/// Whether a map learns something of the rows that others, or their moments, would not tell.
fn learns(map: &dyn Map) -> bool {
    let written = serde_json::to_value(map).unwrap_or_default();
    match map.kind() {
        "log1p" | "date_parts" => false,
        "impute" => written["how"] != "mean" && !written["how"].is_object(),
        "one_hot" => written["rare"] != 0 || written["drop"] != "none" || written["unknown"] != "zeros",
        "clip" => !written["quantiles"].is_null() || written["lower"].is_null() && written["upper"].is_null(),
        "power" => !written["lambda"].is_number(),
        _ => true,
    }
}

/// Of a map that fills missing cells by means of other rows than all as well, whether it does in each fold of the criterion.
pub(super) fn filled_again(pipeline: &ValidPipeline, map: &dyn Map) -> Option<bool> {
    let is_mean = map.kind() == "impute" && serde_json::to_value(map).is_ok_and(|written| written["how"] == "mean");
    let has_folds = pipeline.settings().criterion.loss().is_some() && pipeline.settings().learner.kind() == "rls";
    let is_in_folds = match map.in_folds() {
        RefitScope::Impute(Requirement::Required) => true,
        RefitScope::Impute(Requirement::Possible) => has_folds,
        _ => false,
    };
    (is_mean && (is_in_folds || is_repeated(pipeline))).then_some(is_in_folds)
}

/// Refuses a map that needs several columns or rows at once.
pub(super) fn not_by_column(index: usize, kind: &str) -> Error {
    let message = format!("`{kind}` looks at several columns, targets or rows at once");
    let remedy = "maps that take a column at a time are served (`impute`, `one_hot`, `ordinal`, `clip`, `log1p`, `power`, `date_parts`, \
                  `standardize`); others can be applied to the file before";
    refused(&format!("preprocess[{index}]"), &message, remedy)
}

/// Refuses to fill cells in each fold that later maps make other columns of.
pub(super) fn not_followed(index: usize) -> Error {
    let message = "later maps make other columns of those that it fills in each fold";
    refused(&format!("preprocess[{index}].scope"), message, "use `scope: train`, or move it behind these maps")
}

fn of_figures(evaluate: &Evaluate) -> Result<()> {
    let asked = [
        ("permutations", evaluate.permutations.is_some()),
        ("stability", evaluate.stability.is_some()),
        ("intervals", evaluate.intervals.is_some()),
        ("fdr", evaluate.fdr.is_some()),
        ("alternatives", evaluate.alternatives.is_some()),
        ("shares", evaluate.shares),
        ("learning_curve", evaluate.learning_curve),
    ];
    match asked.into_iter().find(|(_, is_asked)| *is_asked) {
        Some((figure, _)) => Err(refused(
            &format!("evaluate.{figure}"),
            "it looks at single rows",
            "`nested` is made of moments; leave it out",
        )),
        None => Ok(()),
    }
}

/// Refuses what needs rows of classes.
///
/// # Errors
/// Those of [`served`].
pub(super) fn served_of(pipeline: &ValidPipeline, task: &Task) -> Result<()> {
    let loss = pipeline.selector().loss(task);
    match loss.measure().is_of_squares() {
        true => Ok(()),
        false => {
            let message = format!("classes are judged by `{}`, a loss of single rows", loss.name());
            Err(refused("criterion", &message, "use `kfold` with `loss: squared` or `balanced_squared`"))
        }
    }
}

fn refused(field: &str, why: &str, remedy: &str) -> Error {
    Error::setting(field, format!("{why}, and `engine.stream` keeps none; {remedy}"))
}
