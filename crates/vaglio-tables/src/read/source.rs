//! One table from one file or several.

#[cfg(feature = "parquet")]
use super::arrow_files::Hashing;
use super::beside::{FileBeside, IS_BESIDE};
use super::bytes::check_encoding;
use super::cell::Rules;
use super::digest::{Digest, written};
use super::fault::{Fault, of_fault};
use super::growing::Growing;
use super::head::share;
use super::parts::{Body, How, TableFile};
use super::settle::{Hint, Settled, settle};
use super::{ColumnFilter, paths, unreadable};
use crate::budget::Budget;
use crate::{ColumnSurvey, DigestKind, Notation, ReadSpec, Survey};
#[cfg(feature = "parquet")]
use arrow_array::RecordBatch;
#[cfg(feature = "parquet")]
use arrow_schema::SchemaRef;
use rayon::prelude::*;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use vaglio_core::{Cells, Error, Result, Table};

/// The files of a table, Parquet on the disk and others in memory: their header is known, their rows are read on demand.
#[derive(Debug)]
pub struct Source {
    pub(super) parts: Vec<TableFile>,
    names: Vec<String>,
    aside: Vec<(String, &'static str)>,
    spec: ReadSpec,
    budget: Budget,
    digest: DigestKind,
    /// A file whose columns say something of the rows, which is not a part of the table.
    beside: Option<FileBeside>,
}

/// Which columns to read, and what is known of them.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// The columns.
    pub filter: ColumnFilter,
    /// What is known of some.
    pub hints: HashMap<String, Hint>,
    /// How some are written in the training rows: other notations are refused.
    pub notations: Notations,
}

/// How columns are written in the training rows.
pub type Notations = HashMap<String, Notation>;

/// Files, and how many rows came from each.
pub type RowsOfFiles = Vec<(PathBuf, usize)>;
/// A column with what was found out about it, or a cell that it cannot have.
pub type ReadColumn = (String, std::result::Result<(Cells, ColumnSurvey), Fault>);

impl Source {
    /// Loads files, or those that patterns and folders name; all have the same columns, in any order.
    ///
    /// Paths may hold `*`, `?` and `[…]`, or name a folder whose parts lie in folders named `column=value`.
    ///
    /// # Errors
    /// [`Error::Unreadable`] for a file that is missing, damaged or of another format, has no header, or other columns
    /// than the first; [`Error::Setting`] for one that is named twice, and of `limits.memory` for files that take more than 80 % of the machine's.
    pub fn open(paths: &[PathBuf], spec: &ReadSpec) -> Result<Self> {
        Source::open_within(paths, spec, Budget::of_machine(), DigestKind::default())
    }

    /// The same within so much memory, to be hashed in that way.
    ///
    /// # Errors
    /// Those of [`Source::open`].
    pub fn open_within(paths: &[PathBuf], spec: &ReadSpec, budget: Budget, digest: DigestKind) -> Result<Self> {
        Source::opened(paths, How { spec, budget, digest }, false)
    }

    /// The same of the beginning of the files, where these are large: their header, how many rows they have by and by, and a
    /// sample of these. Small files are whole.
    ///
    /// # Errors
    /// Those of [`Source::open`].
    pub fn open_sample(paths: &[PathBuf], spec: &ReadSpec, budget: Budget) -> Result<Self> {
        Source::opened(paths, How { spec, budget, digest: DigestKind::default() }, true)
    }

    fn opened(paths: &[PathBuf], how: How<'_>, is_sample: bool) -> Result<Self> {
        let How { spec, budget, digest } = how;
        check_encoding(spec)?;
        let files = paths::of_all(paths)?;
        let only: Vec<PathBuf> = files.iter().map(|(file, _)| file.clone()).collect();
        let most = share(&only).filter(|_| is_sample);
        let open = |file: PathBuf, folder: bool| match most {
            Some(most) => TableFile::sampled(file, folder, how, most),
            None => TableFile::open(file, folder, how),
        };
        let parts: Result<Vec<TableFile>> = files.into_par_iter().map(|(file, folder)| open(file, folder)).collect();
        let mut parts = parts?;
        if parts.len() > 1 {
            let all: BTreeSet<String> = parts.iter().flat_map(TableFile::names).collect();
            parts.iter_mut().for_each(|part| part.widen(all.iter().map(String::as_str)));
        }
        let Some(first) = parts.first() else { return Err(Error::setting("data.train", "it names no file")) };
        let (names, aside) = (first.names(), first.aside().to_vec());
        for part in &parts[1..] {
            let others = part.names();
            if let Some(name) = names.iter().find(|name| !others.contains(name)) {
                let message = format!("has no column `{name}`, and {} has", first.path.display());
                return Err(unreadable(&part.path, message));
            }
            if let Some(name) = others.iter().find(|name| !names.contains(name)) {
                let message = format!("has a column `{name}`, and {} has none", first.path.display());
                return Err(unreadable(&part.path, message));
            }
        }
        Ok(Source { parts, names, aside, spec: spec.clone(), budget, digest, beside: None })
    }

