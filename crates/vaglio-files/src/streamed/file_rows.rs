//! Files whose rows come in batches.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use vaglio_core::{Error, Result, Table};
use vaglio_tables::budget::Budget;
use vaglio_tables::read::{
    BatchReader, Batches, ColumnFilter, Digest, Hint, KnownFiles, Notations, Source, Survey, Wanted,
};
use vaglio_tables::{DigestKind, ReadSpec};

/// Rows of a batch, at most.
const ROWS: usize = 1 << 16;
/// Numbers of a batch, at most.
const NUMBERS: usize = 1 << 22;
/// The part of the memory that a batch takes; some are there at once, as they are read, mapped and reduced.
const SHARE: f64 = 1.0 / 32.0;

/// The files of a table, whose rows come in batches.
#[derive(Debug)]
pub(super) struct FileRows {
    /// As the settings name them.
    named: Vec<PathBuf>,
    files: Vec<PathBuf>,
    read: ReadSpec,
    names: Vec<String>,
    is_by_column: bool,
    rows: Option<usize>,
    settled: ReadSpec,
    /// Numbers of a batch, at most.
    at_once: usize,
    known: Arc<KnownFiles>,
}

impl FileRows {
    /// # Errors
    /// [`Error::Setting`] for files that have to be read as a whole; those of [`Source::open`].
    pub fn open(named: &[PathBuf], read: &ReadSpec, budget: Budget) -> Result<Self> {
        let known = Arc::default();
        let batches = Batches::open_all(named, read, &known)?.ok_or_else(|| whole(named))?;
        let names = batches.names().to_vec();
        Ok(FileRows {
            named: named.to_vec(),
            files: batches.files().map(PathBuf::from).collect(),
            read: read.clone(),
            is_by_column: batches.is_by_column(),
            rows: batches.rows(),
            settled: batches.settled(),
            at_once: ((SHARE * budget.limit() as f64) as usize / size_of::<f64>()).min(NUMBERS),
            names,
            known,
        })
    }

    /// Numbers that a batch has at most.
    pub fn at_once(&self) -> usize {
        self.at_once
    }

    /// The first file.
    pub fn first(&self) -> &PathBuf {
        &self.files[0]
    }

    /// Whether some columns, and rows, are read without those before them.
    pub fn is_by_column(&self) -> bool {
        self.is_by_column
    }

    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How the files are read, with what was found of the first.
    pub fn settled(&self) -> &ReadSpec {
        &self.settled
    }

    /// The first of some columns that holds text, with a cell.
    ///
    /// # Errors
    /// Those of [`FileRows::open`].
    pub fn text_among<'n>(&self, names: &'n [String]) -> Result<Option<(&'n str, String)>> {
        let batches = Batches::open_all(&self.named, &self.read, &self.known)?.ok_or_else(|| whole(&self.named))?;
        let word = |name: &'n String| Some((name.as_str(), batches.first_word(name)?.to_owned()));
        Ok(names.iter().find_map(word))
    }

    /// Bytes of the files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().filter_map(|path| path.metadata().ok()).map(|metadata| metadata.len()).sum()
    }

    /// How the system knows the files: their lengths, and when they were written to; and how they are read.
    pub fn identity(&self) -> String {
        let known = |path: &PathBuf| path.metadata().ok().map(|known| (known.len(), known.modified().ok()));
        format!("{:?} {:?}", self.files.iter().map(known).collect::<Vec<_>>(), self.settled)
    }

    /// About how many bytes the table takes in memory, at so many a number.
    pub fn bytes_in_memory(&self, width: usize) -> f64 {
        match self.rows {
            Some(rows) => width as f64 * rows as f64 * self.names.len() as f64,
            // A number takes some eight characters; the text is in memory beside the numbers.
            None => 2.0 * self.bytes() as f64,
        }
    }

    /// The columns of some names, as all their cells say, or those of the first rows.
    ///
    /// # Errors
    /// Those of [`Source::read`].
    pub fn columns(
        &self,
        wanted: &[String],
        hints: &HashMap<String, Hint>,
        (budget, most): (Budget, Option<usize>),
    ) -> Result<(Table, Survey)> {
        if self.is_by_column && most.is_none() {
            return self.source(budget, DigestKind::default())?.read(&self.wanted(wanted, hints));
        }
        let mut reader = self.reader(&[], wanted)?;
        while let Some(rows) = reader.next_rows()? {
            if most.is_some_and(|most| rows.first + ROWS >= most) {
                break;
            }
        }
        reader.gathered(|name| hints.get(name).copied().unwrap_or_default())
    }

    /// The same with the hash of the files.
    ///
    /// # Errors
    /// Those of [`FileRows::columns`].
    pub fn labels(
        &self,
        wanted: &[String],
        hints: &HashMap<String, Hint>,
        (digest, budget): (DigestKind, Budget),
    ) -> Result<(Table, Survey, Digest)> {
        if self.is_by_column {
            return self.source(budget, digest)?.read_and_hash(&self.wanted(wanted, hints));
        }
        let (table, survey) = self.columns(wanted, hints, (budget, None))?;
        Ok((table, survey, Digest::of_files(self.files.iter().map(PathBuf::as_path), digest)?))
    }

    fn source(&self, budget: Budget, digest: DigestKind) -> Result<Source> {
        Source::open_within(&self.named, &self.read, budget, digest)
    }

    fn wanted(&self, names: &[String], hints: &HashMap<String, Hint>) -> Wanted {
        Wanted { filter: ColumnFilter::only(names.iter().cloned()), hints: hints.clone(), ..Wanted::default() }
    }

    /// The reader of some columns in batches, which gathers others on the way.
    ///
    /// # Errors
    /// [`Error::Setting`] for columns that can be told only by all their cells.
    pub fn reader(&self, columns: &[(String, Hint)], gathered: &[String]) -> Result<BatchReader> {
        let rows = (self.at_once / (columns.len() + gathered.len()).max(1)).clamp(1, ROWS);
        let batches = Batches::open_all(&self.named, &self.read, &self.known)?.ok_or_else(|| whole(&self.named))?;
        batches.start(columns, gathered, Notations::new(), rows)?.ok_or_else(|| {
            let written =
                "dates that are written in several ways are told by all of them; set data.read.dates, or write Parquet";
            Error::setting("engine.stream", written)
        })
    }
}

fn whole(named: &[PathBuf]) -> Error {
    let named: Vec<String> = named.iter().map(|path| path.display().to_string()).collect();
    let message = format!(
        "{} cannot be read in batches, as Parquet, Arrow files and text in UTF-8 with a header can be",
        named.join(", ")
    );
    Error::setting("engine.stream", message)
}
