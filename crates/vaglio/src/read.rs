//! Tables from files: `.csv`, `.parquet` and `.arrow`.

#[cfg(feature = "parquet")]
mod arrow_files;
mod csv;
mod growing;
#[cfg(feature = "parquet")]
mod guard;

use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use vaglio_core::{Error, Result, Table};

/// Which columns of a file to read; the others are neither parsed nor checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnFilter {
    /// Every column.
    All,
    /// Those of these names that the file has.
    Only(BTreeSet<String>),
    /// All but these.
    Except(BTreeSet<String>),
}

impl ColumnFilter {
    /// The columns of these names.
    pub fn only<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        ColumnFilter::Only(names.into_iter().map(Into::into).collect())
    }

    /// All columns but those of these names.
    pub fn except<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        ColumnFilter::Except(names.into_iter().map(Into::into).collect())
    }

    /// Whether the column of that name is read.
    pub fn wants(&self, name: &str) -> bool {
        match self {
            ColumnFilter::All => true,
            ColumnFilter::Only(names) => names.contains(name),
            ColumnFilter::Except(names) => !names.contains(name),
        }
    }

    /// The indices of the columns that are read.
    fn indices(&self, names: &[String]) -> Vec<usize> {
        names.iter().enumerate().filter(|(_, name)| self.wants(name)).map(|(index, _)| index).collect()
    }
}

/// Reads the selected columns of a table, in the order of the file; a selected name that the file lacks is left out.
///
/// Memory: the table as it is stored, plus a page of some columns or a batch of rows.
///
/// # Errors
/// [`Error::Unreadable`] for a file that is missing, damaged, ragged or of another format; [`Error::NonFinite`] for a
/// selected column with missing values.
pub fn read_table(path: &Path, filter: &ColumnFilter) -> Result<Table> {
    let table = match Format::of(path)? {
        Format::Csv => csv::read_table(path, filter),
        #[cfg(feature = "parquet")]
        Format::Parquet => guard::guarded(path, || arrow_files::read_parquet(path, filter)),
        #[cfg(feature = "parquet")]
        Format::Arrow => guard::guarded(path, || arrow_files::read_arrow(path, filter)),
    };
    table.map_err(|error| error.in_file(path))
}

/// Reads the selected columns as they are written: of CSV every cell as text, empty ones included.
///
/// # Errors
/// Those of [`read_table`]; of CSV without those of missing values.
pub fn read_as_written(path: &Path, filter: &ColumnFilter) -> Result<Table> {
    match Format::of(path)? {
        Format::Csv => csv::read_as_written(path, filter),
        #[cfg(feature = "parquet")]
        Format::Parquet | Format::Arrow => read_table(path, filter),
    }
}

/// Reads the names of the columns of a table.
///
/// # Errors
/// [`Error::Unreadable`].
pub fn read_header(path: &Path) -> Result<Vec<String>> {
    match Format::of(path)? {
        Format::Csv => csv::read_header(path),
        #[cfg(feature = "parquet")]
        Format::Parquet => guard::guarded(path, || arrow_files::parquet_header(path)),
        #[cfg(feature = "parquet")]
        Format::Arrow => guard::guarded(path, || arrow_files::arrow_header(path)),
    }
}

enum Format {
    Csv,
    #[cfg(feature = "parquet")]
    Parquet,
    #[cfg(feature = "parquet")]
    Arrow,
}

impl Format {
    /// The format that the file's extension names, when there is such a file.
    fn of(path: &Path) -> Result<Self> {
        let metadata = std::fs::metadata(path).map_err(|error| system(path, &error))?;
        if metadata.is_dir() {
            return Err(unreadable(path, "is a folder; expected a .csv, .parquet or .arrow file"));
        }
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_lowercase();
        match extension.as_str() {
            "csv" => Ok(Format::Csv),
            #[cfg(feature = "parquet")]
            "parquet" => Ok(Format::Parquet),
            #[cfg(feature = "parquet")]
            "arrow" => Ok(Format::Arrow),
            #[cfg(not(feature = "parquet"))]
            "parquet" | "arrow" => Err(unreadable(
                path,
                "this program was built without Parquet and Arrow; convert the file to .csv or build with the feature `parquet`",
            )),
            _ => Err(unreadable(path, "data are read from .csv, .parquet and .arrow files")),
        }
    }
}

fn unreadable(path: &Path, message: impl Into<String>) -> Error {
    Error::Unreadable { path: path.to_owned(), message: message.into() }
}

/// What the system says about a file, in a sentence.
pub(crate) fn system(path: &Path, error: &std::io::Error) -> Error {
    let message = match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission to read it is denied".to_owned(),
        _ => error.to_string(),
    };
    unreadable(path, message)
}

/// The beginning of a message that may quote what the file holds.
pub(crate) fn shortened(message: &str) -> String {
    const MOST: usize = 300;
    if message.chars().count() <= MOST {
        return message.to_owned();
    }
    message.chars().take(MOST).chain("…".chars()).collect()
}

/// The names of the columns, each there and each once.
fn checked_names(path: &Path, names: Vec<String>) -> Result<Vec<String>> {
    let mut seen = HashSet::new();
    for (index, name) in names.iter().enumerate() {
        if name.is_empty() {
            return Err(unreadable(path, format!("column {} has no name in the header", index + 1)));
        }
        if !seen.insert(name) {
            return Err(unreadable(path, format!("two columns are named `{name}`")));
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(path: &Path) -> String {
        read_table(path, &ColumnFilter::All).unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_data_file_is_refused_in_words() {
        let folder = folder_of("formats");
        assert!(message(&folder).ends_with("is a folder; expected a .csv, .parquet or .arrow file"));
        assert!(message(&folder.join("x.csv")).ends_with("x.csv: there is no such file"));
        std::fs::write(folder.join("x.txt"), "a\n1\n").unwrap();
        assert!(message(&folder.join("x.txt")).ends_with("data are read from .csv, .parquet and .arrow files"));
        std::fs::write(folder.join("X.CSV"), "a\n1\n").unwrap();
        assert_eq!(read_header(&folder.join("X.CSV")).unwrap(), ["a"]);
    }

    #[cfg(not(feature = "parquet"))]
    #[test]
    fn formats_that_are_not_built_in_say_so() {
        let folder = folder_of("without");
        std::fs::write(folder.join("x.parquet"), "").unwrap();
        assert!(message(&folder.join("x.parquet")).contains("built without Parquet"));
    }

    /// A folder of this test's own.
    pub(super) fn folder_of(name: &str) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("vaglio-read-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }
}
