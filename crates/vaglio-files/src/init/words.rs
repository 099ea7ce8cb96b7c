//! Detects words for missing cells in an undescribed table.
//!
//! A word may be missing in one column and a value in another: `other` among numbers, and as a region. Among numbers
//! and dates a word is always missing. In text, a word of `data.read.na` is a value unless it also occurs among numbers
//! of the table.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;
use vaglio_core::{Cells, Result, join, pluralize};
use vaglio_tables::read::{Hint, InvalidCell, ReadColumn, ReadRequest, TableSource, sort_levels};
use vaglio_tables::{InferredType, ReadSpec};

/// Limit on words among the numbers of a column.
const MOST_WORDS: usize = 6;

/// A word for missing cells, or possibly missing ones.
pub struct WordCount {
    /// Empty for empty cells.
    pub word: String,
    pub cells: usize,
    /// First row with the word, from 0.
    pub row: usize,
}

/// Words of one column.
pub struct ColumnWords {
    pub column: String,
    pub missing: Vec<WordCount>,
    /// Words of `data.read.na` that are values here.
    pub values: Vec<WordCount>,
    /// The column's own list, if it differs from `data.read.na`.
    pub own: Option<Vec<String>>,
}

impl ColumnWords {
    /// Describes how the column's missing cells are written, if there are any.
    pub fn missing_in_words(&self) -> Option<String> {
        (!self.missing.is_empty()).then(|| format!("{}: {}", self.column, in_words(&self.missing)))
    }

    /// Describes which words of `data.read.na` are values, if there are any.
    pub fn values_in_words(&self) -> Option<String> {
        (!self.values.is_empty()).then(|| format!("taken as a value: {}", in_words(&self.values)))
    }
}

fn in_words(words: &[WordCount]) -> String {
    let one = |found: &WordCount| match (found.word.as_str(), found.cells) {
        ("", count) => format!("{} empty", pluralize(count, "cell")),
        (word, 1) => format!("`{word}` in row {}", found.row + 1),
        (word, count) => format!("`{word}` in {}", pluralize(count, "cell")),
    };
    join(words.iter().map(one), ", ")
}

/// A table, each column read with its own words for missing cells. Columns may be read again.
pub struct TableReader<'a> {
    path: &'a Path,
    spec: ReadSpec,
    pub columns: Vec<ReadColumn>,
    pub rows: usize,
    pub words: Vec<ColumnWords>,
    /// Columns to be read as classes, with their levels in order if ordered.
    pub classes: BTreeMap<String, Option<Vec<String>>>,
}

impl<'a> TableReader<'a> {
    /// Reads the table of a source that was opened at `path`.
    pub fn read(source: TableSource, path: &'a Path) -> Result<Self> {
        let unsupported = source.unsupported().iter().map(|(name, _)| name.as_str());
        let (columns, files) = source.read_each(&ReadRequest::except(unsupported))?;
        let is_typed = source.is_typed();
        let spec = ReadSpec::default();
        drop(source);
        let mut reader = TableReader {
            path,
            spec,
            columns,
            rows: files.iter().map(|(_, rows)| rows).sum(),
            words: Vec::new(),
            classes: BTreeMap::new(),
        };
        reader.take_ordered()?;
        if !is_typed {
            reader.take_words()?;
        }
        Ok(reader)
    }

    /// Names of some columns.
    fn names(&self, is_wanted: impl Fn(&ReadColumn) -> bool) -> BTreeSet<String> {
        self.columns.iter().filter(|column| is_wanted(column)).map(|(name, _)| name.clone()).collect()
    }

