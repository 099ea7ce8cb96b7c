//! Choice without held-out rows: of size and λ by the score, or of the columns confirmed at a false discovery rate.

use super::fdr::discoveries;
use super::{Choice, ChosenSearch};
use crate::jobs::{StageMonitor, run_parallel};
use crate::memory_slots::MemorySlots;
use crate::selector::{SearchResult, ValidSelector, path_lambdas, takes_lambda_of_all};
use std::collections::HashSet;
use std::time::Instant;
use vaglio_core::{Design, Error, Feature, Result, StopReason, pluralize, short};
use vaglio_report::record::{Cell, ChosenBy, LossTable, Verdict, Warning, WarningKind};
use vaglio_search::{All, Choose, CrossValidation, Monitor, Path, PathEntry, Rule, Search, SubsetScorer};

/// Chooses by the score, from one path or one path per λ.
pub fn choose_by_score(selector: &ValidSelector, design: &Design, monitor: &mut Monitor<'_>) -> Result<ChosenSearch> {
    let begun = Instant::now();
    let choose = selector.search.size_choice();
    let rule = if choose == Choose::OneSe { Rule::OneSe } else { Rule::Best };
    let lambdas = path_lambdas(design, false);
    let design = &design.with_run(|run| run.share(&lambdas));
    let mut searched = match &lambdas[..] {
        [lambda] => {
            let design = selector.only_search(design, *lambda, &monitor.stop, monitor.journal.process_group())?;
            let journal = monitor.journal.under("walk/0");
            selector.search_on(&design, None, &mut monitor.with_journal(journal))?
        }
        several => {
            let watcher = StageMonitor::new(monitor);
            watcher.stage("walks", several.len());
            let extent = selector.search.extent(design).ok();
            let by_lambda = run_parallel(&MemorySlots::default(), several.len(), |at| {
                let _walk = tracing::debug_span!("walk", lambda = several[at]).entered();
                let mut subtask =
                    watcher.subtask(watcher.journal.under(format_args!("walk/{at}")), at).with_sizes(extent, None);
                let searched = selector.search_on(&design.at_lambda(several[at]), None, &mut subtask.monitor())?;
                watcher.end_piece(at);
                Ok(searched)
            })?;
            best_path(by_lambda, rule)?
        }
    };
    searched.seconds = begun.elapsed().as_secs_f64();
    let mut warnings = Vec::new();
    let mut chosen =
        Choice { of_path: lambdas.len() > 1 || takes_lambda_of_all(design), ..Choice::by_score(&searched.path, rule) };
    if matches!(choose, Choose::Last | Choose::Size(_)) {
        (chosen.by, chosen.rule) = (ChosenBy::Setting, None);
    }
    if choose == Choose::Last {
        chosen.penalty = searched.path.at_penalties.first().map(|(lambda, _)| *lambda);
    }
    if let Choose::Size(asked) = choose
        && chosen.size < asked
        && !searched.path.stop_reason.is_partial()
    {
        let message = format!("{} asked for, and the search ended at {}", pluralize(asked, "column"), chosen.size);
        warnings.push(Warning::new(WarningKind::FewerColumns, message));
    }
    let (columns, rows) = (design.features(), design.rows());
    if choose == Choose::Best && selector.criterion.traits().loss.is_some() && columns > rows / 5 {
        let message = format!(
            "`choose: best` took the lowest score among those of {columns} candidate columns on {rows} rows, which makes \
             the score far too low and the subset too large; leave `choose` out, and the search is cross-validated"
        );
        warnings.push(Warning::new(WarningKind::ManyCandidates, message));
    }
    Ok(with_lambda_warnings(design, ChosenSearch::new(searched, chosen, warnings)))
}

/// Warns of a λ at an end of the grid, and of one per subset with more columns than rows.
pub fn with_lambda_warnings(design: &Design, mut chosen_search: ChosenSearch) -> ChosenSearch {
    let (chosen, warnings) = (&chosen_search.chosen, &mut chosen_search.warnings);
    let Some(readout) = design.readout().filter(|_| chosen.size > 0) else { return chosen_search };
    let ([first, .., last], Some(lambda)) = (&readout.lambdas[..], chosen.lambda) else { return chosen_search };
    // If other λ do as well, an end of the grid does not suggest extending it.
    let is_alone = chosen.table.as_ref().zip(chosen.cell).is_none_or(|(table, best)| {
        let is_near = |cells: &&Vec<Cell>| cells.iter().any(|cell| cell.is_near(best.loss));
        table.cells.iter().filter(is_near).count() <= 1
    });
    let warns = !readout.auto && (is_alone || chosen.rule == Some(Rule::OneSe));
    let ends = [(first, "smallest", "below"), (last, "largest", "above")];
    if let Some((_, end, beyond)) = ends.into_iter().find(|(end, ..)| warns && lambda == **end) {
        let message = format!("lambda {} is the {end} that was tried; extend the grid {beyond} it", short(lambda));
        warnings.push(Warning::new(WarningKind::LambdaEdge, message));
    }
    let per_subset = path_lambdas(design, chosen.by == ChosenBy::CrossValidation).len() == 1;
    if per_subset && !takes_lambda_of_all(design) && design.features() > design.rows() {
        let message = format!(
            "lambda was chosen for every subset by its score, with {} columns on {} rows, which lets it fall too low; \
             `per: path` takes one for the whole walk",
            design.features(),
            design.rows()
        );
        warnings.push(Warning::new(WarningKind::LambdaPerSubset, message));
    }
    chosen_search
}

