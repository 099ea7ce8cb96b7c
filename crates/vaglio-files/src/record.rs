//! Builds the record of a run, `selection.json`.

use super::evaluations::Run;
use serde_json::{Map, Value, json, to_value};
use vaglio_core::{Error, Feature, Loss, Result, feature_map};
use vaglio_pipeline::maps::original_weights;
use vaglio_pipeline::resampling::{Choice, Selection};
use vaglio_report::LEVEL;
use vaglio_report::record::{
    AlternativesRecord, ChartData, ChosenRecord, ComparisonColumns, DataRecord, DeclinedColumns, ExcludedRecord,
    LossDifference, LossName, PartNames, PerOutput, Record, SCHEMA, SelectedRecord, StageRecord, Status, TunedSettings,
    path_records,
};
use vaglio_search::{Journal, Judge, Path};

/// Builds the record of a selection, without further computation.
pub fn record(run: Run<'_>, tuned: Option<TunedSettings>) -> Result<Record> {
    let Run { prepared, design, selection, .. } = run;
    let Selection { path, names, .. } = selection;
    let (steps, entries) = path_records(path, |feature| selection.name(feature));
    let (candidates, constant) = (design.candidates(), design.problem().constant());
    let is_excluded = |index: &Feature| candidates.binary_search(index).is_err();
    let excluded = (0..design.features()).filter(is_excluded).map(|index| ExcludedRecord {
        index,
        name: selection.name(index),
        reason: if constant.binary_search(&index).is_ok() { "constant" } else { "search.excluded" }.into(),
    });
    let result = path.score();
    let lambdas = path.result().and_then(|entry| entry.lambdas()).map(<[f64]>::to_vec);
    Ok(Record {
        schema: SCHEMA.into(),
        status: if path.stop_reason.is_partial() { Status::Partial } else { Status::Complete },
        stop_reason: path.stop_reason,
        version: env!("CARGO_PKG_VERSION").into(),
        seed: run.pipeline.seed,
        warnings: prepared.data_warnings.iter().chain(&selection.warnings).cloned().collect(),
        pipeline: parts(run)?,
        tuned,
        model: selection.final_model.as_ref().map(|fitted| fitted.record.clone()),
        data: data(run),
        candidates: names.clone(),
        empty_score: path.empty.loss,
        steps,
        path: entries,
        stages: stages(path),
        chosen: choice_record(run),
        searches: selection.searches.clone(),
        selected: selected_records(run),
        score: result.loss,
        lambda: result.lambda.or(selection.model.lambda()).filter(|_| lambdas.is_none()),
        lambdas,
        intercept: selection.coefficients().map(|c| PerOutput::new(c.intercept.clone())),
        excluded: excluded.collect(),
        certificate: path.certificate.clone().map(|mut certificate| {
            certificate.gap = certificate.gap.filter(|_| !certificate.optimal);
            certificate
        }),
        alternatives: AlternativesRecord::new(path, |feature| selection.name(feature)),
        numerics: path.diagnostics,
        found: found_by_parts([("search", path.found.clone())]),
        report: ChartData { table: selection.chosen.table.clone(), ..ChartData::default() },
        ..Record::default()
    })
}

/// Findings of the parts that have any.
fn found_by_parts<const N: usize>(parts: [(&str, Map<String, Value>); N]) -> Map<String, Value> {
    let parts = parts.into_iter().filter(|(_, found)| !found.is_empty());
    parts.map(|(part, found)| (part.to_owned(), found.into())).collect()
}

/// Records the findings of every part.
pub fn record_found(run: Run<'_>, journal: &Journal, record: &mut Record) -> Result<()> {
    let Run { prepared, selector, design, .. } = run;
    let Selection { path, final_model, .. } = run.selection;
    let criterion = journal.once("found", || match path.result() {
        Some(entry) => selector.criterion.found(design, &entry.subset)?.to_json().map(Some),
        None => Ok(None),
    });
    let from_criterion = |error: Error| error.from_part(&*selector.criterion);
    record.found = found_by_parts([
        ("criterion", criterion.map_err(from_criterion)?.unwrap_or_default()),
        ("search", path.found.clone()),
        ("learner", feature_map(design).map(|map| map.found().to_json()).transpose()?.unwrap_or_default()),
        ("model", final_model.as_ref().map(|fitted| fitted.found.clone()).unwrap_or_default()),
    ]);
    let mut maps = Vec::new();
    for (place, map) in prepared.maps.iter().enumerate() {
        let own = map.found.to_json()?;
        if !own.is_empty() {
            maps.push(json!({"place": place, "kind": map.kind.to_string(), "found": own}));
        }
    }
    if !maps.is_empty() {
        record.found.insert("preprocess".into(), maps.into());
    }
    Ok(())
}

