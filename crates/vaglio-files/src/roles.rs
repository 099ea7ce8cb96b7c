//! Settings for preparing data: roles of the columns of files and their types.

use super::assignment::Assignment;
use super::condensed::set_roles;
use super::lags::{LagSpec, name_ahead};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use vaglio_core::{Error, Result, abridge};
use vaglio_pipeline::pipeline::{ColumnType, DataSpec, SavedReadOptions, ValidPipeline};
use vaglio_report::record::ColumnRun;
use vaglio_tables::budget::Budget;
use vaglio_tables::read::{DAY_FIRST, Hint, MONTH_FIRST, TableSource};
use vaglio_tables::{ColumnProfile, DateOrder, InferredType, Notation, ReadSpec, TableProfile};

/// Settings of a pipeline for preparing its data.
pub struct DataSettings<'p> {
    /// Folder that paths are relative to.
    pub folder: &'p Path,
    /// Whether the beginning of large files is enough.
    pub is_sample: bool,
    pub spec: DataSpec,
    /// Column that assigns rows to folds.
    pub assignment: Option<Assignment>,
    pub lags: LagSpec,
    /// Whether the learner uses previous rows.
    pub needs_order: bool,
    /// Column with the number of rows that each row stands for, if the rows are condensed; known once the files are open.
    pub counts: Option<&'static str>,
    /// Whether numbers of features are read in single precision.
    pub is_single: bool,
    pub seed: u64,
    pub budget: Budget,
}

/// Name of the label column of formats that have one.
const LABEL: &str = "target";
/// Maximum number of columns that a message lists.
const LISTED: usize = 12;

impl<'p> DataSettings<'p> {
    /// Collects the settings of a pipeline.
    ///
    /// # Errors
    /// [`Error::Setting`] for missing settings of data, two columns of folds, and lags that exclude each other.
    pub fn new(pipeline: &ValidPipeline, folder: &'p Path, is_sample: bool) -> Result<Self> {
        Ok(DataSettings {
            folder,
            is_sample,
            spec: pipeline.data.clone().ok_or_else(|| Error::setting("data", "it is missing"))?,
            assignment: Assignment::new(pipeline)?,
            lags: LagSpec::new(pipeline)?,
            needs_order: pipeline.selector().needs_order(),
            counts: None,
            // Maps compute in doubles.
            is_single: pipeline.engine.is_single() && pipeline.preprocess.is_empty(),
            seed: pipeline.seed,
            budget: pipeline.limits.budget(),
        })
    }

    /// Opens files.
    pub fn open(&self, files: &[String], read: &ReadSpec) -> Result<TableSource> {
        let paths: Vec<PathBuf> = files.iter().map(|name| self.folder.join(name)).collect();
        TableSource::open_within(&paths, read, self.budget, self.is_sample)
    }

    /// Opens the training files, joined with the target file, if there is one.
    ///
    /// # Errors
    /// Returns the errors of opening the files; [`Error::UnknownName`] for a column that settings name and no file has;
    /// [`Error::Setting`] if a target has another role, or none of several columns of a target file is named.
    pub fn open_training(&mut self) -> Result<TableSource> {
        let mut source = self.open(&self.spec.train, &self.spec.read)?;
        if let Some(file) = self.spec.target_file().cloned() {
            source = source.with_companion(&self.folder.join(&file))?;
            self.qualify_columns(&file, source.companion_names())?;
        } else if self.spec.has_labels() && self.spec.target.names().is_empty() {
            self.spec.target = LABEL.to_owned().into();
        }
        self.counts = set_roles(&mut self.spec, source.names())?;
        self.check_names(source.names())?;
        Ok(source)
    }

