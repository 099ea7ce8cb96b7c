//! Tables as programs read them: lists in a line of JSON, or an Arrow stream after it.

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{DataType, Field, Schema};
use ndarray::ArrayView2;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::sync::Arc;
use vaglio_core::{Error, Result};

/// Format in which a program reads tables.
#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TableFormat {
    /// `"table"` of the message has a list for each column; missing values are null.
    Json,
    /// `"arrow"` of the message is the number of bytes that follow its line: an IPC stream of one batch.
    Arrow,
}

/// Named columns of equal length.
#[derive(Default)]
pub(crate) struct SentTable<'t>(Vec<(String, Cow<'t, [f64]>)>);

impl<'t> SentTable<'t> {
    /// Training columns `x…`, targets `y…`, and `weight`.
    pub fn training(
        columns: impl Iterator<Item = Cow<'t, [f64]>>,
        targets: ArrayView2<'_, f64>,
        weights: Option<&'t [f64]>,
    ) -> Self {
        let table = SentTable::default().and('x', columns).and_rows('y', targets);
        table.and_column("weight", weights.map(Cow::Borrowed))
    }

    /// Adds columns named by a letter and a number from 0.
    pub fn and(mut self, letter: char, columns: impl Iterator<Item = Cow<'t, [f64]>>) -> Self {
        self.0.extend(columns.enumerate().map(|(number, column)| (format!("{letter}{number}"), column)));
        self
    }

    /// Adds the rows of a matrix.
    pub fn and_rows(self, letter: char, matrix: ArrayView2<'_, f64>) -> Self {
        self.and(letter, matrix.rows().into_iter().map(|row| Cow::Owned(row.to_vec())))
    }

    /// Adds a column, if present.
    pub fn and_column(mut self, name: &str, column: Option<Cow<'t, [f64]>>) -> Self {
        self.0.extend(column.map(|column| (name.to_owned(), column)));
        self
    }

    /// Adds whole numbers, if present.
    pub fn and_numbers(self, name: &str, numbers: Option<&[u32]>) -> Self {
        self.and_column(name, numbers.map(|numbers| numbers.iter().map(|number| f64::from(*number)).collect()))
    }

    /// Puts the table, or the number of its bytes, into a message.
    pub fn put(&self, message: &mut Map<String, Value>, format: TableFormat) -> Result<Option<Vec<u8>>> {
        if format == TableFormat::Json {
            let lists = self.0.iter().map(|(name, column)| (name.clone(), json!(column)));
            message.insert("table".into(), Value::Object(lists.collect()));
            return Ok(None);
        }
        let bytes = self.stream().map_err(|error| Error::failed("a table cannot be written", error))?;
        message.insert("arrow".into(), bytes.len().into());
        Ok(Some(bytes))
    }

    fn stream(&self) -> Result<Vec<u8>, arrow_schema::ArrowError> {
        let fields = self.0.iter().map(|(name, _)| Field::new(name, DataType::Float64, false));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let arrays =
            self.0.iter().map(|(_, column)| Arc::new(Float64Array::from(column.to_vec())) as ArrayRef).collect();
        let mut writer = StreamWriter::try_new(Vec::new(), &schema)?;
        if !self.0.is_empty() {
            writer.write(&RecordBatch::try_new(Arc::clone(&schema), arrays)?)?;
        }
        writer.into_inner()
    }
}
