//! Assignment of rows and groups to folds.

use vaglio_core::{Classes, Error, Result, number_labels};

/// Assigns rows to `count` folds in the order `order(rows)`, a permutation; class by class if `classes` are given. Fold
/// sizes differ by at most one row.
///
/// # Errors
/// [`Error::Setting`] on `folds` for more folds than rows.
pub(crate) fn rows(
    rows: usize,
    classes: Option<&Classes>,
    count: usize,
    order: impl Fn(usize) -> Vec<usize>,
) -> Result<Vec<u32>> {
    if count > rows {
        return Err(Error::setting(
            "folds",
            format!("{count} folds of {rows} rows leave fold {} empty; use at most {rows} folds", rows + 1),
        ));
    }
    let order = order(rows);
    let mut folds = vec![0; rows];
    let Some(classes) = classes else {
        split_evenly(&order, count, 0, &mut folds);
        return Ok(folds);
    };
    let mut first = 0;
    for class in 0..classes.names.len() {
        let members: Vec<usize> = order.iter().copied().filter(|&row| classes.per_row[row] == class).collect();
        split_evenly(&members, count, first, &mut folds);
        // The next class continues where this one stopped, so fold sizes differ by at most one row.
        first = (first + members.len()) % count;
    }
    Ok(folds)
}

/// Assigns whole groups to folds; by default one fold for each group.
///
/// # Errors
/// [`Error::Setting`] on `folds` for more folds than groups, on `by` for one group alone.
pub(crate) fn groups(groups: &[u32], count: Option<usize>, order: impl Fn(usize) -> Vec<usize>) -> Result<Vec<u32>> {
    let (groups, all) = number_labels(groups);
    let count = count.unwrap_or(all);
    if count > all {
        return Err(Error::setting(
            "folds",
            format!("{count} folds of {all} groups leave fold {} empty; use at most {all} folds", all + 1),
        ));
    }
    if all < 2 {
        return Err(Error::setting("by", "all rows are in one group, so no rows are left to train on"));
    }
    let mut group_folds = vec![0; all];
    split_evenly(&order(all), count, 0, &mut group_folds);
    Ok(groups.iter().map(|&g| group_folds[g as usize]).collect())
}

/// Splits `members` into contiguous pieces for `count` folds; longer pieces go to the folds from `first` on.
fn split_evenly(members: &[usize], count: usize, first: usize, folds: &mut [u32]) {
    let (least, more) = (members.len() / count, members.len() % count);
    let mut start = 0;
    for fold in 0..count {
        let is_longer = (fold + count - first) % count < more;
        let end = start + least + usize::from(is_longer);
        members[start..end].iter().for_each(|&member| folds[member] = fold as u32);
        start = end;
    }
}