    /// The same with columns of zeros of these names, where the format of a file leaves out columns that are 0 in every row: of
    /// svmlight's text the last ones. Cost O(names).
    #[must_use]
    pub fn widened<'n>(mut self, names: impl IntoIterator<Item = &'n str> + Clone) -> Self {
        self.parts.iter_mut().for_each(|part| part.widen(names.clone()));
        if let Some(first) = self.parts.first() {
            self.names = first.names();
        }
        self
    }

    /// The same with a file beside it, of which each row says something of a row of the table. Its columns are read where they
    /// are asked for; one that is called as a column of the table is bears the name of its file before its own, and a point.
    ///
    /// # Errors
    /// Those of [`Source::open`].
    pub fn with_beside(mut self, path: &Path) -> Result<Self> {
        let how = How { spec: &self.spec, budget: self.budget, digest: self.digest };
        let beside = FileBeside::open(path, how, &self.names)?;
        for (_, shown) in beside.names() {
            self.names.push(shown.clone());
            self.aside.push((shown.clone(), IS_BESIDE));
        }
        self.beside = Some(beside);
        Ok(self)
    }

    /// The columns of the file beside it: how they are called there, and here.
    pub fn names_beside(&self) -> &[(String, String)] {
        self.beside.as_ref().map_or(&[], FileBeside::names)
    }

    /// A table that a program holds as Arrow batches of one schema, read as an Arrow file of these would be. Messages call it
    /// by `name`; it has no hash. Cost O(columns).
    ///
    /// # Errors
    /// [`Error::Unreadable`] for no columns, two of one name, and a batch of another schema.
    #[cfg(feature = "parquet")]
    pub fn of_batches(name: &str, schema: SchemaRef, batches: Vec<RecordBatch>, spec: &ReadSpec) -> Result<Self> {
        let budget = Budget::of_machine();
        let part = TableFile::of_batches(PathBuf::from(name), schema, batches, budget)?;
        let (names, aside) = (part.names(), part.aside().to_vec());
        let (spec, digest) = (spec.clone(), DigestKind::default());
        Ok(Source { parts: vec![part], names, aside, spec, budget, digest, beside: None })
    }

    /// The names of the columns, in the order of the first file.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Columns without a name of their own that are read only where they are asked for, with why.
    pub fn aside(&self) -> &[(String, &'static str)] {
        &self.aside
    }

    /// Whether the format of the first file says what its columns hold.
    pub fn is_typed(&self) -> bool {
        !matches!(self.parts.first().map(|part| &part.body), Some(Body::Text(_)))
    }

    /// The settings with what was found about the first file written out.
    pub fn settled(&self) -> ReadSpec {
        match self.parts.first().map(|part| &part.body) {
            Some(Body::Text(sheet)) => sheet.settled(&self.spec),
            Some(Body::Sparse(table)) => ReadSpec { first_index: table.first_index, ..self.spec.clone() },
            _ => self.spec.clone(),
        }
    }

    /// How many rows there are for each that is read, by and by; `None` where all are.
    pub fn times(&self, survey: &Survey) -> Option<f64> {
        let rows = survey.files.iter().map(|(_, rows)| *rows as f64);
        let all: f64 = rows.clone().zip(&self.parts).map(|(rows, part)| rows * part.times).sum();
        let is_sample = self.parts.iter().any(|part| part.times > 1.0);
        is_sample.then(|| all / rows.sum::<f64>().max(1.0))
    }

    /// The hash of the file, `blake3:` or `sha256:` and hexadecimal digits; of several files that of their hashes, one after the other.
    /// Cost O(bytes).
    ///
    /// # Errors
    /// A Parquet file that cannot be read, or was written to since it was opened.
    pub fn digest(&self) -> Result<String> {
        let all: Vec<&TableFile> = self.parts.iter().chain(self.beside.as_ref().map(FileBeside::file)).collect();
        let hashes: Result<Vec<[u8; 32]>> = all.par_iter().map(|part| part.digest(self.digest)).collect();
        Ok(written(self.digest, &hashes?))
    }

    /// Reads the columns that are wanted, in the order of the first file. Cost O(bytes), on all threads.
    ///
    /// # Errors
    /// [`Error::Unreadable`] for ragged rows and cells that their column cannot have, [`Error::NonFinite`] for infinities,
    /// with file, row, column, value and what would mend it.
    pub fn read(&self, wanted: &Wanted) -> Result<(Table, Survey)> {
        let (columns, files) = self.read_each(wanted)?;
        let mut survey = Survey { columns: Vec::new(), files };
        let mut table = Vec::with_capacity(columns.len());
        for (name, column) in columns {
            let (cells, of_column) = column.map_err(|fault| of_fault(&name, fault, &survey))?;
            table.push((name, cells));
            survey.columns.push(of_column);
        }
        Ok((Table::new(table)?, survey))
    }

    /// The beginnings of the hashes of its files, where all were left on the disk.
    #[cfg(feature = "parquet")]
    pub(super) fn hashings(&self) -> Option<Vec<Hashing>> {
        let all = self.parts.iter().chain(self.beside.as_ref().map(FileBeside::file));
        all.map(|part| part.hashing(self.digest)).collect()
    }

    /// Reads like [`Source::read`], and hashes like [`Source::digest`]. Where there is a second thread and the files were
    /// left on the disk, the hash comes behind, while what was read is used.
    ///
    /// # Errors
    /// Those of both.
    pub fn read_and_hash(&self, wanted: &Wanted) -> Result<(Table, Survey, Digest)> {
        #[cfg(feature = "parquet")]
        if rayon::current_num_threads() > 1
            && let Some(files) = self.hashings()
        {
            let (table, survey) = self.read(wanted)?;
            return Ok((table, survey, Digest::behind(files, self.digest)));
        }
        #[cfg(feature = "parquet")]
        if rayon::current_num_threads() == 1 {
            self.parts.iter().for_each(|part| part.hash_along(self.digest));
        }
        let (read, written) = rayon::join(|| self.read(wanted), || self.digest());
        let (table, survey) = read?;
        Ok((table, survey, Digest::known(written?)))
    }

    /// The same, and columns with a cell that they cannot have are told one by one; with how many rows each file has.
    ///
    /// # Errors
    /// [`Error::Unreadable`] for ragged rows.
    pub fn read_each(&self, wanted: &Wanted) -> Result<(Vec<ReadColumn>, RowsOfFiles)> {
        let is_aside = |name: &str| self.aside.iter().any(|(aside, _)| aside == name);
        let named = |name: &str| matches!(&wanted.filter, ColumnFilter::Only(names) if names.contains(name));
        let wants = |name: &&str| {
            wanted.filter.wants(name) && (!is_aside(name) || named(name) || wanted.hints.contains_key(*name))
        };
        let names: Vec<&str> = self.names.iter().map(String::as_str).filter(wants).collect();
        let rules = self.rules();
        let of_column = |name: &str| rules.like(name, wanted.notations.get(name).copied());
        let hint = |name: &&str| self.stored(name, wanted.hints.get(*name).copied().unwrap_or_default());
        let hints: Vec<Hint> = names.iter().map(hint).collect();
        let look = self.look_like_numbers(&names, &rules);
        let as_numbers: Vec<bool> = look.iter().zip(&hints).map(|(look, hint)| *look && !hint.wants_text()).collect();
        let (columns, files) = self.grow(&names, &as_numbers, &rules)?;
        self.check_texts(&columns)?;
        let settled: Vec<_> = names
            .par_iter()
            .zip(&hints)
            .zip(columns)
            .map(|((name, hint), column)| settle(name, column, *hint, &of_column(name)))
            .collect();
        // Columns whose first rows were numbers by chance.
        let is_text = |outcome: &std::result::Result<Settled, Fault>| matches!(outcome, Ok(Settled::NeedsText));
        let again: Vec<&str> =
            names.iter().zip(&settled).filter(|(_, outcome)| is_text(outcome)).map(|(name, _)| *name).collect();
        let texts = match again.is_empty() {
            true => Vec::new(),
            false => self.grow(&again, &vec![false; again.len()], &rules)?.0,
        };
        self.check_texts(&texts)?;
        let mut texts = texts.into_iter();
        let mut out = Vec::with_capacity(names.len());
        for ((name, hint), outcome) in names.iter().zip(&hints).zip(settled) {
            let outcome = match (is_text(&outcome), outcome) {
                (true, outcome) => texts.next().map_or(outcome, |text| settle(name, text, *hint, &of_column(name))),
                (false, outcome) => outcome,
            };
            let column = match outcome {
                Ok(Settled::Cells(cells, survey)) => Ok((cells, survey)),
                Ok(Settled::NeedsText) => {
                    return Err(Error::Shape(format!("the column `{name}` is neither numbers nor text")));
                }
                Err(fault) => Err(fault),
            };
            out.push(((*name).to_owned(), column));
        }
        Ok((out, files))
    }

    /// Refuses columns of text whose cells, each by itself, would take more memory than there may be.
    fn check_texts(&self, columns: &[Growing]) -> Result<()> {
        let bytes: f64 = columns.iter().map(Growing::bytes_as_text).sum();
        let remedy = "leave columns out by data.exclude, or raise the limit";
        self.budget.need(bytes, "columns of text, each cell by itself,", remedy)
    }

    /// The rules by which cells are read: those of the first file.
    fn rules(&self) -> Rules {
        match self.parts.first().map(|part| &part.body) {
            Some(Body::Text(sheet)) => Rules::new(&self.spec).with_comma(sheet.comma),
            Some(Body::Sparse(_)) => {
                self.beside.as_ref().map_or_else(|| Rules::new(&self.spec), |b| b.rules(&self.spec))
            }
            _ => Rules::stored(&self.spec),
        }
    }

    /// What is known of a column, its format included.
    #[cfg_attr(not(feature = "parquet"), expect(unused_variables))]
    fn stored(&self, name: &str, hint: Hint) -> Hint {
        match self.parts.first().map(|part| &part.body) {
            #[cfg(feature = "parquet")]
            Some(Body::Stored(stored)) if stored.is_text(name) => match hint {
                Hint::Auto | Hint::Target | Hint::Label => Hint::Stored,
                known => known,
            },
            _ => hint,
        }
    }

    /// Which columns look like numbers in all files.
    fn look_like_numbers(&self, names: &[&str], rules: &Rules) -> Vec<bool> {
        let mut all = vec![true; names.len()];
        if let Some(beside) = &self.beside {
            beside.looks_like_numbers(names, rules, &mut all);
        }
        for part in &self.parts {
            match &part.body {
                Body::Text(sheet) => {
                    let of_part = sheet.looks_like_numbers(names, rules);
                    all.iter_mut().zip(of_part).for_each(|(all, own)| *all &= own);
                }
                Body::Sparse(table) => {
                    let of_part = table.look_like_numbers(names, rules);
                    all.iter_mut().zip(of_part).for_each(|(all, own)| *all &= own);
                }
                #[cfg(feature = "parquet")]
                Body::Stored(_) => {}
            }
        }
        all
    }

    /// The columns of all files, one after the other, and how many rows came from each.
    fn grow(&self, names: &[&str], as_numbers: &[bool], rules: &Rules) -> Result<(Vec<Growing>, RowsOfFiles)> {
        match &self.beside {
            None => self.grow_parts(names, as_numbers, rules),
            Some(beside) => beside.grow((names, as_numbers), rules, self.budget, |names, as_numbers| {
                self.grow_parts(names, as_numbers, rules)
            }),
        }
    }

    fn grow_parts(&self, names: &[&str], as_numbers: &[bool], rules: &Rules) -> Result<(Vec<Growing>, RowsOfFiles)> {
        let (mut all, mut files) = (Vec::new(), RowsOfFiles::new());
        for part in &self.parts {
            let (columns, rows) = part.read(names, as_numbers, rules, self.budget)?;
            files.push((part.path.clone(), rows));
            if files.len() == 1 {
                all = columns;
                continue;
            }
            for ((name, column), more) in names.iter().zip(&mut all).zip(columns) {
                if !column.append(more) {
                    let message =
                        format!("column `{name}` is of another type than in {}", self.parts[0].path.display());
                    return Err(unreadable(&part.path, message));
                }
            }
        }
        Ok((all, files))
    }
}