    /// Replaces names of the target file's columns in the settings by those of the joined table: `names` are pairs of
    /// both.
    fn qualify_columns(&mut self, file: &str, names: &[(String, String)]) -> Result<()> {
        let shown = |name: &String| names.iter().find(|(own, _)| own == name).map(|(_, shown)| shown.clone());
        let own = || names.iter().map(|(own, _)| own.as_str());
        let known =
            |name: &String| shown(name).ok_or_else(|| Error::unknown("data.target.column", "column", name, own()));
        let target: Vec<String> = match (self.spec.target.columns_of_file(), names) {
            (Some(columns), _) => columns.iter().map(known).collect::<Result<_>>()?,
            (None, [(_, only)]) => vec![only.clone()],
            (None, _) => {
                let message = format!(
                    "{file} has {} columns ({}); say which by `{{file: {file}, column: {}}}`",
                    names.len(),
                    abridge(own(), LISTED),
                    own().take(LISTED).next_back().unwrap_or("…")
                );
                return Err(Error::setting("data.target", message));
            }
        };
        self.spec.target = target.into();
        let DataSpec { weights, groups, series, time, test_rows, rows, .. } = &mut self.spec;
        let filters = rows.as_deref_mut().unwrap_or_default();
        let named = [weights, groups, series, time].into_iter().flatten();
        let row_columns = named.chain(test_rows.iter_mut().map(|test| &mut test.column));
        for name in row_columns.chain(filters.iter_mut().map(|filter| &mut filter.column)) {
            if let Some(shown) = shown(name) {
                *name = shown;
            }
        }
        Ok(())
    }

    /// Settings for reading further files alike, with the decimal mark and date order that were found.
    pub fn reading(&self, source: &TableSource, profile: &TableProfile) -> SavedReadOptions {
        let read = &self.spec.read;
        let settled = source.detected_settings();
        let noted = |note: &str| profile.columns.iter().any(|column| column.note.as_deref() == Some(note));
        let dates = match read.dates {
            DateOrder::Auto if noted(DAY_FIRST) && !noted(MONTH_FIRST) => DateOrder::DayFirst,
            DateOrder::Auto if noted(MONTH_FIRST) && !noted(DAY_FIRST) => DateOrder::MonthFirst,
            known => known,
        };
        let kind = |column: &ColumnProfile| Some((column.name.clone(), ColumnType::from_profile(column)?));
        let special = profile.columns.iter().filter(|column| column.notation != Notation::default());
        SavedReadOptions {
            notations: Some(special.map(|column| (column.name.clone(), column.notation)).collect()),
            read: ReadSpec { decimal: settled.decimal, first_index: settled.first_index, dates, ..read.clone() },
            types: profile.columns.iter().filter_map(kind).collect(),
        }
    }

    /// Path of the first of some files.
    pub fn path(&self, files: &[String]) -> PathBuf {
        self.folder.join(files.first().map_or("", String::as_str))
    }

    /// Names of the outputs: targets, or targets at every horizon.
    pub fn outputs(&self) -> Vec<String> {
        let targets = self.spec.target.names();
        let horizons = &self.lags.horizons;
        if horizons.is_empty() {
            targets.to_vec()
        } else {
            targets.iter().flat_map(|name| horizons.iter().map(|h| name_ahead(name, *h))).collect()
        }
    }

    /// Role columns of the rows, which are no features, with the setting that names each.
    pub fn row_roles(&self) -> impl Iterator<Item = (&str, &str)> {
        let DataSpec { weights, groups, series, time, test_rows, .. } = &self.spec;
        let named = [
            ("data.weights", weights.as_deref()),
            ("data.groups", groups.as_deref()),
            ("data.series", series.as_deref()),
            ("data.time", time.as_deref()),
            ("data.test_rows", test_rows.as_ref().map(|test| test.column.as_str())),
            ("counts", self.counts),
            (self.assignment.as_ref().map_or("", |assignment| &assignment.field), self.assignment_column()),
        ];
        named.into_iter().filter_map(|(field, name)| name.map(|name| (field, name)))
    }

    /// The setting that gives a column a role of the rows.
    pub fn row_role(&self, name: &str) -> Option<&str> {
        self.row_roles().find(|(_, column)| *column == name).map(|(field, _)| field)
    }

    /// Whether a column is a target.
    pub fn is_target(&self, name: &str) -> bool {
        self.spec.target.names().iter().any(|target| target == name)
    }

    /// Whether a column has a type by the settings, or a role other than feature.
    pub fn is_named(&self, name: &str) -> bool {
        self.is_target(name) || self.spec.types.contains_key(name) || self.row_role(name).is_some()
    }

    /// Column that assigns rows to folds.
    pub fn assignment_column(&self) -> Option<&str> {
        self.assignment.as_ref().map(|assignment| assignment.column.as_str())
    }

    /// Whether the rows are in the order of time.
    pub fn is_ordered(&self) -> bool {
        self.spec.time.is_some() || self.needs_order
    }

