//! Subsets nearly as good as the best or the chosen one.

use super::Record;
use crate::page::{Section, TableBuilder};
use std::collections::HashMap;
use vaglio_core::{Criterion, Error, Feature, Result, escape_controls, join, record, short};
use vaglio_search::{Alternatives, Path};

/// Near subsets: those with a score close to the lowest of all, or to that of the chosen subset.
#[record]
pub struct AlternativesRecord {
    /// Largest score of a near subset; absent if the limit depends on the subset.
    pub limit: Option<f64>,
    /// Number of subsets that the search scored, including the chosen one; absent for a search of all subsets.
    #[optional]
    pub met: Option<u64>,
    /// Number of near subsets, as far as they were counted.
    pub count: u64,
    /// Whether `count` includes every near subset.
    pub is_whole: bool,
    /// Columns that are in all counted subsets.
    pub in_all: Vec<String>,
    /// Columns that are in no counted subset.
    pub in_none: Vec<String>,
    /// The best near subsets, in increasing order of score.
    pub subsets: Vec<AlternativeRecord>,
    /// Near subsets with the fewest columns, in increasing order of size, then of score.
    #[optional]
    pub smallest: Vec<AlternativeRecord>,
}

/// A near subset.
#[record]
pub struct AlternativeRecord {
    /// Columns, in the order of the candidates.
    pub columns: Vec<String>,
    /// Score.
    pub score: f64,
    /// Score minus that of the chosen subset, if compared on the same held-out rows.
    #[optional]
    pub difference: Option<f64>,
    /// Standard error of the difference, on the same held-out rows.
    #[optional]
    pub difference_error: Option<f64>,
}

/// Largest number of names listed in a sentence.
const LISTED: usize = 10;
/// Largest number of subsets in `smallest`.
const SMALLEST: usize = 10;

impl AlternativesRecord {
    /// The near subsets of a search of all subsets, if it counted them; `name` names features.
    pub fn new(path: &Path, name: impl Fn(Feature) -> String) -> Option<Self> {
        let near = path.alternatives.as_ref()?;
        let names = |features: &[Feature]| features.iter().map(|&feature| name(feature)).collect();
        let subset = |(features, score): &(Vec<Feature>, f64)| AlternativeRecord {
            columns: names(features),
            score: *score,
            difference: None,
            difference_error: None,
        };
        let mut known: Vec<(Vec<Feature>, f64)> = near.subsets.clone();
        for entry in path.entries.iter().filter(|entry| entry.score.loss <= near.limit) {
            let mut features = entry.subset.clone();
            features.sort_unstable();
            if !known.iter().any(|(known, _)| *known == features) {
                known.push((features, entry.score.loss));
            }
        }
        let all: Vec<AlternativeRecord> = known.iter().map(subset).collect();
        Some(AlternativesRecord {
            limit: Some(near.limit),
            met: None,
            count: near.count,
            is_whole: near.is_whole,
            in_all: names(&near.in_all),
            in_none: names(&near.in_none),
            subsets: all[..near.subsets.len()].to_vec(),
            smallest: smallest(all),
        })
    }

    /// Creates the record from the `near` ones of `met` scored subsets, and lists the best `count`. `candidates` are
    /// the names of all candidates.
    pub fn from_visited(
        mut near: Vec<AlternativeRecord>,
        met: usize,
        count: usize,
        limit: Option<f64>,
        candidates: impl Iterator<Item = String>,
    ) -> Self {
        let mut with: HashMap<&str, usize> = HashMap::new();
        near.iter().flat_map(|subset| &subset.columns).for_each(|name| *with.entry(name).or_default() += 1);
        let (mut in_all, mut in_none) = (Vec::new(), Vec::new());
        for name in candidates {
            match with.get(&*name).copied().unwrap_or(0) {
                0 => in_none.push(name),
                all if all == near.len() => in_all.push(name),
                _ => {}
            }
        }
        let few = smallest(near.clone());
        near.sort_by(|a, b| a.score.total_cmp(&b.score));
        AlternativesRecord {
            limit,
            met: Some(met as u64),
            count: near.len() as u64,
            is_whole: false,
            in_all,
            in_none,
            subsets: near.into_iter().take(count).collect(),
            smallest: few,
        }
    }

