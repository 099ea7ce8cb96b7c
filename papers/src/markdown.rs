//! Tables as Markdown.

use std::fmt::Write;

/// A table that grows by rows.
pub struct MarkdownTable {
    columns: usize,
    text: String,
}

impl MarkdownTable {
    pub fn new(title: &str, columns: &[&str]) -> Self {
        let mut text = format!("## {title}\n\n| {} |\n|", columns.join(" | "));
        columns.iter().enumerate().for_each(|(k, _)| text.push_str(if k == 0 { "---|" } else { "---:|" }));
        text.push('\n');
        MarkdownTable { columns: columns.len(), text }
    }

    /// A row; cells that are missing stay empty.
    pub fn row(&mut self, cells: &[String]) {
        let empty = String::new();
        let cells = (0..self.columns).map(|k| cells.get(k).unwrap_or(&empty).as_str());
        let _ = writeln!(self.text, "| {} |", cells.collect::<Vec<_>>().join(" | "));
    }

    pub fn finish(self) -> String {
        self.text + "\n"
    }
}

/// A number with so many digits after the point; a dash where there is none.
pub fn number(value: f64, digits: usize) -> String {
    if value.is_finite() { format!("{value:.digits$}") } else { "–".into() }
}

/// Seconds in a readable number of digits.
pub fn seconds(value: f64) -> String {
    match value {
        v if v < 0.0995 => format!("{v:.3}"),
        v if v < 9.95 => format!("{v:.2}"),
        v => format!("{v:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_as_many_cells_as_the_head() {
        let mut table = MarkdownTable::new("T", &["a", "b"]);
        table.row(&["x".into()]);
        assert_eq!(table.finish(), "## T\n\n| a | b |\n|---|---:|\n| x |  |\n\n");
        assert_eq!((number(f64::NAN, 2), number(1.005, 1), seconds(12.3)), ("–".into(), "1.0".into(), "12".into()));
    }
}
