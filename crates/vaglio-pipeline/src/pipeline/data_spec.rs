//! Data settings: files, and the meaning of their columns.

use super::one_or_several::OneOrSeveral;
use super::row_filter::{RowFilter, TestRows};
use crate::document::Label;
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Serialize, de};
use std::collections::BTreeMap;
use vaglio_core::{Error, MixedSetting, Result, setting};
use vaglio_tables::{ColumnProfile, InferredType, ReadSpec};

/// Files of the data, and the meaning of their columns.
#[setting]
#[derive(PartialEq)]
pub struct DataSpec {
    /// Training rows: a .csv, .parquet or .arrow file, or a sparse .svm, .npz or .mtx file, relative to the pipeline
    /// file. Several files are given by a list, by `*` and `?`, or by a folder whose parts are in subfolders named
    /// `column=value`.
    #[required]
    pub train: Names,
    /// Test rows, in files with the same columns.
    pub test: Option<Names>,
    /// Share of the training rows set aside at random as test rows, stratified by class; instead of `test`.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub test_fraction: Option<f64>,
    /// Share of the training rows set aside as test rows, taken from the end, in the order of `time` if given; instead
    /// of `test`.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub test_last: Option<f64>,
    /// A column that marks the test rows, instead of `test`; it is not a feature.
    pub test_rows: Option<TestRows>,
    /// Rows to use, in training and test tables: those that pass this filter, or every filter of a list. Other rows are
    /// dropped before anything is learned.
    pub rows: Option<OneOrSeveral<RowFilter>>,
    /// Treatment of rows whose target or weight is missing.
    pub missing_target: MissingTarget,
    /// The column or columns to predict. For a sparse file it may be a file of one column, or `{file: …, column: …}`;
    /// by default the labels of svmlight text are used.
    pub target: TargetSpec,
    /// Kind of the target; inferred by default.
    pub task: Option<TaskKind>,
    /// For two classes: this label is coded +1, every other −1.
    pub positive: Option<Label>,
    /// The column of row weights.
    pub weights: Option<String>,
    /// The column of groups: rows with the same value stay together.
    pub groups: Option<String>,
    /// The column of time series: rows with the same value are one series. Series are also the groups, unless `groups`
    /// is given.
    pub series: Option<String>,
    /// The column that orders the rows of a series; without `series` all rows are one series.
    pub time: Option<String>,
    /// Columns that are not features.
    pub exclude: Vec<String>,
    /// Types of columns, if they differ from what the cells look like.
    pub types: BTreeMap<String, ColumnType>,
    /// Options for reading text files.
    pub read: ReadSpec,
    /// Where large columns lie that do not fit `limits.memory`: `auto`, in a scratch file in `TMPDIR` or `/var/tmp` where they do
    /// not; `never`; or a folder, in a scratch file there in any case. The file is gone with the process.
    #[schemars(with = "String")]
    pub scratch: ScratchSpec,
}

/// Where large columns lie that do not fit the memory.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum ScratchSpec {
    /// In a scratch file, where the memory does not suffice.
    #[default]
    Auto,
    /// In memory; larger data are refused.
    Never,
    /// In a scratch file in a folder, relative to the pipeline file.
    Folder(String),
}

impl From<String> for ScratchSpec {
    fn from(word: String) -> Self {
        match &*word {
            "auto" => ScratchSpec::Auto,
            "never" => ScratchSpec::Never,
            _ => ScratchSpec::Folder(word),
        }
    }
}

impl ScratchSpec {
    /// The folder of a scratch file that is used in any case.
    pub fn folder(&self) -> Option<&str> {
        if let ScratchSpec::Folder(folder) = self { Some(folder) } else { None }
    }

    /// Whether a scratch file is used where the memory does not suffice.
    pub fn is_auto(&self) -> bool {
        *self == ScratchSpec::Auto
    }
}

impl From<ScratchSpec> for String {
    fn from(spec: ScratchSpec) -> Self {
        match spec {
            ScratchSpec::Auto => "auto".into(),
            ScratchSpec::Never => "never".into(),
            ScratchSpec::Folder(folder) => folder,
        }
    }
}

