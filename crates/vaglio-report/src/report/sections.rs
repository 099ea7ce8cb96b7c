//! The report of a record: its sections in reading order.

use super::answer::{answer, baselines, trust};
use super::chosen_columns::{chosen_columns, column_worth, correlations, shapley_values};
use super::classes::{calibration, classes};
use super::error_curves::{costs, error_by_size, learning_curve, other_curves, searches};
use super::other_columns::{alternatives, columns_as_read, columns_not_chosen};
use super::part_findings::found_by_parts;
use super::repetitions::{discoveries, frequencies, outer_folds};
use super::residuals::{components, predictions, worst_rows};
use super::run_details::{configuration, key_figures, methods, sizes, steps};
use super::section::{Section, page};
use crate::record::Record;
use crate::record::names::listed;

/// Renders the report of a record as HTML, with a title and the resolved configuration as YAML.
///
/// The answer, the errors, the curve over sizes and the columns are open; all else is shut until it is clicked.
pub fn render(record: &Record, title: &str, yaml: &str) -> String {
    let errors = record.held_out_errors();
    let details = [
        Some(baselines(record, &errors)),
        predictions(record),
        worst_rows(record),
        components(record),
        classes(record),
        calibration(record),
        Some(column_worth(record)),
        shapley_values(record),
        correlations(record),
        discoveries(record),
        Some(frequencies(record)),
        outer_folds(record),
        Some(columns_not_chosen(record)),
        learning_curve(record),
        Some(other_curves(record)),
        searches(record),
        costs(record),
        Some(steps(record)),
        Some(sizes(record)),
        Some(columns_as_read(record)),
    ];
    let last = [key_figures(record), methods(record), configuration(yaml)].map(Some);
    let found = found_by_parts(&record.found).into_iter().map(Some);
    let details = details.into_iter().chain(found).chain(last).flatten();
    let details = details.fold(Section::new("details", "Details"), Section::fold);
    let sections = [
        Some(trust(record, &errors)),
        Some(error_by_size(record)),
        Some(chosen_columns(record)),
        alternatives(record),
        Some(details),
    ];
    let target = listed(&record.data.targets, 3);
    let title = if target.is_empty() { title.into() } else { format!("Target {target} · {title}") };
    page("report", &title, &answer(record, &errors), sections.into_iter().flatten(), &footer(record))
}

fn footer(record: &Record) -> String {
    let digest = match record.data.digest.as_str() {
        "" => String::new(),
        digest => format!(" Digest of the data: {digest}"),
    };
    let version = env!("CARGO_PKG_VERSION");
    format!("Made by vaglio {version}. All digits are in selection.json, all settings in resolved.yaml.{digest}")
}