/// Chooses among paths at increasing λ: the lowest score, ties by fewest features and then smallest λ. The
/// one-standard-error rule takes the fewest features and the largest λ.
fn best_path(mut by_lambda: Vec<SearchResult>, rule: Rule) -> Result<SearchResult> {
    let result = |SearchResult { path, .. }: &SearchResult| {
        vec![Cell { size: path.subset().len(), loss: path.score().loss, standard_error: None, difference_error: None }]
    };
    let table = LossTable { cells: by_lambda.iter().map(result).collect(), ..LossTable::default() };
    let (best, lowest) = table.pick(&CrossValidation::default())?;
    let (place, entry) = match rule {
        Rule::Best => (best, by_lambda[best].path.chosen),
        Rule::OneSe => {
            let error = by_lambda[best].path.result().and_then(|entry| entry.standard_error);
            let bound = lowest.loss + error.unwrap_or(0.0);
            let size = |path: &Path, entry: Option<usize>| entry.map_or(0, |entry| path.entries[entry].subset.len());
            let near = |path: &Path| {
                let is_near =
                    |entry: &PathEntry| entry.score.loss <= bound && path.allowed.contains(&entry.subset.len());
                let takes_none = path.chosen.is_none() && path.empty.loss <= bound;
                if takes_none { Some(None) } else { path.entries.iter().position(is_near).map(Some) }
            };
            let all =
                by_lambda.iter().enumerate().rev().filter_map(|(place, searched)| Some((place, near(&searched.path)?)));
            let simplest = all.min_by_key(|&(place, entry)| size(&by_lambda[place].path, entry));
            simplest.ok_or_else(|| Error::Shape("no subset was reached".into()))?
        }
    };
    let mut best = by_lambda.swap_remove(place);
    best.path.chosen = entry;
    Ok(best)
}

/// The model of the confirmed columns, limited to the search's largest size; the empty model if there are none.
pub fn choose_confirmed(
    selector: &ValidSelector,
    design: &Design,
    rate: f64,
    monitor: &mut Monitor<'_>,
) -> Result<ChosenSearch> {
    let begun = Instant::now();
    let watcher = StageMonitor::new(&mut *monitor);
    let found = watcher.journal.once("fdr", || discoveries(selector, design, rate, &watcher));
    let found = found.map_err(|error| error.under("search.choose"))?;
    let reason = watcher.check_stop().unwrap_or(StopReason::Interrupted);
    let seconds = begun.elapsed().as_secs_f64();
    let most = selector.search.extent(design).map_err(|error| error.under("search"))?.largest;
    let confirmed = found.iter().flat_map(|found| found.with_verdict(Verdict::Confirmed));
    let kept: HashSet<Feature> = confirmed.map(|column| column.index).take(most).collect();
    let mut chosen_search = if kept.is_empty() {
        without_columns(selector, design)?
    } else {
        let excluded = (0..design.features()).filter(|feature| !kept.contains(feature));
        let search = Search::new(All {}).excluded(excluded).choose(Choose::Last);
        choose_by_score(&selector.with_search(search), design, monitor)?
    };
    chosen_search.chosen.rule = None;
    chosen_search.chosen.by = ChosenBy::FalseDiscoveries;
    let warning = match &found {
        None => {
            chosen_search.searched.path.stop_reason = reason;
            let message = "the run was stopped before any column was confirmed";
            Some(Warning::new(WarningKind::Interrupted, message))
        }
        Some(_) if kept.is_empty() => {
            let message =
                format!("no column is confirmed at a false discovery rate of {rate}, so the empty subset is taken");
            Some(Warning::new(WarningKind::NothingConfirmed, message))
        }
        Some(_) => None,
    };
    chosen_search.warnings.splice(0..0, warning);
    chosen_search.chosen.confirmed = found;
    Ok(ChosenSearch { seconds, ..chosen_search })
}

/// The empty subset, scored by definition.
fn without_columns(selector: &ValidSelector, design: &Design) -> Result<ChosenSearch> {
    let lambdas = path_lambdas(design, false);
    let design = design.at_lambda(lambdas[lambdas.len() / 2]);
    let mut subset = SubsetScorer::by_definition(&*selector.criterion, &design);
    let path = Path::stopped(subset.score()?, StopReason::NoCandidates);
    let engine = subset.engine().into();
    let searched = SearchResult { path, engine, ..SearchResult::empty(StopReason::NoCandidates) };
    Ok(ChosenSearch::by_score(searched, Vec::new()))
}
