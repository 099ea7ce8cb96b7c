//! Detects words for missing cells in an undescribed table.
//!
//! A word may be missing in one column and a value in another: `other` among numbers, and as a region. Among numbers
//! and dates a word is always missing. In text, a word of `data.read.na` is a value unless it also occurs among numbers
//! of the table.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;
use vaglio_core::{Cells, Result};
use vaglio_pipeline::pipeline::ReadSpec;
use vaglio_tables::read::{
    ColumnFilter, FaultKind, Hint, InferredType, InvalidCell, ReadColumn, ReadRequest, SettingText, TableSource,
    ordered,
};

/// Limit on words among the numbers of a column.
const MOST_WORDS: usize = 6;

/// A word for missing cells, or possibly missing ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordCount {
    /// Empty for empty cells.
    pub word: String,
    pub cells: usize,
    /// First row with the word, from 0.
    pub row: usize,
}

/// Words of one column.
#[derive(Debug)]
pub struct ColumnWords {
    pub column: String,
    pub missing: Vec<WordCount>,
    /// Words of `data.read.na` that are values here.
    pub values: Vec<WordCount>,
    /// The column's own list, if it differs from `data.read.na`.
    pub own: Option<Vec<String>>,
}

impl ColumnWords {
    /// Describes how the column's missing cells are written.
    pub fn missing_in_words(&self) -> String {
        format!("{}: {}", self.column, in_words(&self.missing))
    }

    /// Describes which words of `data.read.na` are values.
    pub fn values_in_words(&self) -> String {
        format!("taken as a value: {}", in_words(&self.values))
    }
}

fn in_words(words: &[WordCount]) -> String {
    let cells = |count: usize| if count == 1 { "1 cell".to_owned() } else { format!("{count} cells") };
    let one = |found: &WordCount| match (found.word.as_str(), found.cells) {
        ("", count) => format!("{} empty", cells(count)),
        (word, 1) => format!("`{word}` in row {}", found.row + 1),
        (word, count) => format!("`{word}` in {}", cells(count)),
    };
    words.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// A table, each column read with its own words for missing cells.
pub struct Words {
    pub columns: Vec<ReadColumn>,
    pub rows: usize,
    pub aside: Vec<(String, &'static str)>,
    pub words: Vec<ColumnWords>,
    /// Columns to be read as classes, with their levels in order if ordered.
    pub classes: BTreeMap<String, Option<Vec<String>>>,
}

/// A table whose columns may be read again.
struct TableReader<'a> {
    path: &'a Path,
    spec: ReadSpec,
    hints: HashMap<String, Hint>,
    columns: Vec<ReadColumn>,
}

impl Words {
    /// Reads the table of a source that was opened at `path`.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn read(source: TableSource, path: &Path) -> Result<Self> {
        let (columns, files) = source.read_each(&ReadRequest::default())?;
        let (rows, aside, is_typed) =
            (files.iter().map(|(_, rows)| rows).sum(), source.aside().to_vec(), source.is_typed());
        drop(source);
        let mut reader = TableReader { path, spec: ReadSpec::default(), hints: HashMap::new(), columns };
        let classes = reader.take_ordered()?;
        let words = if is_typed { Vec::new() } else { reader.take_words(&classes)? };
        let forced = reader.hints.keys().map(|name| (name.clone(), None));
        let classes = forced.chain(classes.into_iter().map(|(name, order)| (name, Some(order)))).collect();
        Ok(Words { columns: reader.columns, rows, aside, words, classes })
    }
}

