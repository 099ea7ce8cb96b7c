//! The report of a record: its sections in reading order.

use super::answer::{answer, comparison, trust};
use super::chosen_columns::{chosen_columns, column_worth, correlations, shapley_values, weight_map};
use super::classes::{calibration, classes};
use super::error_curves::{costs, error_by_size, learning_curve, other_curves, searches};
use super::other_columns::{alternatives, columns_as_read, columns_not_chosen, excluded_columns};
use super::part_findings::found_by_parts;
use super::record_view::{RecordView, listed};
use super::repetitions::{discoveries, frequencies, outer_folds};
use super::residuals::{components, predictions, targets, worst_rows};
use super::run_details::{configuration, key_figures, methods, sizes, steps, tuning};
use super::section::{Page, Section};
use crate::record::Record;

/// The page of a record, headed by a title, with the resolved configuration as YAML.
///
/// The answer, the errors, the curve over sizes and the columns are open; all else is shut until it is clicked.
pub fn page(record: &Record, title: &str, yaml: &str) -> Page {
    let view = RecordView::new(record);
    let errors = record.held_out_errors();
    let beside = Section::new("evidence", "Errors beside their baselines").chart(comparison(&view, &errors));
    let details = [
        beside.non_empty(),
        predictions(&view),
        worst_rows(&view),
        components(&view),
        classes(&view),
        calibration(&view),
        targets(&view),
        column_worth(&view),
        shapley_values(&view),
        weight_map(&view),
        correlations(&view),
        discoveries(&view),
        frequencies(&view),
        outer_folds(&view),
        columns_not_chosen(&view),
        learning_curve(&view),
        other_curves(&view),
        searches(&view),
        costs(&view),
        record.report.tuning.as_ref().map(tuning),
        steps(&view),
        sizes(&view),
        excluded_columns(&view),
        columns_as_read(&view),
    ];
    let last = [Some(key_figures(&view)), Some(methods(&view)), configuration(yaml)];
    let found = found_by_parts(&record.found).into_iter().map(Some);
    let details = details.into_iter().chain(found).chain(last).flatten();
    let details = Section::new("details", "Details").folds(details);
    let sections =
        [Some(trust(&view, &errors)), error_by_size(&view), chosen_columns(&view), alternatives(&view), Some(details)];
    let target = listed(record.data.targets.iter().map(String::as_str), 3);
    Page {
        kind: "report".into(),
        title: if target.is_empty() { title.into() } else { format!("Target {target} · {title}") },
        answer: answer(&view, &errors),
        sections: sections.into_iter().flatten().collect(),
        footer: footer(record),
    }
}

fn footer(record: &Record) -> String {
    let digest = match record.data.digest.as_str() {
        "" => String::new(),
        digest => format!(" Digest of the data: {digest}"),
    };
    let version = env!("CARGO_PKG_VERSION");
    format!("Made by vaglio {version}. All digits are in selection.json, all settings in resolved.yaml.{digest}")
}