    /// Sentence with their number and the columns that they share.
    pub fn sentence(&self) -> String {
        let AlternativesRecord { limit, met, count, is_whole, in_all, in_none, smallest, .. } = self;
        let listed = |names: &[String]| match names {
            [] => "no column".into(),
            few if few.len() <= LISTED => join(few.iter().map(|name| escape_controls(name)), ", "),
            many => format!("{} columns", many.len()),
        };
        let fewest = match smallest.first().map(|least| &least.columns[..]) {
            None => String::new(),
            Some([]) => "; the smallest has no column".into(),
            Some(columns) => format!("; the smallest is {}", listed(columns)),
        };
        let (all, are, score) = match count {
            1 => ("it has", "is", "scores"),
            _ => ("all of them have", "are", "score"),
        };
        let good = limit.map_or_else(
            || format!("{are} as good as the chosen one, within one standard error of the difference"),
            |limit| format!("{score} {} or less", short(limit)),
        );
        let all = match &in_all[..] {
            [] if *count != 1 => "they have no column in common".into(),
            names => format!("{all} {}", listed(names)),
        };
        let none = match &in_none[..] {
            [] => "every column is in some".into(),
            names => format!("none has {}", listed(names)),
        };
        let near = match met {
            // The chosen one itself is near.
            Some(met) if *count == 1 => return format!("no other of {met} subsets that the search visited {good}"),
            Some(met) => format!("{count} of {met} subsets that the search visited {good}"),
            None => {
                let least = if *is_whole { "" } else { "at least " };
                let subsets = if *count == 1 { "subset" } else { "subsets" };
                format!("{least}{count} {subsets} {good}")
            }
        };
        format!("{near}: {all}; {none}{fewest}")
    }
}

/// Checks the settings of near subsets.
///
/// # Errors
/// [`Error::Setting`] with the path of the field inside `evaluate`.
pub(super) fn check_alternatives(alternatives: &Alternatives, criterion: &dyn Criterion) -> Result<()> {
    alternatives.check()?;
    if alternatives.part().is_none() && criterion.traits().loss.is_none() {
        let kind = criterion.kind();
        let message = format!(
            "`{kind}` is no loss of rows, so that its score has no standard error; give a number, a part of the score"
        );
        return Err(Error::setting("alternatives.within", message));
    }
    Ok(())
}

/// The [`SMALLEST`] subsets with the fewest columns, in increasing order of size, then of score.
fn smallest(mut all: Vec<AlternativeRecord>) -> Vec<AlternativeRecord> {
    all.sort_by(|a, b| a.columns.len().cmp(&b.columns.len()).then(a.score.total_cmp(&b.score)));
    all.truncate(SMALLEST);
    all
}

/// Subsets as good as the chosen one: those of the fewest columns first, then the best.
pub(crate) fn alternatives_section(record: &Record) -> Option<Section> {
    let near = record.alternatives.as_ref()?;
    let is_listed = |subset: &&AlternativeRecord| near.smallest.iter().any(|known| known.columns == subset.columns);
    let rows: Vec<&AlternativeRecord> =
        near.smallest.iter().chain(near.subsets.iter().filter(|subset| !is_listed(subset))).collect();
    let note = "Compared are the subsets after every step, those of the folds, and the chosen one without each column and with substitutes.";
    let note = if near.met.is_some() { note } else { "" };
    let table = TableBuilder::new("“alternatives.subsets”", &rows)
        .count("Size", |subset| subset.columns.len())
        .text("Columns", |subset| match subset.columns.len() {
            0 => "none".into(),
            _ => subset.columns.join(", "),
        })
        .number("Score", |subset| subset.score)
        .number("Above the chosen subset by", |subset| subset.difference)
        .number("Standard error", |subset| subset.difference_error);
    Some(Section::new("Subsets as good").text(near.sentence()).table(table).note(note))
}