fn choice_record(run: Run<'_>) -> ChosenRecord {
    let Run { prepared, selector, selection, .. } = run;
    let chosen = &selection.chosen;
    let is_complete = !selection.path.stop_reason.is_partial();
    let folds = chosen.folds.as_ref();
    let level = folds.filter(|_| is_complete).map(|how| how.interval.unwrap_or(LEVEL));
    let loss = &*selector.loss(prepared.sample.task());
    let interval = level.and_then(|level| chosen.interval(loss, level));
    ChosenRecord {
        by: chosen.by,
        rule: chosen.rule,
        size: chosen.size,
        lambda: chosen.lambda,
        penalty: chosen.penalty,
        mapped: prepared.sample.judge() == Some(Judge::Mapped),
        cross_validated: chosen.cell.map(|cell| cell.loss),
        standard_error: chosen.cell.and_then(|cell| cell.standard_error),
        empty_loss: chosen.empty.map(|cell| cell.loss),
        folds: folds.map(|how| how.folds),
        repeats: folds.map(|how| how.repeats),
        splits: folds.and_then(|how| how.splits.as_ref()).map(|splits| splits.sentence()),
        interval,
        level: level.filter(|_| interval.is_some()),
        differences: level.map_or_else(Vec::new, |level| differences(loss, chosen, level)),
        declined: chosen.declined.map(|declined| {
            let entry = selection.path.entries.iter().find(|entry| entry.subset.len() == declined.size);
            let columns = entry.into_iter().flat_map(|entry| &entry.subset).map(|&feature| selection.name(feature));
            DeclinedColumns { size: declined.size, columns: columns.collect(), cross_validated: declined.loss }
        }),
        gain_test: chosen.test,
        sizes: chosen.sizes.clone(),
    }
}

/// Differences of a chosen loss to the baseline, to neighboring sizes and to all columns.
fn differences(loss: &dyn Loss, chosen: &Choice, level: f64) -> Vec<LossDifference> {
    let Some(own) = chosen.losses_at(chosen.size) else { return Vec::new() };
    let gained = chosen.optimism(loss);
    let largest = chosen.losses.keys().next_back().copied().unwrap_or(0);
    let against = |size: usize| match size {
        size if size == chosen.size => None,
        0 => Some(ComparisonColumns::Empty),
        size if size + 1 == chosen.size => Some(ComparisonColumns::Fewer),
        size if size == largest && size > chosen.size + 1 => Some(ComparisonColumns::All),
        _ => Some(ComparisonColumns::More),
    };
    let differences = chosen.losses.keys().filter_map(|&size| {
        let against = against(size)?;
        // The selection compared neighboring sizes too, so they get no correction.
        let gained = if against == ComparisonColumns::Empty { gained } else { 0.0 };
        let (mean, interval) = own.mean_with_interval(loss, Some(&chosen.losses_at(size)?), gained, level)?;
        Some(LossDifference { against, size, mean, interval })
    });
    differences.collect()
}

/// Description of the data, without their digest, whose computation may still be running.
fn data(run: Run<'_>) -> DataRecord {
    let Run { prepared, design, .. } = run;
    DataRecord {
        rows: prepared.rows,
        features: design.features(),
        outputs: prepared.train.targets().nrows(),
        targets: if prepared.horizons.is_empty() {
            prepared.targets.clone()
        } else {
            prepared.train.target_names().to_vec()
        },
        classes: design.problem().classes().map(|classes| classes.names),
        digest: String::new(),
        test_rows: prepared.test_rows.clone(),
        left_out: prepared.left_out.clone(),
        columns: prepared.columns.clone(),
        made: run.columns_by_sources(),
    }
}

fn stages(path: &Path) -> Vec<StageRecord> {
    let stages = path.stages.iter().map(|stage| StageRecord {
        search: stage.kind.clone(),
        taken: stage.taken.clone(),
        score: stage.score.loss,
        lambda: stage.score.lambda,
        stop_reason: stage.stop_reason,
    });
    stages.collect()
}

fn parts(run: Run<'_>) -> Result<PartNames> {
    let Run { prepared, selector, selection, .. } = run;
    let settings = run.pipeline;
    // With several searches, the one that is taken.
    let search = if selection.searches.is_empty() { &settings.search } else { &selector.search };
    let mut all = vec![
        ("preprocess", to_value(&settings.preprocess)?),
        ("learner", to_value(&settings.learner)?),
        ("criterion", to_value(&settings.criterion)?),
        ("search", to_value(search)?),
        ("tune", to_value(&settings.tune)?),
        ("evaluate", to_value(&settings.evaluate)?),
    ];
    if let Some(map) = &settings.target_map {
        all.push(("target_map", to_value(map)?));
    }
    if let Some(model) = &settings.model {
        all.push(("model", to_value(model)?));
    }
    Ok(PartNames {
        learner: settings.learner.kind().into(),
        criterion: settings.criterion.kind().into(),
        search: search.kind().into(),
        loss: settings.criterion.traits().loss.map(|loss| LossName::from(&*loss)),
        engine: selection.engine.clone(),
        approximation: selection.approximation.clone(),
        target_map: settings.target_map.as_ref().map(|map| map.kind().into()),
        standardized_target: prepared
            .target_units
            .iter()
            .flatten()
            .any(|units| (units.scale.shift, units.scale.scale) != (0.0, 1.0)),
        settings: all.into_iter().collect(),
    })
}

/// Records of the selected columns with their weights.
fn selected_records(run: Run<'_>) -> Vec<SelectedRecord> {
    let Run { prepared, design, selection, .. } = run;
    let coefficients = selection.coefficients();
    let is_own = design.problem().has_columns_of(&prepared.train);
    let record = |(k, &index): (usize, &Feature)| {
        let name = selection.name(index);
        let weights = coefficients.map(|c| c.weights.row(k).to_vec());
        let units = prepared.target_units.as_deref();
        let original = weights.as_ref().filter(|_| is_own);
        let original = original.and_then(|weights| original_weights(&prepared.maps, &name, weights, units));
        SelectedRecord {
            index,
            name,
            weight: weights.map(PerOutput::new),
            original_weight: original.map(PerOutput::new),
            alpha: selection.alpha.as_ref().and_then(|alpha| alpha.get(k).copied()),
            ..SelectedRecord::default()
        }
    };
    selection.path.subset().iter().enumerate().map(record).collect()
}

#[cfg(test)]
mod tests;
