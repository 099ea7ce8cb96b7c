//! What the moments of a table serve.

use crate::pipeline::{Evaluate, Settings, ValidPipeline};
use vaglio_core::{Choose, Error, Result, Task};

/// Searches that look at designs through their criterion alone.
const SEARCHES: [&str; 7] = ["greedy", "backward", "floating", "exhaustive", "rank", "all", "lars"];
/// Maps that do to rows that stand for many what they do to these.
const MAPS: [&str; 2] = ["standardize", "constant"];
/// Learners that are ridge readouts of the columns of the data.
const LEARNERS: [&str; 2] = ["rls", "crrr"];

/// Refuses what needs the rows of a table, before any of them is read.
///
/// # Errors
/// [`Error::Setting`] on what needs them, with what would do.
pub(super) fn served(pipeline: &ValidPipeline) -> Result<()> {
    let settings = &pipeline.0;
    of_parts(settings)?;
    if let Some(tune) = settings.tune.as_ref().map(|_| "tune").or(settings.model.as_ref().map(|_| "model")) {
        return Err(refused(tune, "it trains on rows", "leave it out"));
    }
    if settings.target_map.is_some() {
        return Err(refused("target_map", "it changes the target row by row", "map the target in the file"));
    }
    for (index, map) in settings.preprocess.iter().enumerate() {
        if !MAPS.contains(&map.kind()) {
            let message = format!("`{}` looks at single rows", map.kind());
            let remedy = "`standardize` is served, others can be applied to the file before";
            return Err(refused(&format!("preprocess[{index}]"), &message, remedy));
        }
    }
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
    if matches!(search.choose(), Choose::FalseDiscoveries(_)) {
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
