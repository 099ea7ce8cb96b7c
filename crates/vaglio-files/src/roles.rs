//! Roles of columns other than feature.

use super::lags::LagSpec;
use super::series::{SeriesOrder, numbers_of};
use std::collections::HashSet;
use vaglio_core::{Cells, Error, Result, Table, join};
use vaglio_pipeline::pipeline::{ColumnType, DataSpec, MissingTarget, Names, TargetSpec, ValidPipeline};
use vaglio_search::Choose;
use vaglio_tables::read::TableProfile;

/// Roles of a table's columns.
#[derive(Clone, Copy)]
pub(super) struct Roles<'p> {
    pub spec: &'p DataSpec,
    /// Column that assigns rows to folds.
    pub assignment: Option<&'p Assignment>,
    /// Lags and horizons of the maps, if any needs time order.
    pub lags: Option<&'p LagSpec>,
    /// Whether the learner uses previous rows.
    pub needs_order: bool,
}

/// A column that assigns rows to folds, or gives a number that a plug-in's criterion needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Assignment {
    pub column: String,
    /// The setting that names it.
    pub field: String,
    /// Allowed words, if restricted.
    pub words: &'static [&'static str],
}

/// The column that assigns rows to folds, for the criterion or for splits around the search.
///
/// # Errors
/// [`Error::Setting`] for two of them.
pub(super) fn assignment(pipeline: &ValidPipeline) -> Result<Option<Assignment>> {
    let (choose, evaluate) = (pipeline.search.size_choice(), pipeline.evaluation());
    let of_choose = if let Choose::CrossValidated(how) = &choose { how.splits.as_ref() } else { None };
    let around = [
        ("search.choose", of_choose),
        ("evaluate.nested", evaluate.nested.as_ref().and_then(|how| how.splits.as_ref())),
        ("evaluate.stability", evaluate.stability.as_ref().and_then(|how| how.splits.as_ref())),
    ];
    let traits = pipeline.criterion.traits();
    let of_splits = traits.splits.is_some_and(|splits| splits.assignment().is_some());
    let field = if of_splits { "criterion.splits.column" } else { "criterion.assignment" };
    let assignment = |column| Assignment { column, field: field.to_owned(), words: traits.assignment_words };
    let mut found = traits.assignment.map(assignment);
    for (place, splits) in around {
        let Some((splits, column)) = splits.and_then(|splits| Some((splits, splits.assignment()?))) else { continue };
        let (field, words) = (format!("{place}.splits.column"), splits.assignment_words());
        let own = Assignment { column: column.to_owned(), field, words };
        let first = found.get_or_insert_with(|| own.clone());
        if (&first.column, first.words) != (&own.column, own.words) {
            let message = format!("one column alone gives rows their folds, and `{}` does already", first.column);
            return Err(Error::setting(own.field, message));
        }
    }
    Ok(found)
}