/// Lower-case extension of a file name, before an extension of compression.
fn extension(name: &str) -> String {
    let name = name.to_lowercase();
    let name = [".gz", ".bz2", ".zst"].iter().find_map(|packed| name.strip_suffix(packed)).unwrap_or(&name);
    name.rsplit_once('.').map(|(_, extension)| extension.to_owned()).unwrap_or_default()
}

impl DataSpec {
    fn first_extension(&self) -> String {
        self.train.first().map(|name| extension(name)).unwrap_or_default()
    }

    /// Whether the training files hold labels before the features.
    pub fn has_labels(&self) -> bool {
        matches!(self.first_extension().as_str(), "svm" | "libsvm" | "svmlight")
    }

    fn is_sparse(&self) -> bool {
        self.has_labels() || matches!(self.first_extension().as_str(), "npz" | "mtx")
    }

    /// The file of the targets, if it differs from the data file.
    pub fn target_file(&self) -> Option<&String> {
        let is_table =
            |name: &str| matches!(&*extension(name), "csv" | "tsv" | "txt" | "parquet" | "arrow" | "feather");
        match &self.target {
            TargetSpec::Beside(beside) => Some(&beside.file),
            TargetSpec::Columns(Names::One(name)) if self.is_sparse() && is_table(name) => Some(name),
            TargetSpec::Columns(_) => None,
        }
    }

    /// Changes the path of every file and folder.
    pub fn change_paths(&mut self, change: impl Fn(&mut String)) {
        let is_file = self.target_file().is_some();
        match &mut self.target {
            TargetSpec::Beside(beside) => change(&mut beside.file),
            TargetSpec::Columns(Names::One(name)) if is_file => change(name),
            TargetSpec::Columns(_) => {}
        }
        if let ScratchSpec::Folder(folder) = &mut self.scratch {
            change(folder);
        }
        std::iter::once(&mut self.train).chain(&mut self.test).flat_map(|names| names.iter_mut()).for_each(change);
    }

    /// The row filters, each with its path in the pipeline.
    pub fn filters(&self) -> impl Iterator<Item = (String, &RowFilter)> {
        let is_list = matches!(self.rows, Some(OneOrSeveral::Several(_)));
        let field = move |at: usize| if is_list { format!("data.rows[{at}]") } else { "data.rows".into() };
        self.rows.as_deref().into_iter().flatten().enumerate().map(move |(at, filter)| (field(at), filter))
    }

    /// Checks the settings that do not depend on the files.
    pub(super) fn check(&self) -> Result<()> {
        let ways = [
            ("test", self.test.is_some()),
            ("test_fraction", self.test_fraction.is_some()),
            ("test_last", self.test_last.is_some()),
            ("test_rows", self.test_rows.is_some()),
        ];
        let given: Vec<&str> = ways.into_iter().filter(|(_, is_there)| *is_there).map(|(way, _)| way).collect();
        if let [first, second, ..] = given[..] {
            let message = format!("it cannot be combined with `{first}`; give one of them");
            return Err(Error::setting(format!("data.{second}"), message));
        }
        self.filters().try_for_each(|(field, filter)| filter.check(&field))?;
        for (field, share) in [("data.test_fraction", self.test_fraction), ("data.test_last", self.test_last)] {
            if share.is_some_and(|share| !(share > 0.0 && share < 1.0)) {
                return Err(Error::setting(field, "it must lie between 0 and 1"));
            }
        }
        self.read.check()?;
        if self.train.is_empty() {
            return Err(Error::setting("data.train", "at least one file is needed"));
        }
        if self.target_file().is_none() && self.target.names().is_empty() && !self.has_labels() {
            return Err(Error::setting("data.target", "it is missing; name the column to predict, or several"));
        }
        if let TargetSpec::Beside(_) = self.target
            && !self.is_sparse()
        {
            let message =
                "a file of targets stands beside sparse data (.svm, .npz, .mtx); of other tables it is a column";
            return Err(Error::setting("data.target", message));
        }
        if self.target_file().is_some() && self.test.is_some() {
            let message = "the targets stand in a file of their own, which has none of these rows; keep all rows in data.train \
                           and part them by test_rows, test_fraction or test_last";
            return Err(Error::setting("data.test", message));
        }
        if self.time.is_some() && self.time == self.series {
            return Err(Error::setting("data.time", "it is the column of the series; give the column of the times"));
        }
        if self.positive.is_some() && matches!(self.task, Some(TaskKind::Regression | TaskKind::Multiclass)) {
            return Err(Error::setting("data.positive", "it is for `task: binary` only"));
        }
        Ok(())
    }
}

