//! Predictions of the rows of a file, with probabilities, intervals and kept columns, and their CSV. Its text is escaped so
//! that no spreadsheet runs it as a formula.

use super::unseen_levels::UnseenLevels;
use ndarray::{Array2, ArrayView1};
use std::ops::Deref;
use vaglio_core::{Cells, Error, Result, Table, row_weights, short};
use vaglio_maps::{in_order, quantile};
use vaglio_pipeline::pipeline::{SavedIntervals, SavedModel};
use vaglio_report::record::{Figures, LossName};

/// A saved model that predicts tables and files, and exports formulas.
pub struct FileModel<'m>(pub &'m SavedModel);

impl Deref for FileModel<'_> {
    type Target = SavedModel;

    fn deref(&self) -> &SavedModel {
        self.0
    }
}

/// Options of a prediction: outputs besides the predicted values.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PredictOptions {
    /// Columns of the data file to write before the predictions.
    pub keep: Vec<String>,
    /// Whether to compare predictions with the targets in the file.
    pub evaluate: bool,
    /// Whether to add the probability of each class.
    pub probabilities: bool,
    /// Whether to add prediction intervals.
    pub intervals: bool,
    /// Whether kept columns are numbers and dates if the file or the model says so; else the text of each cell.
    pub typed: bool,
    /// Whether to write text to CSV unescaped, even if a spreadsheet would run it as a formula.
    pub raw: bool,
}

/// Predictions for the rows of a file.
#[derive(Debug, Default)]
pub struct Predictions {
    /// Names of the outputs.
    pub outputs: Vec<String>,
    /// Predicted values, outputs × rows, in the units of the target.
    pub values: Array2<f64>,
    /// Label of each row, for classes.
    pub labels: Option<Vec<String>>,
    /// Row of the data for each prediction, from 0 and increasing; rows that maps dropped have no prediction.
    pub rows: Vec<usize>,
    /// Columns of series and time, for these rows.
    pub keys: Vec<(String, Cells)>,
    /// Whether some rows have no prediction.
    pub dropped: bool,
    /// Kept columns of the data, for these rows.
    pub kept: Vec<(String, Cells)>,
    /// Class labels and their probabilities, classes × rows.
    pub probabilities: Option<(Vec<String>, Array2<f64>)>,
    /// Prediction intervals.
    pub intervals: Option<IntervalEnds>,
    /// Comparison with the targets in the data.
    pub judged: Option<TargetComparison>,
    /// Whether text is written to CSV unescaped.
    pub raw: bool,
    /// Levels that no training row has.
    pub unseen: UnseenLevels,
    /// Weights that the model gives to the rows, if it does.
    pub(super) counts: Option<Vec<f64>>,
}

/// Comparison of predictions with targets.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetComparison {
    /// The figures.
    pub figures: Figures,
    /// The model's loss, one of the figures.
    pub loss: LossName,
    /// Class labels, in the order of the confusion matrix.
    pub classes: Vec<String>,
    /// Share of rows whose target lies in its interval, and median width, per output.
    pub coverage_and_width: Option<Vec<[f64; 2]>>,
}