    /// Reads columns again with the words known now, all as one type, or each as it is known.
    fn again(&self, names: BTreeSet<String>, hint: Option<Hint>) -> Result<Vec<ReadColumn>> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let own = |name: &String| if self.classes.contains_key(name) { Hint::Class } else { Hint::Auto };
        let hints = names.iter().map(|name| (name.clone(), hint.unwrap_or_else(|| own(name)))).collect();
        let source = TableSource::open(&[self.path.to_owned()], &self.spec)?;
        Ok(source.read_each(&ReadRequest { hints, ..ReadRequest::only(names) })?.0)
    }

    /// Reads these columns again with the words and classes known now.
    fn replace(&mut self, names: BTreeSet<String>) -> Result<()> {
        for (name, read) in self.again(names, None)? {
            if let Some(own) = self.columns.iter_mut().find(|(own, _)| *own == name) {
                own.1 = read;
            }
        }
        Ok(())
    }

    /// Finds columns of ordered answers such as `<5`, `5` and `10+`, and reads them as classes from now on.
    fn take_ordered(&mut self) -> Result<()> {
        let is_bound = |fault: &InvalidCell| sort_levels(&[&fault.value, "0", "1"]).is_some();
        let mut faulty = self.names(|(_, read)| read.as_ref().is_err_and(is_bound));
        for (name, read) in self.again(faulty.clone(), Some(Hint::Class))?.iter().chain(&self.columns) {
            let Ok((cells, _)) = read else { continue };
            if let Some(order) = sort_levels(&levels(cells).into_iter().collect::<Vec<_>>()) {
                self.classes.insert(name.clone(), Some(order));
            }
        }
        faulty.retain(|name| self.classes.contains_key(name));
        self.replace(faulty)
    }

    /// Finds the words of each column with missing or possibly missing cells.
    fn take_words(&mut self) -> Result<()> {
        self.words_among_numbers()?;
        let names = self.names(|(_, read)| read.as_ref().is_ok_and(|(_, profile)| profile.missing > 0));
        let mut written: HashMap<String, Vec<WordCount>> = HashMap::new();
        for (name, read) in self.again(names, Some(Hint::Written))? {
            if let Ok((cells, _)) = read {
                let words = self.missing_words(&name, &cells);
                written.insert(name, words);
            }
        }
        let scales = self.names(|(name, read)| {
            read.as_ref().is_ok_and(|(cells, profile)| {
                (!matches!(cells, Cells::Text(_)) || self.classes.contains_key(name))
                    && !matches!(profile.taken, InferredType::Constant | InferredType::Empty)
            })
        });
        let scale_words = scales.iter().filter_map(|name| written.get(name)).flatten();
        let among_numbers: HashSet<String> = scale_words.map(|word| word.word.clone()).collect();
        let mut changed = BTreeSet::new();
        for (column, read) in &self.columns {
            let (Ok((cells, profile)), Some(words)) = (read, written.remove(column)) else { continue };
            if profile.taken == InferredType::Empty {
                continue;
            }
            let column = column.clone();
            let levels = levels(cells);
            let is_value = |word: &WordCount| {
                let is_known = among_numbers.contains(&word.word);
                !scales.contains(&column) && !word.word.is_empty() && (!is_known || is_level(&word.word, &levels))
            };
            let (values, missing): (Vec<WordCount>, _) = words.into_iter().partition(is_value);
            if !values.is_empty() {
                let is_kept = |word: &String| values.iter().all(|value| !value.word.eq_ignore_ascii_case(word));
                let own = self.spec.na.iter().filter(|word| is_kept(word)).cloned().collect();
                self.spec.na_by_column.insert(column.clone(), own);
                changed.insert(column.clone());
            }
            let own = self.spec.na_by_column.get(&column).cloned();
            self.words.push(ColumnWords { column, missing, values, own });
        }
        self.replace(changed.clone())?;
        // Numbers mixed with words that are values are classes.
        let faulty = self.names(|(name, read)| changed.contains(name) && read.is_err());
        self.classes.extend(faulty.iter().map(|name| (name.clone(), None)));
        self.replace(faulty)
    }

    /// Treats words among numbers as missing, each in its own column.
    fn words_among_numbers(&mut self) -> Result<()> {
        for _ in 0..MOST_WORDS {
            let mut found = BTreeSet::new();
            for (name, read) in &self.columns {
                let Some(fault) = read.as_ref().err().filter(|fault| is_word(fault)) else { continue };
                let own = self.spec.na_by_column.entry(name.clone()).or_insert_with(|| self.spec.na.clone());
                own.push(fault.value.clone());
                found.insert(name.clone());
            }
            if found.is_empty() {
                break;
            }
            self.replace(found)?;
        }
        let is_read = self.names(|(_, read)| read.is_ok());
        self.spec.na_by_column.retain(|name, _| is_read.contains(name));
        Ok(())
    }

    /// Words for missing cells in a column, as written.
    fn missing_words(&self, name: &str, cells: &Cells) -> Vec<WordCount> {
        let known = self.spec.na_by_column.get(name).unwrap_or(&self.spec.na);
        let mut words: Vec<WordCount> = Vec::new();
        let Cells::Text(text) = cells else { return words };
        for (row, cell) in text.iter().map(|cell| cell.trim()).enumerate() {
            if let Some(word) = words.iter_mut().find(|word| word.word == cell) {
                word.cells += 1;
            } else if known.iter().any(|word| word.eq_ignore_ascii_case(cell)) {
                words.push(WordCount { word: cell.to_owned(), cells: 1, row });
            }
        }
        words
    }
}

/// Whether a cell among numbers is a word, which means missing.
fn is_word(fault: &InvalidCell) -> bool {
    fault.among_numbers && fault.value.chars().count() <= 20 && !fault.value.chars().any(|c| c.is_ascii_digit())
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
