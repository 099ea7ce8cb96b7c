//! Predictions as CSV, with text escaped so that no spreadsheet runs it as a formula.

use super::predictions::{OutputColumn, Predictions};
use vaglio_core::{Cells, Error, Result};

impl Predictions {
    /// The predictions as CSV: `prediction` (one per output, named if there are several) and `label` for classes, then
    /// probabilities and interval ends if asked for.
    ///
    /// Columns of series and time come first, then those that were kept. If there are none and rows were dropped, `row`
    /// comes first, counted from 1. Unless `raw`, text that a spreadsheet would take for a formula gets an apostrophe.
    ///
    /// The header may be left out, to append to other rows.
    ///
    /// # Errors
    /// [`Error::Shape`] when a name cannot be written.
    pub fn to_csv(&self, with_header: bool) -> Result<String> {
        let safe = |text: String| if self.raw { text } else { unless_formula(text) };
        let header = with_header.then(|| self.names().into_iter().map(safe).collect());
        let columns = self.columns();
        let cell = |column: &OutputColumn<'_>, row: usize| match column {
            OutputColumn::Data(Cells::Text(text)) => safe(text[row].clone()),
            OutputColumn::Data(cells) => cells.label(row),
            OutputColumn::Rows(rows) => (rows[row] + 1).to_string(),
            OutputColumn::Numbers(values) => serde_json::json!(values[row]).to_string(),
            OutputColumn::Labels(labels) => safe(labels[row].clone()),
        };
        let records = (0..self.values.ncols()).map(|row| columns.iter().map(|column| cell(column, row)).collect());
        csv_text(header.into_iter().chain(records))
    }
}

/// Records as CSV.
pub fn csv_text(records: impl Iterator<Item = Vec<String>>) -> Result<String> {
    let failed = |e: csv::Error| Error::failed("CSV cannot be written", e);
    let mut writer = csv::Writer::from_writer(Vec::new());
    for record in records {
        writer.write_record(record).map_err(failed)?;
    }
    let bytes = writer.into_inner().map_err(|e| failed(e.into_error().into()))?;
    String::from_utf8(bytes).map_err(|e| Error::failed("CSV cannot be written", e))
}

/// Prefixes text with an apostrophe if a spreadsheet would run it. Numbers, also with a percent sign or a decimal
/// comma, and a lone sign stay as they are.
pub fn unless_formula(text: String) -> String {
    // Some spreadsheets read full-width characters like the ASCII ones.
    let begins = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    if !begins || text.chars().nth(1).is_none() {
        return text;
    }
    let plain = text.trim().trim_end_matches('%').replacen(',', ".", 1);
    let is_number = text.starts_with(['+', '-']) && plain.parse::<f64>().is_ok();
    if is_number { text } else { format!("'{text}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_get_an_apostrophe_and_numbers_none() {
        for text in [
            "=1+1",
            "@SUM(A1)",
            "+cmd|' /C calc'!A0",
            "-2+3",
            "\t=1",
            "\r=1",
            "=1",
            "-A1",
            "=",
            "--1",
            "\n=1",
            "＝1",
            "＋1",
            "－1",
            "＠A1",
            "＝",
        ] {
            let expected = if text.chars().count() == 1 { text.to_owned() } else { format!("'{text}") };
            assert_eq!(unless_formula(text.to_owned()), expected);
        }
        for text in ["-1.5", "+3", "-1,5", "-5%", "-", "a=1", "", " =1", "1-2", "-1e-3", "-inf", "'=1"] {
            assert_eq!(unless_formula(text.to_owned()), text);
        }
    }
}
