//! Target leaks: columns that determine the target, and identifiers that number the rows in its order.

use super::profile::{Profile, in_backticks, join_with_and, range};
use crate::column_diagnostics::span::explained_variance;
use crate::series::{count_codes, number_cells, numbers};
use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};
use vaglio_core::{Cells, argsort_by, gather, max_abs};
use vaglio_kernels::sums::dot;
use vaglio_report::record::{Warning, WarningKind};

/// R² above which one or two columns count as a leak. Rounding to whole units hides 1/12 of a squared unit: less than
/// 0.005 of the variance of a target that varies by 4 units or more. More columns may honestly reach it, and are not
/// checked.
const R2: f64 = 0.995;
/// R² required on a sample and on the rows of middling targets. Nine tenths of the rows have about half the variance,
/// which doubles 1 − R²; a sample of 1000 rows errs by a few tenths of that.
const NEARLY: f64 = 0.98;
/// Limit on the ratio of 1 − R² with and without the second column; noise leaves nearly 1.
const SECOND: f64 = 0.5;
/// Budget of the pair search, in products of cells.
const PAIRS: usize = 20_000_000;
/// Log probability that a column of noise is reported.
const CHANCE: f64 = -20.0;
/// Log probability for numeric targets; lets an exact copy in few rows be reported.
const CHANCE_OF_NUMBERS: f64 = -9.0;

/// Warnings of columns that determine a target, alone or in pairs, and of others that number the rows in its order.
pub fn find_leaks<'a>(profile: &Profile<'a>) -> (Vec<Warning>, Option<Warning>) {
    let targets = &profile.targets;
    let mut warnings = Vec::new();
    let mut alone = Vec::new();
    let mut add = |found: Leaks<'a>, what: &str, pair: Option<Warning>| {
        warnings.extend(warning(&found, what).into_iter().chain(pair));
        alone.extend(found.into_iter().map(|(name, _)| name));
    };
    if let Some(classes) = &profile.classes {
        add(class_leaks(profile, classes), "the target", None);
    } else {
        for (target, cells) in targets {
            let Some(values) = numbers(cells) else { continue };
            let what = if targets.len() > 1 { format!("the target `{target}`") } else { "the target".to_owned() };
            let (found, pair) = number_leaks(profile, &values);
            let pair = pair.map(|(a, b, r2)| {
                let message = format!(
                    "`{a}` and `{b}` together give {what} away (R² {r2:.4}); leave them out by `data.exclude` if they are not \
                     known when predicting"
                );
                Warning::new(WarningKind::TargetGivenAway, message)
            });
            add(found, &what, pair);
        }
    }
    (warnings, ordering(profile, &alone))
}

type Leaks<'a> = Vec<(&'a str, String)>;

fn warning(found: &Leaks<'_>, target: &str) -> Option<Warning> {
    let message = match &found[..] {
        [] => return None,
        [(name, how)] => format!(
            "`{name}` gives {target} away ({how}); leave it out by `data.exclude` if it is not known when predicting"
        ),
        several => {
            let each = several.iter().map(|(name, how)| format!("{} ({how})", in_backticks(name)));
            let names = join_with_and(each, " columns");
            format!(
                "{names} each give {target} away; leave them out by `data.exclude` if they are not known when predicting"
            )
        }
    };
    Some(Warning::new(WarningKind::TargetGivenAway, message))
}