    /// Checks that the columns that settings name are in the table, and that a target has no other role.
    ///
    /// # Errors
    /// [`Error::UnknownName`], or [`Error::Setting`] with the field.
    pub fn check_names(&self, header: &[String]) -> Result<()> {
        let spec = &self.spec;
        let targets = spec.target.names();
        let target_columns = targets.iter().enumerate().map(|(index, name)| (spec.target.field(index), name.as_str()));
        let row_columns = self.row_roles().map(|(field, name)| (field.to_owned(), name));
        let filtered = spec.filters().map(|(field, filter)| (format!("{field}.column"), filter.column.as_str()));
        let with_words = spec.read.na_by_column.keys().map(|name| ("data.read.na_by_column".to_owned(), name.as_str()));
        let excluded = spec.exclude.iter().map(String::as_str);
        let typed = spec.types.keys().map(|name| ("data.types".to_owned(), name.as_str()));
        let left_out = excluded.clone().enumerate().map(|(index, name)| (format!("data.exclude[{index}]"), name));
        for (field, name) in
            target_columns.chain(row_columns).chain(filtered).chain(with_words).chain(left_out).chain(typed)
        {
            if header.iter().all(|known| known != name) {
                return Err(Error::unknown(field, "column", name, header.iter()));
            }
        }
        let dropped = spec.types.iter().filter(|(_, kind)| **kind == ColumnType::Drop);
        let dropped = dropped.map(|(name, _)| ("data.types", name.as_str()));
        for (field, name) in self.row_roles().chain(excluded.map(|name| ("data.exclude", name))).chain(dropped) {
            if self.is_target(name) {
                return Err(Error::setting(field, format!("`{name}` is the target")));
            }
        }
        let twice = (1..targets.len()).find(|&index| targets[..index].contains(&targets[index]));
        twice.map_or(Ok(()), |index| {
            Err(Error::setting(format!("data.target[{index}]"), format!("`{}` is listed twice", targets[index])))
        })
    }

    /// Excluded or dropped columns without another role.
    fn unused_columns(&self) -> impl Iterator<Item = &String> {
        let dropped = self.spec.types.iter().filter(|(_, kind)| **kind == ColumnType::Drop).map(|(name, _)| name);
        self.spec.exclude.iter().chain(dropped).filter(move |name| self.row_role(name).is_none())
    }

    /// Columns that are not read: unused, and in no filter.
    pub fn unread(&self) -> impl Iterator<Item = &String> {
        self.unused_columns().filter(move |name| self.spec.filters().all(|(_, filter)| filter.column != **name))
    }

    /// Columns that are read in double precision in any case.
    pub fn doubles(&self) -> HashSet<String> {
        let row_columns = self.row_roles().map(|(_, name)| name.to_owned());
        let filters = self.spec.filters().map(|(_, filter)| filter.column.clone());
        row_columns.chain(filters).chain(self.spec.target.names().iter().cloned()).collect()
    }

    /// Columns read for row filters only: unused, or without a name of their own.
    pub fn for_filters_alone(&self, aside: &[(String, &str)]) -> Vec<&String> {
        let is_aside = |name: &String| aside.iter().any(|(aside, _)| aside == name) && !self.is_named(name);
        let columns = self.spec.filters().map(|(_, filter)| &filter.column);
        columns.filter(|name| is_aside(name) || self.unused_columns().any(|unused| unused == *name)).collect()
    }

    /// Type hints before reading, from the settings and from the roles of labels and targets.
    pub fn hints(&self) -> HashMap<String, Hint> {
        let spec = &self.spec;
        let test_rows = spec.test_rows.as_ref().map(|test| test.column.as_str());
        let labels = [spec.groups.as_deref(), spec.series.as_deref(), self.assignment_column(), test_rows];
        let labels = labels.into_iter().flatten().map(|name| (name.to_owned(), Hint::Label));
        let weights = spec.weights.iter().map(|name| (name.clone(), Hint::Auto));
        // Time labels such as `01`, `02` are numbers.
        let time = spec.time.iter().map(|name| (name.clone(), Hint::Target));
        let targets = spec.target.names().iter().map(|name| (name.clone(), Hint::Target));
        let typed = spec.types.iter().map(|(name, kind)| (name.clone(), hint(*kind)));
        let filters = spec.filters().map(|(_, filter)| (filter.column.clone(), Hint::Auto));
        filters.chain(weights).chain(time).chain(labels).chain(targets).chain(typed).collect()
    }