/// A column that is written.
pub enum OutputColumn<'p> {
    /// Column of the data.
    Data(&'p Cells),
    /// Rows, which are written from 1.
    Rows(&'p [usize]),
    /// Numbers of the prediction.
    Numbers(ArrayView1<'p, f64>),
    /// Labels of classes.
    Labels(&'p [String]),
}

impl Predictions {
    /// All columns with their names: data, or the number of each row if only that identifies it; then predictions.
    pub(super) fn columns(&self) -> Vec<(String, OutputColumn<'_>)> {
        let data = self.keys.iter().chain(&self.kept);
        let mut columns: Vec<_> = data.map(|(name, cells)| (name.clone(), OutputColumn::Data(cells))).collect();
        if columns.is_empty() && self.dropped {
            columns.push(("row".to_owned(), OutputColumn::Rows(&self.rows)));
        }
        let mut predicted: Vec<_> = self.values.rows().into_iter().map(OutputColumn::Numbers).collect();
        predicted.extend(self.labels.as_deref().map(OutputColumn::Labels));
        predicted.extend(self.probabilities.iter().flat_map(|(_, all)| all.rows()).map(OutputColumn::Numbers));
        if let Some(IntervalEnds { lower, upper, .. }) = &self.intervals {
            let ends = lower.rows().into_iter().zip(upper.rows());
            predicted.extend(ends.flat_map(|(lower, upper)| [lower, upper]).map(OutputColumn::Numbers));
        }
        let classes = self.probabilities.as_ref().map_or(&[][..], |(classes, _)| classes);
        let names = header(&self.outputs, self.labels.is_some(), classes, self.intervals.is_some());
        columns.extend(names.into_iter().zip(predicted));
        columns
    }

    /// The figures as a short table for people, if predictions were compared with targets.
    pub fn table(&self) -> Option<String> {
        let TargetComparison { figures, loss, classes, coverage_and_width } = self.judged.as_ref()?;
        let mut text = figures.table(loss, classes);
        if let (Some(bounds), Some(figures)) = (&self.intervals, coverage_and_width) {
            for (name, [share, width]) in self.outputs.iter().zip(figures) {
                let which = if self.outputs.len() == 1 { String::new() } else { format!(" of {name}") };
                let level = bounds.level;
                let share = short(*share);
                let width = short(*width);
                text +=
                    &format!("intervals{which} of level {level} hold {share} of the targets, median width {width}\n");
            }
        }
        Some(text)
    }
}

/// Names of the prediction columns, with the probabilities of `classes`.
pub fn header(outputs: &[String], has_labels: bool, classes: &[String], has_intervals: bool) -> Vec<String> {
    let named = |word: &str| -> Vec<String> {
        match outputs {
            [_] => vec![word.to_owned()],
            several => several.iter().map(|name| format!("{word}_{name}")).collect(),
        }
    };
    let mut header = named("prediction");
    header.extend(has_labels.then(|| "label".to_owned()));
    header.extend(classes.iter().map(|class| format!("proba_{class}")));
    if has_intervals {
        header.extend(named("lower").into_iter().zip(named("upper")).flat_map(|(lower, upper)| [lower, upper]));
    }
    header
}

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
        let columns = self.columns();
        let header = with_header.then(|| columns.iter().map(|(name, _)| safe(name.clone())).collect());
        let cell = |column: &OutputColumn<'_>, row: usize| match column {
            OutputColumn::Data(Cells::Text(text)) => safe(text[row].clone()),
            OutputColumn::Data(cells) => cells.label(row),
            OutputColumn::Rows(rows) => (rows[row] + 1).to_string(),
            OutputColumn::Numbers(values) => serde_json::json!(values[row]).to_string(),
            OutputColumn::Labels(labels) => safe(labels[row].clone()),
        };
        let records = (0..self.values.ncols()).map(|row| columns.iter().map(|(_, column)| cell(column, row)).collect());
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

/// Prediction intervals of rows.
#[derive(Debug, Clone, PartialEq)]
pub struct IntervalEnds {
    /// Coverage: the share of new rows within their intervals.
    pub level: f64,
    /// Lower ends, outputs × rows.
    pub lower: Array2<f64>,
    /// Upper ends, outputs × rows.
    pub upper: Array2<f64>,
}

impl IntervalEnds {
    /// Intervals for the rows of a table.
    ///
    /// # Errors
    /// Returns the errors of [`SavedIntervals::bounds`].
    pub fn new(intervals: &SavedIntervals, table: &Table) -> Result<Self> {
        let [lower, upper] = intervals.bounds(table)?;
        Ok(IntervalEnds { level: intervals.level, lower, upper })
    }

    /// For each output, weighted share of rows whose target lies in its interval, and weighted median width.
    pub fn coverage_and_width(&self, targets: &Array2<f64>, weights: Option<&[f64]>) -> Vec<[f64; 2]> {
        let weight = row_weights(weights);
        let rows = 0..targets.ncols();
        let total: f64 = rows.clone().map(weight).sum();
        let figures = |o: usize| {
            let holds = |&j: &usize| (self.lower[[o, j]]..=self.upper[[o, j]]).contains(&targets[[o, j]]);
            let held: f64 = rows.clone().filter(holds).map(weight).sum();
            let widths: Vec<f64> = rows.clone().map(|j| self.upper[[o, j]] - self.lower[[o, j]]).collect();
            [held / total, quantile(&in_order(&widths, weights), 0.5).unwrap_or(0.0)]
        };
        (0..targets.nrows()).map(figures).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_medians_and_coverage_is_a_share_by_weight() {
        let bounds = IntervalEnds {
            level: 0.5,
            lower: ndarray::array![[0.0, 0.0, 0.0, 5.0]],
            upper: ndarray::array![[1.0, 2.0, 4.0, 15.0]],
        };
        let targets = ndarray::array![[1.0, 3.0, 3.0, 3.0]];
        assert_eq!(bounds.coverage_and_width(&targets, None), [[0.5, 3.0]]);
        assert_eq!(bounds.coverage_and_width(&targets, Some(&[1.0, 0.0, 2.0, 0.0])), [[1.0, 4.0]]);
        assert_eq!(bounds.coverage_and_width(&targets, Some(&[1.0, 3.0, 0.0, 0.0])), [[0.25, 2.0]]);
    }

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
