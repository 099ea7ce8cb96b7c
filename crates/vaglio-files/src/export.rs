//! Exports a model to other languages, and the tables and methods of its run.

use super::predictions::{FileModel, csv_text, header, unless_formula};
use ndarray::ArrayView1;
use serde_json::Value;
use std::path::{Path, PathBuf};
use vaglio_core::{Error, Result, Task};
use vaglio_export::{CellKind, Formulas, InputColumn, LabelRule, Language, ModelSteps, equations};
use vaglio_kernels::tolerance::TIED_PREDICTION;
use vaglio_pipeline::document::key_path;
use vaglio_pipeline::pipeline::{ColumnType, SavedModel};
use vaglio_report::record::Record;
use vaglio_tables::disk::{check_apart, check_regular, write_file};

/// Content and language of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportTo {
    /// The model, in a language.
    Model(Language),
    /// A description of the method, as text.
    Methods,
}

impl ExportTo {
    /// Formats with their words.
    pub const FORMATS: [(&'static str, ExportTo); 8] = [
        ("sql", ExportTo::Model(Language::Sql)),
        ("python", ExportTo::Model(Language::Python)),
        ("r", ExportTo::Model(Language::R)),
        ("excel", ExportTo::Model(Language::Excel)),
        ("onnx", ExportTo::Model(Language::Onnx)),
        ("pmml", ExportTo::Model(Language::Pmml)),
        ("json", ExportTo::Model(Language::Json)),
        ("methods", ExportTo::Methods),
    ];

    /// Format of this word, called `option` in messages.
    ///
    /// # Errors
    /// [`Error::UnknownName`] for another word.
    pub fn from_word(option: &str, word: &str) -> Result<Self> {
        let known = ExportTo::FORMATS.iter().find(|(known, _)| *known == word).map(|(_, to)| *to);
        known.ok_or_else(|| Error::unknown(option, "format", word, ExportTo::FORMATS.map(|(known, _)| known)))
    }
}

/// Model file of a run, given by its folder or by the file.
pub fn model_file(run: &Path) -> PathBuf {
    if run.is_dir() { run.join("model.json") } else { run.to_owned() }
}

/// Result file of a run, given by its folder or by another file in it.
fn record_file(run: &Path) -> PathBuf {
    if run.is_file() { run.with_file_name("selection.json") } else { run.join("selection.json") }
}

/// Exports the model of a run to another language, or describes its method. The run is given by its folder or by its
/// `model.json`.
///
/// # Errors
/// Fails if `model.json` or `selection.json` cannot be read. Returns [`Error::Setting`] for a part of the model that
/// the language cannot express.
pub fn export(run: &Path, to: ExportTo) -> Result<Vec<u8>> {
    match to {
        ExportTo::Model(language) => {
            let path = model_file(run);
            check_regular(&path)?;
            let model = SavedModel::read(&path)?;
            language.write(&FileModel(&model).formulas(language)?)
        }
        ExportTo::Methods => Ok(Record::read(&record_file(run))?.methods().into_bytes()),
    }
}

/// Like [`export`], into a file that appears complete or not at all.
///
/// # Errors
/// Returns the errors of [`export`]; [`Error::Unwritable`]; [`Error::Setting`] if `out` is a file of the run.
pub fn export_to_file(run: &Path, to: ExportTo, out: &Path) -> Result<()> {
    check_apart(out, [model_file(run), record_file(run)].map(|file| ("of the run,", file)))?;
    write_file(out, &export(run, to)?)
}

/// Writes every table of a run's `selection.json` as a CSV file into another folder; returns the file names.
///
/// # Errors
/// Fails if `selection.json` cannot be read. Returns [`Error::Unwritable`] if a file cannot be written.
pub fn export_tables(run: &Path, out: &Path) -> Result<Vec<String>> {
    let record = Record::read(&record_file(run))?;
    std::fs::create_dir_all(out).map_err(|e| Error::unwritable(out, e))?;
    let tables = tables(&record)?;
    tables.into_iter().map(|(name, text)| write_file(&out.join(&name), &text).map(|()| name)).collect()
}

impl FileModel<'_> {
    /// The model as formulas over the columns of a table, if a language can express it.
    ///
    /// # Errors
    /// [`Error::Setting`] with the part that is no expression, and the language.
    pub fn formulas(&self, language: Language) -> Result<Formulas> {
        self.expressions().map_err(|part| language.refusal(&part))
    }