/// Columns whose levels have one class each, or that thresholds separate by class.
fn class_leaks<'a>(Profile { features: columns, sample, .. }: &Profile<'a>, classes: &[u32]) -> Leaks<'a> {
    let sizes = count_codes(classes);
    let kinds = sizes.len();
    let factorial = |n: usize| (2..=n).map(|k| (k as f64).ln()).sum::<f64>();
    // Logarithm of the number of arrangements of the classes over the rows.
    let ways = factorial(classes.len()) - sizes.iter().map(|&size| factorial(size)).sum::<f64>();
    let is_rare = |of_levels: f64| of_levels + (columns.len() as f64).ln() - ways < CHANCE;
    let sample_classes = gather(classes, sample);
    let mut found = Vec::new();
    for (name, cells) in columns {
        let how = match cells {
            Cells::Text(text) => pure_levels(text, classes)
                .filter(|levels| *levels > 1 && is_rare(*levels as f64 * (kinds as f64).ln()))
                .map(|levels| format!("each of its {levels} levels has one class")),
            cells => numbers_at(cells, sample).and_then(|few| {
                class_changes(&few, &sample_classes)?;
                let (levels, changes) = class_changes(&numbers(cells)?, classes)?;
                let kinds_there = changes + 1;
                if kinds_there <= kinds {
                    is_rare(factorial(kinds_there)).then(|| match kinds_there {
                        2 => "a threshold separates the classes".to_owned(),
                        several => format!("{} thresholds separate the classes", several - 1),
                    })
                } else {
                    is_rare(levels as f64 * (kinds as f64).ln())
                        .then(|| format!("each of its {levels} values has one class"))
                }
            }),
        };
        found.extend(how.map(|how| (*name, how)));
    }
    found
}

/// Number of levels, if each has one class and they average two rows or more; a missing cell is a level.
fn pure_levels(text: &[String], classes: &[u32]) -> Option<usize> {
    let mut levels: HashMap<&str, u32> = HashMap::new();
    for (cell, class) in text.iter().zip(classes) {
        if levels.entry(cell).or_insert(*class) != class {
            return None;
        }
    }
    (2 * levels.len() <= text.len()).then_some(levels.len())
}

/// Number of values and of class changes in their order, if each value has one class. Requires the fewest possible
/// changes or two rows per value on average, and at most a tenth of missing cells.
fn class_changes(values: &[f64], classes: &[u32]) -> Option<(usize, usize)> {
    let rows = values.iter().copied().zip(classes.iter().copied()).filter(|(value, _)| !value.is_nan());
    let mut rows: Vec<(f64, u32)> = rows.collect();
    if 10 * rows.len() < 9 * values.len() {
        return None;
    }
    rows.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut levels = 1;
    let mut changes = 0;
    for pair in rows.windows(2) {
        let is_level = pair[0].0 != pair[1].0;
        if !is_level && pair[0].1 != pair[1].1 {
            return None;
        }
        levels += usize::from(is_level);
        changes += usize::from(pair[0].1 != pair[1].1);
    }
    let kinds: HashSet<u32> = rows.iter().map(|(_, class)| *class).collect();
    let is_pure = kinds.len() > 1 && (changes + 1 == kinds.len() || 2 * levels <= rows.len());
    is_pure.then_some((levels, changes))
}

/// Columns, and the best pair, that give the target as a linear function; also text whose level means give it.
fn number_leaks<'a>(profile: &Profile<'a>, target: &[f64]) -> (Leaks<'a>, Option<(&'a str, &'a str, f64)>) {
    let Profile { features: columns, sample, .. } = profile;
    let mut found = Vec::new();
    let Some(y) = standardize(sample.iter().map(|&row| target[row])) else { return (found, None) };
    let mut others: Vec<(usize, f64, Vec<f64>)> = Vec::new();
    for (index, (name, cells)) in columns.iter().enumerate() {
        let Some(few) = numbers_at(cells, sample) else {
            if let Some((levels, r2)) = by_levels(cells, target)
                && is_told(r2, levels - 1, target.len(), columns.len())
            {
                found.push((*name, format!("R² {r2:.4} by its {levels} levels")));
            }
            continue;
        };
        let Some(x) = standardize(few.into_iter()) else { continue };
        let r = dot(&x, &y);
        let all = if r * r > NEARLY { numbers(cells) } else { None };
        match all.and_then(|values| r2(&[&values], target, columns.len())) {
            Some(r2) => found.push((*name, format!("R² {r2:.4}"))),
            None => others.push((index, r, x)),
        }
    }
    (found, pair(columns, target, others))
}

/// Like [`numbers`], for some rows.
fn numbers_at(cells: &Cells, rows: &[usize]) -> Option<Vec<f64>> {
    match cells {
        Cells::Text(_) => None,
        _ => numbers(&cells.select_rows(rows)).map(Cow::into_owned),
    }
}