/// Type of a column.
#[setting]
#[derive(Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// Numbers.
    Number,
    /// Classes; numbers are class names.
    Class,
    /// Text, with any number of levels.
    Text,
    /// Dates.
    Date,
    /// Ignored: the column is dropped.
    Drop,
}

impl ColumnType {
    /// Type of a column as read; `None` for numbers.
    pub fn from_profile(column: &ColumnProfile) -> Option<Self> {
        match column.taken {
            InferredType::Date => Some(ColumnType::Date),
            _ if column.levels > 0 => Some(ColumnType::Class),
            _ => None,
        }
    }
}

/// One name, or several.
type Names = OneOrSeveral<String>;

/// Target columns, in the data or in another file.
#[setting(schema)]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum TargetSpec {
    /// Columns of the data.
    Columns(Names),
    /// Columns of another file with the same rows in the same order.
    Beside(TargetFile),
}

/// A file of targets.
#[setting]
#[derive(PartialEq, Eq)]
pub struct TargetFile {
    /// The file, relative to the pipeline file. Columns of weights, groups and the like are also read from it if
    /// present.
    #[required]
    pub file: String,
    /// The column or columns to predict; may be absent if the file has only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<Names>,
}

impl Default for TargetSpec {
    fn default() -> Self {
        TargetSpec::Columns(Names::Several(Vec::new()))
    }
}

impl From<String> for TargetSpec {
    fn from(column: String) -> Self {
        TargetSpec::Columns(Names::One(column))
    }
}

impl From<Vec<String>> for TargetSpec {
    fn from(columns: Vec<String>) -> Self {
        TargetSpec::Columns(Names::Several(columns))
    }
}

impl TargetSpec {
    /// Path of a target column's name in the pipeline.
    pub fn field(&self, index: usize) -> String {
        if let TargetSpec::Columns(Names::One(_)) = self {
            "data.target".into()
        } else {
            format!("data.target[{index}]")
        }
    }

    /// Columns of the file of targets, if they are named.
    pub fn columns_of_file(&self) -> Option<&[String]> {
        if let TargetSpec::Beside(beside) = self { beside.column.as_deref() } else { None }
    }

    /// Names of the target columns; empty if the file determines them.
    pub fn names(&self) -> &[String] {
        match self {
            TargetSpec::Columns(names) | TargetSpec::Beside(TargetFile { column: Some(names), .. }) => names,
            TargetSpec::Beside(_) => &[],
        }
    }
}

vaglio_core::mixed_setting!(TargetSpec);

impl MixedSetting for TargetSpec {
    const EXPECTED: &'static str = "a name, a list of names, or a file by `{file: …, column: …}`";

    fn from_text<E: de::Error>(name: &str) -> Result<Self, E> {
        Names::from_text(name).map(TargetSpec::Columns)
    }

    fn from_list<'de, A: de::SeqAccess<'de>>(names: A) -> Result<Self, A::Error> {
        Names::from_list(names).map(TargetSpec::Columns)
    }

    fn from_map<'de, A: de::MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        TargetFile::deserialize(MapAccessDeserializer::new(map)).map(TargetSpec::Beside)
    }
}

/// Treatment of rows whose target or weight is missing.
#[setting]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum MissingTarget {
    /// Refuse the data.
    #[default]
    Refuse,
    /// Drop the rows.
    Drop,
}

impl MissingTarget {
    /// Whether such rows are dropped.
    pub fn drops(self) -> bool {
        self == MissingTarget::Drop
    }
}

/// Kind of a target.
#[setting]
#[derive(Copy, PartialEq, Eq)]
pub enum TaskKind {
    /// Numbers.
    Regression,
    /// Two classes.
    Binary,
    /// Several classes, fitted one against the rest.
    Multiclass,
}

impl TaskKind {
    /// Whether the targets are numbers.
    pub fn is_regression(self) -> bool {
        self == TaskKind::Regression
    }

    /// Whether the targets are several classes.
    pub fn is_multiclass(self) -> bool {
        self == TaskKind::Multiclass
    }
}