    /// Formulas of the model.
    ///
    /// # Errors
    /// Names the part of the model that is no expression.
    fn expressions(&self) -> Result<Formulas, String> {
        let types = self.reading.as_ref().map(|reading| &reading.types);
        let column = |name: &String| {
            let holds = match types.and_then(|types| types.get(name)) {
                Some(ColumnType::Class | ColumnType::Text) => CellKind::Text,
                Some(ColumnType::Date) => CellKind::Date,
                _ => CellKind::Number,
            };
            InputColumn { name: name.clone(), holds }
        };
        let steps = ModelSteps {
            columns: self.sources.iter().map(column).collect(),
            maps: &self.maps,
            inputs: &self.inputs,
            model: &self.model,
            units: self.target_scales.as_deref().unwrap_or_default(),
            outputs: header(&self.outputs, false, &[], false),
        };
        Formulas::new(&steps, self.label_rule())
    }

    /// Rule for the class label; `None` for numbers.
    fn label_rule(&self) -> Option<LabelRule> {
        let labels = self.task.classes();
        let class = |scores: &[f64]| self.class_order.class_of(ArrayView1::from(scores));
        match (&self.task, &labels[..]) {
            (Task::Binary { .. }, [negative, positive]) => {
                let at = if class(&[0.0]) == 1 { -TIED_PREDICTION } else { TIED_PREDICTION };
                Some(LabelRule::Threshold { at, above: positive.clone(), below: negative.clone() })
            }
            (Task::Multiclass { .. }, labels) => {
                let mut order = self.class_order.places().to_vec();
                order.extend((0..labels.len()).filter(|class| !self.class_order.places().contains(class)));
                let labels = order.into_iter().map(|class| (class, labels[class].clone())).collect();
                Some(LabelRule::Largest { within: TIED_PREDICTION, labels })
            }
            _ => None,
        }
    }

    /// The equation of each output in the data's units, for people; empty if a part of the model is no expression.
    pub(super) fn equations(&self) -> Vec<String> {
        let names = match &self.task {
            Task::Regression => self.outputs.clone(),
            Task::Multiclass { labels } => labels.iter().map(|label| format!("score of {label}")).collect(),
            Task::Binary { positive, .. } => vec![format!("score of {positive}")],
        };
        self.expressions().ok().and_then(|formulas| equations(&formulas, &names)).unwrap_or_default()
    }
}

/// Every list of objects in a record as CSV, named by its path: `path.csv`, `nested.per_fold.csv`.
fn tables(record: &Record) -> Result<Vec<(String, String)>> {
    let value: Value = serde_json::from_str(&record.to_text()?)?;
    let mut found = Vec::new();
    collect("", &value, &mut found);
    found.into_iter().map(|(name, rows)| Ok((format!("{name}.csv"), csv(rows)?))).collect()
}

/// Collects the lists of objects below a path, except settings.
fn collect<'v>(place: &str, value: &'v Value, found: &mut Vec<(String, &'v [Value])>) {
    match value {
        Value::Array(rows) if rows.first().is_some_and(Value::is_object) => found.push((place.to_owned(), rows)),
        Value::Object(fields) => {
            for (key, value) in fields.iter().filter(|(key, _)| *key != "settings" && *key != "found") {
                collect(&key_path(place, key), value, found);
            }
        }
        _ => {}
    }
}

/// Rows as CSV; fields of nested objects are named `outer.inner`.
fn csv(rows: &[Value]) -> Result<String> {
    let mut header: Vec<String> = Vec::new();
    let mut flat: Vec<Vec<(String, String)>> = Vec::new();
    for row in rows {
        let mut cells = Vec::new();
        flatten("", row, &mut cells);
        for (name, _) in &cells {
            if !header.contains(name) {
                header.push(name.clone());
            }
        }
        flat.push(cells);
    }
    let records = flat.iter().map(|cells| {
        let cell = |name: &String| cells.iter().find(|(own, _)| own == name).map(|(_, cell)| cell.clone());
        header.iter().map(|name| cell(name).unwrap_or_default()).collect()
    });
    csv_text([header.clone()].into_iter().chain(records))
}

fn flatten(name: &str, value: &Value, cells: &mut Vec<(String, String)>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                flatten(&key_path(name, key), value, cells);
            }
        }
        Value::Null => cells.push((name.to_owned(), String::new())),
        Value::String(text) => cells.push((name.to_owned(), unless_formula(text.clone()))),
        // Lists stay JSON.
        other => cells.push((name.to_owned(), other.to_string())),
    }
}