/// The pair of columns that determine the target linearly; the first is among those with the largest correlations.
fn pair<'a>(
    columns: &[(&'a str, &'a Cells)],
    target: &[f64],
    mut others: Vec<(usize, f64, Vec<f64>)>,
) -> Option<(&'a str, &'a str, f64)> {
    let rows = others.first()?.2.len();
    others.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let firsts = (PAIRS / (rows * others.len())).clamp(3, others.len().max(3));
    let mut best = None;
    let mut most = NEARLY;
    for (place, (a, ra, xa)) in others.iter().enumerate().take(firsts) {
        for (b, rb, xb) in &others[place + 1..] {
            let between = dot(xa, xb);
            let own = 1.0 - between * between;
            let both = (ra * ra + rb * rb - 2.0 * ra * rb * between) / own;
            let one = (ra * ra).max(rb * rb);
            // Nearly equal columns lose the digits of this; a column that suffices alone needs no other.
            if own > 1e-6 && both > most && 1.0 - both < SECOND * (1.0 - one) {
                (best, most) = (Some((*a.min(b), *a.max(b))), both);
            }
        }
    }
    let (a, b) = best?;
    let first = numbers(columns[a].1)?;
    let second = numbers(columns[b].1)?;
    let pairs = columns.len() * (columns.len() - 1) / 2;
    r2(&[&first, &second], target, pairs).map(|r2| (columns[a].0, columns[b].0, r2))
}

/// Scales values to mean 0 and length 1, with missing ones at the mean; `None` for a constant, or if most are missing.
fn standardize(values: impl Iterator<Item = f64>) -> Option<Vec<f64>> {
    let mut values: Vec<f64> = values.collect();
    let present = || values.iter().filter(|value| !value.is_nan());
    let (count, sum) = present().fold((0usize, 0.0), |(count, sum), value| (count + 1, sum + value));
    if 2 * count < values.len() {
        return None;
    }
    let mean = sum / count as f64;
    values.iter_mut().for_each(|value| *value = if value.is_nan() { 0.0 } else { *value - mean });
    let length = dot(&values, &values).sqrt();
    (length.is_finite() && max_abs(&values) > 1e-12 * mean.abs()).then(|| {
        values.iter_mut().for_each(|value| *value /= length);
        values
    })
}

/// Whether an R² with `columns` degrees of freedom indicates a leak, and not the best of `tried` columns by chance. For
/// noise, 1 − R² of k columns and n rows is below t with probability about t^((n − 1 − k)/2).
fn is_told(r2: f64, columns: usize, rows: usize, tried: usize) -> bool {
    let left = (1.0 - r2).max(f64::EPSILON).ln();
    let free = rows.saturating_sub(1 + columns) as f64;
    r2 > R2 && 0.5 * free * left + (tried as f64).ln() < CHANCE_OF_NUMBERS
}

/// R² of one or two columns out of `tried`, if it indicates a leak, also without a few outliers.
fn r2(columns: &[&[f64]], target: &[f64], tried: usize) -> Option<f64> {
    let is_whole = |row: &usize| !target[*row].is_nan() && columns.iter().all(|column| !column[*row].is_nan());
    let rows: Vec<usize> = (0..target.len()).filter(is_whole).collect();
    if 10 * rows.len() < 9 * target.len() {
        return None;
    }
    let mut sorted = gather(target, &rows);
    sorted.sort_unstable_by(f64::total_cmp);
    let low = sorted[rows.len() / 20];
    let high = sorted[rows.len() - 1 - rows.len() / 20];
    let middling: Vec<usize> = rows.iter().copied().filter(|&row| (low..=high).contains(&target[row])).collect();
    let whole = least_squares_r2(columns, target, &rows)?;
    let among_middling = if low == high { 0.0 } else { least_squares_r2(columns, target, &middling)? };
    (is_told(whole, columns.len(), rows.len(), tried) && among_middling > NEARLY).then_some(whole)
}

/// R² of least squares on these rows.
fn least_squares_r2(columns: &[&[f64]], target: &[f64], rows: &[usize]) -> Option<f64> {
    let among = |column: &[f64]| standardize(rows.iter().map(|&row| column[row]));
    let y = among(target)?;
    let x = columns.iter().map(|column| among(column)).collect::<Option<Vec<_>>>()?;
    let correlations: Vec<f64> = x.iter().map(|x| dot(x, &y)).collect();
    Some(explained_variance(&x, &correlations))
}

