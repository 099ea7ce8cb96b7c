//! Predictions as CSV, in which no cell of text is run by a spreadsheet.

use super::predictions::Predictions;
use vaglio_core::{Cells, Error, Result};
use vaglio_pipeline::pipeline::IntervalEnds;

impl Predictions {
    /// The predictions as CSV: `prediction` (one per output, named where there are several) and `label` for classes, then
    /// probabilities and the ends of intervals where these were asked for.
    ///
    /// The columns of series and time stand before them, then those that were kept; where there are none and rows were
    /// dropped, `row`, from 1. Unless `raw`, an apostrophe stands before text that a spreadsheet would take for a formula.
    ///
    /// # Errors
    /// [`Error::Shape`] when a name cannot be written.
    pub fn to_csv(&self) -> Result<String> {
        self.csv(true)
    }

    /// The same rows without the header, where they follow others.
    ///
    /// # Errors
    /// Those of [`Predictions::to_csv`].
    pub fn more_csv(&self) -> Result<String> {
        self.csv(false)
    }

    fn csv(&self, with_header: bool) -> Result<String> {
        let failed = |e: &dyn std::fmt::Display| Error::Shape(format!("predictions cannot be written: {e}"));
        let mut writer = csv::Writer::from_writer(Vec::new());
        let numbered = self.is_numbered();
        let safe = |text: String| if self.raw { text } else { unless_formula(text) };
        if with_header {
            writer.write_record(self.names().into_iter().map(safe)).map_err(|e| failed(&e))?;
        }
        let number = |value: &f64| serde_json::json!(value).to_string();
        let cell = |cells: &Cells, row: usize| match cells {
            Cells::Text(text) => safe(text[row].clone()),
            Cells::Numbers(_) | Cells::Dates(_) => cells.label(row),
        };
        for (row, column) in self.values.columns().into_iter().enumerate() {
            let mut record: Vec<String> = self.before().map(|(_, cells)| cell(cells, row)).collect();
            record.extend(self.rows.get(row).filter(|_| numbered).map(|row| (row + 1).to_string()));
            record.extend(column.iter().map(number));
            record.extend(self.labels.as_ref().map(|labels| safe(labels[row].clone())));
            let probabilities = self.probabilities.iter().flat_map(|(_, all)| all.column(row).to_vec());
            record.extend(probabilities.map(|p| number(&p)));
            if let Some(IntervalEnds { lower, upper, .. }) = &self.intervals {
                record.extend((0..lower.nrows()).flat_map(|o| [number(&lower[[o, row]]), number(&upper[[o, row]])]));
            }
            writer.write_record(&record).map_err(|e| failed(&e))?;
        }
        let bytes = writer.into_inner().map_err(|e| failed(&e))?;
        String::from_utf8(bytes).map_err(|e| failed(&e))
    }
}

/// The text with an apostrophe before it where a spreadsheet would run it. Numbers, with a percent sign or a decimal comma
/// too, and a sign alone are none.
pub(super) fn unless_formula(text: String) -> String {
    // Those of full width as well, which some spreadsheets take for the others.
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