    /// Like [`Self::hints`], for further rows with the columns of a table that was read: inferred types are fixed.
    pub fn hints_like(&self, profile: &TableProfile) -> HashMap<String, Hint> {
        let mut hints = self.hints();
        for column in &profile.columns {
            let known = hints.entry(column.name.clone()).or_default();
            if *known == Hint::Auto && column.taken != InferredType::Empty {
                *known = ColumnType::from_profile(column).map_or(Hint::Number, hint);
            }
        }
        hints
    }

    /// Inferred use of every column; neighbors with the same use share an entry.
    pub fn column_runs(&self, profile: &TableProfile, header: &[String]) -> Vec<ColumnRun> {
        let spec = &self.spec;
        let aside = &profile.aside;
        let alone = self.for_filters_alone(aside);
        let is_used = |column: &&ColumnProfile| {
            spec.types.get(&column.name) != Some(&ColumnType::Drop) && !alone.contains(&&column.name)
        };
        let used = profile.columns.iter().filter(is_used);
        let used: HashMap<&String, &ColumnProfile> = used.map(|column| (&column.name, column)).collect();
        let mut all: Vec<ColumnRun> = Vec::new();
        for name in header {
            let why = aside.iter().find(|(aside, _)| aside == name).map(|(_, why)| (*why).to_owned());
            let found = used.get(name).copied();
            let role = match found {
                Some(_) if self.is_target(name) => Some("target"),
                Some(_) if let Some(field) = self.row_role(name) => Some(field.rsplit('.').next().unwrap_or(field)),
                Some(found) if found.taken != InferredType::Empty => None,
                _ => Some("left out"),
            };
            let role = role.map(|role| if matches!(role, "assignment" | "column") { "folds" } else { role });
            let next = ColumnRun {
                name: name.clone(),
                to: None,
                columns: 1,
                taken: found.map(|found| found.taken),
                role: role.map(str::to_owned),
                missing: found.map_or(0, |found| found.missing),
                levels: found.map_or(0, |found| found.levels),
                note: found.and_then(|found| found.note.clone()).or(why),
            };
            match all.last_mut() {
                Some(last) if is_alike(last, &next) => {
                    (last.to, last.columns) = (Some(next.name), last.columns + 1);
                    last.missing = last.missing.max(next.missing);
                }
                _ => all.push(next),
            }
        }
        all
    }
}

fn is_alike(a: &ColumnRun, b: &ColumnRun) -> bool {
    a.role.as_deref().is_none_or(|role| role == "left out")
        && (a.taken, &a.role, a.levels, &a.note, a.missing == 0)
            == (b.taken, &b.role, b.levels, &b.note, b.missing == 0)
}

/// The hint for a declared type.
pub fn hint(kind: ColumnType) -> Hint {
    match kind {
        ColumnType::Number => Hint::Number,
        ColumnType::Class => Hint::Class,
        ColumnType::Text | ColumnType::Drop => Hint::Text,
        ColumnType::Date => Hint::Date,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linfa::ParamGuard;
    use vaglio_pipeline::Pipeline;
    use vaglio_pipeline::learners::Rls;
    use vaglio_search::Greedy;
    use vaglio_validate::KFold;
    use vaglio_validate::splits::Given;

    fn field(criterion: impl Into<vaglio_core::Part<dyn vaglio_core::Criterion>>) -> (String, String) {
        let mut pipeline = Pipeline::new(criterion, Greedy::default(), Rls::default()).check().unwrap();
        pipeline.data = serde_json::from_value(serde_json::json!({"train": "x.csv", "target": "y"})).unwrap();
        let settings = DataSettings::new(&pipeline, Path::new(""), false).unwrap();
        let error = settings.check_names(&["y".to_owned(), "x".to_owned()]).unwrap_err();
        (error.field().unwrap_or_default().to_owned(), error.to_string())
    }

    #[test]
    fn a_column_is_named_by_the_setting_that_asks_for_it() {
        let (own_field, message) = field(KFold { assignment: Some("squared".into()), ..KFold::default() });
        assert_eq!(own_field, "criterion.assignment");
        assert!(message.starts_with("`criterion.assignment`: there is no column `squared`"), "{message}");
        assert_eq!(field(KFold::with_splits(Given::new("part"))).0, "criterion.splits.column");
    }
}
