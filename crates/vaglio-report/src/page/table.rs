//! Tables as HTML.

use super::number::{self, count, element, escape, finite};

/// Rows of a table, at most, unless it says otherwise.
const MOST_ROWS: usize = 200;

/// A cell.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TableCell {
    /// Words.
    pub text: String,
    /// The tooltip: a number in all digits; may be empty.
    pub full: String,
    /// A second line in small type; may be empty.
    pub note: String,
    /// Length of the bar before the words, from 0 to 1.
    pub share: Option<f64>,
}

impl TableCell {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        TableCell { text: text.into(), ..TableCell::default() }
    }

    /// A number in few digits, with all of them in the tooltip.
    pub fn number(value: f64) -> Self {
        TableCell { full: number::full(value), ..TableCell::text(number::short(value)) }
    }

    /// A share in percent with its bar.
    pub fn percent(share: f64) -> Self {
        TableCell::text(number::whole_percent(share)).bar(share)
    }

    /// Adds a bar; of length 0 for NaN.
    pub fn bar(self, share: f64) -> Self {
        let share = if share > 0.0 { share.min(1.0) } else { 0.0 };
        TableCell { share: Some((100.0 * share).round() / 100.0), ..self }
    }

    /// Adds a second line.
    pub fn note(self, note: impl Into<String>) -> Self {
        TableCell { note: note.into(), ..self }
    }

    /// The end of the opening tag, with the tooltip, and the content.
    fn html(&self) -> String {
        let (text, full) = (escape(&self.text), escape(&self.full));
        let content = match self.share {
            Some(share) => {
                format!("<span class=\"meter\"><span style=\"width:{:.0}%\"></span></span>{text}", 100.0 * share)
            }
            None => text,
        };
        let title = if full.is_empty() { full } else { format!(" title=\"{full}\"") };
        format!("{title}>{content}{}", element("span class=\"of\"", &self.note))
    }
}

/// Builds a table from rows and the columns that show them. Columns that are empty in all rows are left out.
pub struct TableBuilder<'a, T> {
    key: &'a str,
    rows: &'a [T],
    columns: Vec<(String, &'static str, Vec<Option<TableCell>>)>,
    marked: Vec<bool>,
    most: usize,
}

impl<'a, T> TableBuilder<'a, T> {
    /// Creates a table without columns; `key` is the path of the rows in `selection.json`.
    pub fn new(key: &'a str, rows: &'a [T]) -> Self {
        TableBuilder { key, rows, columns: Vec::new(), marked: vec![false; rows.len()], most: MOST_ROWS }
    }

    /// Adds a column of cells.
    pub fn cells<C: Into<Option<TableCell>>>(
        mut self,
        head: &str,
        class: &'static str,
        cell: impl Fn(&'a T) -> C,
    ) -> Self {
        self.columns.push((head.into(), class, self.rows.iter().map(|row| cell(row).into()).collect()));
        self
    }

    /// Adds a column of numbers.
    pub fn number<V: Into<Option<f64>>>(self, head: &str, value: impl Fn(&T) -> V) -> Self {
        self.cells(head, "number", |row| value(row).into().and_then(finite).map(TableCell::number))
    }

    /// Adds whole numbers.
    pub fn count(self, head: &str, value: impl Fn(&T) -> usize) -> Self {
        self.cells(head, "number", |row| TableCell::text(count(value(row))))
    }

    /// Adds words.
    pub fn text<S: Into<Option<String>>>(self, head: &str, value: impl Fn(&T) -> S) -> Self {
        self.cells(head, "text", |row| value(row).into().filter(|text| !text.is_empty()).map(TableCell::text))
    }

    /// Adds names.
    pub fn name<S: Into<String>>(self, head: &str, value: impl Fn(&'a T) -> S) -> Self {
        self.cells(head, "name", |row| TableCell::text(value(row)))
    }

    /// Adds shares in percent.
    pub fn share<V: Into<Option<f64>>>(self, head: &str, value: impl Fn(&T) -> V) -> Self {
        self.cells(head, "share", |row| value(row).into().map(TableCell::percent))
    }

    /// Highlights rows, which are then never cut.
    pub fn highlight(self, is_marked: impl Fn(&T) -> bool) -> Self {
        TableBuilder { marked: self.rows.iter().map(is_marked).collect(), ..self }
    }

    /// Cuts the table after so many rows; a tenth more is no reason to cut it.
    pub fn most(self, most: usize) -> Self {
        TableBuilder { most, ..self }
    }

    /// The table as HTML, with a label for readers who cannot see it; empty without rows, or without a cell beyond the
    /// first column.
    pub fn html(mut self, label: &str) -> String {
        let rows = self.rows.len();
        if !self.columns.iter().skip(1).any(|(.., cells)| cells.iter().any(Option::is_some)) {
            return String::new();
        }
        let most = if rows <= self.most + self.most / 10 { rows } else { self.most };
        let kept: Vec<usize> = (0..rows).filter(|&k| k < most || self.marked[k]).collect();
        self.columns.retain(|(.., cells)| kept.iter().any(|&k| cells[k].is_some()));
        // Cells are to the right unless a class says otherwise.
        let class = |class: &str| if class == "number" { String::new() } else { format!(" class=\"{class}\"") };
        let heads = self.columns.iter();
        let heads = heads.map(|(head, own, _)| format!("<th scope=\"col\"{}>{}</th>", class(own), escape(head)));
        let heads: String = heads.collect();
        let row = |k: usize| {
            let cell = |cell: &Option<TableCell>| cell.as_ref().map_or_else(|| ">–".into(), TableCell::html);
            let cells = self.columns.iter().map(|(_, own, cells)| format!("<td{}{}</td>", class(own), cell(&cells[k])));
            let marked = if self.marked[k] { " class=\"is-chosen\"" } else { "" };
            format!("<tr{marked}>{}</tr>\n", cells.collect::<String>())
        };
        let cells: String = kept.iter().map(|&k| row(k)).collect();
        let (label, cut) = (escape(label), rows - kept.len());
        let more = format!("… and {} more, see {} in selection.json", count(cut), self.key);
        let more = element("p class=\"note\"", if cut > 0 { &more } else { "" });
        let table = format!("<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{cells}</tbody>\n</table>");
        format!("<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"{label}\">\n{table}\n</div>\n{more}")
    }
}