impl TableReader<'_> {
    fn again(&self, names: &BTreeSet<String>, hints: HashMap<String, Hint>) -> Result<Vec<ReadColumn>> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let source = TableSource::open(&[self.path.to_owned()], &self.spec)?;
        Ok(source
            .read_each(&ReadRequest { filter: ColumnFilter::Only(names.clone()), hints, ..ReadRequest::default() })?
            .0)
    }

    /// Reads these columns again with the words and hints known now.
    fn replace(&mut self, names: &BTreeSet<String>) -> Result<()> {
        for (name, read) in self.again(names, self.hints.clone())? {
            if let Some(own) = self.columns.iter_mut().find(|(own, _)| *own == name) {
                own.1 = read;
            }
        }
        Ok(())
    }

    /// Finds columns of ordered answers such as `<5`, `5` and `10+`, and reads them as classes from now on.
    fn take_ordered(&mut self) -> Result<BTreeMap<String, Vec<String>>> {
        let is_bound = |fault: &InvalidCell| ordered(&[&fault.value, "0", "1"]).is_some();
        let faulty = self.columns.iter().filter(|(_, read)| read.as_ref().is_err_and(is_bound));
        let faulty: BTreeSet<String> = faulty.map(|(name, _)| name.clone()).collect();
        let as_classes = faulty.iter().map(|name| (name.clone(), Hint::Class)).collect();
        let again = self.again(&faulty, as_classes)?;
        let mut orders = BTreeMap::new();
        for (name, read) in again.iter().chain(&self.columns) {
            let Ok((Cells::Text(text), _)) = read else { continue };
            let levels: BTreeSet<&str> = text.iter().map(String::as_str).filter(|level| !level.is_empty()).collect();
            if let Some(order) = ordered(&levels.into_iter().collect::<Vec<_>>()) {
                orders.insert(name.clone(), order);
            }
        }
        self.hints.extend(orders.keys().map(|name| (name.clone(), Hint::Class)));
        self.replace(&faulty.into_iter().filter(|name| orders.contains_key(name)).collect())?;
        Ok(orders)
    }

    /// Words of each column with missing or possibly missing cells.
    fn take_words(&mut self, ordered: &BTreeMap<String, Vec<String>>) -> Result<Vec<ColumnWords>> {
        self.words_among_numbers()?;
        let has_missing = |(_, read): &&ReadColumn| read.as_ref().is_ok_and(|(_, survey)| survey.missing > 0);
        let names: BTreeSet<String> = self.columns.iter().filter(has_missing).map(|(name, _)| name.clone()).collect();
        let written = names.iter().map(|name| (name.clone(), Hint::Written)).collect();
        let written: HashMap<String, Vec<WordCount>> = self
            .again(&names, written)?
            .into_iter()
            .filter_map(|(name, read)| Some((self.words_of(&name, &read.ok()?.0), name)))
            .map(|(words, name)| (name, words))
            .collect();
        let is_scale = |name: &str, cells: &Cells, taken: InferredType| {
            (!matches!(cells, Cells::Text(_)) || ordered.contains_key(name)) && taken != InferredType::Constant
        };
        let mut among_numbers: HashSet<String> = HashSet::new();
        let mut found = Vec::new();
        for (name, read) in &self.columns {
            let (Ok((cells, survey)), Some(words)) = (read, written.get(name)) else { continue };
            if survey.taken == InferredType::Empty {
                continue;
            }
            let is_scale = is_scale(name, cells, survey.taken);
            if is_scale {
                among_numbers.extend(words.iter().map(|word| word.word.clone()));
            }
            found.push((name.clone(), is_scale, levels(cells), words.clone()));
        }
        let mut all = Vec::new();
        let mut changed = BTreeSet::new();
        for (column, is_scale, levels, words) in found {
            let is_value = |word: &WordCount| {
                let is_known = among_numbers.contains(&word.word);
                !is_scale && !word.word.is_empty() && (!is_known || is_level(&word.word, &levels))
            };
            let (values, missing): (Vec<WordCount>, _) = words.into_iter().partition(is_value);
            if !values.is_empty() {
                let is_kept = |word: &SettingText| values.iter().all(|value| !value.word.eq_ignore_ascii_case(&word.0));
                let own = self.spec.na.iter().filter(|word| is_kept(word)).cloned().collect();
                self.spec.na_by_column.insert(column.clone(), own);
                changed.insert(column.clone());
            }
            let own = self.spec.na_by_column.get(&column);
            let own = own.map(|words| words.iter().map(|word| word.0.clone()).collect());
            all.push(ColumnWords { column, missing, values, own });
        }
        self.replace(&changed)?;
        // Numbers mixed with words that are values are classes.
        let is_faulty = |(name, read): &&ReadColumn| changed.contains(name) && read.is_err();
        let faulty: BTreeSet<String> = self.columns.iter().filter(is_faulty).map(|(name, _)| name.clone()).collect();
        self.hints.extend(faulty.iter().map(|name| (name.clone(), Hint::Class)));
        self.replace(&faulty)?;
        Ok(all)
    }

    /// Treats words among numbers as missing, each in its own column.
    fn words_among_numbers(&mut self) -> Result<()> {
        for _ in 0..MOST_WORDS {
            let mut found = BTreeSet::new();
            for (name, read) in &self.columns {
                let Some(fault) = read.as_ref().err().filter(|fault| is_word(fault)) else { continue };
                let own = self.spec.na_by_column.entry(name.clone()).or_insert_with(|| self.spec.na.clone());
                own.push(SettingText(fault.value.clone()));
                found.insert(name.clone());
            }
            if found.is_empty() {
                break;
            }
            self.replace(&found)?;
        }
        let is_read = |name: &str| self.columns.iter().any(|(own, read)| own == name && read.is_ok());
        self.spec.na_by_column.retain(|name, _| is_read(name));
        Ok(())
    }

    /// Words for missing cells in a column, as written.
    fn words_of(&self, name: &str, cells: &Cells) -> Vec<WordCount> {
        let known = self.spec.na_by_column.get(name).unwrap_or(&self.spec.na);
        let mut words: Vec<WordCount> = Vec::new();
        let Cells::Text(text) = cells else { return words };
        for (row, cell) in text.iter().map(|cell| cell.trim()).enumerate() {
            if let Some(word) = words.iter_mut().find(|word| word.word == cell) {
                word.cells += 1;
            } else if known.iter().any(|word| word.0.eq_ignore_ascii_case(cell)) {
                words.push(WordCount { word: cell.to_owned(), cells: 1, row });
            }
        }
        words
    }
}

/// Whether a cell among numbers is a word, which means missing.
fn is_word(fault: &InvalidCell) -> bool {
    matches!(fault.what, FaultKind::Text { among_numbers: true, .. })
        && fault.value.chars().count() <= 20
        && !fault.value.chars().any(|c| c.is_ascii_digit())
}

/// Distinct texts of a column.
fn levels(cells: &Cells) -> HashSet<&str> {
    match cells {
        Cells::Text(text) => text.iter().map(String::as_str).filter(|level| !level.is_empty()).collect(),
        _ => HashSet::new(),
    }
}

/// Whether a word that is missing among numbers is still a level of a text column. True if: only one other level is left;
/// it and another level are signs; it is written like all others, as `NA` among codes of two letters.
fn is_level(word: &str, levels: &HashSet<&str>) -> bool {
    let is_sign = |text: &str| !text.chars().any(char::is_alphanumeric);
    let form = |text: &str| text.chars().map(|c| (c.is_uppercase(), c.is_lowercase())).collect::<Vec<_>>();
    let is_alike = || !is_sign(word) && levels.iter().all(|level| form(level) == form(word));
    // Without other levels, nothing is known.
    levels.len() == 1 || is_sign(word) && levels.iter().any(|level| is_sign(level)) || levels.len() > 1 && is_alike()
}
