//! An additional file with one row per row of the data: targets, groups, weights.

use super::cell::CellSyntax;
use super::column_builder::ColumnBuilder;
use super::reader::{ReadOptions, WantedColumn};
use super::table_file::{RowsOfFiles, TableFile};
use super::unreadable;
use crate::ReadSpec;
use crate::budget::Budget;
use std::collections::HashSet;
use std::path::Path;
use vaglio_core::Result;

/// A file with additional columns, read on request.
#[derive(Debug)]
pub(super) struct SideFile {
    file: TableFile,
    /// Name of each column in the file, and in the table.
    names: Vec<(String, String)>,
}

/// Reason that columns of the additional file are not features.
pub const IS_BESIDE: &str = "it stands in the file of the target";

impl SideFile {
    /// Opens a file in addition to the columns `others` of the table.
    ///
    /// # Errors
    /// Returns the errors of [`TableFile::open`], and fails if a prefixed name is also in `others`.
    pub fn open(path: &Path, how: ReadOptions<'_>, others: &[String]) -> Result<Self> {
        let file = TableFile::open(path.to_owned(), false, how)?;
        let others: HashSet<&String> = others.iter().collect();
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let shown = |name: String| match others.contains(&name) {
            true => (name.clone(), format!("{stem}.{name}")),
            false => (name.clone(), name),
        };
        let names: Vec<(String, String)> = file.names().into_iter().map(shown).collect();
        if let Some((_, twice)) = names.iter().find(|(own, shown)| own != shown && others.contains(shown)) {
            return Err(unreadable(
                path,
                format!("its column `{twice}` is also a column of the data; rename the file"),
            ));
        }
        Ok(SideFile { file, names })
    }

    pub fn file(&self) -> &TableFile {
        &self.file
    }

    pub fn names(&self) -> &[(String, String)] {
        &self.names
    }

    /// Name in the file of a column of the table.
    fn own(&self, name: &str) -> Option<&str> {
        self.names.iter().find(|(_, shown)| shown == name).map(|(own, _)| own.as_str())
    }

    /// Rules for parsing the cells of the file.
    pub fn rules(&self, spec: &ReadSpec) -> CellSyntax {
        let header = self.file.reader.header();
        header.rules(spec).filter(|_| !header.is_typed()).unwrap_or_else(|| CellSyntax::new(spec))
    }

    /// Sets in `all` whether each column of the file looks numeric; entries of other columns stay.
    pub fn looks_like_numbers(&self, names: &[&str], rules: &CellSyntax, all: &mut [bool]) {
        for (name, looks) in names.iter().zip(all).filter(|_| !self.file.reader.header().is_typed()) {
            if let Some(own) = self.own(name) {
                *looks = self.file.reader.look_like_numbers(&[own], rules.column(name))[0];
            }
        }
    }

    /// Reads columns of the file and, by `of_data`, columns of the data, in the order of `wanted`.
    ///
    /// # Errors
    /// Fails if the numbers of rows differ, and forwards errors of reading both.
    pub fn grow(
        &self,
        wanted: &[WantedColumn<'_>],
        rules: &CellSyntax,
        budget: Budget,
        of_data: impl FnOnce(&[WantedColumn<'_>]) -> Result<(Vec<ColumnBuilder>, RowsOfFiles)>,
    ) -> Result<(Vec<ColumnBuilder>, RowsOfFiles)> {
        let is_own = |column: &WantedColumn<'_>| self.own(column.name).is_some();
        let (mut own, others): (Vec<WantedColumn<'_>>, Vec<WantedColumn<'_>>) =
            wanted.iter().copied().partition(|c| is_own(c));
        let (columns, files) = of_data(&others)?;
        let rows: usize = files.iter().map(|(_, rows)| *rows).sum();
        for column in &mut own {
            (column.name, column.is_single) = (self.own(column.name).unwrap_or(column.name), false);
        }
        let (beside, of_beside) = self.file.read(&own, rules, budget)?;
        if rows != of_beside && !own.is_empty() {
            let path = &self.file.path;
            return Err(unreadable(path, format!("it has {of_beside} rows, and the data beside it have {rows}")));
        }
        let (mut columns, mut beside) = (columns.into_iter(), beside.into_iter());
        let next = |column: &WantedColumn<'_>| if is_own(column) { beside.next() } else { columns.next() };
        Ok((wanted.iter().filter_map(next).collect(), files))
    }
}
