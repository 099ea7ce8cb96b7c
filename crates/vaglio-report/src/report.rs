//! The report: one self-contained HTML page that says what was chosen, what it is worth, and how far to trust it.
//!
//! The module `sections` turns a record into a [`Page`]. The template `page.html` lays out any page, and `drawing`
//! draws its charts. Nothing is fetched and no script runs when the page is opened.

mod answer;
mod axis;
mod chart;
mod chosen_columns;
mod classes;
mod drawing;
mod error_cards;
mod error_curves;
mod heat_map;
mod number;
mod other_columns;
mod part_findings;
mod record_view;
mod repetitions;
mod residuals;
mod run_details;
mod section;
mod sections;
mod svg;
mod table;

#[cfg(test)]
mod tests;

pub use chart::{Chart, ChartScale, ChartShape, Mark, ScaleKind};
pub use section::{Card, ContentBlock, Page, Section, TextStyle};
pub use sections::page;
pub use table::{ColumnStyle, PageTable, TableBuilder, TableCell, TableHead, TableRow};

use crate::record::Record;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, ErrorKind, Value, context, escape_formatter};
use std::path::Path;
use vaglio_core::{Error, Result, shown};

/// The style sheet of pages, and of drawings.
pub const STYLE: &str = include_str!("report/style.css");

/// Renders the report of a record as HTML, with a title and the resolved configuration as YAML.
///
/// # Errors
/// [`Error::Failed`] if the template cannot be filled, which happens for no record.
pub fn render(record: &Record, title: &str, configuration: &str) -> Result<String> {
    page(record, title, configuration).html()
}

/// The title of the report of a run: the name of its folder.
pub fn heading(folder: &Path) -> String {
    let whole = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    whole.file_name().map_or_else(|| "run".into(), |name| name.to_string_lossy().into_owned())
}

impl Page {
    /// Renders the page as HTML. All text is escaped, including control characters.
    ///
    /// # Errors
    /// [`Error::Failed`] if the template cannot be filled.
    pub fn html(&self) -> Result<String> {
        fill(self).map_err(|e| Error::failed("the page cannot be written", e))
    }
}

fn fill(page: &Page) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.set_formatter(|out, state, value| match value.as_str() {
        Some(text) if !value.is_safe() => escape_formatter(out, state, &Value::from(shown(text).as_ref())),
        _ => escape_formatter(out, state, value),
    });
    environment.add_filter("chart", |value: Value| {
        let chart = serde_json::to_value(&value).and_then(serde_json::from_value::<Chart>);
        let chart = chart.map_err(|e| minijinja::Error::new(ErrorKind::BadSerialization, e.to_string()))?;
        Ok::<Value, minijinja::Error>(Value::from_safe_string(chart.html().unwrap_or_default()))
    });
    environment.add_filter("histogram", |counts: Vec<usize>| Value::from_safe_string(svg::histogram(&counts)));
    // Text of several lines that stay lines.
    environment.add_filter("lines", |text: String| {
        Value::from_safe_string(text.lines().map(number::escape).collect::<Vec<_>>().join("\n"))
    });
    environment.add_global("style", STYLE);
    environment.render_named_str(
        "page.html",
        include_str!("report/page.html"),
        context!(page => Value::from(Serde(page))),
    )
}