/// Number of levels of a column and the R² of their means, if levels average two rows or more.
fn by_levels(cells: &Cells, target: &[f64]) -> Option<(usize, f64)> {
    let level_of_row = number_cells(cells);
    let counts = count_codes(&level_of_row);
    let mean = target.iter().sum::<f64>() / target.len() as f64;
    let rows = || level_of_row.iter().map(|level| *level as usize).zip(target.iter().map(move |y| y - mean));
    let mut sums = vec![0.0; counts.len()];
    rows().for_each(|(level, y)| sums[level] += y);
    let all: f64 = rows().map(|(_, y)| y.powi(2)).sum();
    let left: f64 = rows().map(|(level, y)| (y - sums[level] / counts[level] as f64).powi(2)).sum();
    (counts.len() > 1 && 2 * counts.len() <= target.len() && all > 0.0).then(|| (counts.len(), 1.0 - left / all))
}

/// Rank correlation above which two orders count as one.
const ONE_ORDER: f64 = 0.95;
/// Minimum number of rows; fewer agree by chance.
const FEWEST_ORDERED: usize = 20;

/// Warns of features that number the rows in the target's order, except `given` leaks.
fn ordering(profile: &Profile<'_>, given: &[&str]) -> Option<Warning> {
    let spec = &profile.settings.spec;
    let sample = &profile.sample;
    // Rows in time order may well be numbered by it.
    if profile.raw.table.rows() < FEWEST_ORDERED
        || spec.time.is_some()
        || spec.series.is_some()
        || profile.classes.is_some()
    {
        return None;
    }
    let of_targets = || profile.targets.iter().filter_map(|(_, cells)| ranks(&numbers(cells)?)).collect();
    let targets: LazyCell<Vec<Vec<f64>>, _> = LazyCell::new(of_targets);
    let mut found = Vec::new();
    for (name, cells) in profile.features.iter().filter(|(name, _)| !given.contains(name)) {
        let is_number = matches!(cells, Cells::Numbers(_));
        if !is_number || !numbers_at(cells, sample).is_some_and(|few| few.into_iter().all(is_whole)) {
            continue;
        }
        let Some(values) = numbers(cells).filter(|values| counts_rows(values)) else { continue };
        let Some(order) = ranks(&values) else { continue };
        let most = targets.iter().map(|target| dot(&order, target).abs()).fold(0.0, f64::max);
        if most > ONE_ORDER {
            found.push(format!("{} (rank correlation {most:.2})", in_backticks(name)));
        }
    }
    let message = match found.len() {
        0 => return None,
        1 => format!(
            "{} numbers the rows in the order of the target; leave it out by `data.exclude`, or name it `data.time` if it is one",
            found[0]
        ),
        _ => format!(
            "{} each number the rows in the order of the target; leave them out by `data.exclude`, or name one `data.time` if \
             it is one",
            join_with_and(&found, " columns")
        ),
    };
    Some(Warning::new(WarningKind::IdentifierInOrder, message))
}

fn is_whole(value: f64) -> bool {
    value.fract() == 0.0
}

/// Whether whole numbers are distinct and cover more than half of their range.
fn counts_rows(values: &[f64]) -> bool {
    let (low, high) = range(values);
    if high - low >= 2.0 * values.len() as f64 {
        return false;
    }
    let mut seen = vec![false; 2 * values.len()];
    values.iter().all(|value| {
        is_whole(*value) && seen.get_mut((value - low) as usize).is_some_and(|seen| !std::mem::replace(seen, true))
    })
}

/// Standardized ranks of values, averaged over ties; `None` for a constant. Cost O(rows · log rows).
fn ranks(values: &[f64]) -> Option<Vec<f64>> {
    let order = argsort_by(values.len(), |a, b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    for run in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let mean = start as f64 + (run.len() - 1) as f64 / 2.0;
        run.iter().for_each(|&row| ranks[row] = mean);
        start += run.len();
    }
    standardize(ranks.into_iter())
}