impl Roles<'_> {
    /// Role columns of the rows, which are no features, with the setting that names each.
    pub fn row_roles(&self) -> Vec<(&str, &str)> {
        let DataSpec { weights, groups, series, time, test_rows, .. } = self.spec;
        let named = [
            ("data.weights", weights.as_deref()),
            ("data.groups", groups.as_deref()),
            ("data.series", series.as_deref()),
            ("data.time", time.as_deref()),
            ("data.test_rows", test_rows.as_ref().map(|test| test.column.as_str())),
            (self.assignment.map_or("", |assignment| &assignment.field), self.assigned_by()),
        ];
        named.into_iter().filter_map(|(field, name)| name.map(|name| (field, name))).collect()
    }

    /// Whether a column has a role of the rows.
    pub fn is_row_role(&self, name: &str) -> bool {
        self.row_roles().iter().any(|(_, of_rows)| *of_rows == name)
    }

    /// Whether a column has a type by the settings, or a role other than feature.
    pub fn is_named(&self, name: &str) -> bool {
        let is_target = self.spec.target.names().iter().any(|target| target == name);
        is_target || self.spec.types.contains_key(name) || self.is_row_role(name)
    }

    /// Column of the groups.
    pub fn groups(&self) -> Option<&str> {
        self.spec.groups.as_deref().or(self.spec.series.as_deref())
    }

    /// Column that assigns rows to folds.
    pub fn assigned_by(&self) -> Option<&str> {
        self.assignment.map(|assignment| assignment.column.as_str())
    }

    /// Fold or number of each row by the assigning column.
    ///
    /// # Errors
    /// [`Error::Setting`] for a word that is not allowed, with its row.
    pub fn assigned(&self, table: &Table) -> Result<Option<Vec<u32>>> {
        let Some(Assignment { column: name, field, words }) = self.assignment else { return Ok(None) };
        let Some(cells) = table.get(name) else { return Ok(None) };
        if words.is_empty() {
            return Ok(Some(numbers_of(cells)));
        }
        let number = |row: usize| {
            let found = cells.label(row);
            words.iter().position(|word| *word == found).map(|at| at as u32).ok_or_else(|| {
                let words = join(words.iter().map(|word| format!("`{word}`")), " or ");
                let row = table.origin(row) + 1;
                Error::setting(field, format!("row {row} of the column `{name}` reads `{found}`; it is {words}"))
            })
        };
        (0..cells.len()).map(number).collect::<Result<_>>().map(Some)
    }

    /// Whether the rows are in the order of time.
    pub fn is_ordered(&self) -> bool {
        self.spec.time.is_some() || self.needs_order
    }

    /// A table in the order of series and time, after a check of its weights.
    ///
    /// # Errors
    /// Returns the errors of [`check_weights`] and of [`SeriesOrder::arrange`].
    pub fn arrange(&self, table: Table) -> Result<Table> {
        check_weights(self.spec.weights.as_ref(), &table)?;
        let in_steps = self.lags.is_some() || self.needs_order;
        SeriesOrder { series: self.spec.series.as_deref(), time: self.spec.time.as_deref(), in_steps }.arrange(table)
    }

    /// Checks that the columns that settings name are in the table, and that a target has no other role.
    ///
    /// # Errors
    /// [`Error::UnknownName`], or [`Error::Setting`] with the field.
    pub fn check_names(&self, header: &[String]) -> Result<()> {
        let (spec, targets) = (self.spec, self.spec.target.names());
        let is_single = matches!(spec.target, TargetSpec::Columns(Names::One(_)));
        let target = |index| if is_single { "data.target".to_owned() } else { format!("data.target[{index}]") };
        let target_columns = targets.iter().enumerate().map(|(index, name)| (target(index), name.as_str()));
        let of_rows = self.row_roles().into_iter().map(|(field, name)| (field.to_owned(), name));
        let of_filters = spec.filters().map(|(field, filter)| (format!("{field}.column"), filter.column.as_str()));
        let with_words = spec.read.na_by_column.keys().map(|name| ("data.read.na_by_column".to_owned(), name.as_str()));
        let excluded = spec.exclude.iter().map(String::as_str);
        let typed = spec.types.keys().map(|name| ("data.types".to_owned(), name.as_str()));
        let left_out = excluded.clone().enumerate().map(|(index, name)| (format!("data.exclude[{index}]"), name));
        for (field, name) in
            target_columns.chain(of_rows).chain(of_filters).chain(with_words).chain(left_out).chain(typed)
        {
            if header.iter().all(|known| known != name) {
                return Err(Error::unknown(field, "column", name, header.iter()));
            }
        }
        let dropped = spec.types.iter().filter(|(_, kind)| **kind == ColumnType::Drop);
        let unused = excluded.map(|name| ("data.exclude", name));
        let unused = unused.chain(dropped.map(|(name, _)| ("data.types", name.as_str())));
        for (field, name) in self.row_roles().into_iter().chain(unused) {
            if targets.iter().any(|target| target == name) {
                return Err(Error::setting(field, format!("`{name}` is the target")));
            }
        }
        let twice = (1..targets.len()).find(|&index| targets[..index].contains(&targets[index]));
        twice.map_or(Ok(()), |index| {
            Err(Error::setting(format!("data.target[{index}]"), format!("`{}` is listed twice", targets[index])))
        })
    }

    /// Excluded or dropped columns without another role.
    pub fn unused(&self) -> Vec<String> {
        let dropped = self.spec.types.iter().filter(|(_, kind)| **kind == ColumnType::Drop).map(|(name, _)| name);
        self.spec.exclude.iter().chain(dropped).filter(|name| !self.is_row_role(name)).cloned().collect()
    }

    /// Columns that are not read: unused, and in no filter.
    pub fn unread(&self) -> Vec<String> {
        let unused = self.unused().into_iter();
        unused.filter(|name| self.spec.filters().all(|(_, filter)| filter.column != *name)).collect()
    }

    /// Columns read for row filters only: unused, or without a name of their own.
    pub fn for_filters_alone(&self, aside: &[(String, &str)]) -> impl Iterator<Item = &str> {
        let spec = self.spec;
        let asides = aside.iter().map(|(name, _)| name.clone()).filter(|name| !self.is_named(name));
        let others: HashSet<String> = self.unused().into_iter().chain(asides).collect();
        spec.filters().map(|(_, filter)| filter.column.as_str()).filter(move |name| others.contains(*name))
    }

    /// Rows with known targets and with known weights other than 0; for lags the others stay in the table.
    pub fn counting(&self, table: Table) -> Table {
        let known = self.spec.target.names().iter().chain(&self.spec.weights).filter_map(|name| table.get(name));
        let known: Vec<&Cells> = known.filter(|cells| cells.missing().is_some()).collect();
        let weights =
            self.spec.weights.as_ref().and_then(|name| table.get(name)?.numbers()).map(|cells| cells.values());
        let weighs = |row: usize| weights.as_ref().is_none_or(|weights| weights[row] != 0.0);
        let rows: Vec<usize> =
            (0..table.rows()).filter(|&row| weighs(row) && known.iter().all(|cells| !cells.is_missing(row))).collect();
        if rows.len() == table.rows() { table } else { table.select_rows(&rows) }
    }

    /// Rejects missing cells in targets and role columns.
    ///
    /// # Errors
    /// [`Error::NonFinite`] with file, row and column.
    pub fn check_complete(&self, table: &Table, profile: &TableProfile) -> Result<()> {
        let of_rows = self.row_roles().into_iter().map(|(_, name)| name);
        let DataSpec { target, weights, .. } = self.spec;
        let drops = self.lags.is_some() && self.spec.missing_target == MissingTarget::Drop;
        let counted = target.names().iter().chain(weights).filter(|_| !drops).map(String::as_str);
        profile.check_complete(table, counted, Some("to leave such rows out set data.missing_target: drop"))?;
        profile.check_complete(table, of_rows, Some("each row needs one; fill it in, or leave the row out of the file"))
    }
}

