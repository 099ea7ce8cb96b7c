//! The report: one self-contained HTML page that says what was chosen, how, and how far to trust it.
//!
//! `source` looks things up in the record, `honest`, `labels` and `view` make sentences, `table` and `columns` make tables,
//! `plot` and the other drawings draw, and `page.html` lays it out. Nothing is fetched and no script runs when the page is opened.

mod axis;
mod beside;
mod chart;
mod classes;
mod columns;
mod costs;
mod discoveries;
mod drawn;
mod evidence;
mod figures;
mod found;
mod frequency;
mod heat;
mod honest;
mod knots;
mod labels;
mod near;
pub mod number;
mod origin;
pub mod plot;
mod race;
mod scatter;
mod shape;
mod source;
mod svg;
mod table;
mod tuning;
mod view;

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod tests;

use crate::record::Record;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, Value, escape_formatter};
use source::RecordView;
use std::path::Path;
use vaglio_core::{Error, shown};
use view::View;

/// The page of a record as text, headed by a title, with the resolved configuration as YAML.
///
/// Scores that are not finite are left out; names are escaped.
///
/// # Errors
/// [`Error::Shape`] when the template cannot be filled, which no record leads to.
pub fn render(record: &Record, title: &str, configuration: &str) -> Result<String, Error> {
    let view = View::of(&RecordView::new(record), title, configuration);
    page(&view).map_err(|e| Error::Shape(format!("the report cannot be written: {e:#}")))
}

/// What the report of a run is headed with: the name of its folder.
pub fn heading(folder: &Path) -> String {
    let whole = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    whole.file_name().map_or_else(|| "run".into(), |name| name.to_string_lossy().into_owned())
}

/// The style sheet of the page, and of drawings.
pub const STYLE: &str = include_str!("report/style.css");

fn page(view: &View) -> Result<String, minijinja::Error> {
    let page = include_str!("report/page.html");
    filled(page, "report", STYLE, Serde(view))
}

/// A template of HTML after the head that all pages share, with its values: text escaped, characters that would act on the
/// page included.
pub fn filled(
    page: &str,
    kind: &'static str,
    style: &'static str,
    values: impl Into<Value>,
) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.set_formatter(|out, state, value| match value.as_str() {
        Some(text) if !value.is_safe() => escape_formatter(out, state, &Value::from(shown(text).as_ref())),
        _ => escape_formatter(out, state, value),
    });
    let number = |value: Value| f64::try_from(value).ok();
    environment.add_filter("num", move |value: Value| Value::from_safe_string(number::html(number(value))));
    // Text of several lines that stay lines.
    let lines = |text: &str| text.lines().map(number::escape).collect::<Vec<_>>().join("\n");
    environment.add_filter("lines", move |text: String| Value::from_safe_string(lines(&text)));
    environment.add_global("style", style);
    environment.add_global("kind", kind);
    environment.render_named_str("page.html", &format!("{}{page}", include_str!("report/head.html")), values)
}
