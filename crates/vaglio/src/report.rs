//! The report: one self-contained HTML page that says what was chosen, how, and how far to trust it.
//!
//! `record` reads the result, `view` turns it into words and tables, `plot`, `figures` and `chart` draw
//! it, and `page.html` lays it out. Nothing is fetched and no script runs when the page is opened.

mod axis;
mod chart;
mod figures;
mod knots;
mod number;
mod plot;
mod record;
mod tuning;
mod view;
mod words;

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod tests;

use crate::tune::Tuned;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, Value};
use vaglio_core::Error;

/// What a report shows.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    /// Heading of the page, usually the name of the pipeline.
    pub title: &'a str,
    /// The content of `selection.json`.
    pub selection: &'a serde_json::Value,
    /// Standard error of the score, one per entry of the path.
    pub standard_errors: &'a [Option<f64>],
    /// Losses of the models along the path, refitted on the training rows.
    pub curve: &'a [SizePoint],
    /// Correlations of the chosen features, in order of entry.
    pub correlation: &'a [Vec<f64>],
    /// How the learner was tuned, if it was.
    pub tuning: Option<&'a Tuned>,
    /// The resolved configuration, as YAML.
    pub configuration: &'a str,
    /// Version of vaglio that ran.
    pub version: &'a str,
}

/// Losses of the model of one size.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SizePoint {
    /// Number of features.
    pub size: usize,
    /// Mean squared error on the training rows.
    pub train: Option<f64>,
    /// Mean squared error on the test rows.
    pub test: Option<f64>,
    /// Error rate on the training rows, for classes.
    pub train_error: Option<f64>,
    /// Error rate on the test rows, for classes.
    pub test_error: Option<f64>,
}

/// The page as text.
///
/// Keys that `selection` lacks, and scores that are not finite, are left out; names are escaped.
///
/// # Errors
/// [`Error::Shape`] when the template cannot be filled, which no content of `selection` leads to.
pub fn render(report: &Report<'_>) -> Result<String, Error> {
    let record = record::Record::read(report);
    let view = view::View::of(&record, report);
    page(&view).map_err(|e| Error::Shape(format!("the report cannot be written: {e:#}")))
}

fn page(view: &view::View) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    let number = |value: Value| f64::try_from(value).ok();
    environment.add_filter("num", move |value: Value| Value::from_safe_string(number::html(number(value))));
    environment.add_filter("aligned", move |value: Value| Value::from_safe_string(number::aligned(number(value))));
    environment.add_global("style", include_str!("report/style.css"));
    environment.add_template("page.html", include_str!("report/page.html"))?;
    environment.get_template("page.html")?.render(Serde(view))
}