/// Rejects weights that are text, negative or all 0.
pub(super) fn check_weights(name: Option<&String>, table: &Table) -> Result<()> {
    let Some((name, cells)) = name.and_then(|name| Some((name, table.get(name)?))) else { return Ok(()) };
    let Some(weights) = cells.numbers().map(|numbers| numbers.values()) else {
        return Err(Error::setting("data.weights", format!("the column `{name}` holds text; weights are numbers")));
    };
    if let Some(row) = weights.iter().position(|w| *w < 0.0) {
        let number = table.origin(row) + 1;
        let message = format!("row {number}, column `{name}`: the weight {} is negative", weights[row]);
        return Err(Error::Shape(message));
    }
    if weights.iter().all(|w| *w == 0.0) {
        return Err(Error::Shape(format!("column `{name}`: every row has weight 0")));
    }
    Ok(())
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

    fn field(criterion: impl Into<vaglio_core::AnyCriterion>) -> (String, String) {
        let pipeline = Pipeline::new(criterion, Greedy::default(), Rls::default());
        let assignment = assignment(pipeline.check_ref().unwrap()).unwrap().unwrap();
        let spec: DataSpec = serde_json::from_value(serde_json::json!({"train": "x.csv", "target": "y"})).unwrap();
        let roles = Roles { spec: &spec, assignment: Some(&assignment), lags: None, needs_order: false };
        let error = roles.check_names(&["y".to_owned(), "x".to_owned()]).unwrap_err();
        (error.field().unwrap_or_default().to_owned(), error.to_string())
    }

    #[test]
    fn a_column_is_named_by_the_setting_that_asks_for_it() {
        let (of_own, message) = field(KFold { assignment: Some("squared".into()), ..KFold::default() });
        assert_eq!(of_own, "criterion.assignment");
        assert!(message.starts_with("`criterion.assignment`: there is no column `squared`"), "{message}");
        assert_eq!(field(KFold::with_splits(Given::new("part"))).0, "criterion.splits.column");
    }
}
