//! Tables as the template lays them out: cut where they are long, and folded away before that.

use super::number::{self, count, escape};
use std::fmt::Write;

/// Longer tables are folded away.
const FOLD: usize = 30;
/// Rows of a table, at most.
pub const MOST_ROWS: usize = 200;

/// A table as the page shows it; cells are HTML.
pub struct HtmlTable {
    label: String,
    heads: Vec<(String, &'static str)>,
    /// Cells of each row, and whether it is marked.
    rows: Vec<(bool, Vec<String>)>,
    /// What to say of rows that are cut.
    more: String,
    /// The line that unfolds it; empty where the table is open.
    summary: String,
}

/// What a column of a table shows of a row: HTML, or nothing.
type Shown<'a, T> = Box<dyn Fn(&T) -> Option<String> + 'a>;

/// A column; left out where no row has anything to show.
pub struct Column<'a, T> {
    head: String,
    class: &'static str,
    cell: Shown<'a, T>,
}

impl<'a, T> Column<'a, T> {
    /// Numbers that stand under each other.
    pub fn number(head: &str, value: impl Fn(&T) -> Option<f64> + 'a) -> Self {
        Column::html(head, "", move |row| value(row).filter(|v| v.is_finite()).map(|v| number::aligned(Some(v))))
    }

    /// Numbers as short as they are.
    pub fn short(head: &str, value: impl Fn(&T) -> Option<f64> + 'a) -> Self {
        Column::html(head, "", move |row| value(row).filter(|v| v.is_finite()).map(|v| number::html(Some(v))))
    }

    /// Whole numbers.
    pub fn count(head: &str, value: impl Fn(&T) -> usize + 'a) -> Self {
        Column::html(head, "", move |row| Some(count(value(row) as u64)))
    }

    /// Words.
    pub fn text(head: &str, value: impl Fn(&T) -> String + 'a) -> Self {
        Column::html(head, "t", move |row| Some(escape(&value(row))).filter(|text| !text.is_empty()))
    }

    /// Words of any length, which wrap.
    pub fn list(head: &str, value: impl Fn(&T) -> String + 'a) -> Self {
        Column::html(head, "t list", move |row| Some(escape(&value(row))).filter(|text| !text.is_empty()))
    }

    /// A name.
    pub fn name(head: &str, value: impl Fn(&T) -> String + 'a) -> Self {
        Column::html(head, "t name", move |row| Some(escape(&value(row))))
    }

    /// A share as a bar with percent.
    pub fn share(head: &str, value: impl Fn(&T) -> Option<f64> + 'a) -> Self {
        Column::html(head, "share", move |row| value(row).map(|share| bar(share, &format!("{:.0} %", 100.0 * share))))
    }

    /// Markup; `class` is that of its cells.
    pub fn html(head: &str, class: &'static str, cell: impl Fn(&T) -> Option<String> + 'a) -> Self {
        Column { head: head.into(), class, cell: Box::new(cell) }
    }
}

/// A bar of a length from 0 to 1 with words.
pub fn bar(share: f64, words: &str) -> String {
    let width = (100.0 * share.clamp(0.0, 1.0)).round();
    format!("<span class=\"meter\"><span style=\"width:{width}%\"></span></span><span class=\"n\">{words}</span>")
}

impl HtmlTable {
    /// A table of rows, with those marked that `marked` says; `key` is where all of them are found.
    pub fn of<T>(
        label: &str,
        key: &str,
        columns: Vec<Column<'_, T>>,
        rows: &[T],
        marked: impl Fn(&T) -> bool,
    ) -> HtmlTable {
        let kept: Vec<&T> = match rows.len() {
            // A few rows more are no reason to cut.
            n if n <= MOST_ROWS + 20 => rows.iter().collect(),
            _ => rows.iter().enumerate().filter(|(k, row)| *k < MOST_ROWS || marked(row)).map(|(_, row)| row).collect(),
        };
        let cells: Vec<Vec<Option<String>>> =
            columns.iter().map(|column| kept.iter().map(|row| (column.cell)(row)).collect()).collect();
        let filled: Vec<bool> = cells.iter().map(|column| column.iter().any(Option::is_some)).collect();
        let shown = |k: usize| {
            let cell = |column: &Vec<Option<String>>| column[k].clone().unwrap_or_else(|| number::html(None));
            cells.iter().zip(&filled).filter(|(_, filled)| **filled).map(|(column, _)| cell(column)).collect()
        };
        let body = kept.iter().enumerate().map(|(k, row)| (marked(row), shown(k))).collect();
        let heads = columns.into_iter().zip(&filled).filter(|(_, filled)| **filled);
        let left = rows.len() - kept.len();
        HtmlTable {
            label: label.into(),
            heads: heads.map(|(column, _)| (column.head, column.class)).collect(),
            rows: body,
            more: if left > 0 {
                format!("… and {} more, see {key} in selection.json", count(left as u64))
            } else {
                String::new()
            },
            summary: if rows.len() > FOLD {
                format!("{}: {} rows", label, count(rows.len() as u64))
            } else {
                String::new()
            },
        }
    }

    /// The table open, unless it is longer than this.
    pub fn open_to(mut self, most: usize) -> HtmlTable {
        if self.rows.len() <= most {
            self.summary.clear();
        }
        self
    }

    /// The table folded away behind a line.
    pub fn folded(mut self, summary: String) -> HtmlTable {
        self.summary = summary;
        self
    }

    /// The table in an area that scrolls sideways, folded away where it is long; empty without rows.
    pub fn html(&self) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let mut out = String::new();
        // It may be broader than the text.
        let broad = if self.summary.is_empty() { " broad" } else { "" };
        if !self.summary.is_empty() {
            let _ = writeln!(out, "<details class=\"broad\"><summary>{}</summary>", escape(&self.summary));
        }
        let _ = write!(
            out,
            "<div class=\"scroll{broad}\" tabindex=\"0\" role=\"group\" aria-label=\"{}\">\n<table>\n<thead><tr>",
            escape(&self.label)
        );
        for (head, class) in &self.heads {
            let _ = write!(out, "<th scope=\"col\"{}>{}</th>", classed(class), escape(head));
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for (marked, cells) in &self.rows {
            out.push_str(if *marked { "<tr class=\"is-chosen\">" } else { "<tr>" });
            for (cell, (_, class)) in cells.iter().zip(&self.heads) {
                let _ = write!(out, "<td{}>{cell}</td>", classed(class));
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody>\n</table>\n</div>\n");
        if !self.more.is_empty() {
            let _ = writeln!(out, "<p class=\"quiet more\">{}</p>", escape(&self.more));
        }
        if !self.summary.is_empty() {
            out.push_str("</details>\n");
        }
        out
    }
}

fn classed(class: &str) -> String {
    if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") }
}
